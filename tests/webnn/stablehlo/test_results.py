"""The results of programs."""

from __future__ import annotations

import webnn.stablehlo
from webnn.hlo import Function, Module, RegionBuilder
from webnn.hlo.types import TokenType, TupleType, Type


def test_a_program_must_return_a_tensor() -> None:
    types: list[Type] = [TokenType(), TupleType((TokenType(),))]
    for returned in (types, types[:1], []):
        main = RegionBuilder(returned)
        main.append("func.return", main.arguments)
        description, report = webnn.stablehlo.survey(
            Module(functions=(Function(name="main", body=main.build()),)), webnn.stablehlo.Settings()
        )
        assert description is None
        assert [(each.place, each.reason) for each in report.refusals] == [("results", "the function must return a tensor")]
