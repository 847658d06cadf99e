"""``webnn check``: what a program, or a saved graph, meets on each device profile.

A process of its own runs the program (`worker`) and follows it on the profiles (`follow`); it runs again on those where only that tells how
it goes on. `supervise` starts these processes and reads what they noted (`events`); `report` holds the result, `changes` says what would
help, `show` prints it.
"""
