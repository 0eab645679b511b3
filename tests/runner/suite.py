"""Runs files of Python tests: each file in a process of its own, some of them side by side.

- A test that takes longer than the hang limit ($TACHO_HANG_S, 600 seconds) is ended with everything it has
  started, and has failed; what is printed about it says where it hung. The tests behind it go on.
- A test that failed is repeated once when nothing else runs any more. If it passes then, it has passed, and
  is called flaky. Tests of the folder tests/fault are not repeated: what they look for happens now and then.
- Files with the line `SIDE_BY_SIDE = True`, and those of tests/fault, run as many at a time as the runner is
  asked for. All other files run one by one: they measure the whole machine, compare two measurements, or
  keep all CPUs busy."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from outcomes import FAILED, PASSED, SKIPPED, Outcome
from process import kill_tree

HERE = os.path.dirname(os.path.abspath(__file__))
WORKER = os.path.join(HERE, "worker.py")
HANG_S = 600
# More failures than this are no chance, and repeating them all would only take time.
REPEAT_MAX = 20
# A process that has not said where it hangs after this time never will.
STACK_S = 60
OUTPUT_BYTES = 20000
# How faulthandler begins the stack of a thread.
STACK_BEGINS = "(most recent call first)"
SIDE_BY_SIDE = re.compile(r"^SIDE_BY_SIDE = True$", re.MULTILINE)


class Interrupted(Exception):
    pass


def takes_signal(pid, number):
    """Whether a signal waits for a process, or is blocked in one of its threads, as it is while its handler
    runs there."""
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/status" % (pid, task), encoding="utf-8", errors="replace") as text:
                for mask in re.findall(r"^(?:SigPnd|ShdPnd|SigBlk):\s*(\w+)$", text.read(), re.M):
                    if int(mask, 16) >> (number - 1) & 1:
                        return True
    except OSError:
        return True  # a thread has ended meanwhile
    return False


class File:
    """A file of tests and the names in it that were asked for."""

    def __init__(self, path, names):
        self.path, self.names = path, names
        self.folder = os.path.basename(os.path.dirname(path))

    def side_by_side(self):
        if self.folder == "fault":
            return True
        with open(self.path, encoding="utf-8") as text:
            return bool(SIDE_BY_SIDE.search(text.read()))

    def repeats(self):
        return self.folder != "fault"


class Worker:
    """One process that runs tests of a file; see worker.py for what it says."""

    def __init__(self, file, names, done, paths):
        self.output = tempfile.TemporaryFile()
        self.read, write = os.pipe()
        self.child = subprocess.Popen([sys.executable, WORKER, str(write)], stdin=subprocess.PIPE,
                                      stdout=self.output, stderr=subprocess.STDOUT, pass_fds=[write],
                                      start_new_session=True)
        os.close(write)
        order = {"names": names, "done": sorted(done), "paths": [os.path.dirname(file.path), *paths]}
        try:
            self.child.stdin.write(json.dumps(order).encode())
            self.child.stdin.close()
        except BrokenPipeError:
            pass
        self.rest, self.seen, self.finished = b"", 0, False
        self.plan, self.at, self.current, self.begun = None, -1, None, time.monotonic()

    def messages(self, hang_s, stop):
        """What it says, as it comes; None if it says nothing for too long. Ends when the process does."""
        while True:
            if stop.is_set():
                raise Interrupted
            ready, _, _ = select.select([self.read], [], [], 0.2)
            if ready:
                data = os.read(self.read, 1 << 16)
                *lines, self.rest = (self.rest + data).split(b"\n")
                for line in lines:
                    yield json.loads(line)
                if not data:
                    # It has told everything; what is left is to end.
                    time.sleep(0.02)
            if (not ready or not data) and self.child.poll() is not None:
                return
            if time.monotonic() - self.begun > hang_s:
                yield None
                return

    def note(self, message):
        """Keeps what is needed to say which test it was when the process hangs or dies."""
        now = time.monotonic()
        seconds = now - self.begun
        self.begun = now
        if "plan" in message:
            self.plan = message["plan"]
        elif "start" in message:
            self.current = message["start"]
            self.at = self.plan.index(self.current)
        else:
            self.current, self.finished = None, "finished" in message
        return seconds

    def blamed(self):
        """The test that runs; between two tests the next one, whose class or file is being set up."""
        if self.current is None and self.plan and self.at + 1 < len(self.plan):
            self.at += 1
            self.current = self.plan[self.at]
        return self.current

    def said(self):
        """What it has printed since it was last asked."""
        # Not read(): the position in the file is that of the child, too.
        text = os.pread(self.output.fileno(), os.fstat(self.output.fileno()).st_size - self.seen, self.seen)
        self.seen += len(text)
        if len(text) > OUTPUT_BYTES:
            text = b"[...]\n" + text[-OUTPUT_BYTES:]
        return text.decode(errors="replace")

    def stack(self):
        """Where all threads of Python are."""
        try:
            self.child.send_signal(signal.SIGUSR1)
        except OSError:
            return ""
        said, end = "", time.monotonic() + STACK_S
        while self.child.poll() is None and time.monotonic() < end:
            # The handler has begun before, and has ended: all that it writes is there.
            complete = STACK_BEGINS in said and not takes_signal(self.child.pid, signal.SIGUSR1)
            said += self.said()
            if complete:
                return said
            time.sleep(0.02)
        return said + self.said()

    def close(self):
        kill_tree(self.child.pid)
        self.child.wait()
        os.close(self.read)
        self.output.close()


class Suite:
    def __init__(self, paths, jobs=1, hang_s=None, say=print):
        self.paths, self.jobs = paths, jobs
        self.hang_s = float(hang_s or os.environ.get("TACHO_HANG_S") or HANG_S)
        self.say, self.lock, self.stop, self.number = say, threading.Lock(), threading.Event(), 0

    def run(self, files):
        """The outcomes of all tests of the files."""
        together = [f for f in files if f.side_by_side()] if self.jobs > 1 else []
        outcomes = self.run_together(together)
        for file in files:
            if file not in together:
                outcomes += [(file, one) for one in self.run_file(file, file.names)]
        return self.repeat(outcomes)

    def run_together(self, files):
        outcomes = []
        with ThreadPoolExecutor(self.jobs) as pool:
            waiting = [pool.submit(self.run_file, file, file.names) for file in files]
            try:
                for file, done in zip(files, waiting):
                    outcomes += [(file, one) for one in done.result()]
            except BaseException:
                self.stop.set()
                raise
        return outcomes

    def run_file(self, file, names, note=""):
        outcomes, done = [], set()
        while True:
            worker = Worker(file, names, done, self.paths)
            try:
                again = self.follow(worker, file, done, outcomes, note)
            finally:
                worker.close()
            if not again:
                return outcomes

    def follow(self, worker, file, done, outcomes, note):
        """Listens to one worker until it has ended; whether tests are left for another one."""
        for message in worker.messages(self.hang_s, self.stop):
            if message is None:
                return self.broken(worker, file, done, outcomes, "took longer than %g s (hang limit)\n%s" %
                                   (self.hang_s, worker.stack()))
            seconds = worker.note(message)
            if "end" in message:
                self.add(outcomes, Outcome(message["end"], message["state"], seconds, message["text"]),
                         worker.said(), note)
        status = worker.child.wait()
        if status or not worker.finished:
            how = "was killed by signal %d" % -status if status < 0 else "ended with status %d" % status
            return self.broken(worker, file, done, outcomes, "the process of the test %s\n%s" % (how, worker.said()))
        if not worker.plan and not done:
            self.add(outcomes, Outcome(" ".join(file.names), FAILED, text="no tests found"), worker.said(), note)
        return False

    def broken(self, worker, file, done, outcomes, text):
        name = worker.blamed()
        known = name is not None
        if not known:  # before the first test, or behind the last one
            name = os.path.basename(file.path)
        self.add(outcomes, Outcome(name, FAILED, time.monotonic() - worker.begun, text), "", "")
        if not known:
            return False
        done.update(worker.plan[:worker.at + 1])
        return worker.at + 1 < len(worker.plan)

    def add(self, outcomes, one, said, note):
        outcomes.append(one)
        with self.lock:
            self.number += 1
            if said:
                self.say(said.rstrip("\n"))
            line = "%s %d - %s" % ("not ok" if one.state == FAILED else "ok", self.number, one.name)
            if one.state == SKIPPED:
                line += " # SKIP " + one.text
            self.say(line + note)
            if one.state == FAILED:
                self.say("\n".join("  # " + x for x in one.text.rstrip().splitlines()))
            sys.stdout.flush()

    # ---- once more ----

    def repeat(self, outcomes):
        failed = [pair for pair in outcomes if pair[1].state == FAILED and pair[0].repeats()
                  and self.again(pair[1].name)]
        if len(failed) > REPEAT_MAX:
            self.say("# %d tests failed: too many to be a coincidence, none is repeated" % len(failed))
            failed = []
        for file, one in failed:
            results = self.run_file(file, [self.again(one.name)], "  # repeated alone")
            if results and all(other.state == PASSED for other in results):
                one.state, one.flaky = PASSED, True
        return [one for _, one in outcomes]

    @staticmethod
    def again(name):
        """What to ask for to run it again: a test, or a class that could not be set up; None for a file that
        cannot be loaded."""
        whole = re.fullmatch(r"(?:setUp|tearDown)(?:Class|Module) \((.*)\)", name)
        if whole:
            return whole[1]
        return None if name.startswith("unittest.") or name.endswith(".py") else name


def files_of(arguments, folders):
    """Files for the arguments: paths, or names such as test_stat and test_stat.Status in the folders."""
    found = {}
    for argument in arguments:
        if argument.endswith(".py"):
            path, name = os.path.abspath(argument), os.path.basename(argument)[:-3]
        else:
            name = argument
            module = argument.split(".")[0] + ".py"
            path = next((os.path.join(folder, module) for folder in folders
                         if os.path.exists(os.path.join(folder, module))), None)
        if not path or not os.path.exists(path):
            raise FileNotFoundError(argument)
        found.setdefault(path, File(path, [])).names.append(name)
    return list(found.values())
