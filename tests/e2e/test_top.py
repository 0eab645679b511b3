#!/usr/bin/env python3
"""tacho top: what its tables say, every key of its screen, and that nothing stays behind."""

import glob
import itertools
import os
import re
import shlex
import signal
import subprocess
import time
import unittest

from helpers import (AS_NOBODY, LIMIT_S, TACHO, Case, alive, below, compiled, cpu_seconds, end_process, environment,
                     eventually, in_terminal, load, needs_no_pmu, needs_other_user, needs_program,
                     needs_system_wide, online_cpus, order, paranoid, plain, wait_recording)
from shapes import SEVENTY_THIRTY_C

# With frame pointers everywhere.
SHAPE_C = SEVENTY_THIRTY_C + r"""
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
/* For so many milliseconds of CPU time, or on and on. With "held" a byte of its input begins it, and a line tells
   that it has ended. */
int main(int argc, char **argv)
{
	clock_t end = argc > 1 ? atol(argv[1]) * (CLOCKS_PER_SEC / 1000) : 0;
	char byte;

	alarm(300);
	if (argc > 2 && read(0, &byte, 1) != 1)
		return 9;
	while (!end || clock() < end)
		shape_both();
	if (argc > 2 && write(1, "\n", 1) != 1)
		return 9;
	return 0;
}
"""


def shape():
    # Without optimisation all functions have frame pointers, those that call none, too. Loops that
    # lie differently would take differently long.
    return compiled("topshape", SHAPE_C, "-O0", "-fno-omit-frame-pointer", "-falign-loops=64",
                    "-falign-functions=64")


def tables_of(text):
    """Tables as lists of rows: a dict of the columns that the titles name."""
    tables = []
    for line in text.splitlines():
        if re.match(r" *Self ", line):
            titles = line.split()
            tables.append([])
        elif tables and re.match(r" *[\d.]+%", line):
            words = line.split(None, len(titles) - 1)
            tables[-1].append(dict(zip(titles, words)))
    return tables


def share(rows, function, column="Self"):
    return sum(float(r[column].rstrip("%")) for r in rows if r.get("Function") == function)


def waited_for_cpu_s(pid):
    """For how long the first thread of a process could have run, but had no CPU."""
    with open("/proc/%d/schedstat" % pid) as text:
        return int(text.read().split()[1]) / 1e9


def name_of(pid):
    try:
        with open("/proc/%d/comm" % pid) as text:
            return text.read().strip()
    except OSError:
        return ""


class Top(Case):
    def top(self, *args, status=0, **more):
        result = self.tacho("top", "--stdio", *args, cwd=self.home, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def tables(self, *args, **more):
        return tables_of(self.top(*args, **more).stdout)

    def held(self, ms, before=()):
        """A process that runs already, and a command that lets it take its samples and ends when it has."""
        ends = {}
        for name in ("begin", "end"):
            if not os.path.exists(self.path(name)):
                os.mkfifo(self.path(name))
            ends[name] = os.open(self.path(name), os.O_RDWR)
            self.addCleanup(os.close, ends[name])
        child = self.start([*before, shape(), ms, "held"], stdin=ends["begin"], stdout=ends["end"])
        self.assertTrue(eventually(lambda: name_of(child.pid) == "topshape"))
        return child, ["sh", "-c", "echo >%s; read x <%s" % (self.path("begin"), self.path("end"))]

    def next_rows(self, tacho):
        """The table that ends next in what a tacho in the background prints: the next one begins."""
        text = "   Self  Process  Library  Function\n"
        while True:
            line = tacho.stdout.readline()
            self.assertTrue(line, text)
            if re.match(r"\d\d:\d\d:\d\d", line):
                return tables_of(text)[-1]
            text += line

    def assertShape(self, rows, of=100):
        self.assertAlmostEqual(share(rows, "shape_seventy"), 0.7 * of, delta=0.12 * of)
        self.assertAlmostEqual(share(rows, "shape_thirty"), 0.3 * of, delta=0.12 * of)


# Of a program that ends after so much work the last table has all samples, however long it took.
ALL_OF = ("-w", "all", "-d", "0.5")
ENOUGH_MS = 1200


class Tables(Top):
    def test_as_many_as_wanted(self):
        self.assertEqual(len(self.tables("--updates", 2, "-d", 0.5, "--", shape())), 2)

    def test_shape_of_a_command(self):
        tables = self.tables(*ALL_OF, "--", shape(), ENOUGH_MS)
        self.assertShape(tables[-1])
        self.assertEqual(tables[-1][0]["Function"], "shape_seventy")
        self.assertEqual(tables[-1][0]["Process"], "topshape")
        self.assertEqual(tables[-1][0]["Library"], "topshape")

    def test_shape_of_a_process(self):
        for option in ("-p", "-t"):
            child, _ = self.held(ENOUGH_MS)
            tacho = self.start([TACHO, "top", "--stdio", *ALL_OF, option, child.pid], cwd=self.home,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            wait_recording(tacho)
            self.write("begin", "\n")
            self.assertShape(tables_of(tacho.communicate(timeout=LIMIT_S)[0])[-1])
            self.assertEqual(child.wait(LIMIT_S), 0)
            child = self.start([shape()])
            self.tables("--updates", 1, "-d", 0.5, option, child.pid)
            self.assertTrue(alive(child.pid))
            end_process(child)

    def test_whole_system(self):
        needs_system_wide()
        child, command = self.held(ENOUGH_MS)
        rows = self.tables("-a", *ALL_OF, "-E", 200, "--", *command)[-1]
        seventy, thirty = share(rows, "shape_seventy"), share(rows, "shape_thirty")
        self.assertGreater(seventy, 0)
        self.assertAlmostEqual(seventy / (seventy + thirty), 0.7, delta=0.12)
        self.assertLessEqual(sum(float(r["Self"].rstrip("%")) for r in rows), 101)
        self.assertEqual(child.wait(LIMIT_S), 0)

    def test_one_cpu(self):
        needs_system_wide()
        cpu = online_cpus()[0]
        _, command = self.held(ENOUGH_MS, before=["taskset", "-c", cpu])
        rows = self.tables("-C", cpu, *ALL_OF, "-E", 100, "--", *command)[-1]
        self.assertGreater(share(rows, "shape_seventy"), 0)

    def test_totals(self):
        rows = self.tables("-g", *ALL_OF, "--", shape(), ENOUGH_MS)[-1]
        self.assertShape(rows)
        self.assertGreater(share(rows, "main", "Total"), 95)
        self.assertGreater(share(rows, "shape_both", "Total"), 95)
        self.assertLess(share(rows, "shape_both"), 5)
        self.assertAlmostEqual(share(rows, "shape_seventy", "Total"),
                               share(rows, "shape_seventy"), delta=3)

    def test_dwarf_stacks(self):
        rows = self.tables("--call-graph", "dwarf", "-F", 499, *ALL_OF, "--", shape(), ENOUGH_MS)[-1]
        self.assertShape(rows)
        self.assertGreater(share(rows, "main", "Total"), 95)

    def test_lines_by_other_keys(self):
        def rows_by(*keys):
            tacho = self.start([TACHO, "top", "--stdio", "-w", "all", "-p", child.pid, "-s", *keys], cwd=self.home,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            line = text = ""
            # A first table may be empty.
            while not re.match(r" *[\d.]+%", line):
                line = tacho.stdout.readline()
                self.assertTrue(line, text)
                text += line
            tacho.terminate()
            return tables_of(text + tacho.stdout.read())[-1]
        child = self.start([shape()])
        rows = rows_by("pid")
        self.assertEqual(rows[0]["Process"], "topshape:%d" % child.pid)
        self.assertEqual(rows[0]["Self"], "100.00%")
        rows = rows_by("dso")
        self.assertEqual(rows[0]["Library"], "topshape")
        rows = rows_by("sym", "-K")
        self.assertEqual(set(rows[0]), {"Self", "Function"})

    def test_period_of_an_event(self):
        result = self.top("-e", "page-faults", "-c", 1, "-w", "all", "-d", 0.5, "-s", "comm", "--",
                          *load("pages", 20000))
        rows = tables_of(result.stdout)[-1]
        self.assertEqual(rows[0]["Process"], "load")
        self.assertIn("page-faults, every 1, ", result.stdout)

    def test_window_forgets(self):
        """What was before the window is not in it, but in all."""
        answers = self.path("answers")
        os.mkfifo(answers)
        tacho = self.start([TACHO, "top", "--stdio", "-w", "1", "-d", "0.5", "--", "sh", "-c",
                            "%s 1500; exec %s orders >%s" % (shape(), load()[0], answers)], cwd=self.home,
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        # Of so few orders there would be nothing to see beside the shape if that were not forgotten.
        with open(os.open(answers, os.O_RDWR)) as answers:
            for _ in range(2 * LIMIT_S):
                order(tacho, cpu_ms=2, answers=answers)
                rows = self.next_rows(tacho)
                if share(rows, "busy") > 50 and share(rows, "shape_seventy") < 1:
                    break
            else:
                self.fail(rows)
        tacho.terminate()
        command = ["sh", "-c", "%s 500; exec %s busy 1000" % (shape(), load()[0])]
        rows = self.tables("-w", "all", "-d", 0.5, "--", *command)[-1]
        self.assertGreater(share(rows, "busy"), 20)
        self.assertGreater(share(rows, "shape_seventy"), 2)

    def test_command_ends(self):
        result = self.top("--", *load("busy", 300))
        self.assertTrue(tables_of(result.stdout)[-1])
        self.top("--", "sh", "-c", "exit 7", status=7)

    def test_output_of_the_command(self):
        result = self.top("--", "sh", "-c", "echo from the command")
        self.assertIn("from the command", result.stderr)
        self.assertNotIn("from the command", result.stdout)

    def test_header(self):
        out = self.top("-F", 777, "--", shape(), ENOUGH_MS).stdout
        self.assertRegex(out, r"^\d\d:\d\d:\d\d  \S+, 777 Hz, \S*shape: [\d,]+ samples/s, last \d+ s, "
                              r"\d+ lost, tacho \d+\.\d % of a CPU\n")
        # Rates are those of 0.45 seconds at least, in which there cannot be more than all samples.
        rates = [int(rate.replace(",", "")) for rate in re.findall(r"([\d,]+) samples/s", out)]
        self.assertTrue(0 < max(rates) < 2500, rates)


class Ends(Top):
    def start_top(self, *args, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        return self.start([TACHO, "top", "--stdio", "-d", "0.3", *args], cwd=self.home, **more)

    def wait_table(self, child):
        self.assertRegex(child.stdout.readline(), r"^\d\d:\d\d:\d\d")

    def assertGone(self, pids):
        self.assertTrue(eventually(lambda: not [p for p in pids if alive(p)]),
                        [(p, name_of(p)) for p in pids if alive(p)])

    def test_nothing_stays_behind(self):
        for number, expected in ((signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGKILL, -9)):
            with self.subTest(signal=number):
                child = self.start_top("--", "sh", "-c", "%s & %s; true" % (shape(), shape()))
                self.wait_table(child)
                everybody = ["sh", "tacho", "topshape", "topshape"]
                eventually(lambda: sorted(name_of(p) for p in below(child.pid)) == everybody)
                pids = below(child.pid)
                self.assertEqual(sorted(name_of(p) for p in pids), everybody)
                child.send_signal(number)
                child.communicate(timeout=LIMIT_S)
                self.assertEqual(child.returncode, expected)
                self.assertGone(pids)

    def test_reader_goes(self):
        child = self.start_top("--", shape())
        self.wait_table(child)
        pids = below(child.pid)
        child.stdout.close()
        self.assertEqual(child.wait(LIMIT_S), 0)
        self.assertGone(pids)

    def test_collector_dies(self):
        child = self.start_top("--", shape())
        self.wait_table(child)
        pids = below(child.pid)
        os.kill([p for p in pids if name_of(p) == "tacho"][0], signal.SIGKILL)
        _, err = child.communicate(timeout=LIMIT_S)
        self.assertEqual(child.returncode, 125)
        self.assertIn("tacho: top: the collector was ended by signal 9", err)
        self.assertGone(pids)

    def test_watched_process_ends(self):
        other = self.start([shape()])
        child = self.start_top("-p", str(other.pid))
        self.wait_table(child)
        other.kill()
        other.wait()
        child.communicate(timeout=LIMIT_S)
        self.assertEqual(child.returncode, 0)

    def test_slow_reader_loses_nothing_of_the_rings(self):
        """A stopped screen does not stop the collector; when it goes on, the table does, too."""
        # All samples so far: a table of the last seconds is empty if the program got no CPU in them.
        child = self.start_top("-F", "4000", "-w", "all", "--", shape())
        self.wait_table(child)
        collector = below(child.pid)[0]
        waited_s = waited_for_cpu_s(collector)
        child.send_signal(signal.SIGSTOP)
        time.sleep(3)
        child.send_signal(signal.SIGCONT)
        # What was waiting is shown, and then what is new.
        text = "".join(itertools.islice(child.stdout, 40))
        waited_s = waited_for_cpu_s(collector) - waited_s
        said = re.findall(r"([\d,]+) samples/s, .*?([\d,]+) lost", text)
        child.send_signal(signal.SIGTERM)
        # Not by communicate(), which leaves out what was read ahead for the lines above.
        text += child.stdout.read()
        self.assertEqual(child.wait(LIMIT_S), 0)
        self.assertShape(tables_of(text)[-1])
        # The rings have room for a second. While it waits for a CPU the collector may lose 4,000 samples a second; if
        # it had waited for the screen, it would have lost 8,000 in the other two seconds.
        self.assertLess(int(said[-1][1].replace(",", "")), 4000 * (1 + waited_s), said)


class Mistakes(Top):
    def test_wrong_values(self):
        for args in (["-d", "0"], ["-d", "x"], ["-w", "99"], ["-s", "comm,colour"], ["-s", ","],
                     ["-K", "-U"], ["--percent-limit", "101"], ["--no-such"]):
            with self.subTest(args=args):
                result = self.top(*args, status=2)
                self.assertOneSentence(result.stderr)
                self.assertEqual(result.stdout, "")

    def test_unknown_event(self):
        self.assertIn("no-such-event", self.top("-e", "no-such-event", status=1).stderr)

    def test_no_such_process(self):
        self.assertOneSentence(self.top("-p", 4194300, status=1).stderr)

    def test_no_such_command(self):
        result = self.top("--", "/no/such/command", status=127)
        self.assertIn("/no/such/command", result.stderr)
        self.write("text", "not a program")
        self.top("--", self.path("text"), status=126)

    def test_not_permitted(self):
        needs_other_user()
        if paranoid() < 1:
            raise unittest.SkipTest("everybody may watch the whole system here")
        result = self.top("--updates", 1, "-e", "cpu-clock", before=AS_NOBODY, status=1)
        self.assertOneSentence(result.stderr)
        self.assertIn("perf_event_paranoid", result.stderr)

    def test_own_process_is_permitted(self):
        needs_other_user()
        if paranoid() > 2:
            raise unittest.SkipTest("nobody but root may sample here")
        result = self.tacho("top", "--stdio", *ALL_OF, "-e", "cpu-clock:u", "--", shape(), ENOUGH_MS,
                            before=AS_NOBODY, cwd=self.home)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertShape(tables_of(result.stdout)[-1])

    def test_no_pmu_is_said(self):
        needs_no_pmu()
        self.assertIn("has no PMU", self.top("--updates", 1, "--", shape()).stderr)

    def test_dumb_terminal(self):
        status, output = in_terminal(
            ["/usr/bin/env", "TERM=dumb", TACHO, "top", *ALL_OF, "--", shape(), str(ENOUGH_MS)],
            environment(self.home))
        self.assertEqual(status, 0)
        self.assertIn("tables are printed instead", plain(output))
        self.assertNotIn(b"\x1b[", output)
        self.assertShape(tables_of(plain(output))[-1])


class Screen(Top):
    """The real screen, in a terminal of tmux."""

    def setUp(self):
        super().setUp()
        needs_program("tmux")
        self.socket = "tacho-%d-%s" % (os.getpid(), self.id().rpartition(".")[2])
        self.addCleanup(self.tmux, "kill-server")

    def tmux(self, *args):
        # Beside the user's own server and settings.
        return subprocess.run(["tmux", "-L", self.socket, "-f", "/dev/null", *args],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env=environment(self.home), cwd=self.home).stdout

    def open(self, *args, columns=100, rows=24, until="shape_seventy", folder="."):
        command = shlex.join([TACHO, "top", "-d", "0.5", *map(str, args)])
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows),
                  "cd %s; echo before; %s; status=$?; stty -a; echo status=$status; exec sleep 500" % (folder, command))
        if until:
            self.wait(until)

    def show(self):
        return self.tmux("capture-pane", "-p")

    def wait(self, pattern, absent=None):
        """The screen, once it has the one and not the other."""
        found = []

        def there():
            found.append(self.show())
            return re.search(pattern, found[-1]) and \
                not (absent and re.search(absent, found[-1]))
        self.assertTrue(eventually(there), "no /%s/ in\n%s" % (pattern, found[-1]))
        return found[-1]

    def wait_samples(self, pid=None):
        """Until the program has had enough CPU time for its shape."""
        pid = pid or [p for p in self.pids() if name_of(p) == "topshape"][0]
        self.assertTrue(eventually(lambda: cpu_seconds(pid) > 1))

    def wait_shape(self):
        """The screen, once it has the shape: behind wait_samples() only the last samples may have to come."""
        found = []

        def there():
            found.append(self.show())
            try:
                self.assertShape(tables_of(found[-1])[0])
            except (AssertionError, IndexError):
                return False
            return True
        self.assertTrue(eventually(there), found[-1])
        return found[-1]

    def keys(self, *names):
        for name in names:
            self.tmux("send-keys", name)
            # An Escape that something follows at once would be part of a sequence.
            time.sleep(0.1)

    def selected(self):
        """The line in reverse, below the titles."""
        reverse = False
        for number, line in enumerate(self.tmux("capture-pane", "-p", "-e").splitlines()):
            text = ""
            for codes, char in re.findall(r"\x1b\[([\d;]*)m|(.)", line):
                if char:
                    text += char if reverse else ""
                    continue
                for code in codes.split(";"):
                    reverse = code == "7" or (reverse and code not in ("", "0", "27"))
            if number > 2 and text:
                return text
        return ""

    def wait_selected(self, text, present=True):
        """The end of the selected line, once it has this in it, or has it no more."""
        self.assertTrue(eventually(lambda: self.selected() and (text in self.selected()) == present),
                        self.selected())
        return self.selected().split()[-1]

    def pids(self):
        pane = int(self.tmux("display-message", "-p", "#{pane_pid}"))
        return [p for p in below(pane) if name_of(p) != "sleep"]

    def quit(self, key="q", status=0):
        pids = self.pids()
        self.assertTrue(pids)
        self.keys(key)
        screen = self.wait("status=%d" % status)
        # What stood there before is back, and so is the terminal.
        self.assertIn("before", screen)
        self.assertRegex(screen, r"[^-]\bicanon\b")
        self.assertRegex(screen, r"[^-]\becho\b")
        self.assertTrue(eventually(lambda: not [p for p in pids if alive(p)]))

    def test_first_look(self):
        self.open("--", shape())
        self.wait_samples()
        self.wait(r"last ([2-9]|10) s")
        lines = self.wait_shape().splitlines()
        self.assertRegex(lines[0], r"^tacho top \S+, 999 Hz, .*shape")
        self.assertRegex(lines[1], r"^[\d,]+ samples/s, last \d+ s, \d+ lost, tacho \d+\.\d % of a CPU")
        self.assertRegex(lines[2], r"^ +Self +Process +Library +Function")
        self.assertRegex(lines[3], r"^ *\d+\.\d\d% topshape +topshape +shape_seventy")
        self.assertIn("q quit", lines[-1])
        self.quit()

    def test_sort(self):
        self.open("-g", "--", shape())
        order = []
        for name in ("total", "process", "library", "function", "self"):
            self.keys("s")
            screen = self.wait("sorted by %s" % name)
            order.append([r for r in screen.splitlines()[3:-1] if "%" in r])
        functions = [r.split()[-1] for r in order[3]]
        self.assertEqual(functions, sorted(functions, key=str.casefold))
        totals = [float(r.split()[1].rstrip("%")) for r in order[0]]
        self.assertEqual(totals, sorted(totals, reverse=True))
        self.assertIn("shape_seventy", order[4][0])
        self.quit()

    def test_move_and_follow(self):
        self.open("-g", "--", shape(), until="shape_thirty")
        self.wait(r"last ([2-9]|10) s")
        self.wait_selected("shape_seventy")
        self.keys("Down")
        self.wait_selected("shape_thirty")
        # Sorted by name it is elsewhere, and still selected.
        self.keys("s", "s", "s", "s")
        self.wait("sorted by function")
        self.wait_selected("shape_thirty")
        # A live table gets new lines, and End is not always the same one.
        self.keys("f")
        self.wait("frozen")
        self.keys("Home")
        first = self.wait_selected("shape_thirty", False)
        self.keys("End")
        last = self.wait_selected(first, False)
        self.keys("PPage")
        self.wait_selected(last, False)
        self.keys("NPage")
        self.wait_selected(last)
        self.keys("Up")
        self.wait_selected(last, False)
        self.quit()

    def test_callers(self):
        self.open("-g", "--", shape())
        self.wait(r"last ([2-9]|10) s")
        self.keys("Enter")
        screen = self.wait(r"- shape_seventy\n.*100\.0% shape_both\n.*100\.0% main")
        self.assertNotIn("- shape_thirty", screen)
        # The selection can go into them, and stays there.
        self.keys("Down", "Down")
        self.wait_selected(" main")
        time.sleep(1.2)
        self.assertIn(" main", self.selected())
        self.keys("Enter")
        self.wait(r"\+ shape_seventy", absent=r"% shape_both\n.*% main")
        self.quit()

    def test_callers_need_stacks(self):
        self.open("--", shape())
        self.keys("Enter")
        self.wait("start tacho top with -g")
        self.quit()

    def test_filter(self):
        self.open("--", shape(), until="shape_thirty")
        self.keys("/")
        self.keys("T", "h", "i", "r", "x")
        self.wait("no samples match the filter or zoom", absent="shape_seventy")
        self.keys("BSpace")
        screen = self.wait(r"shape_thirty", absent="shape_seventy")
        # Shares are still those of all.
        self.assertLess(share(tables_of(screen)[0], "shape_thirty"), 45)
        self.keys("(")
        self.wait("not a regular expression")
        self.keys("BSpace", "Enter")
        self.wait("/Thir/")
        self.keys("Escape")
        self.wait("shape_seventy", absent="/Thir/")
        self.quit()

    def test_zoom_into_process(self):
        needs_system_wide()
        child = self.start([shape()])
        self.open()
        self.wait_samples(child.pid)
        self.wait(r"last ([2-9]|10) s")
        self.keys("/", "s", "h", "a", "p", "e", "_", "s", "e", "v", "Enter")
        self.wait("/shape_sev/")
        self.keys("z")
        self.wait("zoom into: p process  l library")
        self.keys("p")
        self.wait(r"in topshape \([\d.]+ % of all\)")
        self.keys("Escape")
        screen = self.wait(r"in topshape \([\d.]+ % of all\)", absent="/shape_sev/")
        self.assertEqual({r["Process"] for r in tables_of(screen)[0]}, {"topshape"})
        self.wait_shape()
        self.keys("Escape")
        self.wait("whole system", absent="in topshape")
        self.quit()

    def test_zoom_into_library(self):
        # So wide that the first line has room for all that it says.
        self.open("--", *load("calls", 100000000), columns=200, until=r"\[kernel")
        self.wait(r"last ([2-9]|10) s")
        self.keys("/", "k", "e", "r", "n", "e", "l", "Enter")
        self.wait("/kernel/")
        self.keys("z", "l", "Escape")
        screen = self.wait(r"in \[kernel.*\] \([\d.]+ % of all\)", absent="/kernel/")
        libraries = {r["Library"] for r in tables_of(screen)[0]}
        self.assertEqual(len(libraries), 1, screen)
        self.assertAlmostEqual(sum(float(r["Self"].rstrip("%")) for r in tables_of(screen)[0]), 100,
                               delta=30)
        self.quit()

    def test_kernel_and_user(self):
        self.open("--", *load("calls", 100000000), until=r"\[kernel")
        self.keys("K")
        self.wait("without kernel", absent=r"\[kernel")
        self.keys("U")
        screen = self.wait("only kernel", absent="without kernel")
        self.assertEqual(len({r["Library"] for r in tables_of(screen)[0]}), 1, screen)
        self.keys("U")
        self.wait("whole|load", absent="only kernel")
        self.quit()

    def test_idle(self):
        self.open("--", shape())
        self.keys("i")
        self.wait("with idle CPUs")
        self.keys("i")
        self.wait("without idle CPUs")
        self.quit()

    def test_rows(self):
        self.open("--", shape())
        self.keys("v")
        self.wait(r"rows are functions\b")
        self.wait(r"shape_seventy", absent="Process")
        self.keys("v")
        self.wait(r"100\.00% topshape:\d+", absent="Function")
        self.keys("v")
        self.wait(r"9\d\.\d+% topshape *\n", absent="Process")
        self.keys("v")
        self.wait("Process +Library +Function")
        self.quit()

    def test_window(self):
        self.open("-w", 60, "--", shape())
        self.keys("w")
        self.wait(r"all samples since the start")
        self.wait(r"all \d+ s, ")
        for seconds in (2, 5, 10, 30, 60):
            self.keys("w")
            self.wait("samples of the last %d s" % seconds)
        self.keys("w", "w")
        self.wait("last 2 s, ")
        self.quit()

    def test_delay(self):
        self.open("--", shape())
        self.keys("+")
        self.wait("every 1 s")
        self.keys("-", "-")
        self.wait("every 0.25 s")
        self.quit()

    def test_events(self):
        self.open("-e", "cpu-clock,page-faults", "--", shape())
        first = self.show().split()[2]
        self.assertEqual(first, "cpu-clock,")
        self.keys("e")
        self.wait("^tacho top page-faults")
        self.quit()

    def test_freeze(self):
        self.open("--", shape())
        self.wait(r"last ([2-9]|10) s")
        for key in ("f", "Space"):
            self.keys(key)
            self.wait("FROZEN")
            frozen = self.show().splitlines()[3:-1]
            time.sleep(1.5)
            self.assertEqual(self.show().splitlines()[3:-1], frozen)
            self.keys(key)
            self.wait("samples/s", absent="FROZEN")
            # New samples change the shares.
            self.assertTrue(eventually(lambda: self.show().splitlines()[3:-1] != frozen))
        self.quit()

    def test_help(self):
        self.open("--", shape())
        for key in ("h", "?"):
            self.keys(key)
            screen = self.wait("Keys of tacho top", absent="shape_seventy")
            for word in ("sort", "filter|regular", "zoom", "freeze", "save", "quit"):
                self.assertRegex(screen, word)
            self.keys("x")
            self.wait("shape_seventy", absent="Keys of")
        self.quit()

    def test_save_recording(self):
        self.open("-g", "--", shape())
        self.wait_samples()
        self.wait(r"last ([2-9]|10) s")
        self.keys("S")
        self.wait("save: d perf.data")
        self.keys("d")
        self.wait(r"wrote 'tacho-top\.data\.\d+'")
        files = glob.glob(self.path("tacho-top.data.*"))
        self.assertEqual(len(files), 1)
        self.quit()
        info = self.tacho("info", "-i", files[0])
        self.assertEqual(info.returncode, 0, info.stderr)
        text = self.tacho("script", "-i", files[0]).stdout
        seventy = text.count("shape_seventy")
        self.assertGreater(seventy, 100)
        self.assertAlmostEqual(seventy / (seventy + text.count("shape_thirty")), 0.7, delta=0.12)
        # Nothing else was written.
        self.assertEqual(glob.glob(self.path("*.data")), [])

    def test_save_text(self):
        self.open("-g", "--", shape())
        self.wait_samples()
        self.wait(r"last ([2-9]|10) s")
        self.keys("S", "t")
        self.wait(r"wrote 'tacho-top\.txt\.\d+'")
        with open(glob.glob(self.path("tacho-top.txt.*"))[0]) as text:
            self.assertShape(tables_of(text.read())[0])
        self.keys("S", "f")
        self.wait(r"wrote 'tacho-top\.folded\.\d+'")
        self.quit()
        weights = {}
        with open(glob.glob(self.path("tacho-top.folded.*"))[0]) as text:
            for line in text:
                stack, _, weight = line.rpartition(" ")
                leaf = stack.split(";")[-1]
                weights[leaf] = weights.get(leaf, 0) + int(weight)
                if leaf == "shape_seventy":
                    self.assertRegex(stack, r"^topshape;.*main;shape_both;shape_seventy$")
        self.assertAlmostEqual(weights["shape_seventy"] / sum(weights.values()), 0.7, delta=0.12)

    def test_save_where_nothing_can_be_written(self):
        folder = self.path("gone")
        os.mkdir(folder)
        self.open("--", shape(), folder=folder)
        # Not even root makes a file in a directory that is gone.
        os.rmdir(folder)
        for key, name in (("d", "data"), ("t", "txt"), ("f", "folded")):
            self.keys("S", key)
            self.wait("cannot (create|write) 'tacho-top.%s" % name)
        # It goes on.
        self.wait("shape_seventy")
        self.quit()

    def test_command_has_no_terminal(self):
        self.open("--", "sh", "-c",
                  "echo LOUD; echo LOUD >&2; read x; %s & wait" % shape())
        self.assertNotIn("LOUD", self.show())
        # The keys are ours.
        self.keys("v")
        self.wait("rows are functions")
        self.quit()
        self.assertNotIn("LOUD", self.show())

    def test_command_ends(self):
        self.open("--", *load("busy", 1500), until="ENDED")
        screen = self.show()
        self.assertGreater(share(tables_of(screen)[0], "busy"), 50)
        self.keys("S", "d")
        self.wait("the recording has ended")
        self.keys("q")
        self.wait("status=0")

    def test_ctrl_c(self):
        self.open("--", shape())
        self.quit("C-c")

    def test_terminated(self):
        self.open("--", shape())
        pids = self.pids()
        front = [p for p in pids if name_of(p) == "tacho"][0]
        os.kill(front, signal.SIGTERM)
        screen = self.wait("status=0")
        self.assertRegex(screen, r"[^-]\bicanon\b")
        self.assertTrue(eventually(lambda: not [p for p in pids if alive(p)]))

    def test_collector_dies(self):
        self.open("--", shape())
        pids = self.pids()
        os.kill([p for p in pids if name_of(p) == "tacho"][1], signal.SIGKILL)
        screen = self.wait("status=125")
        self.assertIn("the collector was ended by signal 9", screen)
        self.assertRegex(screen, r"[^-]\bicanon\b")
        self.assertTrue(eventually(lambda: not [p for p in pids if alive(p)]))

    def test_narrow_and_resized(self):
        self.open("-g", "--", shape(), columns=40, rows=10)
        screen = self.show()
        self.assertRegex(screen, r"\d% topshape +[+-] shape_seventy")
        self.assertNotIn("Library", screen)
        self.tmux("resize-window", "-x", "120", "-y", "30")
        screen = self.wait("Library +Function")
        self.assertTrue(eventually(lambda: "q quit" in self.show().splitlines()[-1]))
        self.tmux("resize-window", "-x", "20", "-y", "4")
        self.wait("tacho top")
        self.tmux("resize-window", "-x", "100", "-y", "24")
        self.wait("Library +Function")
        self.quit()

    def test_stopped_and_continued(self):
        self.open("--", shape())
        self.keys("C-z")
        # Without a shell that controls jobs nobody would continue it: it does not stop for good.
        self.tmux("send-keys", "v")
        pids = self.pids()
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        self.wait("shape_seventy")
        self.quit()


if __name__ == "__main__":
    unittest.main()
