"""Questions to the server about a run of ten million samples, and beside perf report.

The run is the recording of real programs, imported by the server; then its samples are repeated, each time later,
through the store until there are ten million, and a counter with ten million values is added (enlarge_run.c).
Times are the server's own (Server-Timing). Cold: the server was started for this question; what SQLite reads is in
the kernel's cache, as it is after writing. perf and tacho are compared on the recording itself, not repeated.
"""
import atexit
import functools
import os
import random
import re
import statistics
import subprocess
import sys
import time

from measure import PERF, TACHO, heading, show, verdict
from recording import describe, folder, mixed

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.dirname(TACHO)
SAMPLES = POINTS = 10_000_000
WINDOWS = 25       # of each width
COLD_ROUNDS = 3    # the least disturbed counts
PATIENCE_S = 300   # for perf


def server_class():
    """The tests' server: the same program, started on a free port."""
    os.environ["TACHO"] = TACHO
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "e2e"))
    from server import Server  # pylint: disable=import-outside-toplevel
    return Server


class Asked:
    """A recording's run on a server that can be started anew."""

    def __init__(self, path, store):
        self.path = path
        self.said = describe(path)
        self.server = server_class()(data=os.path.join(folder(), store))
        atexit.register(self.server.close)
        self.server.start()
        self.uuid = self.end_ns = None

    def enlarge(self, *what):
        """Makes the run large while no server has the store; then one is started."""
        subprocess.run(["ninja", "-C", BUILD, "bench/enlarge-run"], check=True, stdout=subprocess.DEVNULL)
        said = subprocess.run([os.path.join(BUILD, "bench", "enlarge-run"), self.server.data, self.uuid,
                               *map(str, what)], check=True, stdout=subprocess.PIPE, text=True)
        print("  run      " + said.stdout.strip())
        self.server.start()

    def take_in(self):
        with open(self.path, "rb") as recording:
            run = self.server.post("import", recording, status=202, timeout=600,
                                   headers={"Content-Length": str(os.path.getsize(self.path))})
        return self.server.wait_run(run["uuid"], 600)["uuid"]

    def ask(self, question, uuid=None):
        """Milliseconds by the server's clock, and the answer."""
        answer = self.server.expect(200, "GET", "benchmark/%s/%s" % (uuid or self.uuid, question), timeout=120)
        ms = float(re.search(r"total;dur=([\d.]+)", answer.headers["Server-Timing"])[1])
        return ms, answer.json() if answer.headers["Content-Type"] == "application/json" else None

    def cold(self, question, uuid=None):
        """The first question of a server."""
        times = []
        for _ in range(COLD_ROUNDS):
            self.server.restart()
            times.append(self.ask(question, uuid)[0])
        return min(times)

    def window(self, part, seed):
        """A window of this share of the time."""
        length = self.end_ns * part
        start = random.Random(seed).random() * (self.end_ns - length)
        return "from=%d&to=%d" % (start, start + length)


class Large(Asked):
    """Ten million samples, and as many values of a counter."""

    def __init__(self):
        super().__init__(mixed(), "store")
        self.same, self.uuid = self.take_in(), self.take_in()
        self.ask("flame", self.same)
        self.server.stop()
        self.enlarge(SAMPLES, POINTS)
        self.ask("flame")  # what is worked out once is stored
        size = self.server.data_bytes() / 1e6
        self.end_ns = self.ask("timeline?pixels=1&counters=")[1]["to_ns"]
        print(f"  store    {size:.0f} MB, {self.end_ns / 1e9:.0f} s of time")


@functools.cache
def large():
    return Large()


def bench_flame_windows():
    """Flame graphs of windows."""
    heading("flame_windows: flame graphs of windows of a run of 10 million samples, asked of the server")
    run = large()
    tenth, whole = run.cold("flame?" + run.window(0.1, 0)), run.cold("flame")
    verdict("flame_windows", tenth <= 100, f"cold, a tenth: {tenth:.1f} ms (target: 100)")
    verdict("flame_windows", whole <= 600, f"cold, all of it: {whole:.1f} ms (target: 600)")
    worst = 0
    for part in (1, 0.5, 0.1, 0.01, 0.001):
        questions = ["flame?" + run.window(part, seed) for seed in range(WINDOWS)]
        times = [min(run.ask(q)[0] for _ in range(2)) for q in questions]
        show("warm", f"{part * 100:g} % of the time: median {statistics.median(times):.1f} ms, worst {max(times):.1f}")
        worst = max(worst, max(times))
    verdict("flame_windows", worst <= 30, f"warm, any window: {worst:.1f} ms (target: 30)")
    compare_with_perf(run)


BRUSHED = ("flame?mode=inverted", "flame?mode=ordered", "flame?cpus=0", "flame?frames=malloc", "functions",
           "functions?cpus=0", "heatmap", "heatmap?frames=malloc", "heatmap?counter=bench-points", "threads",
           "threads?frames=malloc", "histogram?weight=cpu-clock", "histogram?counter=bench-points",
           "timeline?samples=true")
# Asked by hand, or about two windows at once.
OTHERS = ("points?format=columns", "points?format=columns&cpus=0")


def bench_brush():
    """What the page asks when somebody has chosen a window."""
    heading("brush: other questions about windows of a run of 10 million samples")
    run = large()
    for part, target in ((0.1, 30), (1, 100)):
        worst, worst_of = 0, ""
        for what in BRUSHED + OTHERS:
            question = what + ("&" if "?" in what else "?") + run.window(part, 1)
            run.ask(question)
            ms = min(run.ask(question)[0] for _ in range(3))
            show("warm", f"{part * 100:g} % of the time, {what}: {ms:.1f} ms")
            if what in BRUSHED and ms > worst:
                worst, worst_of = ms, what
        verdict("brush", worst <= target, f"{part * 100:g} % of the time: {worst:.1f} ms (target: {target}), {worst_of}")


def compare_with_perf(run):
    """The same tenth of the same samples: of the recording as it was imported."""
    if not PERF:
        return
    first, last = run.said["first_ns"] / 1e9, run.said["last_ns"] / 1e9
    middle, length = (first + last) / 2, (last - first) / 10
    argv = [PERF, "report", "--stdio", "-g", "--no-inline", "-i", run.path, "--time",
            f"{middle:.9f},{middle + length:.9f}"]
    start = time.perf_counter()
    try:
        subprocess.run(argv, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       stdin=subprocess.DEVNULL, timeout=PATIENCE_S)
        more = ""
    except subprocess.TimeoutExpired:
        more = "more than "
    seconds = time.perf_counter() - start
    middle_ns, length_ns = (last - first) / 2 * 1e9, length * 1e9
    question = "flame?from=%d&to=%d" % (middle_ns, middle_ns + length_ns)
    cold = run.cold(question, run.same)
    warm = min(run.ask(question, run.same)[0] for _ in range(5))
    show("perf", f"{more}{seconds:.1f} s for a tenth of the recording of {run.said['samples']:,} samples: "
         "perf report --time -g --no-inline")
    show("tacho", f"{cold:.1f} ms cold, {warm:.1f} ms warm for the same tenth of it")
    verdict("flame_windows", seconds * 1000 / cold >= 100,
            f"{more}{seconds * 1000 / cold:.0f} times as fast cold, {seconds * 1000 / warm:.0f} warm (target: 100)")


def bench_timeline():
    """Ten million values of a counter on a screen."""
    heading("timeline: 10 million values of a counter as 2,000 pixels")
    run = large()
    worst = 0
    for part in (1, 0.5, 0.2, 0.1, 0.05, 0.01, 0.001):
        questions = ["timeline?format=columns&counters=bench-points&" + run.window(part, seed)
                     for seed in range(WINDOWS)]
        times = [min(run.ask(q)[0] for _ in range(2)) for q in questions]
        show("warm", f"{part * 100:g} % of the time: median {statistics.median(times):.1f} ms, worst {max(times):.1f}")
        worst = max(worst, max(times))
    cold = run.cold("timeline?format=columns&counters=bench-points")
    show("cold", f"all of it: {cold:.1f} ms")
    verdict("timeline", worst <= 10, f"any window: {worst:.1f} ms (target: 10)")
