"""The specification's steps that can throw: which there are, where the code cites them, and which test reaches them."""
