"""Mutation testing: changes the product's code in small ways, and looks whether a test fails (docs/mutation.md)."""
