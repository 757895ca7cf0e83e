"""`python -m lastcall` is `lastcall`."""

from lastcall.cli.main import main

if __name__ == "__main__":
    main()
