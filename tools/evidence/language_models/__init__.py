"""A language model in each way that there is: its nodes, times, memory and error (docs/language-models.md)."""
