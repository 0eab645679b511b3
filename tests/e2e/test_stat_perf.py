#!/usr/bin/env python3
"""tacho stat beside the real perf stat: scripts that read one must be able to read the other."""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from helpers import (LIMIT_S, Case, cgroup2_mount, columns_of, environment, eventually, load,
                     needs_system_wide, needs_tracefs, state_of, worker_labels)

EVENTS = "task-clock,page-faults,context-switches,cpu-migrations"


def shape_of(field):
    """What a script's pattern would see: kind and precision of a number, any other text as it is."""
    for name, pattern in (("time", r" +\d+\.\d{9}"), ("percent", r"\d+\.\d\d%"), ("whole", r"\d+"),
                          ("2 decimals", r"\d+\.\d\d"), ("3 decimals", r"\d+\.\d{3}")):
        if re.fullmatch(pattern, field):
            return name
    return re.sub(r"^[KMG]/sec$", "/sec", field)


class Beside(Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("perf"):
            self.skipTest("needs perf(1), Debian's linux-perf")
        if os.geteuid() != 0:
            self.skipTest("needs root, for the same counts in both")
        # Debian's perf(1) is a script that looks for one of the running kernel.
        tried = subprocess.run(["perf", "stat", "-x,", "-e", "page-faults", "true"], stderr=subprocess.PIPE, text=True,
                               env=environment(self.home))
        if tried.returncode:
            self.skipTest("perf does not work with this kernel: " + tried.stderr.strip()[:200])

    def perf(self, *args):
        result = subprocess.run(["perf", "stat", *[str(a) for a in args]], text=True, timeout=LIMIT_S,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=environment(self.home))
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr

    def both(self, *args, separator=","):
        ours = self.stat(*args)
        self.assertEqual(ours.returncode, 0, ours.stderr)
        return [columns_of(text, separator) for text in (self.perf(*args), ours.stderr)]

    def same_shape(self, theirs, ours):
        self.assertTrue(theirs, "perf printed nothing")
        self.assertEqual([[shape_of(f) for f in row] for row in theirs],
                         [[shape_of(f) for f in row] for row in ours])

    def check(self, *args, separator=","):
        theirs, ours = self.both(*args, separator=separator)
        self.same_shape(theirs, ours)

    def test_plain(self):
        self.check("-x,", "-e", EVENTS, *load("pages", 100))

    def test_default_events(self):
        self.check("-x,", *load("busy", 30))

    def test_more_default_events(self):
        self.check("-x,", "-d", *load("busy", 30))
        self.check("-x,", "-ddd", *load("busy", 30))

    def test_names_as_typed(self):
        self.check("-x,", "-e", "faults,cs,migrations,page-faults:u,{page-faults,task-clock}:u,dummy", "true")

    def test_other_separators(self):
        self.check("-x;", "-e", EVENTS, "true", separator=";")
        self.check("-x", "\\t", "-e", EVENTS, "true", separator="\t")
        self.check("-x", "::", "-e", EVENTS, "true", separator="::")

    def test_repeat(self):
        self.check("-x,", "-r", 3, "-e", EVENTS, *load("pages", 100))

    def test_not_supported(self):
        self.check("-x,", "-e", "cycles,page-faults,L1-dcache-load-misses", *load("busy", 30))
        self.check("-x,", "-r", 2, "-e", "page-faults,LLC-loads", *load("busy", 30))

    def test_intervals(self):
        # How many there are, and in how many of them the program has no CPU, depends on how busy the machine is.
        shapes = []
        for rows in self.both("-x,", "-I", 100, "-e", EVENTS, *load("busy", 350)):
            blocks = [rows[i:i + 4] for i in range(0, len(rows), 4)]
            self.assertTrue(all(len({r[0] for r in block}) == 1 for block in blocks), rows)
            counted = [b for b in blocks if "<not counted>" not in [r[1] for r in b]]
            shapes.append({tuple(tuple(map(shape_of, row)) for row in block) for block in counted})
        self.assertEqual(len(shapes[0]), 1, shapes)
        self.assertEqual(*shapes)

    def test_time_of_tool(self):
        self.check("-x,", "-e", "duration_time,page-faults", *load("busy", 10))

    def test_tracepoint(self):
        needs_tracefs()
        self.check("-x,", "-e", "sched:sched_process_exec,page-faults", "true")

    def test_system(self):
        needs_system_wide()
        for args in (["-a"], ["-a", "-A"], ["-a", "--per-core"], ["-a", "--per-socket"],
                     ["-a", "--per-die"], ["-C", "0"], ["-C", "0", "-A"]):
            with self.subTest(args):
                self.check("-x,", *args, "-e", EVENTS, "sleep", "0.05")
                self.check("-x,", *args, "-e", "page-faults,cycles", "sleep", "0.05")

    def test_system_default_events(self):
        self.check("-x,", "-a", "sleep", "0.05")

    def test_system_intervals(self):
        for args in (["-A"], ["--per-core"], ["--per-socket"]):
            with self.subTest(args):
                theirs, ours = self.both("-x,", "-a", *args, "-I", 50, "-e", "task-clock,page-faults",
                                         "sleep", "0.2")
                first = [[r for r in rows if r[0] == rows[0][0]] for rows in (theirs, ours)]
                self.same_shape(*first)

    def idle_threads(self, count):
        """A process whose first thread waits for the others, and the command that ends when all these have run."""
        target = self.start_ready("idlethreads", count)
        worker_labels(target.pid, count)
        self.assertTrue(eventually(lambda: state_of(target.pid) == "S"))
        script = "from helpers import wait_ran; wait_ran(%d, 'worker')" % target.pid
        return target, ["env", "PYTHONPATH=" + os.path.dirname(os.path.abspath(__file__)), sys.executable, "-c", script]

    def test_per_thread(self):
        target, ran = self.idle_threads(3)
        theirs, ours = self.both("-x,", "-p", target.pid, "--per-thread", "-e",
                                 "task-clock,context-switches", *ran)
        self.assertEqual(len(theirs), 8)
        # Threads of one value have no order; and the one that only waits does nothing.
        order = [sorted(rows, key=lambda r: (r[3], r[0])) for rows in (theirs, ours)]
        self.same_shape(*[[r for r in rows if "worker" in r[0]] for rows in order])
        self.assertEqual([[r[0], r[2], r[3], len(r)] for r in order[0]],
                         [[r[0], r[2], r[3], len(r)] for r in order[1]])
        self.assertEqual([r[3] for r in theirs], [r[3] for r in ours])

    def test_process(self):
        target, ran = self.idle_threads(2)
        self.check("-x,", "-p", target.pid, "-e", EVENTS, *ran)
        self.check("-x,", "-t", target.pid, "-e", "dummy", "true")

    def test_cgroup(self):
        name = "tacho-perf-%d" % os.getpid()
        path = os.path.join(cgroup2_mount(), name)
        os.mkdir(path)
        self.addCleanup(lambda: eventually(lambda: self.removed(path)))
        target, ran = self.idle_threads(2)
        self.addCleanup(lambda: (target.kill(), target.wait()))
        with open(path + "/cgroup.procs", "w") as procs:
            procs.write(str(target.pid))
        for option in ("-G", "--cgroup"):
            self.check("-x,", "-a", "-e", "context-switches", option, name, *ran)
        self.check("-x,", "-a", "-e", "task-clock", "-e", "context-switches", "-G", name, *ran)

    def test_file(self):
        mine, its = self.path("mine"), self.path("its")
        self.stat("-x,", "-o", mine, "-e", "page-faults", "true")
        self.perf("-x,", "-o", its, "-e", "page-faults", "true")
        with open(mine) as a, open(its) as b:
            ours, theirs = a.read(), b.read()
        shapes = [re.sub(r"\d+", "9", re.sub(r"(?<=on ).*", "DATE", text)) for text in (ours, theirs)]
        self.assertEqual(*shapes)

    @staticmethod
    def counted(rows):
        """Without the intervals in which the program had no CPU, of which there may be some in one of the two."""
        idle = {r["interval"] for r in rows if r["counter-value"] == "<not counted>"}
        return [r for r in rows if r["interval"] not in idle]

    def test_json_keys(self):
        for args in (["-e", EVENTS], ["-r", 3, "-e", EVENTS], ["-a", "-A", "-e", EVENTS],
                     ["-a", "--per-core", "-e", EVENTS], ["-a", "--per-socket", "-e", EVENTS],
                     ["-I", 100, "-e", EVENTS], ["-e", "cycles,page-faults"]):
            with self.subTest(args):
                command = load("busy", 150) if "-I" in args else load("pages", 10)
                theirs = [json.loads(x) for x in self.perf("-j", *args, *command).splitlines() if x]
                ours = [x for x in self.json_lines(*args, *command) if "event" in x]
                if "-I" in args:
                    theirs, ours = self.counted(theirs), self.counted(ours)
                rows = min(len(theirs), len(ours)) // 4 * 4 if "-I" in args else len(theirs)
                self.assertGreater(rows, 0)
                self.assertEqual(len(theirs[:rows]), len(ours[:rows]))
                for a, b in zip(theirs[:rows], ours[:rows]):
                    # perf writes a figure where it has none, without a unit.
                    needed = set(a) - ({"metric-value", "metric-unit"}
                                       if a.get("metric-unit") in ("", "(null)") else set())
                    self.assertFalse(needed - set(b), (a, b))
                    self.assertEqual([a.get(k) for k in ("event", "unit", "cpu", "core", "socket",
                                                         "aggregate-number")],
                                     [b.get(k) for k in ("event", "unit", "cpu", "core", "socket",
                                                         "aggregate-number")])
                    self.assertEqual({k: type(a[k]) for k in ("counter-value", "event-runtime")},
                                     {k: type(b[k]) for k in ("counter-value", "event-runtime")})

    def test_page_faults_agree(self):
        command = load("pages", 2000)
        theirs = [int(columns_of(self.perf("-x,", "-e", "page-faults", *command))[0][0])
                  for _ in range(10)]
        ours = [self.count("page-faults", *command) for _ in range(10)]
        self.assertGreaterEqual(sum(ours) / 10, min(theirs) - 2, (theirs, ours))
        self.assertLessEqual(sum(ours) / 10, max(theirs) + 2, (theirs, ours))

    def test_calls_agree(self):
        needs_tracefs()
        event, command = "syscalls:sys_enter_getppid", load("callthreads", 3, 777)
        theirs = columns_of(self.perf("-x,", "-e", event, *command))
        self.assertEqual(int(theirs[0][0]), self.count(event, *command))

    def test_cpu_time_agrees(self):
        """Both count what the program uses after its exec, and not more than the time that passes."""
        for task, wall in self.both("-x,", "-e", "task-clock,duration_time", *load("busy", 150)):
            self.assertGreater(float(task[0]), 135)
            self.assertLessEqual(float(task[0]), float(wall[0]) / 1e6)


if __name__ == "__main__":
    unittest.main()
