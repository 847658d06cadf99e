"""The operations, one mixin of `MLGraphBuilder` for each family."""
