"""The live stream of a running program: whoever comes early, late or back again sees the same graph."""

import collections
import shutil
import subprocess
import tempfile
import threading
import time

from helpers import LIMIT_S, Case, eventually
from server import ServerCase

# Some functions, some output, until a file is there.
WORK = ["python3", "-c", """
import os, sys, time
def one(): return sum(range(1500))
def two(): return sum(range(3000))
lines = 0
while not os.path.exists(sys.argv[1]):
    one(); two()
    if time.monotonic() * 20 > lines:
        lines = int(time.monotonic() * 20) + 1
        print("line ä", flush=True)
"""]


class Client(threading.Thread):
    """Follows the messages of one run by the rules, up to an event of this name, or until a function of the client
    says so."""

    def __init__(self, server, run, until="end", back=None):
        super().__init__(daemon=True)
        self.server, self.uuid = server, run
        self.until = until if callable(until) else lambda client: client.events[-1] == until
        self.last_id = back.at if back else None
        self.forget()
        if back:
            self.names, self.nodes = list(back.names), list(back.nodes)
            self.event_names, self.gain = list(back.event_names), back.gain.copy()
        self.states, self.events, self.snapshots = [], [], 0
        self.text, self.at = "", None
        self.start()

    def forget(self):
        self.names, self.nodes, self.event_names = [None], [None], []
        self.gain, self.counters = collections.Counter(), {}
        self.counted, self.intervals, self.text = collections.Counter(), collections.Counter(), ""

    def run(self):
        for event in self.server.stream({"run": self.uuid}, last_id=self.last_id):
            self.events.append(event.name)
            if event.id not in (None, "0"):
                self.at = event.id
            self.take(event.name, event.json())
            if event.name == "end" or self.until(self):
                return

    def take(self, name, data):
        if name == "snapshot":
            assert data == {"topic": "run/" + self.uuid}, data
            self.snapshots += 1
            self.forget()
        elif name == "state":
            self.states.append(data["state"])
        elif name == "samples":
            self.names += data["names"]
            self.nodes += data["nodes"]
            self.event_names += data["events"]
            for event, node, samples, weight in data["gain"]:
                assert node == 0 or self.nodes[node][0] < node and self.names[self.nodes[node][1]]
                assert samples > 0 and weight > 0 and self.event_names[event]
                self.gain[self.path(node)] += samples
        elif name == "counts":
            for counter in data["counters"]:
                self.counters[counter["id"]] = counter
            for t, number, value, duration in zip(data["t"], data["id"], data["value"], data["duration"]):
                assert t >= 0 and number in self.counters
                self.counted[self.counters[number]["name"]] += value
                self.intervals[self.counters[number]["name"]] += duration
        elif name == "output":
            self.text += data["text"]
        if name in ("samples", "counts", "output", "ledger", "note"):
            assert data["run"] == self.uuid, data

    def path(self, node):
        parts = []
        while node:
            parts.append(self.names[self.nodes[node][1]][0])
            node = self.nodes[node][0]
        return tuple(parts)

    def finish(self):
        self.join(LIMIT_S)
        assert not self.is_alive(), self.events[-5:]
        return self


class Live(ServerCase):
    def begin(self, **plan):
        session = self.server.session()
        return self.server.run(session, WORK + [self.path("enough")], **plan)["uuid"]

    def end(self):
        self.write("enough", "")

    def test_early_and_late(self):
        run = self.begin(tool="both", events=["task-clock"], interval=0.05,
                         sample={"events": ["cpu-clock"], "frequency": 499})
        early = Client(self.server, run)
        self.assertTrue(eventually(lambda: sum(early.gain.values()) > 100 and early.text.count("\n") > 10 and
                                   early.events.count("samples") > 10))
        late = Client(self.server, run)
        self.assertTrue(eventually(lambda: late.events.count("samples") > 5))
        self.end()
        early.finish()
        late.finish()
        stored = self.server.wait_run(run)
        self.assertEqual(stored["state"], "done", stored)
        # All of it, not some of it: what was told is what was stored.
        self.assertEqual(sum(early.gain.values()), stored["samples"])
        self.assertEqual(early.gain, late.gain)
        self.assertEqual(early.counted, late.counted)
        self.assertGreater(early.counted["task-clock"], 0)
        self.assertEqual(early.text, "line ä\n" * early.text.count("\n"))
        self.assertEqual(early.text, late.text)
        self.assertEqual(early.states[-1], "done")
        self.assertEqual(late.states[-1], "done")
        self.assertEqual(late.snapshots, 1)

    def test_away_at_the_end(self):
        """A client without a connection when a run ends gets all that it lacks, or is told that some of it is gone."""
        run = self.begin(tool="both", events=["task-clock"], interval=0.05,
                         sample={"events": ["cpu-clock"], "frequency": 499})
        before = Client(self.server, run, until=lambda client: client.at and client.gain).finish()
        self.end()
        stored = self.server.wait_run(run)

        def comes_back():
            after = Client(self.server, run, back=before).finish()
            self.assertEqual(after.events[-1], "end")
            self.assertEqual(after.states[-1], "done")
            if "missed" not in after.events:
                self.assertEqual(sum(after.gain.values()), stored["samples"])
                return False
            self.assertNotIn("samples", after.events)
            return True

        # Messages are kept until the last connection that watched the run is gone.
        self.assertTrue(eventually(comes_back))
        # A client that has seen nothing misses nothing.
        self.assertEqual(set(Client(self.server, run).finish().events), {"state", "end"})

    def test_names_are_known_from_the_start(self):
        """The first counters come before the kernel's names are read: stacks wait for those."""
        self.end()
        for interval in (0.03, 0.06, 0.09):
            run = self.begin(tool="both", events=["task-clock"], interval=interval,
                             sample={"events": ["cpu-clock"], "frequency": 1999})
            client = Client(self.server, run).finish()
            told = {name for path in client.gain for name in path}
            folded = self.server.get_bytes("benchmark/%s.folded" % run).decode()
            stored = {name for line in folded.splitlines() for name in line.rpartition(" ")[0].split(";")}
            self.assertEqual(told - stored, set())

    def test_past_of_samples(self):
        run = self.begin(tool="record", sample={"events": ["cpu-clock"], "frequency": 499})
        self.server.wait_state(run, "running")
        # Nobody watches until there is something that was missed.
        while not any(self.server.get("benchmark/%s/timeline" % run, {"samples": 1})["samples"]):
            time.sleep(0.05)
        # They are stored, but may be told to watchers a moment later.
        told = eventually(lambda: self.server.snapshot_of_samples(run))
        self.end()
        # When it happened is told with how much it is.
        self.assertEqual(told["rates"]["from_ns"], 0)
        steps, = told["rates"]["samples"]
        self.assertEqual(sum(steps), sum(samples for _, _, samples, _ in told["gain"]))
        self.assertLess((len(steps) - 1) * told["rates"]["step_ns"], told["to_ns"])
        self.assertEqual(self.server.wait_run(run)["state"], "done")

    def test_back_again(self):
        run = self.begin(tool="record", sample={"events": ["cpu-clock"], "frequency": 499})
        whole = Client(self.server, run)
        first = Client(self.server, run, until="samples").finish()
        self.server.wait_state(run, "running")
        again = Client(self.server, run, back=first)
        self.assertTrue(eventually(lambda: again.events.count("samples") > 3))
        self.end()
        whole.finish()
        again.finish()
        self.assertEqual(again.gain, whole.gain)

    def test_after_the_end(self):
        self.end()
        run = self.begin(tool="stat", events=["task-clock"])
        self.server.wait_run(run)
        late = Client(self.server, run, until="state").finish()
        self.assertEqual(late.states, ["done"])
        # And there is the end, of the topic and of the stream; also when the server has forgotten it.
        for _ in range(2):
            events = [event.name for event in self.server.stream({"run": run}, seconds=60)]
            self.assertEqual(events[-1], "end")
            self.assertIn("state", events)
            port = self.server.port
            self.server.restart()
            self.assertEqual(self.server.port, port)

    def test_sessions(self):
        """Whoever watches all sessions is told of each, whoever has changed it."""
        first = self.server.session("first")
        stream = self.server.stream({"sessions": "1"})
        seen = []

        def until(name, **wanted):
            for event in stream:
                seen.append((event.name, event.json()))
                if event.name == name and wanted.items() <= event.json().items():
                    return event.json()
            self.fail("%s %r did not come: %r" % (name, wanted, seen))

        def rename():
            eventually(lambda: b"tacho_live_streams 1\n" in self.server.get_bytes("/metrics"))
            self.server.patch("session/" + first, {"title": "renamed"})

        # The stream begins when it is read.
        told = threading.Thread(target=rename)
        told.start()
        self.assertEqual(until("session", title="renamed"),
                         next(s for s in self.server.get("sessions")["sessions"] if s["uuid"] == first))
        told.join()
        second = self.server.session("second")
        self.assertEqual(until("session", uuid=second)["runs"], 0)
        run = self.server.run(second, "true")["uuid"]
        self.assertEqual(until("session", uuid=second)["runs"], 1)
        self.server.wait_run(run)
        self.server.delete("benchmark/" + run)
        self.assertEqual(until("session", uuid=second)["runs"], 0)
        self.server.delete("session/" + second)
        self.assertEqual(until("session_removed"), {"uuid": second})
        self.assertEqual({name for name, _ in seen}, {"session", "session_removed"})

    def test_queue(self):
        session = self.server.session()
        first = self.server.run(session, ["sleep", "60"], tool="stat", events=["task-clock"])["uuid"]
        second = self.server.run(session, ["true"], tool="stat", events=["task-clock"])["uuid"]
        seen, wanted = [], {"running": [first], "queued": [second]}
        for event in self.server.stream({"queue": "1", "session": session}):
            if event.name == "queue":
                if event.json() == wanted and wanted not in seen:
                    self.server.post("benchmark/%s/cancel" % first)
                seen.append(event.json())
            if event.name == "state" and event.json()["uuid"] == second and \
                    event.json()["state"] == "done":
                break
        self.assertIn(wanted, seen)


class LiveTls(Live):
    """The same through TLS: the stream does not go through other code than its bytes do."""

    def setUp(self):
        Case.setUp(self)
        self.folder = tempfile.mkdtemp(prefix="tacho-tls-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        cert, key = self.folder + "/cert.pem", self.folder + "/key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-keyout", key, "-out", cert], check=True, capture_output=True)
        self.server = self.new_server("--tls-cert", cert, "--tls-key", key)
        self.assertTrue(self.server.tls)
