#!/usr/bin/env python3
"""What perf's users type and expect of stat, record and list: switches, terms behind generic names,
events that a machine does not have, a reader that has seen enough."""

import json
import os
import re
import signal
import subprocess
import unittest

from helpers import (AS_NOBODY, TACHO, TRACEFS, Case, environment, load, needs_no_pmu, needs_other_user,
                     needs_program, needs_system_wide, needs_tracefs, online_cpus, paranoid)

USAGE = re.compile(r"seconds (user|sys)")


class Usage(Case):
    """User and system time belong to what is counted, or are not there."""

    def others(self):
        return [["-a"], ["-C", str(online_cpus()[0])], ["-p", str(os.getpid())], ["-t", str(os.getpid())]]

    def setUp(self):
        super().setUp()
        needs_system_wide()

    def test_of_the_command(self):
        self.assertEqual(USAGE.findall(self.stat("-e", "page-faults", "true").stderr), ["user", "sys"])
        summary = self.json_lines("-e", "page-faults", "true")[-1]["summary"]
        self.assertTrue({"user-s", "system-s"} <= set(summary), summary)

    def test_of_something_else(self):
        for args in [*self.others(), ["-i"], ["-D", "1"]]:
            with self.subTest(args):
                result = self.stat("-e", "page-faults", *args, "true")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("seconds time elapsed", result.stderr)
                self.assertEqual(USAGE.findall(result.stderr), [])
                summary = self.json_lines("-e", "page-faults", *args, "true")[-1]["summary"]
                self.assertNotIn("user-s", summary)
                self.assertNotIn("system-s", summary)

    def test_as_events(self):
        rows = self.rows("-e", "user_time,system_time,duration_time", "true")
        self.assertTrue(all(r[0].isdigit() for r in rows), rows)
        for args in self.others():
            with self.subTest(args):
                result = self.stat("-x,", "-e", "user_time,system_time,duration_time", *args, "true")
                rows = [line.split(",")[0] for line in result.stderr.splitlines() if line[0] != "#"]
                self.assertEqual(rows[:2], ["<not counted>"] * 2)
                self.assertTrue(rows[2].isdigit())
                self.assertIn("user_time", [x for x in result.stderr.splitlines() if x[0] == "#"][0])


class Spread(Case):
    """The figure behind the plus and minus is the same in all formats, and that of perf."""

    def steps(self, *args):
        # Runs of 1000, 2000 and 3000 pages more than the shell needs.
        counter = self.write("n", "")
        step = "printf x >>%s; exec \"$0\" pages $(($(wc -c <%s) * 1000))" % (counter, counter)
        result = self.stat("-r", 3, "-e", "page-faults", *args, "sh", "-c", step, *load()[:1])
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr

    def test_one_definition(self):
        text = self.steps()
        shown = float(re.search(r"page-faults.*\( ± +([\d.]+)% \)", text).group(1))
        column = float(self.steps("-x,").split(",")[3].rstrip("%"))
        line = json.loads(self.steps("-j").splitlines()[0])
        error = 100 * line["stddev"] / 3 ** 0.5 / float(line["counter-value"])
        for value in (shown, column, line["variance"], line["standard-error-pct"]):
            self.assertAlmostEqual(value, error, delta=0.05 * error)
        self.assertAlmostEqual(line["confidence-95"] / line["stddev"], 4.303 / 3 ** 0.5, delta=0.01)

    def test_is_named(self):
        text = self.steps()
        self.assertIn("standard error of the mean of 3 runs", text)
        elapsed = re.search(r"([\d.]+) ± ([\d.]+) seconds time elapsed  \( ± ([\d.]+)% \)", text)
        mean, error, pct = (float(x) for x in elapsed.groups())
        self.assertAlmostEqual(100 * error / mean, pct, delta=0.02)
        wide = float(re.search(r"95 % confidence interval .*± ([\d.]+) s", text).group(1))
        self.assertAlmostEqual(wide, 4.303 * error, delta=0.001 * wide + 1e-5)
        summary = json.loads(self.steps("-j").splitlines()[-1])["summary"]
        self.assertTrue({"elapsed-standard-error-pct", "elapsed-confidence-95-s"} <= set(summary))


class Heading(Case):
    def lines(self, *args):
        needs_system_wide()
        result = self.stat("-a", "-I", 20, "--interval-count", 1, "-e", "cpu-clock", *args)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stderr.splitlines()
        self.assertTrue(lines[0].startswith("#"), lines)
        return lines[0], lines[1]

    def check(self, args, words):
        head, row = self.lines(*args)
        self.assertEqual(head[1:].split(), words)
        values = re.match(r" *(?P<time>\S+) +(?P<label>[CS]\S+)? *(?P<cpus>\d+(?= ))? *(?P<counts>[\d.,]+) msec",
                          row)
        self.assertEqual(head.index("time") + 4, values.end("time"))
        self.assertEqual(head.index("counts") + 6, values.end("counts"))
        if values["label"]:
            self.assertEqual(head.index(words[1]), values.start("label"))
        if "cpus" in words:
            self.assertEqual(head.index("cpus") + 4, values.end("cpus"))

    def test_columns_are_named(self):
        self.check([], ["time", "counts", "unit", "event"])
        self.check(["-A"], ["time", "CPU", "counts", "unit", "event"])
        self.check(["--per-core"], ["time", "core", "cpus", "counts", "unit", "event"])
        self.check(["--per-die"], ["time", "die", "cpus", "counts", "unit", "event"])
        self.check(["--per-socket"], ["time", "socket", "cpus", "counts", "unit", "event"])

    def test_threads(self):
        result = self.stat("-p", os.getpid(), "--per-thread", "-I", 20, "--interval-count", 1, "-e", "task-clock")
        self.assertEqual(result.stderr.splitlines()[0][1:].split(), ["time", "comm-pid", "counts", "unit", "event"])


class Switches(Case):
    def test_big_numbers(self):
        pages = load("pages", 3000)
        for args, pattern in ((["-B"], r"\b3,\d{3} +page-faults"), (["--no-big-num"], r"\b3\d{3} +page-faults"),
                              (["--no-big-num", "-B"], r"\b3,\d{3} +page-faults"),
                              (["-B", "--no-big-num"], r"\b3\d{3} +page-faults")):
            with self.subTest(args):
                result = self.stat(*args, "-e", "page-faults", *pages)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertRegex(result.stderr, pattern)
        result = self.stat("-B", "-x,", "-e", "page-faults", "true")
        self.assertEqual(result.returncode, 125)
        self.assertOneSentence(result.stderr)

    def test_scale(self):
        for args in (["--scale"], ["--no-scale"]):
            rows = self.rows(*args, "-e", "page-faults", *load("pages", 1000))
            self.assertGreater(int(rows[0][0]), 1000)

    def test_verbose(self):
        for args, prefix in (([], ""), (["-x,"], "# ")):
            text = self.stat("-v", *args, "-e", "page-faults,task-clock", *load("pages", 1000)).stderr
            raw = re.search(r"(?m)^%spage-faults\S*: (\d+) (\d+) (\d+)$" % prefix, text)
            self.assertGreater(int(raw.group(1)), 1000)
            self.assertGreaterEqual(int(raw.group(2)), int(raw.group(3)))
            clock = re.search(r"(?m)^%stask-clock\S*: (\d+) " % prefix, text)
            self.assertGreater(int(clock.group(1)), 1000)
        self.assertNotIn("page-faults: ", self.stat("-e", "page-faults", "true").stderr)

    def test_verbose_says_why_not(self):
        needs_no_pmu()
        text = self.stat("-v", "-e", "cycles", "true").stderr
        self.assertRegex(text, r"(?m)^cycles: this .*machine has no PMU")

    def test_one_mode(self):
        needs_system_wide()
        pages = load("pages", 3000)
        user = self.rows("--all-user", "-e", "page-faults", *pages)[0]
        kernel = self.rows("--all-kernel", "-e", "page-faults", *pages)[0]
        self.assertEqual((user[2], kernel[2]), ("page-faults", "page-faults"))
        self.assertGreaterEqual(int(user[0]), 3000)
        self.assertLess(int(kernel[0]), 1000)

    def test_modes_that_contradict(self):
        for command in ("stat", "record"):
            for args in (["--all-user", "--all-kernel", "-e", "page-faults"], ["--all-user", "-e", "page-faults:k"],
                         ["--all-kernel", "-e", "page-faults:u"], ["--all-user", "-e", "page-faults:uk"]):
                result = self.tacho(command, *args, "true", cwd=self.home)
                self.assertEqual(result.returncode, 125, args)
                self.assertOneSentence(result.stderr)

    def test_recorded_mode(self):
        needs_system_wide()
        for option, mode in (("--all-user", 2), ("--all-kernel", 1)):  # PERF_RECORD_MISC_USER, …_KERNEL
            self.tacho("record", "-o", self.path("x.data"), option, "-e", "page-faults", "-c", 1,
                       *load("pages", 500))
            out = self.tacho("script", "-i", self.path("x.data"), "--json").stdout
            records = [json.loads(line) for line in out.splitlines()]
            self.assertEqual({r["misc"] & 7 for r in records if r["type"] == "SAMPLE"}, {mode}, option)
            self.assertEqual({r["event"] for r in records if r["type"] == "SAMPLE"}, {"page-faults"})


class NotThere(Case):
    """Events that the machine does not have: the command runs, and the reason is the same everywhere."""

    def setUp(self):
        super().setUp()
        needs_no_pmu()

    def test_the_command_runs(self):
        for args in (["-e", "cycles"], ["-e", "cycles,instructions"], ["-e", "{cycles,instructions}"], ["-M", "ipc"],
                     ["-x,", "-e", "cycles"], ["-j", "-e", "cycles"], ["-I", "10", "-e", "cycles"],
                     ["-r", "2", "-e", "cycles"], ["-e", "cycles:pp"]):
            with self.subTest(args):
                mark = self.path("ran")
                result = self.stat(*args, "sh", "-c", "echo >%s; exit 3" % mark)
                self.assertEqual(result.returncode, 3, result.stderr)
                os.unlink(mark)
                self.assertIn("<not ", result.stderr)

    def test_formats(self):
        self.assertRegex(self.stat("-e", "cycles", "true").stderr, r"(?m)^ +<not supported> +cycles$")
        self.assertIn("<not supported>,,cycles,0,100.00,,\n", self.stat("-x,", "-e", "cycles", "true").stderr)
        line = self.json_lines("-e", "cycles", "true")[0]
        self.assertEqual((line["counter-value"], line["event"]), ("<not supported>", "cycles"))

    def test_as_perf(self):
        perf = subprocess.run([needs_program("perf"), "stat", "-x,", "-e", "cycles", "true"], capture_output=True,
                              text=True, check=True)
        self.assertEqual(self.stat("-x,", "-e", "cycles", "true").stderr, perf.stderr)

    def test_not_permitted_is_another_thing(self):
        needs_other_user()
        if paranoid() < 1:
            self.skipTest("perf_event_paranoid lets everybody count whole CPUs")
        mark = self.path("ran")
        result = self.stat("-a", "-e", "cpu-clock", "touch", mark, before=AS_NOBODY)
        self.assertEqual(result.returncode, 125)
        self.assertOneSentence(result.stderr)
        self.assertFalse(os.path.exists(mark))

    def test_one_reason(self):
        reason = self.json_lines("-e", "cycles", "true")[0]["reason"]
        self.assertRegex(reason, r"^this (virtual )?machine has no PMU")
        listed = {e["name"]: e for e in json.loads(self.tacho("list", "--json", "hw").stdout)}
        self.assertEqual(listed["cycles"]["reason"], reason)
        for args in (["-e", "instructions"], ["-e", "cpu/event=1/"], ["-e", "r1"]):
            result = self.tacho("record", *args, "true", cwd=self.home)
            self.assertEqual(result.returncode, 125)
            self.assertIn(reason, result.stderr)
        self.assertIn(reason, " ".join(self.stat("-e", "cycles", "true").stderr.split()))
        checks = json.loads(self.tacho("doctor", "--json").stdout)
        self.assertIn(json.dumps(reason), json.dumps(checks))

    def test_record_takes_the_clock(self):
        for args, names in ((["-e", "cycles"], ["cpu-clock"]), (["-e", "cycles:u"], ["cpu-clock:u"]),
                            (["-e", "cpu-cycles:pp"], ["cpu-clock"]),
                            (["-e", "cycles/period=1000000,name=mine/"], ["cpu-clock"]),
                            (["-e", "page-faults,cycles"], ["page-faults", "cpu-clock"])):
            with self.subTest(args):
                result = self.tacho("record", "-o", self.path("x.data"), *args, "true")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertRegex(result.stderr, r"no PMU .*: cpu-clock is recorded, not cycles")
                info = json.loads(self.tacho("info", "--json", "-i", self.path("x.data")).stdout)
                self.assertEqual([e["name"] for e in info["events"]], names)
        result = self.tacho("record", "-q", "-o", self.path("x.data"), "-e", "cycles", "true")
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Terms(Case):
    def events(self, text, *command):
        result = self.tacho("record", "-o", self.path("x.data"), "-e", text, *(command or load("pages", 50)))
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(self.tacho("info", "--json", "-i", self.path("x.data")).stdout)["events"]

    def test_recorded(self):
        event, = self.events("page-faults/period=7,name=mine/u")
        self.assertEqual((event["name"], event["sample_period"]), ("mine", 7))
        event, = self.events("page-faults/freq=123/")
        self.assertEqual((event["name"], event["frequency"]), ("page-faults/freq=123/", 123))
        event, = self.events("page-faults/config=6/")
        self.assertEqual(event["config"], 6)

    def test_each_has_its_stacks(self):
        plain, frames, copied, depth = self.events(
            "page-faults/period=1/,faults/period=1,call-graph=fp/,minor-faults/call-graph=dwarf,stack-size=512/,"
            "cs/max-stack=3/")
        self.assertNotIn("CALLCHAIN", plain["sample_type"])
        self.assertIn("CALLCHAIN", frames["sample_type"])
        self.assertNotIn("STACK_USER", frames["sample_type"])
        self.assertIn("STACK_USER", copied["sample_type"])
        self.assertIn("CALLCHAIN", depth["sample_type"])
        self.assertEqual(plain["frames"], 0)
        self.assertGreater(frames["frames"], 0)

    def test_without_stacks_among_others(self):
        self.tacho("record", "-g", "-o", self.path("x.data"), "-e", "page-faults,faults/call-graph=no/", "true")
        events = json.loads(self.tacho("info", "--json", "-i", self.path("x.data")).stdout)["events"]
        self.assertEqual(["CALLCHAIN" in e["sample_type"] for e in events], [True, False])

    def test_children(self):
        rows = self.rows("-e", "page-faults,page-faults/no-inherit/,page-faults/inherit/", *load("forks", 3, 2000))
        whole, alone, again = (int(r[0]) for r in rows)
        self.assertGreater(whole, 6000)
        self.assertLess(alone, 1000)
        self.assertGreater(again, 6000)
        rows = self.rows("-i", "-e", "page-faults,page-faults/inherit/", *load("forks", 3, 2000))
        self.assertLess(int(rows[0][0]), 1000)
        self.assertGreater(int(rows[1][0]), 6000)

    def test_recorded_children(self):
        # The third is the one that tells of processes: the first no longer sees the children.
        alone, whole, _ = self.events("page-faults/period=1,no-inherit/,faults/period=1/", *load("forks", 3, 2000))
        self.assertLess(alone["samples"], 1000)
        self.assertGreater(whole["samples"], 6000)

    def test_tracepoints(self):
        needs_tracefs()
        event, = self.events("sched:sched_process_exit/call-graph=fp/")
        self.assertEqual(event["name"], "sched:sched_process_exit/call-graph=fp/")
        self.assertIn("CALLCHAIN", event["sample_type"])

    def test_counted(self):
        rows = self.rows("-e", "page-faults/period=1000,name=mine/,faults//", *load("pages", 500))
        self.assertEqual([r[2] for r in rows], ["mine", "faults//"])
        self.assertTrue(all(int(r[0]) > 500 for r in rows), rows)

    def test_refused(self):
        for text, word in (("page-faults/bogus=1/", "'bogus'"), ("page-faults/period=x/", "period"),
                           ("page-faults/percore/", "--per-core"), ("page-faults/overwrite/", "--overwrite"),
                           ("page-faults/aux-output/", "AUX"), ("page-faults/nr=3/", "perf trace"),
                           ("page-faults/call-graph=sideways/", "use fp"), ("page-faults/name=/", "name"),
                           ("page-fautls/period=1/", "'page-faults'"), ("page-faults/period=1", "'/'")):
            with self.subTest(text):
                result = self.stat("-e", text, "true")
                self.assertEqual(result.returncode, 125)
                self.assertOneSentence(result.stderr)
                self.assertIn(word, result.stderr.splitlines()[0])


class Refused(Case):
    def test_a_tracepoint_that_nobody_may_sample(self):
        """The kernel forbids it to root as well: nobody is sent to become root."""
        needs_system_wide()
        needs_tracefs()
        if not os.path.exists(TRACEFS + "/events/irq_vectors/irq_work_exit"):
            self.skipTest("this kernel has no irq_vectors:irq_work_exit")
        for where in ([], ["-a"]):
            result = self.tacho("record", *where, "-e", "irq_vectors:irq_work_exit", "true", cwd=self.home)
            self.assertEqual(result.returncode, 125)
            self.assertOneSentence(result.stderr)
            self.assertNotIn("needs perf_event_paranoid", result.stderr)
            self.assertIn("no samples", result.stderr)
            self.assertIn("tacho stat", result.stderr)
        self.assertEqual(self.stat("-e", "irq_vectors:irq_work_exit", "true").returncode, 0)


class Reader(Case):
    """Whoever reads has seen enough and gone: a quiet end by SIGPIPE, as that of others that print."""

    def into_nothing(self, *args, **more):
        read, write = os.pipe()
        os.close(read)
        try:
            return self.tacho(*args, stdout=write, **more)
        finally:
            os.close(write)

    def test_printing(self):
        data, tracefs = self.path("x.data"), "list: tracefs"
        self.tacho("record", "-g", "-o", data, "-e", "page-faults", "-c", 1, *load("pages", 200))
        for args in (["--help"], ["--version"], ["list"], ["list", "--json"], ["list", "--names"], ["events"],
                     ["list", "--uarch", "help"], ["doctor"], ["doctor", "--json"], ["help"], ["help", "--man", "stat"],
                     ["completion", "bash"], ["stat", "--help"], ["stat", "-M", "help"], ["info", "-i", data],
                     ["info", "--json", "-i", data], ["script", "-i", data], ["report", "--stdio", "-i", data],
                     ["report", "--json", "-i", data], ["flame", "-i", data, "-o", "-"],
                     ["diff", "--table", data, data], ["convert", "-i", data, "--to", "perfdata", "-o", "-"],
                     ["convert", "-i", data, "--to", "folded", "-o", "-"], ["config"]):
            with self.subTest(args):
                result = self.into_nothing(*args)
                lines = [x for x in result.stderr.splitlines() if tracefs not in x]
                self.assertEqual((result.returncode, lines), (-signal.SIGPIPE, []))

    def test_head(self):
        result = subprocess.run(["bash", "-c", '"$0" list --uarch all | head -n 1; echo "${PIPESTATUS[0]}"', TACHO],
                                env=environment(self.home), capture_output=True, text=True, timeout=60)
        self.assertEqual(result.stdout.splitlines()[-1], "141")
        self.assertEqual(result.stderr, "")

    def test_a_workload_runs_to_its_end(self):
        mark = self.path("ran")
        for args in (["--log-fd", "1"], ["--log-fd", "1", "-I", "1"]):
            result = self.into_nothing("stat", *args, "-e", "page-faults", "sh", "-c",
                                       "sleep 0.05; echo >%s; exit 3" % mark)
            self.assertIn(result.returncode, (3, 125))
            self.assertTrue(os.path.exists(mark), "the command did not run to its end")
            os.unlink(mark)
        self.assertEqual(self.into_nothing("record", "-o", self.path("x.data"), "-e", "page-faults", "sh", "-c",
                                           "exit 3").returncode, 3)


class Words(Case):
    def said(self, *args):
        result = self.tacho(*args)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertOneSentence(result.stderr)
        return result.stderr

    def test_commands_of_perf(self):
        for name in ("mem", "kvm", "c2c", "lock", "sched", "trace", "timechart", "probe", "bench", "test"):
            for args in ([name], ["help", name]):
                text = self.said(*args)
                self.assertNotIn("did you mean", text)
                self.assertIn("'%s' is a command of perf" % name, text)
        self.assertIn("tacho info", self.said("evlist"))

    def test_suggestions_are_near(self):
        for word in ("xm", "rx", "lsx", "abc", "kvn", "men"):
            text = self.said(word)
            for name in re.findall(r"'(\w+)'", text)[1:]:
                self.assertLess(abs(len(name) - len(word)), 2, text)
        self.assertNotIn("'rm'", self.said("kxm"))
        self.assertNotIn("'ls'", self.said("zx"))
        for word, name in (("lsit", "list"), ("stst", "stat"), ("reocrd", "record"), ("repot", "report")):
            self.assertIn("'%s'" % name, self.said(word))


if __name__ == "__main__":
    unittest.main()
