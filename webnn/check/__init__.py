"""``webnn check``: what a program, or a saved graph, meets on each device profile.

A process of its own runs the program once for each profile (`worker`); `supervise` starts these processes and reads what they noted
(`events`); `report` holds the result, `changes` says what would help, `show` prints it.
"""
