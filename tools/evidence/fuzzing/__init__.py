"""Coverage-guided fuzzing of everything that reads foreign bytes, with Atheris: ``python -m tools.evidence.fuzzing``."""
