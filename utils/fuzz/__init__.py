"""Feeds the tools with inputs that nobody would write, and looks what breaks."""
