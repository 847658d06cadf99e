"""The commands of `webnn wpt`: one module for each."""
