"""`python -m shardopt` is the command `shardopt`."""

from .cli import main

raise SystemExit(main())
