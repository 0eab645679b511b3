#!/usr/bin/env python3
"""tacho stat, run as a user would, around programs of known shape."""

import os
import resource
import re
import signal
import subprocess
import time
import unittest

from helpers import (AS_NOBODY, LIMIT_S, TACHO, Case, alive, cgroup2_mount, children_of, columns_of, environment,
                     eventually, has_pmu, has_to_end, in_terminal, load, needs_no_pmu, needs_other_user,
                     needs_program, needs_system_wide, needs_tracefs, online_cpus, paranoid, plain, send_and_see,
                     wait_counting, wait_ran, wait_taken, with_enough_time, worker_labels)

DEFAULT = ["task-clock", "context-switches", "cpu-migrations", "page-faults", "cycles",
           "instructions", "branches", "branch-misses"]
NO_PMU = "No hardware counters"


class Status(Case):
    def check(self, status, *args, **more):
        result = self.stat("-e", "page-faults", *args, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def test_of_the_command(self):
        self.check(0, "true")
        self.check(3, "sh", "-c", "exit 3")
        self.check(255, "sh", "-c", "exit 255")

    def test_of_a_signal(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
            result = self.check(128 + number, "sh", "-c", "kill -%d $$" % number)
            self.assertIn("page-faults", result.stderr)

    def test_not_found(self):
        # A folder of PATH that may not be searched would make it 126.
        result = self.check(127, "no-such-command-here", env={"PATH": "/usr/bin:/bin"})
        self.assertOneSentence(result.stderr)
        self.assertIn("'no-such-command-here'", result.stderr)
        self.check(127, "-I", 1, "./no-such-command-here")
        self.check(127, "-r", 3, "./no/such/command")

    def test_not_executable(self):
        text = self.write("text", "hello\n")
        self.assertOneSentence(self.check(126, text).stderr)
        self.assertOneSentence(self.check(126, "/").stderr)

    def test_own_failures(self):
        for args in (["-e", "no-such-event", "true"], ["--no-such-option", "true"], ["-e", "", "true"],
                     ["-e", ",", "true"], ["-e", "page-faults"], ["-I", "abc", "true"],
                     ["-e"], ["-e", "{page-faults", "true"], ["-e", "page-faults:q", "true"],
                     ["-M", "no-such-metric", "true"], ["-p", "abc"], ["-p", ""], ["-t", "0"],
                     ["-C", "x", "true"], ["-C", "9999", "true"], ["-A", "true"],
                     ["--per-core", "true"], ["--per-thread", "true"], ["-o", "/no/such/dir/f", "true"],
                     ["--log-fd", "77", "true"], ["--cgroup", "no/such/cgroup", "true"],
                     ["-a", "-A", "--per-core", "true"], ["-a", "-p", "1"]):
            with self.subTest(args):
                result = self.stat(*args)
                self.assertEqual(result.returncode, 125, result.stderr)
                self.assertOneSentence(result.stderr)
                self.assertEqual(result.stdout, "")

    def test_the_command_does_not_run_when_tacho_fails(self):
        mark = self.path("ran")
        self.assertEqual(self.stat("-e", "no-such-event", "touch", mark).returncode, 125)
        self.assertFalse(os.path.exists(mark))

    def test_unknown_event_is_marked_and_suggested(self):
        result = self.stat("-e", "task-clock,page-fautls", "true")
        self.assertEqual(result.returncode, 125)
        lines = result.stderr.splitlines()
        self.assertIn("page-faults", lines[0])
        self.assertEqual(lines[1].index("page-fautls"), lines[2].index("^"))

    def test_options_of_the_command_are_its_own(self):
        result = self.check(0, "printf", "%s", "-x")
        self.assertEqual(result.stdout, "-x")
        result = self.check(0, "--", "printf", "%s", "-e")
        self.assertEqual(result.stdout, "-e")


class Streams(Case):
    def test_output_of_the_command_is_untouched(self):
        result = self.stat("-e", "page-faults", "sh", "-c", "printf 'a\\nb'")
        self.assertEqual(result.stdout, "a\nb")
        self.assertNotIn("a\nb", result.stderr)

    def test_input_reaches_the_command(self):
        result = self.stat("-e", "page-faults", "cat", input="some text\n" * 1000)
        self.assertEqual(result.stdout, "some text\n" * 1000)

    def test_descriptors_do_not_leak(self):
        inside = self.stat("-e", "page-faults,task-clock", "ls", "/proc/self/fd").stdout
        outside = subprocess.run(["ls", "/proc/self/fd"], stdin=subprocess.DEVNULL, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout
        self.assertEqual(inside, outside)

    def test_signals_are_not_blocked_in_the_command(self):
        result = self.stat("-e", "page-faults", "grep", "-E", "SigBlk|SigIgn", "/proc/self/status")
        blocked, ignored = (int(x.split()[1], 16) for x in result.stdout.splitlines())
        self.assertEqual(blocked, 0)
        self.assertFalse(ignored & (1 << (signal.SIGPIPE - 1)))

    def test_nobody_reads_the_results(self):
        mark = self.path("ran")
        read, write = os.pipe()
        os.close(read)
        for args in ([], ["-x,"], ["-j"], ["-I", "1"]):
            with self.subTest(args):
                result = self.stat(*args, "-e", "page-faults", "sh", "-c",
                                   "sleep 0.05; echo x >%s; exit 3" % mark, stderr=write)
                self.assertIn(result.returncode, (3, 125))
                self.assertTrue(os.path.exists(mark), "the command did not run to its end")
                os.unlink(mark)
        os.close(write)

    def test_closed_descriptors(self):
        for closed in ("2>&-", ">&-", "<&-", "<&- >&- 2>&-"):
            with self.subTest(closed):
                result = subprocess.run(["sh", "-c", '"$0" stat -e page-faults true ' + closed, TACHO],
                                        env=environment(self.home), timeout=LIMIT_S,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertIn(result.returncode, (0, 125), result)

    def test_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        result = self.stat("-e", "page-faults", "-o", "/dev/full", "true")
        self.assertEqual(result.returncode, 125)
        self.assertOneSentence(result.stderr)


class Text(Case):
    def test_layout(self):
        result = self.stat("true")
        self.assertNotIn("\x1b", result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertIn("Performance counter stats for 'true':", result.stderr)
        for line in (r"^ +[\d,.]+ msec task-clock(:u)? +# +\d+\.\d{3} CPUs utilized$",
                     r"^ +[\d,]+ +page-faults(:u)? +# +[\d.]+ [KMG]?/sec$",
                     r"^ +\d+\.\d+ seconds time elapsed$", r"^ +\d+\.\d+ seconds user$",
                     r"^ +\d+\.\d+ seconds sys$"):
            self.assertRegex(result.stderr, re.compile(line, re.M))
        self.assertFalse(re.search(r"[ \t]$", result.stderr, re.M), "spaces at the end of a line")

    def test_values_are_aligned(self):
        text = self.stat("-e", "page-faults,task-clock,context-switches", *load("pages", 3000)).stderr
        ends = {re.match(r" +[\d,.]+", line).end() for line in text.splitlines()
                if re.match(r" +[\d,.]+ .*(page-faults|task-clock|context-switches)", line)}
        self.assertEqual(len(ends), 1, text)
        self.assertRegex(text, r"\b3,\d{3} +page-faults")

    def test_default_events(self):
        rows = self.rows("true")
        self.assertEqual([r[2].replace(":u", "") for r in rows], DEFAULT)

    def test_details(self):
        more = [len(self.rows(*["-d"] * n, "true")) for n in range(4)]
        self.assertEqual(more[0], len(DEFAULT))
        self.assertEqual(sorted(set(more)), more)
        self.assertEqual(len(self.rows("-dd", "true")), more[2])

    def test_one_line_about_no_pmu(self):
        needs_no_pmu()
        result = self.stat("true")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count(NO_PMU), 1)
        self.assertNotIn("<not supported>", result.stderr)
        result = self.stat("-r", 3, "true")
        self.assertEqual(result.stderr.count(NO_PMU), 1)
        result = self.stat("-I", 5, "sleep", "0.03")
        self.assertEqual(result.stderr.count(NO_PMU), 1)
        self.assertNotIn(NO_PMU, self.stat("-e", "page-faults", "true").stderr)

    def test_only_hardware_events_and_no_pmu(self):
        needs_no_pmu()
        for args in (["-e", "cycles"], ["-e", "cycles,instructions"], ["-M", "ipc"],
                     ["-x,", "-e", "cycles"], ["-e", "{cycles,instructions}"]):
            mark = self.path("ran")
            result = self.stat(*args, "touch", mark)
            self.assertEqual(result.returncode, 0)
            self.assertEqual(NO_PMU in result.stderr, "-x," not in args)
            os.unlink(mark)

    def test_some_hardware_events_and_no_pmu(self):
        needs_no_pmu()
        result = self.stat("-e", "cycles,page-faults", "true")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"(?m)^ +<not supported> +cycles$")
        self.assertRegex(result.stderr, r"(?m)^ +\d+ +page-faults(:u)?$")
        self.assertEqual(result.stderr.count(NO_PMU), 1)

    def test_with_a_pmu(self):
        if not has_pmu():
            self.skipTest("this machine has no PMU")
        rows = {r[2]: r[0] for r in self.rows("-e", "cycles,instructions", *load("busy", 50))}
        self.assertEqual(len(rows), 2)
        self.assertTrue(all(re.fullmatch(r"\d+", v) for v in rows.values()), rows)

    def test_terminal(self):
        status, output = in_terminal([TACHO, "stat", "true"], environment(self.home))
        self.assertEqual(status, 0)
        self.assertIn(b"\x1b[", output)
        self.assertIn("seconds time elapsed", plain(output))
        self.assertRegex(plain(output), r"(?m)^ +[\d.]+ msec task-clock(:u)? +# ")

    def test_no_color(self):
        _, output = in_terminal([TACHO, "stat", "true"], environment(self.home, {"NO_COLOR": "1"}))
        self.assertNotIn(b"\x1b[", output)
        self.assertIn(b"task-clock", output)

    def test_live_intervals_on_a_terminal(self):
        args = [TACHO, "stat", "-e", "page-faults", "-I", "20", *load("steps", 60, 10, 50)]
        status, output = in_terminal(args, environment(self.home))
        self.assertEqual(status, 0)
        self.assertTrue(re.search("[\u2581-\u2588]".encode(), output), "no sparkline")
        self.assertIn("Performance counter stats", plain(output))
        status, output = in_terminal([*args[:2], "--no-live", *args[2:]], environment(self.home))
        self.assertFalse(re.search("[\u2581-\u2588]{2}", output.decode()))
        self.assertRegex(plain(output), r"(?m)^ +\d+\.\d+ +\d+ +page-faults")

    def test_hostile_command_name(self):
        text = self.stat("-e", "page-faults", "sh", "-c", ":", "\x1b[31mred\x07").stderr
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\x07", text)


class Counts(Case):
    """Programs whose counts are known."""

    def test_page_faults(self):
        few = self.count("page-faults", *load("pages", 0))
        for pages in (500, 5000):
            more = self.count("page-faults", *load("pages", pages))
            self.assertAlmostEqual(more - few, pages, delta=25)

    def test_minor_faults_are_page_faults_without_disk(self):
        rows = {r[2].replace(":u", ""): float(r[0])
                for r in self.rows("-e", "page-faults,minor-faults,major-faults", *load("pages", 1000))}
        self.assertEqual(rows["page-faults"], rows["minor-faults"] + rows["major-faults"])

    def cpu_and_wall_ms(self, *command):
        task, wall = self.rows("-e", "task-clock,duration_time", *command)
        return float(task[0]), float(wall[0]) / 1e6

    def test_task_clock(self):
        # Of its 200 ms the program uses some before its exec, which is not counted.
        cpu_ms, wall_ms = self.cpu_and_wall_ms(*load("busy", 200))
        self.assertGreater(cpu_ms, 180)
        self.assertLessEqual(cpu_ms, wall_ms)

    def test_task_clock_of_threads(self):
        cpu_ms, wall_ms = self.cpu_and_wall_ms(*load("busythreads", 4, 60))
        self.assertGreater(cpu_ms, 220)
        self.assertLessEqual(cpu_ms, wall_ms * len(online_cpus()))
        alone = self.count("task-clock", "-i", *load("busythreads", 4, 60))
        self.assertLess(alone, 60)

    def test_figure_of_task_clock(self):
        row = self.rows("-e", "task-clock,duration_time", *load("busythreads", 2, 100))
        busy = float(row[0][0]) / (float(row[1][0]) / 1e6)
        self.assertEqual(row[0][6], "CPUs utilized")
        self.assertAlmostEqual(float(row[0][5]), busy, delta=0.02 * busy + 0.01)

    def test_context_switches(self):
        if os.geteuid() != 0 and paranoid() > 1:
            self.skipTest("needs root or perf_event_paranoid <= 1")
        # As the kernel itself says to the program, just before it ends.
        result = self.stat("-x,", "-e", "context-switches", *load("switches", 100))
        said, counted = int(result.stdout), int(columns_of(result.stderr)[0][0])
        self.assertGreaterEqual(said, 100)
        self.assertAlmostEqual(counted, said, delta=5)

    def test_children(self):
        alone = self.count("page-faults", "-i", *load("forks", 3, 2000))
        whole = self.count("page-faults", *load("forks", 3, 2000))
        self.assertLess(alone, 1000)
        self.assertGreater(whole, 6000)
        self.assertLess(whole, 7000)
        self.assertLess(self.count("page-faults", "--no-inherit", *load("forks", 3, 2000)), 1000)

    def test_starts_with_the_program(self):
        # What tacho itself does before the exec is not counted: a bare program has few faults.
        static = self.count("page-faults", "true")
        self.assertLess(static, 200)
        self.assertGreater(static, 5)

    def test_user_and_kernel(self):
        if os.geteuid() != 0 and paranoid() > 1:
            self.skipTest("needs root or perf_event_paranoid <= 1")
        rows = {r[2]: float(r[0]) for r in
                self.rows("-e", "page-faults,page-faults:u,page-faults:k", *load("pages", 2000))}
        self.assertEqual(rows["page-faults"], rows["page-faults:u"] + rows["page-faults:k"])
        self.assertGreater(rows["page-faults:u"], 2000)

    def test_events_in_many_forms(self):
        for text, names in (("page-faults,task-clock", ["page-faults", "task-clock"]),
                            ("faults", ["faults"]), ("cs", ["cs"]),
                            ("{page-faults,task-clock}", ["page-faults", "task-clock"]),
                            ("{page-faults:u,task-clock}:u", ["page-faults:u", "task-clock"]),
                            ("page-faults:u", ["page-faults:u"]),
                            (" page-faults , task-clock ", ["page-faults", "task-clock"]),
                            ("duration_time", ["duration_time"])):
            if os.geteuid() != 0:
                self.skipTest("names differ where only user mode may be counted")
            with self.subTest(text):
                rows = self.rows("-e", text, "true")
                self.assertEqual([r[2] for r in rows], names)
                self.assertTrue(all(re.fullmatch(r"[\d.]+", r[0]) for r in rows), rows)
        rows = self.rows("-e", "page-faults", "-e", "task-clock", "--event=duration_time", "true")
        self.assertEqual(len(rows), 3)

    def test_tracepoint(self):
        needs_tracefs()
        self.assertEqual(self.count("syscalls:sys_enter_getppid", *load("calls", 12345)), 12345)
        self.assertEqual(self.count("syscalls:sys_enter_getppid", *load("callthreads", 3, 1000)), 3000)

    def test_breakpoint(self):
        # A word that nobody writes to: the event can be opened, and counts nothing.
        if os.uname().machine not in ("x86_64", "aarch64"):
            self.skipTest("breakpoints are tried on x86 and arm64 only")
        result = self.stat("-x,", "-e", "mem:0x1000:w,page-faults", "true")
        self.assertEqual(result.returncode, 0, result.stderr)
        row = columns_of(result.stderr)[0]
        self.assertEqual(row[2].replace("w:u", "w"), "mem:0x1000:w")
        self.assertIn(row[0], ("0", "<not supported>"))

    def test_same_event_twice(self):
        rows = self.rows("-e", "page-faults,page-faults", "true")
        self.assertEqual(rows[0][0], rows[1][0])

    def test_default_modifiers(self):
        self.write("config/tacho/events.conf", "# mine\npage-f* u\n")
        rows = self.rows("-e", "page-faults,task-clock", "true")
        self.assertEqual(rows[0][2], "page-faults:u")
        self.assertEqual(self.rows("-e", "page-faults:k,task-clock", "true")[0][2]
                         if os.geteuid() == 0 else "page-faults:k", "page-faults:k")

    def test_null_run(self):
        result = self.stat("-n", "sleep", "0.02")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"\d+\.\d+ seconds time elapsed")
        self.assertNotIn("task-clock", result.stderr)
        self.assertEqual(self.stat("-n", "-x,", "true").stderr, "")


class Repeat(Case):
    def test_again_and_again(self):
        child = self.start_stat("-r", "0", "-x,", "-e", "page-faults", "true")
        lines = [child.stderr.readline() for _ in range(3)]
        child.send_signal(signal.SIGINT)
        child.stderr.read()  # it may wait for room in the pipe
        self.assertIsNotNone(child.wait(LIMIT_S))
        for line in lines:
            self.assertRegex(line, r"^\d+,,page-faults,\d+,100.00,,$")

    def test_mean_and_spread(self):
        mark = self.path("runs")
        result = self.stat("-r", 5, "-e", "page-faults,task-clock", "sh", "-c", "echo x >>%s" % mark)
        self.assertEqual(result.returncode, 0)
        with open(mark) as text:
            self.assertEqual(text.read(), "x\n" * 5)
        self.assertIn("(5 runs)", result.stderr)
        self.assertRegex(result.stderr, r"(?m)^ +[\d.]+ msec task-clock\S* .*\( \u00b1 +\d+\.\d\d% \)$")
        self.assertRegex(result.stderr, r"[\d.]+ \u00b1 [\d.]+ seconds time elapsed")

    def test_figures(self):
        # Every run touches more than the one before: mean and spread are known.
        counter = self.write("n", "")
        step = "printf x >>%s; exec \"$0\" pages $(($(wc -c <%s) * 1000))" % (counter, counter)
        line = self.json_lines("-r", 5, "-e", "page-faults", "sh", "-c", step, *load()[:1])[0]
        few = self.count("page-faults", "sh", "-c", "printf x >>%s; exec \"$0\" pages $(($(wc -c <%s)*0))"
                         % (counter, counter), *load()[:1])
        mean = float(line["counter-value"])
        self.assertAlmostEqual(mean - few, 3000, delta=40)
        self.assertEqual(line["runs"], 5)
        self.assertAlmostEqual(line["min"] - few, 1000, delta=40)
        self.assertAlmostEqual(line["max"] - few, 5000, delta=40)
        self.assertAlmostEqual(line["stddev"], 1581.1, delta=30)  # of 1000 … 5000
        self.assertAlmostEqual(line["variance"], 100 * 707.1 / mean, delta=0.7)
        self.assertAlmostEqual(line["confidence-95"], 2.776 * 707.1, delta=40)

    def test_columns(self):
        rows = self.rows("-r", 5, "-e", "page-faults", "true")
        self.assertEqual(len(rows[0]), 8)
        self.assertRegex(rows[0][3], r"^\d+\.\d\d%$")

    def test_status_is_of_the_last_run(self):
        mark = self.path("n")
        result = self.stat("-r", 3, "-e", "page-faults", "sh", "-c",
                           "echo x >>%s; exit $(wc -l <%s)" % (mark, mark))
        self.assertEqual(result.returncode, 3)


class Intervals(Case):
    def test_grid(self):
        # Late or missed on a busy machine (make bench says how late), but never before their time.
        result = self.stat("-x,", "-I", 10, "-e", "page-faults", "sleep", "0.5")
        self.assertEqual(result.returncode, 0)
        times = [float(r[0]) for r in columns_of(result.stderr)]
        self.assertEqual(times, sorted(set(times)))
        slots = [int(t / 0.010) for t in times[:-1]]
        self.assertEqual(slots, sorted(set(slots)), "two ticks in one slot")
        self.assertTrue(not slots or slots[0] >= 1, slots)
        self.assertGreaterEqual(times[-1], 0.5)
        self.assertRegex(result.stderr, r"(?m)^ {5}\d\.\d{9},")

    def test_nothing_is_lost_between_intervals(self):
        needs_tracefs()
        event = "syscalls:sys_enter_getppid"
        rows = self.rows_of_orders(event, "-I", 10, "-e", event, orders=20, calls=321)
        self.assertEqual(sum(int(r[1]) for r in rows if r[1].isdigit()), 20 * 321)

    def test_page_faults_add_up(self):
        shape = load("steps", 20, 0, 300)
        total = self.count("page-faults", *shape)
        rows = self.rows("-I", 7, "-e", "page-faults", *shape)
        self.assertAlmostEqual(sum(int(r[1]) for r in rows if r[1].isdigit()), total, delta=25)

    def test_task_clock_adds_up(self):
        rows = self.rows("-I", 10, "-e", "task-clock", *load("busy", 150))
        total = sum(float(r[1]) for r in rows if r[1][0] != "<")
        self.assertGreater(total, 135)
        self.assertLessEqual(total, float(rows[-1][0]) * 1e3)

    def test_every_event_in_every_interval(self):
        rows = self.rows("-I", 20, "-e", "page-faults,task-clock,context-switches", "sleep", "0.1")
        names = [r[3].replace(":u", "") for r in rows]
        self.assertEqual(names, ["page-faults", "task-clock", "context-switches"] * (len(names) // 3))
        for i in range(0, len(rows), 3):
            self.assertEqual(len({r[0] for r in rows[i:i + 3]}), 1)

    def test_count(self):
        result = self.stat("-x,", "-I", 20, "--interval-count", 3, "-e", "page-faults", "sleep", "1000")
        self.assertEqual(len(columns_of(result.stderr)), 3)
        self.assertEqual(result.returncode, 0)

    def test_count_of_the_system(self):
        needs_system_wide()
        rows = self.rows("-a", "-I", 10, "--interval-count", 4, "-e", "page-faults")
        self.assertEqual(len(rows), 4)

    def test_one_millisecond(self):
        # Every tick up to the last one is there, or is reported as missed.
        lines = self.json_lines("-I", 1, "-e", "page-faults", "sleep", "0.3")
        summary = [x["summary"] for x in lines if "summary" in x][0]
        ticks = [x for x in lines if "interval" in x]
        self.assertGreaterEqual(summary["ticks"] + summary["missed"], int(max(x["interval"] for x in ticks[:-1]) * 1000))
        self.assertLessEqual(abs(len(ticks) - summary["ticks"]), 1)

    def test_missed_ticks_are_reported(self):
        child = self.start_stat("-x,", "-I", "5", "-e", "page-faults", "cat", stdin=subprocess.PIPE)
        wait_counting(child)
        os.kill(child.pid, signal.SIGSTOP)
        time.sleep(0.2)  # 40 ticks
        os.kill(child.pid, signal.SIGCONT)
        seen = sum(bool(child.stderr.readline()) for _ in range(3))
        child.stdin.close()
        text = child.stderr.read()
        missed = re.search(r"# .*?(\d+) of (\d+) ticks were missed", text)
        self.assertTrue(missed, text[-300:])
        self.assertGreater(int(missed.group(1)), 20)
        self.assertGreaterEqual(int(missed.group(2)), int(missed.group(1)) + seen)
        self.assertEqual(child.wait(LIMIT_S), 0)

    def test_rates_use_the_real_time(self):
        rows = self.rows("-I", 20, "-e", "task-clock", *load("busy", 100))
        before = 0
        for r in rows:
            length, before = float(r[0]) - before, float(r[0])
            if r[1][0] != "<":
                self.assertAlmostEqual(float(r[6]), float(r[1]) / 1e3 / length,
                                       delta=0.002 + 0.005e-3 / length)


class Time(Case):
    def ended(self, script):
        """A run that --timeout has ended, when the script had said something."""
        def run(timeout_ms):
            result = self.stat("--timeout", timeout_ms, "-e", "page-faults", "-x,", "sh", "-c", script)
            self.assertEqual(result.returncode, 0, result.stderr)
            return result if result.stdout else None
        return with_enough_time(run)

    def test_timeout(self):
        result = self.ended("echo $$; exec sleep 1000")
        self.assertGreater(float(columns_of(result.stderr)[0][0]), 10)
        self.assertFalse(os.path.exists("/proc/%s" % result.stdout.strip()), "the command still runs")

    def test_timeout_ends_children(self):
        """Also those that the command has started."""
        pid = int(self.ended("sleep 1000 >/dev/null 2>&1 & echo $!; wait").stdout)
        self.assertTrue(eventually(lambda: not alive(pid)))

    def test_timeout_of_the_system(self):
        needs_system_wide()
        rows = self.rows("-a", "--timeout", 50, "-e", "cpu-clock")
        self.assertGreaterEqual(float(rows[0][0]), 49 * len(online_cpus()))

    def test_delay(self):
        rows = self.rows_around_delay("page-faults", {"pages": 5000}, {"pages": 2000})
        late = sum(int(r[1]) for r in rows if r[1].isdigit())
        self.assertGreaterEqual(late, 2000)
        self.assertLess(late, 4000)

    def test_delay_longer_than_the_command(self):
        result = self.stat("-D", LIMIT_S * 1000, "-x,", "-e", "page-faults", "true")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"^<not counted>,,page-faults")


class Attach(Case):
    PAGES = 3000

    def test_process(self):
        target = self.start_ready("onsignal", self.PAGES)
        child = self.start_stat("-x,", "-e", "page-faults", "-p", target.pid)
        wait_counting(child)
        target.send_signal(signal.SIGUSR1)
        text = child.communicate(timeout=LIMIT_S)[1]  # ends when its process does
        self.assertEqual(child.returncode, 0)
        self.assertEqual(target.wait(timeout=LIMIT_S), 0)
        self.assertAlmostEqual(float(columns_of(text)[0][0]), self.PAGES, delta=60)

    def test_thread(self):
        target = self.start_ready("onsignal", self.PAGES)
        child = self.start_stat("-x,", "-e", "page-faults", "-t", target.pid)
        wait_counting(child)
        target.send_signal(signal.SIGUSR1)
        self.assertAlmostEqual(float(columns_of(child.communicate(timeout=LIMIT_S)[1])[0][0]),
                               self.PAGES, delta=60)

    def test_while_a_command_runs(self):
        # The process is counted, the command only says for how long.
        target = self.start_ready("onsignal", self.PAGES)
        child = self.start_stat("-x,", "-e", "page-faults", "-p", target.pid, "sh", "-c", "read x; exit 4",
                                stdin=subprocess.PIPE)
        wait_counting(child)
        target.send_signal(signal.SIGUSR1)
        self.assertEqual(target.wait(LIMIT_S), 0)
        text = child.communicate("\n", timeout=LIMIT_S)[1]
        self.assertEqual(child.returncode, 4)
        self.assertAlmostEqual(float(columns_of(text)[0][0]), self.PAGES, delta=60)

    def test_two_processes(self):
        targets = [self.start_ready("onsignal", self.PAGES) for _ in range(2)]
        child = self.start_stat("-x,", "-e", "page-faults", "-p", ",".join(str(t.pid) for t in targets))
        wait_counting(child)
        for target in targets:
            target.send_signal(signal.SIGUSR1)
        self.assertAlmostEqual(float(columns_of(child.communicate(timeout=LIMIT_S)[1])[0][0]),
                               2 * self.PAGES, delta=120)

    def test_gone(self):
        target = self.start(["true"])
        target.wait()
        for option in ("-p", "-t"):
            result = self.stat(option, target.pid)
            self.assertEqual(result.returncode, 125)
            self.assertOneSentence(result.stderr)
            self.assertIn(str(target.pid), result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_per_thread(self):
        target = self.start_ready("idlethreads", 3)
        labels = worker_labels(target.pid, 3)
        child = self.start_stat("-x,", "-p", target.pid, "--per-thread", "-e", "task-clock,page-faults")
        wait_counting(child)
        wait_ran(target.pid, "worker")
        child.send_signal(signal.SIGINT)
        rows = columns_of(child.communicate(timeout=LIMIT_S)[1])
        self.assertEqual(sorted(r[0] for r in rows if r[3].startswith("task-clock")), labels)
        self.assertEqual(sorted(r[0] for r in rows if r[3].startswith("page-faults")), labels)
        workers = [float(r[1]) for r in rows if r[3].startswith("task-clock") and "worker" in r[0]]
        self.assertTrue(all(ms > 0 for ms in workers), rows)
        lines = self.json_lines("-p", target.pid, "--per-thread", "-e", "task-clock", "--timeout", 20)
        self.assertEqual(sorted(x["thread"] for x in lines if "thread" in x), labels)

    def test_per_thread_of_many_tracepoints(self):
        needs_tracefs()
        target = self.start_ready("idlethreads", 3)
        labels = worker_labels(target.pid, 3)
        rows = self.rows("-p", target.pid, "--per-thread", "--timeout", 100, "-e",
                         "syscalls:sys_enter_*nanosleep,syscalls:sys_enter_getp*id")
        for name in {r[3] for r in rows}:
            self.assertEqual(sorted(r[0] for r in rows if r[3] == name), labels)

    def test_process_that_is_not_ours(self):
        needs_other_user()
        if paranoid() < 0:
            self.skipTest("perf_event_paranoid is -1: everybody may")
        result = self.stat("-e", "page-faults", "-p", 1, before=AS_NOBODY)
        self.assertEqual(result.returncode, 125)
        self.assertOneSentence(result.stderr)
        self.assertIn("not permitted", result.stderr)


class Places(Case):
    def setUp(self):
        super().setUp()
        needs_system_wide()
        self.cpus = online_cpus()

    def test_system(self):
        # Whatever else runs: at least what the command does, from its first step on.
        self.assertGreaterEqual(self.count("page-faults", "-a", *load("pages", 3000)), 3000)
        self.assertGreaterEqual(self.count("page-faults", "-a", "true"), 10)

    def test_cpu_clock_of_all(self):
        rows = self.rows("-a", "-e", "cpu-clock,duration_time", "sleep", "0.1")
        # Each CPU's clock counts from before the command starts until after it has ended.
        self.assertGreaterEqual(float(rows[0][0]), 100 * len(self.cpus))
        self.assertAlmostEqual(float(rows[0][0]) * 1e6, float(rows[0][3]), delta=0.01 * float(rows[0][3]))

    def test_default_events_of_the_system(self):
        self.assertEqual([r[2] for r in self.rows("-a", "true")], ["cpu-clock"] + DEFAULT[1:])

    def test_each_cpu(self):
        rows = self.rows("-a", "-A", "-e", "cpu-clock,page-faults", *load("pages", 3000))
        labels = ["CPU%d" % n for n in self.cpus]
        self.assertEqual([r[0] for r in rows], labels * 2)
        self.assertEqual([r[3] for r in rows], ["cpu-clock"] * len(labels) + ["page-faults"] * len(labels))
        self.assertGreaterEqual(sum(int(r[1]) for r in rows[len(labels):]), 3000)

    def test_one_cpu(self):
        cpu = self.cpus[-1]
        pinned = [needs_program("taskset"), "-c", str(cpu)]
        rows = self.rows("-C", cpu, "-A", "-e", "page-faults", *pinned, *load("pages", 3000))
        self.assertEqual([r[0] for r in rows], ["CPU%d" % cpu])
        self.assertGreaterEqual(int(rows[0][1]), 3000)
        if len(self.cpus) > 1:
            both = "%d,%d" % (self.cpus[0], cpu)
            self.assertGreaterEqual(float(self.rows("-C", both, "-e", "cpu-clock", "sleep", "0.1")[0][0]), 200)
            each = self.rows("-C", both, "-A", "-e", "cpu-clock", "sleep", "0.1")
            self.assertEqual([r[0] for r in each], ["CPU%d" % self.cpus[0], "CPU%d" % cpu])

    def test_cores_and_sockets(self):
        for option, label in (("--per-core", r"S\d+-D\d+-C\d+"), ("--per-die", r"S\d+-D\d+"),
                              ("--per-socket", r"S\d+")):
            with self.subTest(option):
                rows = self.rows("-a", option, "-e", "cpu-clock,page-faults", *load("pages", 3000))
                self.assertTrue(all(re.fullmatch(label, r[0]) for r in rows), rows)
                self.assertEqual([r[4] for r in rows], ["cpu-clock", "page-faults"] * (len(rows) // 2))
                self.assertEqual(sum(int(r[1]) for r in rows if r[4] == "cpu-clock"), len(self.cpus))
                self.assertGreaterEqual(sum(int(r[2]) for r in rows if r[4] == "page-faults"), 3000)

    def test_json_keys(self):
        for option, key in (("-A", "cpu"), ("--per-core", "core"), ("--per-socket", "socket")):
            lines = self.json_lines("-a", option, "-e", "page-faults", "true")
            self.assertTrue(all(key in x for x in lines if "event" in x), lines)

    def make_cgroup(self, name):
        mount = cgroup2_mount()
        name = "tacho-test-%d-%s" % (os.getpid(), name)
        path = os.path.join(mount, name)
        os.mkdir(path)
        self.addCleanup(lambda: eventually(lambda: self.removed(path)))
        return name, path

    def test_cgroup(self):
        name, path = self.make_cgroup("a")
        inside = ["sh", "-c", "echo 0 >%s/cgroup.procs; exec \"$@\"" % path, "sh"]
        rows = self.rows("--cgroup", name, "-e", "page-faults", *inside, *load("pages", 3000))
        self.assertEqual(rows[0][3], name)
        self.assertAlmostEqual(int(rows[0][0]), 3000, delta=400)
        rows = self.rows("-a", "--cgroup", name, "-e", "page-faults", *load("pages", 3000))
        self.assertLess(int(rows[0][0]) if rows[0][0].isdigit() else 0, 100)

    def test_two_cgroups(self):
        (a, path), (b, _) = self.make_cgroup("a"), self.make_cgroup("b")
        inside = ["sh", "-c", "echo 0 >%s/cgroup.procs; exec \"$@\"" % path, "sh"]
        rows = self.rows("--cgroup", "%s,%s" % (a, b), "-e", "page-faults", *inside, *load("pages", 3000))
        self.assertEqual([r[3] for r in rows], [a, b])
        self.assertGreater(int(rows[0][0]), 2900)
        self.assertIn(rows[1][0], ("0", "<not counted>"))


class Output(Case):
    def test_file(self):
        path = self.path("out")
        result = self.stat("-o", path, "-e", "page-faults", "true")
        self.assertEqual((result.returncode, result.stderr, result.stdout), (0, "", ""))
        with open(path) as text:
            first = text.read()
        self.assertRegex(first, r"^# started on \w{3} \w{3} +\d+ [\d:]{8} \d{4}\n")
        self.assertIn("page-faults", first)
        self.stat("-o", path, "--append", "-e", "task-clock", "true")
        with open(path) as text:
            both = text.read()
        self.assertTrue(both.startswith(first))
        self.assertEqual(both.count("# started on"), 2)
        self.assertIn("task-clock", both)
        self.stat("-o", path, "-e", "task-clock", "true")
        with open(path) as text:
            self.assertNotIn("page-faults", text.read())

    def test_columns_in_a_file(self):
        path = self.path("out")
        self.stat("-o", path, "-x,", "-e", "page-faults", "true")
        with open(path) as text:
            lines = text.read().splitlines()
        self.assertTrue(lines[0].startswith("# started on "))
        self.assertRegex(lines[-1], r"^\d+,,page-faults(:u)?,\d+,100\.00,,$")

    def test_descriptor(self):
        path = self.path("out")
        result = subprocess.run(["sh", "-c", '"$0" stat -x, --log-fd 5 -e page-faults true 5>"$1"',
                                 TACHO, path], env=environment(self.home), stderr=subprocess.PIPE)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        with open(path) as text:
            self.assertRegex(text.read(), r"^\d+,,page-faults")

    def test_separators(self):
        for given, used in ((";", ";"), ("\\t", "\t"), ("\t", "\t"), ("::", "::"), (" ", " ")):
            result = self.stat("-x", given, "-e", "page-faults", "true")
            row = result.stderr.rstrip("\n").split(used)
            self.assertEqual(len(row), 7, result.stderr)
            self.assertEqual(row[2].replace(":u", ""), "page-faults")
        self.assertEqual(len(self.rows("-e", "page-faults", "true")[0]), 7)

    def test_json(self):
        needs = ["-e", "task-clock,page-faults,cycles,duration_time"]
        for args in ([], ["-r", "3"], ["-I", "10"], ["-M", "cpus"]):
            with self.subTest(args):
                lines = self.json_lines(*args, *needs, "sleep", "0.03")
                events = [x for x in lines if "event" in x]
                self.assertGreaterEqual(len(events), 4)
                for x in events:
                    self.assertRegex(x["counter-value"], r"^(\d+\.\d{6}|<not supported>|<not counted>)$")
                    self.assertIn("unit", x)
                    self.assertIsInstance(x["event-runtime"], int)
                    self.assertEqual(x["pcnt-running"], 100)
                summary = [x["summary"] for x in lines if "summary" in x]
                self.assertEqual(len(summary), 1)
                self.assertGreater(summary[0]["elapsed-s"], 0.029)

    def test_json_gives_reasons(self):
        needs_no_pmu()
        lines = self.json_lines("-e", "cycles,page-faults", "true")
        self.assertTrue(lines[0]["reason"])
        self.assertEqual(sum("note" in x for x in lines), 1)

    def test_metrics(self):
        lines = self.json_lines("-M", "cpus,user-share", *load("busy", 100))
        values = {x["metric"]: x["metric-value"] for x in lines if "metric" in x}
        events = {x["event"].replace(":u", ""): float(x["counter-value"]) for x in lines if "event" in x}
        self.assertAlmostEqual(values["cpus"], events["task-clock"] * 1e6 / events["duration_time"], 3)
        self.assertAlmostEqual(values["user-share"], 100 * events["user_time"] /
                               (events["user_time"] + events["system_time"]), 3)
        self.assertGreater(values["user-share"], 50)
        text = self.stat("-M", "cpus", *load("busy", 50)).stderr
        self.assertRegex(text, r"(?m)^ +\d+\.\d{3} CPUs cpus ")

    def test_metric_of_missing_events(self):
        needs_no_pmu()
        result = self.stat("-M", "ipc,cpus", "true")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"(?m)^ +<not counted> .*\bipc ")
        self.assertRegex(result.stderr, r"(?m)^ +\d+\.\d{3} CPUs cpus ")

    def test_metrics_are_listed(self):
        result = self.stat("-M", "help")
        self.assertEqual(result.returncode, 0)
        for name in ("ipc", "cpus", "user-share"):
            self.assertRegex(result.stdout, r"(?m)^ +%s " % name)


class Signals(Case):
    def begin(self, *args):
        """tacho and its command in a process group, as a shell starts a job."""
        child = self.start_stat("-e", "page-faults", *args, start_new_session=True)
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child

    def test_interrupt_prints_what_was_counted(self):
        child = self.begin("sh", "-c", "echo ready; exec sleep 40")
        os.killpg(child.pid, signal.SIGINT)
        text = child.communicate(timeout=LIMIT_S)[1]
        self.assertRegex(text, r"(?m)^ +\d+ +page-faults")
        self.assertEqual(child.returncode, 128 + signal.SIGINT)

    def test_interrupt_of_the_system_wide_count(self):
        needs_system_wide()
        child = self.start_stat("-a", "-e", "page-faults")
        wait_counting(child)
        child.send_signal(signal.SIGINT)
        text = child.communicate(timeout=LIMIT_S)[1]
        self.assertRegex(text, r"(?m)^ +[\d,]+ +page-faults")
        self.assertEqual(child.returncode, 0)

    def test_interrupt_of_an_attached_count(self):
        target = self.start_ready("onsignal", 10)
        child = self.start_stat("-x,", "-e", "page-faults,task-clock", "-p", target.pid)
        wait_counting(child)
        child.send_signal(signal.SIGINT)
        text = child.communicate(timeout=LIMIT_S)[1]
        self.assertEqual(child.returncode, 0)
        self.assertEqual(len(columns_of(text)), 2)
        self.assertIsNone(target.poll(), "the process was ended, not just left")

    def test_interrupt_ends_repeats(self):
        child = self.start_stat("-r", "1000", "-e", "page-faults", "sh", "-c", "echo x; exec sleep 0.3",
                                start_new_session=True)
        for _ in range(3):
            self.assertEqual(child.stdout.readline(), "x\n")
        os.killpg(child.pid, signal.SIGINT)
        text = child.communicate(timeout=LIMIT_S)[1]
        self.assertIn("page-faults", text)

    def test_terminate_reaches_the_command(self):
        child = self.begin(*load("tell"))
        child.send_signal(signal.SIGTERM)  # to tacho alone
        out, text = child.communicate(timeout=LIMIT_S)
        self.assertEqual(out, "got TERM\n")
        self.assertEqual(child.returncode, 7)
        self.assertIn("page-faults", text)

    def test_key_press(self):
        typed = []

        def feed(output, terminal):
            if b"ready" in output and not typed:
                typed.append(1)
                os.write(terminal, b"\x03")
        status, output = in_terminal([TACHO, "stat", "-e", "page-faults", *load("tell")],
                                     environment(self.home), feed=feed)
        self.assertEqual(status, 7)
        self.assertEqual(plain(output).count("got INT"), 1)
        self.assertRegex(plain(output), r"(?m)^ +\d+ +page-faults")

    def test_second_key_press_ends_a_stubborn_command(self):
        typed = []

        def feed(output, terminal):
            if b"ready" in output and not typed:
                typed.append(1)
                os.write(terminal, b"\x03")
            elif b"never mind" in output and len(typed) == 1:
                # Two that wait would be one.
                wait_taken(os.tcgetpgrp(terminal), signal.SIGINT)
                typed.append(2)
                os.write(terminal, b"\x03")
        status, output = in_terminal([TACHO, "stat", "-e", "page-faults", "sh", "-c",
                                      "echo pid $$; exec \"$0\" stubborn", *load()[:1]],
                                     environment(self.home), feed=feed)
        self.assertEqual(status, 128 + signal.SIGKILL)
        self.assertRegex(plain(output), r"(?m)^ +\d+ +page-faults")
        pid = re.search(r"pid (\d+)", plain(output)).group(1)
        self.assertFalse(os.path.exists("/proc/" + pid), "the command still runs")

    def test_first_interrupt_leaves_a_stubborn_command(self):
        child = self.begin(*load("stubborn"))
        command, = children_of(child.pid)
        send_and_see(child.pid, signal.SIGINT)
        self.assertEqual(child.stdout.readline(), "never mind\n")
        wait_counting(child)
        self.assertFalse(has_to_end(command))
        send_and_see(child.pid, signal.SIGINT)
        self.assertIn("page-faults", child.communicate(timeout=LIMIT_S)[1])
        self.assertEqual(child.returncode, 128 + signal.SIGKILL)

    def test_command_ends_when_tacho_is_killed_before_it_runs(self):
        # The command must not be left behind, stopped before its exec, when tacho dies.
        child = self.start_stat("-e", "page-faults", "sleep", "2")
        child.kill()
        child.wait()

        def gone():
            for pid in os.listdir("/proc"):
                if pid.isdigit():
                    try:
                        with open("/proc/%s/environ" % pid, "rb") as text:
                            if ("HOME=" + self.home).encode() in text.read().split(b"\0"):
                                return False
                    except OSError:
                        pass
            return True
        self.assertTrue(eventually(gone))


class Surroundings(Case):
    """Odd callers, odd outputs, and what the workload inherits."""

    def test_caller_that_ignores_its_children(self):
        result = self.stat("-x,", "-e", "page-faults", "true",
                           preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(columns_of(result.stderr)), 1)

    def test_full_disk(self):
        for options in (["-o", "/dev/full"], ["-I", "50", "-o", "/dev/full"]):
            result = self.stat("-e", "page-faults", *options, "sleep", "0.2")
            self.assertEqual(result.returncode, 125)
            self.assertIn("cannot write", result.stderr)

    def test_reader_that_goes_away_ends_watching_the_system(self):
        needs_system_wide()
        child = self.start_stat("-a", "-I", "20", "-x,", "-e", "cs")
        child.stderr.readline()
        child.stderr.close()
        self.assertIsNotNone(child.wait(LIMIT_S))

    def test_every_repeat_finds_the_same_limits(self):
        result = self.stat("-I", "20", "-r", "3", "-x,", "-e", "page-faults", "nice", "-n", "5", "sh", "-c",
                           "echo $(ulimit -n) $(nice) $(awk '{print $41}' /proc/self/stat)",
                           preexec_fn=lambda: resource.setrlimit(
                               resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 3, result.stderr)
        self.assertEqual(len(set(lines)), 1, lines)
        self.assertTrue(lines[0].startswith("256 "), lines)

    def test_nohup_is_respected(self):
        needs_system_wide()
        begun = time.monotonic()
        child = self.start_stat("-a", "-x,", "-e", "cs", "-I", "20",
                                preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        child.stderr.readline()
        child.send_signal(signal.SIGHUP)
        sent_s = time.monotonic() - begun
        # Many intervals that end after the signal: a run that ends by it has one or two.
        after = 0
        while after < 20:
            line = child.stderr.readline()
            self.assertTrue(line, "the signal has ended the run")
            after += not line.startswith("#") and float(line.split(",")[0]) > sent_s

    def test_cgroup_without_a_name(self):
        for name in ("", "/no/such/group"):
            result = self.stat("-G", name, "-e", "cs", "true")
            self.assertEqual(result.returncode, 125)
            self.assertOneSentence(result.stderr)


class PlainUser(Case):
    """Without root and with the kernel's default settings."""

    def setUp(self):
        super().setUp()
        needs_other_user()
        if paranoid() != 2:
            self.skipTest("needs perf_event_paranoid 2 (it is %d)" % paranoid())

    def test_counts_user_mode(self):
        rows = self.rows("-e", "task-clock,page-faults", *load("pages", 2000), before=AS_NOBODY)
        self.assertEqual([r[2] for r in rows], ["task-clock:u", "page-faults:u"])
        self.assertAlmostEqual(int(rows[1][0]), 2060, delta=80)

    def test_says_what_was_not_counted(self):
        for args in ([], ["-e", "page-faults,context-switches"]):
            result = self.stat(*args, "true", before=AS_NOBODY)
            self.assertEqual(result.returncode, 0)
            self.assertRegex(result.stderr, r"(?m)^ +\d+ +page-faults:u")
            self.assertRegex(result.stderr, r"<not counted> +context-switches")
            flat = " ".join(result.stderr.split())
            self.assertRegex(flat, r"context-switches was not counted: needs perf_event_paranoid .* 1 "
                             r"\(it is 2\), root or CAP_PERFMON")

    def test_what_may_not_be_counted_at_all(self):
        for args in (["-e", "context-switches"], ["-e", "page-faults:k"], ["-a"], ["-a", "-e", "page-faults"]):
            with self.subTest(args):
                result = self.stat(*args, "true", before=AS_NOBODY)
                self.assertEqual(result.returncode, 125)
                self.assertOneSentence(result.stderr)
                self.assertIn("perf_event_paranoid", result.stderr)

    def test_home_that_cannot_be_written(self):
        os.chmod(self.home, 0o555)
        result = self.stat("-e", "page-faults", "true", before=AS_NOBODY)
        self.assertEqual(result.returncode, 0)
        self.assertNotIn("tacho:", result.stderr)


if __name__ == "__main__":
    unittest.main()
