"""``webnn check``: how a program, or a saved graph, runs on each device profile.

A child process runs the program (`worker`) and follows it on the profiles (`follow`); it runs again on profiles where following does not
show how it goes on. `supervise` starts these processes and reads their notes (`events`); `report` holds the result, `changes` has the
advice, `show` prints it.
"""
