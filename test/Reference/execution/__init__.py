"""An interpreter of the `llm` dialect in NumPy, on one device or on many."""
