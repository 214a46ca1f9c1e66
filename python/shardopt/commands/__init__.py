"""The verbs of the command `shardopt`; a module is loaded for the verb that is asked."""
