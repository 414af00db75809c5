"""``python -m spmld.app.commands``."""

from spmld.app.commands import main

if __name__ == "__main__":
    main()
