"""Runs tests of the page by Vitest, with the rules of suite.py: a hang limit for each test, and for tests in
the browser one repetition of what failed.

Vitest's own limit (testTimeout) fails a test whose promises are not kept. Ours is a minute longer: it ends the
process with the browser and the server that belong to it, when not even that has helped."""

import json
import os
import re
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from outcomes import FAILED, PASSED, SKIPPED, Outcome
from process import kill_tree
from suite import HANG_S, REPEAT_MAX, Interrupted

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GRACE_S = 60
EVERY_S = 0.2
OUTPUT_BYTES = 200000
STATES = {"passed": PASSED, "failed": FAILED, "skipped": SKIPPED}


class Result:
    """The outcome of a test, and what Vitest must be asked to run it again: file and title."""

    def __init__(self, outcome, file=None, title=None):
        self.outcome, self.file, self.title = outcome, file, title


class Process:
    """One process of Vitest and what it tells (tests/browser/outcomes.ts)."""

    def __init__(self, folder, arguments):
        self.name = " ".join(arguments) or folder
        self.output, self.events = tempfile.TemporaryFile(), tempfile.NamedTemporaryFile()
        env = dict(os.environ, TACHO_EVENTS=self.events.name, NO_COLOR="1")
        env.pop("FORCE_COLOR", None)
        self.child = subprocess.Popen(
            ["node_modules/.bin/vitest", "run", "--config", "vitest.config.ts", *arguments],
            cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT,
            start_new_session=True)
        self.results, self.running, self.finished = [], {}, False
        self.rest, self.last = b"", time.monotonic()

    def follow(self, hang_s, stop):
        """Until it has ended, or something in it has hung."""
        while True:
            ended = self.child.poll() is not None
            self.take(hang_s)
            if stop.is_set():
                raise Interrupted
            if ended:
                break
            now = time.monotonic()
            late = [r for limit, r in self.running.values() if now > limit]
            if late or not self.running and now > self.last + hang_s:
                return self.hang(hang_s, late)
            time.sleep(EVERY_S)
        if not self.finished:
            self.broken([r for _, r in self.running.values()],
                        "Vitest ended with status %d in the middle of it" % self.child.returncode)

    def hang(self, hang_s, late):
        self.broken(late, "took longer than %g s (hang limit); the tests behind it in this file did not run" % hang_s)

    def broken(self, results, text):
        for result in results or [Result(Outcome(self.name, FAILED))]:
            result.outcome.text = text
            self.results.append(result)

    def take(self, hang_s):
        *lines, self.rest = (self.rest + self.events.read()).split(b"\n")
        for line in lines:
            self.last = time.monotonic()
            self.note(json.loads(line), hang_s)

    def note(self, event, hang_s):
        if "start" in event:
            name, file = event["start"]["name"], event["start"]["file"]
            result = Result(Outcome(name, FAILED), file, event["title"])
            limit = self.last + max(hang_s, event["timeout_ms"] / 1000 + GRACE_S if event["timeout_ms"] else 0)
            self.running[name] = limit, result
        elif "end" in event:
            name, file = event["end"]["name"], event["end"]["file"]
            self.running.pop(name, None)
            outcome = Outcome(name, STATES.get(event["state"], FAILED), event["ms"] / 1000, event["text"])
            self.results.append(Result(outcome, file, event["title"]))
        elif event["text"]:  # of a file as a whole, or outside of all tests
            name = os.path.basename(event.get("file_end", "outside of the tests"))
            self.results.append(Result(Outcome(name, FAILED, text=event["text"]), event.get("file_end")))
        self.finished = self.finished or "finished" in event

    def said(self):
        size = os.fstat(self.output.fileno()).st_size
        return os.pread(self.output.fileno(), OUTPUT_BYTES, max(0, size - OUTPUT_BYTES)).decode(errors="replace")

    def close(self):
        kill_tree(self.child.pid)
        self.child.wait()
        self.output.close()
        self.events.close()


class Vitest:
    def __init__(self, folder, jobs=1, hang_s=None, say=print):
        self.folder, self.jobs, self.say = folder, jobs, say
        self.hang_s = float(hang_s or float(os.environ.get("TACHO_HANG_S") or HANG_S) + GRACE_S)
        self.lock, self.stop = threading.Lock(), threading.Event()

    def run(self, groups, repeat):
        """Outcomes of groups of files; each group is a process, as many at a time as there are jobs."""
        results = []
        with ThreadPoolExecutor(self.jobs) as pool:
            waiting = [pool.submit(self.process, group) for group in groups]
            try:
                for done in waiting:
                    results += done.result()
            except BaseException:
                self.stop.set()
                raise
        if repeat:
            self.repeat(results)
        return [result.outcome for result in results]

    def process(self, arguments):
        process = Process(self.folder, arguments)
        try:
            process.follow(self.hang_s, self.stop)
            with self.lock:
                self.say(process.said())
        finally:
            process.close()
        return process.results or [Result(Outcome(" ".join(arguments), FAILED, text="no tests found"))]

    def repeat(self, results):
        failed = [one for one in results if one.outcome.state == FAILED and one.file]
        if len(failed) > REPEAT_MAX:
            self.say("# %d tests failed: too many to be a coincidence, none is repeated" % len(failed))
            return
        for one in failed:
            self.say("# repeated alone: " + one.outcome.name)
            # A title is "group > test", which -t wants to be "group test". Of a file that could not be loaded
            # all tests are repeated.
            only = ["-t", "^%s$" % re.escape(one.title).replace(r"\ >\ ", ".{1,3}")] if one.title else []
            again = self.process([os.path.relpath(one.file, self.folder), *only])
            states = [other.outcome.state for other in again]
            if FAILED not in states and PASSED in states:
                one.outcome.state, one.outcome.flaky = PASSED, True
