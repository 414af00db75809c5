"""``python -m spmld.cli``."""

from spmld.cli import main

if __name__ == "__main__":
    main()
