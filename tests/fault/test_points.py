"""Every call that opens or changes a file of the data directory fails once, one after the other, in the server and
its collectors: at the start, while runs are measured, imported, downloaded, deleted and tidied up, and at the end.

After each: what could not be done said so, nobody crashed, no program is left, and a server to which nothing
happens opens the store, which is sound and has every run as it was when it was reported done.

A point is the n-th call of a name, as tests/tools/fail_once.c names them. TACHO_POINTS=all tries all of them, else
some that TACHO_SEED chooses, and those that were a fault once."""

import collections
import concurrent.futures
import errno
import hashlib
import os
import re
import shutil
import sqlite3
import struct
import sys
import threading
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from helpers import FOR_EVER_MS, TACHO, Case, dice, eventually, load  # noqa: E402
from server import ENDED, Server  # noqa: E402
from test_runs import processes  # noqa: E402

LIBRARY = os.path.join(os.path.dirname(TACHO), "tests", "fail_once.so")
ALL = os.environ.get("TACHO_POINTS") == "all"
# So many of those that there are, in `make test`.
SOME = 24
# They mostly wait.
JOBS = 4 if ALL else 3
# struct state of fail_once.c
STATE = struct.Struct("IIIi240s")
# What a disk or a process without descriptors says; which of them depends on the number of the call.
CODES = ((re.compile("open|mkostemp"), (errno.EMFILE, errno.EIO)),
         (re.compile("write|sendfile|copy|fallocate|mkdir|rename|link"), (errno.ENOSPC, errno.EIO)),
         (re.compile(""), (errno.EIO,)))
# What may be in a data directory when no server has it.
FILES = re.compile(r"tacho\.db|database-id|server\.lock|reserve|raw/[0-9a-f-]{36}\.data")

# Calls for a download or an upload: somebody waits for what they do, and has to be told.
LOUD = re.compile(r"p?write(64)? (export-|#|upload/)")

Point = collections.namedtuple("Point", "name at")


def code_of(point):
    codes = next(codes for pattern, codes in CODES if pattern.match(point.name))
    return codes[point.at % len(codes)]


class Scenario:
    """A life of a server with one fault in it."""

    def __init__(self, recording, point=None):
        self.recording, self.point = recording, point
        self.server = Server()
        self.sentences, self.session, self.reported = [], None, {}
        self.state, self.log = (os.path.join(self.server.root, name) for name in ("state", "log"))
        with open(self.state, "wb") as out:
            out.write(STATE.pack(0, point.at, 0, code_of(point), point.name.encode()) if point
                      else bytes(STATE.size))
        if not point:
            open(self.log, "w").close()
        self.program = shutil.copy(load()[0], os.path.join(self.server.root, "program"))
        # Without symbolic links, as /proc shows paths.
        self.folder = os.path.realpath(self.server.data)
        self.faulty = {"LD_PRELOAD": LIBRARY, "FAIL_STATE": self.state, "FAIL_FOLDER": self.folder}
        if not point:
            self.faulty["FAIL_LOG"] = self.log

    def happened(self):
        with open(self.state, "rb") as data:
            return bool(STATE.unpack(data.read())[2])

    def check(self, condition, *what):
        if not condition:
            raise AssertionError(*what)

    def heard(self, sentence, what):
        """Something failed: that is allowed once, and with a sentence."""
        self.check(self.happened(), "fails without a fault", what, sentence)
        self.check(re.search(r"\w+ \w+", sentence), "no sentence", what, sentence)
        self.sentences.append(sentence)

    # ---- asking ----

    def ask(self, method, path, *args, again=(), **more):
        """An answer that is no error; the second time if the fault was in the way the first time."""
        answer = self.server.request(method, path, *args, **more)
        if answer.status >= 400:
            self.check(answer.status in (500, 503, 507), method, path, answer)
            self.heard(answer.message(), (method, path))
            answer = self.server.request(method, path, *args, **more)
        self.check(answer.status < 400 or answer.status in again, method, path, answer)
        return answer

    def get(self, path):
        return self.ask("GET", path).json()

    def run(self, uuid):
        return self.get("benchmark/%s.json" % uuid)

    def is_at(self, uuid, states):
        run = self.run(uuid)
        return run if run["state"] in states else None

    def wait(self, uuid, state):
        """The run in this state, or as the fault has ended it."""
        run = eventually(lambda: self.is_at(uuid, (state, *ENDED)))
        self.check(run, "the run goes on and on", uuid)
        if run["state"] != state:
            self.heard(run["error"] or "", run)
        return run

    # ---- what happens ----

    def start(self, faulty=True):
        self.server.env = self.faulty if faulty else None
        try:
            self.server.start()
        except AssertionError as e:
            self.check(self.server.child.returncode == 1, "the server did not end by itself", e,
                       self.server.child.returncode)
            self.heard("".join(self.server.errors), "start")
            self.server.start()

    def holds(self):
        """Files that have no name any more, and whose room on the disk is not given back."""
        folder, found = "/proc/%d/fd" % self.server.pid(), []
        for fd in os.listdir(folder):
            try:
                found.append(os.readlink(os.path.join(folder, fd)))
            except FileNotFoundError:
                pass
        return [path for path in found if path.startswith(self.folder + "/") and path.endswith(" (deleted)")]

    def stop(self):
        self.check(eventually(lambda: not self.holds()), "files are held", self.holds())
        status = self.server.stop()
        self.check(status == 0, "the server ended with status %d: %s" % (status, "".join(self.server.errors)))
        self.check(not processes(self.program), "programs are left")

    def submit(self, *args, **plan):
        plan["workload"] = [self.program, *map(str, args)]
        return self.ask("POST", "session/" + self.session, plan).json()["uuid"]

    def measure(self):
        uuid = self.submit("busy", 60, tool="both", events=["task-clock"], interval=0.01, keep_raw=True,
                           sample={"events": ["cpu-clock:u"], "frequency": 999})
        self.report(self.wait(uuid, "done"))
        self.check(eventually(lambda: not processes(self.program)), "programs are left")

    def bring_in(self):
        uuid = self.ask("POST", "import", self.recording, query={"session": self.session}).json()["uuid"]
        self.report(self.wait(uuid, "done"))

    def remove_running(self):
        uuid = self.submit("busy", FOR_EVER_MS, tool="both", events=["task-clock"], interval=0.02, keep_raw=True,
                           sample={"events": ["cpu-clock:u"], "frequency": 99})
        self.wait(uuid, "running")
        self.ask("DELETE", "benchmark/" + uuid, again=(404,))
        self.check(eventually(lambda: not processes(self.program)), "programs are left")

    def tidied(self):
        """Nothing of what was deleted is left."""
        store = sqlite3.connect("file:%s?mode=ro" % os.path.join(self.server.data, "tacho.db"), uri=True)
        try:
            deleted, = store.execute("SELECT SUM(deleted) FROM runs").fetchone()
        finally:
            store.close()
        return not deleted

    # ---- what was reported ----

    def told(self, uuid):
        """All that there is of a run."""
        run = self.run(uuid)
        told = {name: run[name] for name in ("state", "samples", "error", "ended_at", "ledger")}
        told["flame"] = self.get("benchmark/%s/flame" % uuid)["samples"]
        for suffix in ("jsonl", "csv", "log") + (("data",) if run["state"] == "done" else ()):
            lines = self.ask("GET", "benchmark/%s.%s" % (uuid, suffix)).body
            lines = lines if suffix == "data" else b"\n".join(sorted(lines.split(b"\n")))
            told[suffix] = hashlib.sha256(lines).hexdigest()
        return told

    def report(self, run):
        told = self.reported[run["uuid"]] = self.told(run["uuid"])
        self.check(told["flame"] == told["samples"], "not what was counted", told)
        self.check(told["samples"] or told["state"] != "done", "nothing measured", told)

    def is_as_reported(self):
        for uuid, told in self.reported.items():
            now = self.told(uuid)
            self.check(now == told, "not what was reported", told, now)
        runs = self.get("session/%s?limit=200" % self.session)["runs"]
        self.check({r["uuid"] for r in runs} >= set(self.reported), "runs are missing", runs)

    def is_sound(self):
        path = os.path.join(self.server.data, "tacho.db")
        store = sqlite3.connect(path)
        self.check(store.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "not sound")
        self.check(store.execute("PRAGMA foreign_key_check").fetchall() == [], "not sound")
        kept = {row[0] for row in store.execute("SELECT raw_path FROM runs WHERE raw_path IS NOT NULL")}
        store.close()
        found = {os.path.relpath(os.path.join(folder, name), self.server.data)
                 for folder, _, names in os.walk(self.server.data) for name in names}
        self.check(all(FILES.fullmatch(name) for name in found), "files are left", found)
        self.check({name for name in found if name.startswith("raw/")} == kept, "recordings", found, kept)

    # ---- all of it ----

    def play(self):
        try:
            self.start()
            self.session = self.ask("POST", "sessions", {"title": "points"}).json()["uuid"]
            self.measure()
            self.bring_in()
            self.ask("GET", "session/%s.h5" % self.session)
            self.remove_running()
            self.check(eventually(self.tidied), "not tidied up")
            self.stop()
            self.start()
            self.is_as_reported()
            self.stop()
            self.start(faulty=False)
            self.is_as_reported()
            self.stop()
            self.is_sound()
            if self.point and self.happened() and LOUD.match(self.point.name):
                self.check(self.sentences, "nobody was told")
        finally:
            self.server.end()
            shutil.rmtree(self.server.root, True)


class Points(Case):
    # What was a fault once: files that nobody removed any more, a crash at the end of a server whose download had
    # failed, a download that lacked rows.
    known = (Point("unlink export-", 1), Point("unlink raw/UUID.data", 1), Point("unlink raw/UUID.data", 2),
             Point("pwrite export-", 19), Point("pwrite export-", 3))

    def setUp(self):
        super().setUp()
        if not os.path.exists(LIBRARY):
            self.skipTest("needs %s, which a static build has not" % LIBRARY)
        path = self.path("recording.data")
        self.tacho("record", "-e", "cpu-clock:u", "-F", "999", "-g", "-o", path, "--", *load("busy", 30),
                   check=True)
        with open(path, "rb") as data:
            self.recording = data.read()

    def choose(self, points):
        """One of each name first, of the others what there is time for."""
        random = dice("%d points" % len(points))
        random.shuffle(points)
        names, first, rest = set(), [], []
        for point in points:
            (rest if point.name in names else first).append(point)
            names.add(point.name)
        return list(self.known) + (first + rest if ALL else (first + rest)[:SOME])

    def try_one(self, point):
        scenario = Scenario(self.recording, point)
        state = os.path.join(scenario.server.root, "state")
        with open(state, "rb") as kept:
            problem = None
            try:
                scenario.play()
            except Exception:
                problem = "%s\n%s" % (traceback.format_exc(), "".join(scenario.server.errors))
            happened = bool(STATE.unpack(kept.read())[2])
        with self.lock:
            self.tried[happened] += 1
            if problem:
                self.problems.append((point, problem))
                print("# %s %d (%s): %s" % (*point, errno.errorcode[code_of(point)], problem), flush=True)

    def test_every_call_fails_once(self):
        counting = Scenario(self.recording)
        log = open(counting.log)
        counting.play()
        counts = collections.Counter(log.read().splitlines())
        log.close()
        points = [Point(name, at) for name, count in sorted(counts.items()) for at in range(1, count + 1)]
        chosen = self.choose(points[:])
        self.lock, self.tried, self.problems = threading.Lock(), collections.Counter(), []
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            list(pool.map(self.try_one, chosen))
        print("# %d points of %d names: %d tried, %d failed where they should, %d were not come to, %d not survived" %
              (len(points), len(counts), len(chosen), self.tried[True], self.tried[False], len(self.problems)))
        self.assertEqual(self.problems, [])
        self.assertGreater(self.tried[True], 0)
