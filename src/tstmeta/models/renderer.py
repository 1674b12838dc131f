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


def main(seconds: float, room: int) -> None:
    """Answer requests: each may compute for some seconds, and all share ``room`` bytes."""
    from transformers.utils.chat_template_utils import render_jinja_template

    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    threading.Thread(target=_watch, args=(room,), daemon=True).start()
    if (pages := Path("/proc/self/statm")).exists():
        most = int(pages.read_text().split()[0]) * resource.getpagesize() + room
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            [text], _ = render_jinja_template(**json.loads(line))
            if len(text) > 4 * len(line) + 2**20:  # to tokenise it takes time and memory, too
                raise ValueError(f"the text has {len(text):,} characters")
            answer = json.dumps({"text": text})
        except MemoryError:
            os._exit(NO_ROOM)
        except Exception as error:  # jinja's errors, and those that a template raises itself
            answer = json.dumps({"error": f"does not take these messages: {str(error)[:1000]}"})
        print(answer, flush=True)
        signal.setitimer(signal.ITIMER_PROF, 0)


def _watch(room: int) -> None:
    """End the process where its memory grows by more: macOS holds no limit on addresses."""
    unit = 1 if sys.platform == "darwin" else 1024
    peak = first = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while (peak - first) * unit < room:
        time.sleep(0.02)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    os._exit(NO_ROOM)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
