"""The calls of a test."""

from __future__ import annotations

from webnn.serve.journal import Journal, count

CREATE, BUILD = '["ML","createContext",0,[],[],[]]', '["MLGraphBuilder","build",1,[],[],[]]'
DISPATCH, WRITE = '["MLContext","dispatch",1,[],[],[],[]]', '["MLContext","writeTensor",1,[],[],[],[]]'


def test_counts() -> None:
    first, second = Journal(), Journal()
    for journal, text, answer in [
        (first, CREATE, '{"value": 1}'),
        (first, BUILD, '{"error": ["OperationError", "x"]}'),
        (first, BUILD, '{"value": 2}'),
        (second, CREATE, '{"value": 1}'),
        # They have no answers.
        (second, WRITE, ""),
        (second, DISPATCH, ""),
        (second, '"nothing"', '{"value": null}'),
    ]:
        journal.called(text, answer, 0.0, 0, 0)
    counts = count([first, second])
    assert (counts.contexts, counts.builds, counts.computes, counts.refused) == (2, 1, 1, 1)
    assert counts.calls == {"ML.createContext": 2, "MLGraphBuilder.build": 2, "MLContext.writeTensor": 1, "MLContext.dispatch": 1}
    assert counts.calls["MLGraphBuilder.relu"] == 0


def test_warnings_are_told() -> None:
    told: list[str] = []
    journal = Journal(on_warning=told.append)
    journal.warned("slow")
    assert told == ["slow"]
    assert journal.warnings()[0] == {"slow": 1}
