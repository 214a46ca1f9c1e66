"""The way back: what commands, documents and servers mean as a service."""
