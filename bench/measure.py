"""What all benches share: running, measuring, saying what came out."""
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

TACHO = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "build/tacho"
PERF = shutil.which("perf")
missed = []


class Run:
    """A finished command: wall seconds, CPU seconds of it and its children, peak memory."""

    def __init__(self, argv, stderr=subprocess.DEVNULL):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=stderr)
        self.status = process.wait()
        self.wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def peak_mb(argv):
    """Peak memory of one run. By GNU time, because a child of ours begins with Python's own size."""
    if not shutil.which("time"):
        return float("nan")
    with tempfile.NamedTemporaryFile("r") as out:
        subprocess.run([shutil.which("time"), "-f", "%M", "-o", out.name] + argv, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return float(out.read().split()[-1]) / 1024


def heading(title):
    print(f"\n{title}\n" + "-" * len(title))


def verdict(name, ok, text):
    print(f"  {'ok    ' if ok else 'MISSED'} {text}")
    if not ok:
        missed.append(name)


def show(tool, text):
    print(f"  {tool:<8} {text}")


def best(argv, rounds=3):
    """The least disturbed of several runs."""
    return min((Run(argv) for _ in range(rounds)), key=lambda r: r.wall)
