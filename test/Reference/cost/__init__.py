"""A scalar reference of the roofline cost model, the oracle of the library's own.

It evaluates one strategy at a time, op after op, with the formulas of the model
written out, and shares no code with the library. Units: seconds, bytes, FLOP.
Names follow the model: n = tp, h = hidden size, r = rows of a micro-batch.
Layouts of a tensor over the tensor-parallel group: R replicated, T cut by rows,
H cut by features, P partial sums.
"""
