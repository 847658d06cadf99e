"""Inside a graph: times, intermediate values and accuracy of each operator."""
