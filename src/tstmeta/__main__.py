"""The program ``tstmeta``, also ``python -m tstmeta``: little is imported before it is at work."""

import os
import signal


def main() -> None:
    """Run the command line; an interrupt ends it with 130, also while it is imported."""
    raising = signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # looks into all that is installed
    from .cli import main as run

    try:
        signal.signal(signal.SIGINT, raising)
        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
