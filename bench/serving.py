"""The server beside what people type today: how soon it answers, what it takes when nothing happens,
what a run through it costs the workload, how fast a recording is taken in."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

from measure import TACHO, heading, show, verdict
from recording import describe, mixed

os.environ["TACHO"] = TACHO
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests", "e2e"))
from server import Server  # noqa: E402  (needs TACHO)

# A fixed amount of work, with stacks of some depth; prints how long it took.
WORK = r"""#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define STEP(n, next) __attribute__((noinline)) static unsigned f##n(unsigned x) \
	{ unsigned r = next; __asm__ volatile("" : "+r"(r)); return r + n; }
STEP(0, x * 2654435761u ^ x >> 7)
STEP(1, f0(x) + f0(x + 1)) STEP(2, f1(x) ^ f1(x + 2)) STEP(3, f2(x) + f2(x + 3)) STEP(4, f3(x) ^ f3(x + 4))
STEP(5, f4(x) + f4(x + 5)) STEP(6, f5(x) ^ f5(x + 6)) STEP(7, f6(x) + f6(x + 7)) STEP(8, f7(x) ^ f7(x + 8))
int main(int argc, char **argv)
{
	struct timespec a, b;
	unsigned sum = 0;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < atoi(argv[1]); i++)
		sum += f8(sum + (unsigned)i);
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%.6f\n", (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9);
	return sum == 1;
}
"""
TURNS = 1_500_000


def bench_server_idle():
    heading("server: start and idle")
    starts = []
    for _ in range(5):
        server = Server()
        begin = time.perf_counter()
        server.start()
        starts.append((time.perf_counter() - begin) * 1000)
        server.stop()
        server.close()
    verdict("server_idle", min(starts) <= 100, f"start to first answer {min(starts):.0f} ms (target 100)")
    server = Server().start()
    session = server.session()
    for _ in range(3):
        run = server.run(session, "sleep 0.2", tool="both", events=["task-clock"])
        server.wait_run(run["uuid"])
        server.get(f"benchmark/{run['uuid']}/flame")
    time.sleep(5)
    before = server.wakeups()
    time.sleep(10)
    rate = (server.wakeups() - before) / 10
    size = server.rss_bytes() / 2**20
    verdict("server_idle", size <= 30, f"idle after three runs: {size:.1f} MB (target 30)")
    verdict("server_idle", rate <= 1, f"wake-ups {rate:.1f} a second (target 1)")
    server.stop()
    server.close()


def built(folder):
    source, program = os.path.join(folder, "work.c"), os.path.join(folder, "work")
    with open(source, "w", encoding="ascii") as f:
        f.write(WORK)
    subprocess.run(["gcc", "-O1", "-fno-omit-frame-pointer", "-o", program, source], check=True)
    return program


def alone(argv):
    out = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    return float(out.split()[-1])


def through_server(server, session, program, busy):
    run = server.run(session, [program, str(TURNS)], tool="record", exclusive=not busy,
                     sample={"events": ["cpu-clock"], "frequency": 4999, "callgraph": "fp"})
    run = server.wait_run(run["uuid"])
    log = server.request("GET", f"benchmark/{run['uuid']}.log").text
    return float(log.split()[-1]), run


def compare(folder, rounds, busy):
    """Rounds in turn, so that a disturbance meets all of them."""
    program, server = built(folder), Server().start()
    session = server.session()
    times, run = {"bare": [], "record": [], "server": []}, None
    hogs = [subprocess.Popen([program, "2000000000"], stdout=subprocess.DEVNULL)
            for _ in range(os.cpu_count() if busy else 0)]
    try:
        for _ in range(rounds):
            times["bare"].append(alone([program, str(TURNS)]))
            times["record"].append(alone([TACHO, "record", "-q", "-F", "4999", "-g", "-e", "cpu-clock", "-o",
                                          os.path.join(folder, "perf.data"), "--", program, str(TURNS)]))
            took, run = through_server(server, session, program, busy)
            times["server"].append(took)
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
        server.stop()
        server.close()
    return {name: statistics.median(values) for name, values in times.items()}, run


def bench_server_overhead():
    for busy in (False, True):
        heading("server: what a run costs the workload, 4,999 Hz with stacks, "
                + ("all cores busy with others" if busy else "a core free"))
        with tempfile.TemporaryDirectory(prefix="tacho-bench-") as folder:
            median, run = compare(folder, 7, busy)
        slow = {name: 100 * (median[name] / median["bare"] - 1) for name in ("record", "server")}
        ledger = run["ledger"]
        show("bare", f"{median['bare']:.3f} s")
        show("record", f"{median['record']:.3f} s, slowed by {slow['record']:.1f} %")
        show("server", f"{median['server']:.3f} s, slowed by {slow['server']:.1f} %; {ledger['samples']:,} samples, "
             f"lost {ledger['lost']}, dropped {ledger['dropped']}, tacho's own CPU "
             f"{ledger['collector_cpu_ns'] / 1e9:.2f} s")
        # Two percent is what two medians of the same thing differ by on a machine with two cores.
        if not busy:
            verdict("server_overhead", slow["server"] <= slow["record"] + 2,
                    f"{slow['server'] - slow['record']:+.1f} points beside tacho record (target 0, noise 2)")
        verdict("server_overhead", ledger["dropped"] == 0, "nothing was dropped")


def take_in(path, samples, bench="server_import"):
    """One import into a server of its own: CPU seconds and bytes on the disk."""
    with Server() as server:
        session, empty, before = server.session(), server.data_bytes(), server_cpu_s(server.pid())
        begin = time.perf_counter()
        with open(path, "rb") as f:
            run = server.post(f"import?session={session}&name=mix", f, timeout=300,
                              headers={"Content-Length": str(os.path.getsize(path))})
        uploaded = time.perf_counter() - begin
        run = server.wait_run(run["uuid"], seconds=300)
        wall = time.perf_counter() - begin
        collector, served = run["ledger"]["collector_cpu_ns"] / 1e9, server_cpu_s(server.pid()) - before
        wait_for_tidy(server)
        taken = server.data_bytes() - empty
    show("tacho", f"{wall:.2f} s with {uploaded:.2f} s of uploading, CPU {collector:.2f} s of the collector, "
                  f"{served:.2f} s of the server")
    verdict(bench, run["samples"] == samples, f"{run['samples']:,} samples are in the store")
    return collector + served, taken


def bench_server_import(rounds=3):
    heading(f"server: a recording of real programs is taken in, the least disturbed of {rounds} rounds")
    path = mixed()
    samples, size = describe(path)["samples"], os.path.getsize(path)
    cpu, taken = min(take_in(path, samples) for _ in range(rounds))
    verdict("server_import", samples / cpu >= 1e6, f"{samples / cpu / 1e6:.2f} M samples/s a core (target 1 M)")
    show("disk", f"{taken / 1e6:.1f} MB in all, {taken / samples:.1f} bytes a sample with the dictionaries")
    verdict("server_import", taken <= size / 3, f"{100 * taken / size:.0f} % of the perf.data (target 33 %)")


def server_cpu_s(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_tidy(server):
    """Until the room that it takes stays the same for two seconds."""
    last, since, end = None, time.monotonic(), time.monotonic() + 60
    while time.monotonic() < end and time.monotonic() < since + 2:
        now = server.data_bytes()
        if now != last:
            last, since = now, time.monotonic()
        time.sleep(0.2)
