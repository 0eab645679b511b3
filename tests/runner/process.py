"""Ending a process with all that it has started."""

import os
import signal
import time


def _stat(pid):
    """(parent, session) of a process, or None if it is gone or has ended."""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as text:
            fields = text.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else (int(fields[1]), int(fields[3]))


def _family(leader):
    """Processes of the leader's session, and all descendants of it, whatever session they made. The leader
    itself is known by its session, too: if it has ended, its number may be somebody else's by now."""
    known = {pid: _stat(pid) for pid in map(int, filter(str.isdigit, os.listdir("/proc")))}
    family = {pid for pid, stat in known.items() if stat and stat[1] == leader}
    grown = True
    while grown:
        more = {pid for pid, stat in known.items() if stat and stat[0] in family} - family
        family |= more
        grown = bool(more)
    return family - {os.getpid()}


def kill_tree(leader, seconds=10):
    """Kills the process, which must lead a session of its own, and all below it. A process may fork while
    it is looked for, so this repeats until none is left."""
    end = time.monotonic() + seconds
    while True:
        family = _family(leader)
        if not family:
            return
        for pid in family:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        if time.monotonic() > end:
            return
        time.sleep(0.02)
