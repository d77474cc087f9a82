"""`python -m maskwright`: the command line, where its program is not on the path."""

from maskwright.cli import main

if __name__ == "__main__":
    main()
