"""`python -m ghost` is the command `ghost`."""

from ghost.cli.main import main

if __name__ == "__main__":
    main()
