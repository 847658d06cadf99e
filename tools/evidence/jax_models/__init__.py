"""JAX models: exported, imported as WebNN graphs, and compared with JAX. It needs the packages jax and flax, which the project does not."""
