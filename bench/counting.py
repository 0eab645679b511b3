"""Counting: `tacho stat` and `tacho list` beside perf's."""
import os
import re
import statistics
import subprocess
import tempfile

from measure import PERF, TACHO, Run, heading, peak_mb, show, verdict


def bench_start():
    """What counting adds to a program that does nothing."""
    heading("start: count /bin/true 200 times")
    rounds, count = 5, 200
    commands = {"bare": ["/bin/true"], "tacho": [TACHO, "stat", "/bin/true"]}
    if PERF:
        commands["perf"] = [PERF, "stat", "/bin/true"]
    best, cpu = {}, {}
    for _ in range(rounds):
        for tool, argv in commands.items():
            runs = [Run(argv) for _ in range(count // rounds)]
            wall = statistics.median(r.wall for r in runs)
            best[tool] = min(best.get(tool, 9e9), wall)
            cpu[tool] = min(cpu.get(tool, 9e9), statistics.mean(r.cpu for r in runs))
    added = {tool: (best[tool] - best["bare"]) * 1e3 for tool in best}
    for tool in commands:
        show(tool, f"{best[tool] * 1e3:6.2f} ms, adds {added[tool]:5.2f} ms; CPU {cpu[tool] * 1e3:5.2f} ms; "
             f"peak {peak_mb(commands[tool]):.1f} MB")
    if PERF:
        verdict("start", added["tacho"] <= added["perf"] / 3,
                f"adds {added['tacho'] / added['perf']:.2f} of what perf adds (target: a third)")


SIX = "task-clock,page-faults,context-switches,cpu-migrations,minor-faults,major-faults"


def intervals(path):
    times = []
    for line in open(path, encoding="utf-8"):
        match = re.match(r"\s*(\d+\.\d+),", line)
        if match and (not times or float(match[1]) != times[-1]):
            times.append(float(match[1]))
    return times


def bench_interval():
    """Intervals of a millisecond, around a program that sleeps."""
    heading("interval: -I 1 with 6 software events around sleep 10")
    cpu = {}
    for tool, program in (("tacho", TACHO), ("perf", PERF)):
        if not program:
            continue
        with tempfile.NamedTemporaryFile() as out:
            argv = [program, "stat", "-I", "1", "-x,", "-e", SIX, "-o", out.name, "sleep"]
            run = Run(argv + ["10"])
            times = intervals(out.name)
            peak = peak_mb(argv + ["0.2"])
        gaps = sorted(b - a for a, b in zip(times, times[1:]))
        p99 = gaps[int(len(gaps) * 0.99)] * 1e3
        cpu[tool] = run.cpu
        show(tool, f"{len(times)} intervals, p99 {p99:.3f} ms, CPU {run.cpu:.2f} s, peak {peak:.1f} MB")
        if tool == "tacho":
            verdict("interval", len(times) >= 9950, f"{len(times)} intervals (target: 9,950)")
            verdict("interval", p99 <= 1.1, f"p99 {p99:.3f} ms (target: 1.1)")
    if PERF:
        verdict("interval", cpu["tacho"] <= cpu["perf"],
                f"{cpu['tacho'] / cpu['perf']:.2f} of perf's CPU time (target: 1)")


THREADS_C = r"""
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
/* Every thread does the same fixed work; the time that it all takes is printed. */
static volatile uint64_t sink;
static void *work(void *arg)
{
	uint64_t x = (uintptr_t)arg + 1;
	for (uint64_t i = 0; i < 20000000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	sink = x;
	return NULL;
}
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 500;
	pthread_t *t = calloc(n, sizeof(*t));
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, work, (void *)(uintptr_t)i);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%.6f\n", b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9);
}
"""


def bench_threads():
    """A program with many busy threads must not be slowed by the watching."""
    heading("threads: -I 1 around 500 busy threads")
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "threads")
        source = program + ".c"
        with open(source, "w", encoding="ascii") as f:
            f.write(THREADS_C)
        subprocess.run(["cc", "-O2", "-pthread", "-o", program, source], check=True)

        def seconds(prefix):
            out = subprocess.run(prefix + [program, "500"], capture_output=True, text=True, check=True)
            return float(out.stdout), out.stderr

        options = ["stat", "-I", "1", "-x,", "-e", SIX]
        bare, watched, note = [], [], ""
        for _ in range(4):
            bare.append(seconds([])[0])
            taken, text = seconds([TACHO] + options)
            watched.append(taken)
            note = next((line for line in text.splitlines() if line.startswith("#")), note)
        slowdown = min(watched) / min(bare) - 1
        show("bare", f"{min(bare):.3f} s")
        show("tacho", f"{min(watched):.3f} s; {note}")
        verdict("threads", slowdown <= 0.05, f"slowed by {slowdown * 100:.1f} % (target: 5)")
        verdict("threads", "stretched" in note or "missed" in note, "lateness is reported")
        if PERF:
            taken = seconds([PERF] + options)[0]
            show("perf", f"{taken:.3f} s, slowed by {(taken / min(bare) - 1) * 100:.0f} %")


def bench_tracepoints():
    """Hundreds of tracepoints at once, and nothing left to wait for."""
    heading("tracepoints: -e 'syscalls:sys_enter_*' around dd, 100k blocks")
    if not os.path.isdir("/sys/kernel/tracing/events/syscalls"):
        print("  SKIP: no syscall tracepoints here (tacho doctor --fix mounts tracefs)")
        return
    options = ["stat", "-x,", "-e", "syscalls:sys_enter_*"]
    work = ["dd", "if=/dev/zero", "of=/dev/null", "bs=512", "count=100k"]
    for label in ("first", "second"):
        run = Run([TACHO] + options + work)
        show("tacho", f"{run.wall:.3f} s, CPU {run.cpu:.2f} s ({label} run)")
        verdict("tracepoints", run.wall <= 1, f"{run.wall:.3f} s (target: 1)")
    show("tacho", f"peak {peak_mb([TACHO] + options + work):.1f} MB")
    if PERF:
        run = Run([PERF] + options + work)
        show("perf", f"{run.wall:.3f} s, CPU {run.cpu:.2f} s")


def bench_counts():
    """The same counts as perf's, within perf's own spread."""
    heading("counts: -x, -e task-clock,page-faults,context-switches,cpu-migrations, 20 runs each")
    events = ["task-clock", "page-faults", "context-switches", "cpu-migrations"]
    work = ["sh", "-c", "for i in 1 2 3 4 5; do ls /usr/lib >/dev/null; done"]
    values = {}
    for _ in range(20):
        for tool, program in (("perf", PERF), ("tacho", TACHO)):
            if not program:
                continue
            out = subprocess.run([program, "stat", "-x,", "-e", ",".join(events)] + work,
                                 capture_output=True, text=True, check=True).stderr
            for line in out.splitlines():
                cells = line.split(",")
                if len(cells) >= 5 and cells[2] in events:
                    values.setdefault((tool, cells[2]), []).append(float(cells[0]))
                    values.setdefault((tool, "columns"), []).append(len(cells))
    for event in events:
        for tool in ("perf", "tacho"):
            seen = values.get((tool, event))
            if seen:
                show(tool, f"{event:<18} median {statistics.median(seen):9.2f}, "
                     f"from {min(seen):.2f} to {max(seen):.2f}")
        if PERF:
            theirs = values[("perf", event)]
            ours = statistics.median(values[("tacho", event)])
            verdict("counts", min(theirs) <= ours <= max(theirs), f"{event} lies in perf's range")
    if PERF:
        verdict("counts", set(values[("perf", "columns")]) == set(values[("tacho", "columns")]),
                "as many columns as perf")


def bench_list():
    """Every event of every CPU, and a quick look at one group."""
    heading("list")
    every = [TACHO, "list", "--uarch", "all", "--json"]
    runs = [Run(every) for _ in range(3)]
    best = min(runs, key=lambda r: r.wall)
    verdict("list", best.wall < 1, f"--uarch all --json: {best.wall:.3f} s, peak {peak_mb(every):.1f} MB (target: 1 s)")
    runs = [Run([TACHO, "list", "sched:*"]) for _ in range(5)]
    best = min(runs, key=lambda r: r.wall)
    verdict("list", best.wall < 0.05, f"'sched:*': {best.wall * 1e3:.1f} ms (target: 50)")
    if PERF:
        best = min((Run([PERF, "list", "sched:*"]) for _ in range(3)), key=lambda r: r.wall)
        show("perf", f"'sched:*': {best.wall * 1e3:.1f} ms")
