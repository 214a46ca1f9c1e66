"""Where dims pay: exact optima against Megatron's dims over many workloads."""
