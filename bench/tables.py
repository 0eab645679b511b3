"""Questions about the rows of a table of tracepoint hits: five million, with the fields of sched_switch.

The table is the recording of a program whose threads hand tokens round, imported by the server; then its rows are
repeated, each time later, through the store until there are five million (enlarge_run.c). Times are the server's own
(Server-Timing), CPU time is that of its process. The recording itself, not repeated, is what `perf script` and awk
get for the same sum.
"""
import functools
import os
import re
import statistics
import subprocess
import time

from measure import PERF, TACHO, heading, show, verdict
from questions import Asked, BUILD
from recording import describe, folder
from serving import server_cpu_s, take_in

TABLE = "sched:sched_switch"  # time, thread, CPU, stack, and seven fields, two of them texts
ROWS = 5_000_000
RECORDED = 1_000_000   # rows in the recording, at least
WINDOWS = 15           # of each width
ROUNDS = 5             # the least disturbed counts
CPU_ROUNDS = 20        # the kernel counts CPU time in hundredths of a second
LIMIT_MIB = 256        # the cache's, as it is without a setting


def build(name):
    subprocess.run(["ninja", "-C", BUILD, "bench/" + name], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(BUILD, "bench", name)


@functools.cache
def switching():
    """A recording of every switch between the threads of a program, with stacks."""
    path, seconds = os.path.join(folder(), "switches.data"), 4
    program = build("switches")
    while True:
        subprocess.run([TACHO, "record", "-q", "-e", TABLE, "-c", "1", "-g", "-m", "64M", "-o", path, "--", program,
                        str(seconds)], check=True)
        said = describe(path)
        if said["samples"] >= RECORDED:
            return path
        seconds = int(seconds * 1.2 * RECORDED / said["samples"]) + 1


class Table(Asked):
    """The large table on a server of its own."""

    def __init__(self):
        super().__init__(switching(), "tables")
        self.same, self.uuid = self.take_in(), self.take_in()
        self.server.stop()
        self.enlarge(TABLE, ROWS)
        self.end_ns = self.tables()["last_ns"] + 1

    def tables(self):
        return next(t for t in self.ask("table")[1]["tables"] if t["name"] == TABLE)

    def rows(self, question, uuid=None):
        """Milliseconds of a question about the table."""
        return self.ask("table/%s%s" % (TABLE, question), uuid)[0]

    def warm(self, question, target):
        """The slowest of any windows of it, each asked several times."""
        # The first one decodes the columns, the next may wait for columns of others to go.
        for _ in range(2):
            self.rows(question)
        worst, before = 0, server_cpu_s(self.server.pid())
        for _ in range(CPU_ROUNDS):
            self.rows(question)
        cpu_ms = (server_cpu_s(self.server.pid()) - before) / CPU_ROUNDS * 1e3
        for part in (1, 0.5, 0.1, 0.01):
            times = [min(self.rows(question + ("&" if "?" in question else "?") + self.window(part, seed))
                         for _ in range(ROUNDS))
                     for seed in range(WINDOWS if part < 1 else 1)]
            show("warm", f"{part * 100:g} % of the time: median {statistics.median(times):.1f} ms, worst {max(times):.1f}")
            worst = max(worst, max(times))
        verdict("tables", worst <= target, f"{question}: {worst:.1f} ms (target: {target}), "
                f"CPU {cpu_ms:.0f} ms for all of it")

    def peak_mib(self):
        with open(f"/proc/{self.server.pid()}/status", encoding="ascii") as f:
            return int(re.search(r"VmHWM:\s+(\d+)", f.read())[1]) / 1024


@functools.cache
def large():
    return Table()


def bench_table_import():
    """A recording of tracepoint hits is taken in."""
    heading("table_import: hits of sched_switch with their fields and stacks are taken in by the server")
    path = switching()
    samples, size = describe(path)["samples"], os.path.getsize(path)
    cpu, taken = min(take_in(path, samples, "table_import") for _ in range(3))
    verdict("table_import", samples / cpu >= 0.8e6, f"{samples / cpu / 1e6:.2f} M rows/s a core (target: 0.8 M)")
    verdict("table_import", taken / samples <= 14, f"{taken / samples:.1f} bytes a row (target: 14), "
            f"{100 * taken / size:.1f} % of the perf.data")


def bench_tables():
    """What people ask of the rows."""
    heading(f"tables: questions about {ROWS:,} hits of sched_switch, asked of the server")
    run = large()
    show("cold", f"sum by one column: {run.cold(f'table/{TABLE}/group?by=prev_comm&value=next_pid'):.1f} ms, "
         f"first page: {run.cold(f'table/{TABLE}?sort=next_pid&order=desc'):.1f} ms")
    run.server.restart()
    run.warm("/group?by=prev_comm&value=next_prio", 60)
    run.warm("/group?by=prev_comm&value=next_pid&where=prev_state%3D%3D1%26%26next_pid%3E0", 60)
    run.warm("/group?by=prev_comm,next_comm,cpu&value=next_pid", 250)
    run.warm("?sort=next_pid&order=desc", 100)
    run.warm("?sort=next_comm", 100)
    run.warm("?sort=next_pid&order=desc&offset=%d" % (ROWS * 2 // 5), 400)
    run.warm("?sort=time&offset=%d" % (ROWS // 2), 400)
    run.warm("/histogram?value=next_pid", 250)
    run.warm("/heatmap?value=next_pid", 250)
    run.warm("/flame?weight=next_prio", 250)
    peak = run.peak_mib()
    verdict("tables", peak <= LIMIT_MIB, f"peak memory of the server {peak:.0f} MiB (the cache's limit: {LIMIT_MIB})")
    compare_with_perf(run)


def compare_with_perf(run):
    """A sum by one field, of the recording as it was imported."""
    if not PERF:
        return
    awk = ('{ for (i = 1; i <= NF; i++) { if ($i ~ /^prev_comm=/) key = $i; '
           'if ($i ~ /^next_prio=/) { split($i, part, "="); sum[key] += part[2]; rows[key]++ } } } '
           'END { for (k in sum) print k, rows[k], sum[k] }')
    start = time.perf_counter()
    text = subprocess.Popen([PERF, "script", "-f", "-i", run.path, "-F", "trace"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)
    subprocess.run(["awk", awk], stdin=text.stdout, stdout=subprocess.DEVNULL, check=True)
    text.wait()
    seconds = time.perf_counter() - start
    question = f"table/{TABLE}/group?by=prev_comm&value=next_prio"
    cold = run.cold(question, run.same)
    warm = min(run.ask(question, run.same)[0] for _ in range(5))
    show("perf", f"{seconds:.1f} s for one sum of the recording: perf script -F trace | awk")
    show("tacho", f"{cold:.1f} ms cold, {warm:.1f} ms warm for the same")
    verdict("tables", seconds * 1000 / cold >= 20, f"{seconds * 1000 / cold:.0f} times as fast cold, "
            f"{seconds * 1000 / warm:.0f} warm (target: 20)")
