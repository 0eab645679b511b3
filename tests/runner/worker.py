"""Runs the tests of one file of Python in a process of its own, and tells the runner about each.

usage: worker.py FD, with a JSON object on stdin: {"names": […], "paths": […], "done": […]}

Tests of `done` have been run before and are left out. FD is a pipe to the runner (suite.py); it gets a JSON
object a line: {"plan": [ids]}, {"start": id}, {"end": id, "state": …, "text": …}, and {"finished": true} when
all are done, without which the process has ended too early. SIGUSR1 prints the stack
of every thread, which is how a test that hangs says where."""

import faulthandler
import json
import os
import signal
import sys
import tempfile
import unittest

REASON_CHARACTERS = 6000


class Result(unittest.TestResult):
    def __init__(self, tell):
        super().__init__()
        self.tell, self.running = tell, False

    def startTest(self, test):
        super().startTest(test)
        self.running, self.bad, self.reasons = True, [], []
        self.tell(start=test.id())

    def stopTest(self, test):
        super().stopTest(test)
        self.running = False
        self.end(test.id(), self.bad, self.reasons)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.bad.append(self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        if self.running:
            self.bad.append(self.errors[-1][1])
        else:  # of a class or a file as a whole
            self.end(str(test), [self.errors[-1][1]], [])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            kind = self.failures if issubclass(err[0], test.failureException) else self.errors
            self.bad.append("%s\n%s" % (subtest.id(), kind[-1][1]))

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.bad.append("the test passes, although it is marked as one that must fail")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if self.running:
            self.reasons.append(reason)
        else:
            self.end(str(test), [], [reason])

    def end(self, name, bad, reasons):
        state = "failed" if bad else "skipped" if reasons else "passed"
        text = "\n".join(bad)[-REASON_CHARACTERS:] if bad else "; ".join(sorted(set(reasons)))
        self.tell(end=name, state=state, text=text)


def take_signals():
    """What a shell without jobs or nohup makes us ignore, all that we start would ignore, too."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL),
                          (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, usual)


def leave_home():
    """What perf and tacho have kept of earlier days is no part of a test, and the other way round."""
    home = tempfile.TemporaryDirectory(prefix="tacho-home-")
    os.chmod(home.name, 0o755)
    for name in list(os.environ):
        if name.startswith("XDG_") or name in ("TACHO_SERVER", "TACHO_TOKEN", "TACHO_DATA", "DEBUGINFOD_URLS"):
            del os.environ[name]
    os.environ["HOME"] = home.name
    return home


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def main():
    pipe = os.fdopen(int(sys.argv[1]), "w")
    os.set_inheritable(pipe.fileno(), False)
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    take_signals()
    order = json.load(sys.stdin)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)

    def tell(**message):
        sys.stdout.flush()
        sys.stderr.flush()
        pipe.write(json.dumps(message) + "\n")
        pipe.flush()

    sys.dont_write_bytecode = True
    sys.path[:1] = order["paths"]
    done = set(order["done"])
    with leave_home():
        suite = unittest.defaultTestLoader.loadTestsFromNames(order["names"])
        tests = [test for test in flat(suite) if test.id() not in done]
        tell(plan=[test.id() for test in tests])
        unittest.TestSuite(tests).run(Result(tell))
        tell(finished=True)


if __name__ == "__main__":
    main()
