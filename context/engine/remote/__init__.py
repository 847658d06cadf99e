"""A process for each context, so that drivers cannot end the program: `host` is the program's side, `worker` the other one."""
