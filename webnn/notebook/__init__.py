"""Cells in JavaScript, and progress bars, for notebooks."""
