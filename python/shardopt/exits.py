"""Exit codes of the command `shardopt`."""

FEASIBLE = 0
#: Nothing holds all limits, or no engine runs it.
INFEASIBLE = 1
#: A command line that cannot be.
USAGE = 2
#: The budget is used up, or the search was interrupted.
EXHAUSTED = 3
DIFFERENT = 4
