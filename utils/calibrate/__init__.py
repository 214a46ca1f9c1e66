"""Fits the constants of the calibrated cost model to measured latencies."""
