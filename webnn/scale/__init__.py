"""Whole data sets through a graph, in parts, on the cores of this machine or on a cluster: `batch`."""

from webnn.scale.batch import DataBatch, batch

__all__ = ["DataBatch", "batch"]
