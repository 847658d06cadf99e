"""Tables and pages for people: `Table` as text, for rich and as HTML, and templates that escape every text.

It knows nothing of graphs, and every package may use it.
"""
