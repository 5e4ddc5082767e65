"""`python -m latefusion` is `latefusion`."""

from latefusion.cli import main

raise SystemExit(main())
