"""Live data: how old it is when a client has it, and what a thousand clients cost."""
import bisect
import os
import resource
import select
import socket
import sys
import threading
import time

from measure import TACHO, heading, show, verdict

os.environ["TACHO"] = TACHO
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests", "e2e"))
from server import Server  # noqa: E402  (needs TACHO)

# Busy, with some stacks to tell apart.
BUSY = """
import sys, time
def leaf(n): return sum(range(n))
def one(n): return leaf(n) + leaf(n + 1)
def two(n): return one(n) + leaf(n)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    one(200); two(300); leaf(400)
"""
COUNTERS = ["task-clock", "cpu-clock", "page-faults", "minor-faults", "major-faults", "context-switches",
            "cpu-migrations", "alignment-faults", "emulation-faults", "dummy"]


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def cpu_s(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii") as text:
        fields = text.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def begin(server, seconds, **plan):
    run = server.run(server.session(), ["python3", "-c", BUSY, str(seconds)], **plan)["uuid"]
    server.wait_state(run, "running")
    return run


def start_of(run):
    """The zero of a run that has ended, on our own clock: both are this machine's. Of one that begins it may
    still be the time when its collector was started."""
    whole, _, ms = run["started_at"].rstrip("Z").partition(".")
    wall = time.mktime(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) - time.timezone + float("0." + ms)
    return wall - (time.time() - time.monotonic())


def bench_live_latency():
    heading("live: from the kernel to the client, 10 kHz of samples and 10 counters each 10 ms")
    seen = []
    with Server() as server:
        run = begin(server, 8, tool="both", events=COUNTERS, interval=0.01,
                    sample={"events": ["cpu-clock"], "frequency": 10000})
        for event in server.stream({"run": run}):
            seen.append((time.monotonic(), event.name, event.json()))
            if event.name == "end":
                break
        stored = server.wait_run(run)
    start, ages, sample_ages, before = start_of(stored), [], [], None
    for now, name, data in seen:
        if name == "counts" and before is not None:
            ages += [(now - start - t / 1e9) * 1000 for t in data["t"]]
        if name == "samples":
            # The oldest in it came just after the newest of the one before.
            if before is not None and data["gain"]:
                sample_ages.append((now - start - before) * 1000)
            before = data["to_ns"] / 1e9
    rate = stored["samples"] / 8
    show("tacho", f"{rate:,.0f} samples/s, {len(ages):,} counter values, "
                  f"{len(sample_ages)} updates of samples")
    for what, values in (("counters", ages), ("the oldest sample of an update", sample_ages)):
        p99 = percentile(values, 0.99)
        verdict("live_latency", p99 <= 100,
                f"{what}: median {percentile(values, 0.5):.0f} ms, p99 {p99:.0f} ms (target 100)")


class Crowd(threading.Thread):
    """Many clients in one thread, which only notes when who got how much."""

    def __init__(self, server, run, count):
        super().__init__(daemon=True)
        self.poll, self.sockets, self.bytes, self.last = select.epoll(), {}, {}, {}
        self.pauses, self.stop_at = [], None
        request = (f"GET /api/v1/live?run={run} HTTP/1.1\r\nHost: localhost\r\n"
                   f"Authorization: Bearer {server.token}\r\n\r\n").encode()
        for _ in range(count):
            s = socket.create_connection(("127.0.0.1", server.port))
            s.sendall(request)
            self.sockets[s.fileno()] = s
            self.bytes[s.fileno()] = 0
            self.poll.register(s.fileno(), select.EPOLLIN)

    def run(self):
        while time.monotonic() < self.stop_at:
            for fd, _ in self.poll.poll(0.1):
                got = len(self.sockets[fd].recv(1 << 18))
                now = time.monotonic()
                if fd in self.last:
                    self.pauses.append(now - self.last[fd])
                self.last[fd] = now
                self.bytes[fd] += got


def bench_live_clients(count=1000, seconds=10):
    heading(f"live: {count:,} clients on one run")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < count + 200:
        show("tacho", f"skipped: the limit of open files is {hard}")
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with Server() as server:
        run = begin(server, seconds + 10, tool="both", events=COUNTERS[:3], interval=0.05,
                    sample={"events": ["cpu-clock"], "frequency": 999})
        crowd = Crowd(server, run, count)
        crowd.stop_at = time.monotonic() + seconds + 2
        crowd.start()
        time.sleep(2)
        cpu, begun, ages = cpu_s(server.pid()), time.monotonic(), list(crowd.bytes.values())
        time.sleep(seconds - 0.5)
        cpu = (cpu_s(server.pid()) - cpu) / (time.monotonic() - begun) * 100
        rss = server.rss_bytes() / 1e6
        crowd.join()
        gained = [after - before for after, before in zip(crowd.bytes.values(), ages)]
        for s in crowd.sockets.values():
            s.close()
        server.request("POST", f"benchmark/{run}/cancel")
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    gained.sort()
    show("tacho", f"{len(crowd.pauses) / seconds / count:.1f} updates a second each, "
                  f"{sum(gained) / seconds / 1e6:.1f} MB/s in all, {rss:.0f} MB of memory")
    verdict("live_clients", cpu <= 50, f"server {cpu:.0f} % of a core (target 50)")
    least = bisect.bisect_left(gained, gained[len(gained) // 2] / 2)
    verdict("live_clients", least == 0,
            f"the slowest got {gained[0] / max(gained[-1], 1) * 100:.0f} % of what the fastest got; "
            f"{least} starve; longest pause {max(crowd.pauses):.2f} s")
