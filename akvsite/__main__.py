"""``python -m akvsite``, from a plain checkout."""

from akvsite.cli import main

if __name__ == "__main__":
    main()
