"""Renders chat templates in a process of its own, which dies of a text that breaks a limit.

A template is a program from a model's folder, and its loops and powers know no bounds.
:mod:`.template` runs this file, writes a request a line and reads an answer a line, both in JSON.
"""

import json
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path

#: Exit code where a text takes more memory than it may; SIGPROF ends one that computes too long.
NO_ROOM = 3


def main() -> None:
    """Answer requests until there are no more: ``text`` or ``error``; a broken limit ends it."""
    from transformers.utils.chat_template_utils import render_jinja_template

    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    limit = [sys.maxsize]
    threading.Thread(target=_watch, args=(limit,), daemon=True).start()
    pages, (_, hard) = Path("/proc/self/statm"), resource.getrlimit(resource.RLIMIT_AS)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        seconds, room = request.pop("seconds"), request.pop("room")
        limit[0] = _peak() + room
        if pages.exists():
            size = int(pages.read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (size + room, hard))
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            [text], _ = render_jinja_template(**request)
            if len(text) > 4 * len(line) + 2**20:  # to tokenise it takes time and memory, too
                raise ValueError(f"the text has {len(text):,} characters")
            answer = json.dumps({"text": text})
        except MemoryError:
            os._exit(NO_ROOM)
        except Exception as error:  # jinja's errors, and those that a template raises itself
            answer = json.dumps({"error": f"does not take these messages: {str(error)[:1000]}"})
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(answer, flush=True)


def _peak() -> int:
    """The most bytes of memory that this process had."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _watch(limit: list[int]) -> None:
    """End the process where it takes more memory: macOS holds no limit on addresses."""
    while _peak() < limit[0]:
        time.sleep(0.02)
    os._exit(NO_ROOM)


if __name__ == "__main__":
    main()
