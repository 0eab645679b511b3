#!/usr/bin/env python3
"""tacho collect, as the server starts it: counts, samples, both; what it says of programs that end
badly, print too much or fork too often; and that nothing stays behind when either side goes away."""

import json
import os
import signal
import subprocess
import time
import unittest

from collector import CHUNK, DICTIONARY, ENDED, LEDGER, OPENED, OUTPUT, Collector
from helpers import (AS_NOBODY, CORPUS, LIMIT_S, TACHO, Case, compiled, corpus_truth, cpu_seconds, environment,
                     eventually, load, needs_other_user, needs_program, needs_system_wide)
from shapes import SEVENTY_THIRTY_C

SHAPE_C = SEVENTY_THIRTY_C + r"""
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
	struct timespec t;
	double end = argc > 1 ? atof(argv[1]) : 1;

	do {
		shape_both();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec + t.tv_nsec / 1e9 < end);
	return 3;
}
"""

THREADS_C = r"""
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static void *body(void *x)
{
	for (int i = 0; i < 100; i++)
		usleep(10000);
	return x;
}
int main(int argc, char **argv)
{
	int n = atoi(argv[1]);
	pthread_t *t = calloc(n, sizeof(*t));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], &attr, body, 0))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(t[i], 0);
	return 0;
}
"""


def alive(mark):
    """Processes that have @mark in their command line, zombies not counted."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/cmdline" % name, "rb") as f:
                if mark.encode() in f.read() and name != str(os.getpid()):
                    found.append(name)
        except OSError:
            pass
    return found


class CollectCase(Case):
    def collect(self, plan=None, **order):
        collector = Collector(plan, home=self.home, **order)
        self.addCleanup(collector.close)
        return collector

    def run_plan(self, plan=None, **order):
        collector = self.collect(plan, **order).finish()
        self.assertEqual(collector.process.returncode, 0)
        self.assertEqual(collector.kinds()[-1], ENDED)
        self.assertEqual(collector.kinds().count(ENDED), 1)
        self.check_order(collector)
        return collector

    def check_order(self, collector):
        """RUN_OPENED stands before all data."""
        kinds = collector.kinds()
        data = [i for i, k in enumerate(kinds) if k in (DICTIONARY, CHUNK, LEDGER)]
        if data:
            self.assertEqual(kinds.count(OPENED), 1)
            self.assertLess(kinds.index(OPENED), data[0])

    def counter(self, dump, name):
        for counter in dump["counters"]:
            if counter["name"].split(":")[0] == name:
                return counter
        self.fail("no counter %s among %s" % (name, [c["name"] for c in dump["counters"]]))


class Counting(CollectCase):
    def test_counts_at_intervals(self):
        c = self.run_plan({"workload": load("busy", 300), "tool": "stat", "interval": 0.05,
                           "events": ["task-clock", "page-faults"]})
        dump, opened, ended = c.dump(), c.json(OPENED), c.json(ENDED)
        rows = self.counter(dump, "task-clock")["rows"]
        # It uses 300 ms of a CPU, in which its exec is not counted, and there is one thread of it.
        total_ms = sum(row[2] for row in rows) * self.counter(dump, "task-clock")["scale"]
        self.assertGreaterEqual(total_ms, 270)
        self.assertLessEqual(total_ms * 1e6, sum(row[1] for row in rows))
        # Intervals follow each other without gaps, from the start on.
        at = opened["start_ns"]
        for time_ns, duration_ns, _, ppm in rows:
            self.assertEqual(time_ns - duration_ns, at)
            self.assertEqual(ppm, 1000000)
            at = time_ns
        self.assertLessEqual(at, ended["end_ns"])
        self.assertEqual(ended["status"], 0)
        self.assertEqual(dump["samples"], 0)
        self.assertTrue(opened["pid"] > 0)
        # All but the last are at ticks, and every 50 ms there was one, or it is said that it was missed.
        missed = c.json(LEDGER)["intervals_missed"]
        self.assertLessEqual((len(rows) - 1 + missed) * 50e6, at - opened["start_ns"])
        self.assertGreaterEqual(len(rows) + missed, 5)

    def test_what_cannot_be_counted_says_why(self):
        c = self.run_plan({"workload": "true", "tool": "stat",
                           "events": ["task-clock", "L1-icache-prefetch-misses"]})
        events = {e["name"]: e for e in c.json(OPENED)["events"]}
        self.assertTrue(events["task-clock"]["supported"])
        other = events["L1-icache-prefetch-misses"]
        if other["supported"]:
            self.skipTest("this CPU counts prefetches of instructions that miss")
        self.assertTrue(other["problem"])

    def test_nothing_that_can_be_counted(self):
        c = self.collect({"workload": "true", "tool": "stat",
                          "events": ["L1-icache-prefetch-misses"]}).finish()
        if not c.json(ENDED)["error"]:
            self.skipTest("this CPU counts prefetches of instructions that miss")
        self.assertIn("L1-icache-prefetch-misses", c.json(ENDED)["error"])

    def test_time_of_the_run_itself(self):
        c = self.run_plan({"workload": "sleep 0.2", "tool": "stat", "interval": 0.1,
                           "events": ["duration_time"]})
        rows = self.counter(c.dump(), "duration_time")["rows"]
        self.assertGreaterEqual(sum(row[2] for row in rows), 200e6)

    def test_sleeping_is_nothing_not_a_gap(self):
        c = self.run_plan({"workload": "sleep 0.3", "tool": "stat", "interval": 0.05,
                           "events": ["context-switches"]})
        rows = self.counter(c.dump(), "context-switches")["rows"]
        self.assertIn(0, [row[2] for row in rows])
        for before, row in zip(rows, rows[1:]):
            self.assertEqual(row[0] - row[1], before[0])

    def test_a_thousand_threads(self):
        program = compiled("manythreads", THREADS_C, "-pthread")
        c = self.run_plan({"workload": [program, "1000"], "tool": "stat", "interval": 0.001})
        self.assertEqual(c.json(ENDED)["status"], 0)
        ledger = c.json(LEDGER)
        # Reading a thousand threads takes long: ticks became rarer, or the machine is very quick.
        self.assertGreater(ledger["intervals"], 5)
        self.assertLess(ledger["collector_cpu_ns"], 1.5e9)

    def test_attach_ends_with_the_task(self):
        process = self.start(["cat"], stdin=subprocess.PIPE)
        c = self.collect({"pids": [process.pid], "tool": "stat", "interval": 0.05})
        c.receive(lambda c: CHUNK in c.kinds() and len(c.dump()["counters"][0]["rows"]) >= 3)
        self.assertNotIn(ENDED, c.kinds())
        process.stdin.close()
        process.wait()
        c.finish()
        self.check_order(c)
        self.assertIsNone(c.json(ENDED)["error"])
        self.assertIsNone(c.json(ENDED)["status"])


class Sampling(CollectCase):
    def test_shape_of_a_program(self):
        program = compiled("shape", SHAPE_C, "-O0", "-fno-omit-frame-pointer")
        c = self.run_plan({"workload": [program, "1"], "tool": "both", "events": ["task-clock"],
                           "interval": 0.05, "sample": {"events": ["cpu-clock:u"]}})
        dump = c.dump()
        functions = {f["name"]: f for f in dump["functions"]}
        samples = dump["samples"]
        self.assertGreater(samples, 500)
        self.assertEqual(dump["unnamed_frames"], 0)
        self.assertAlmostEqual(functions["shape_seventy"]["self"] / samples, 0.7, delta=0.08)
        self.assertAlmostEqual(functions["shape_thirty"]["self"] / samples, 0.3, delta=0.08)
        self.assertGreater(functions["shape_both"]["total"] / samples, 0.9)
        opened, ended = c.json(OPENED), c.json(ENDED)
        self.assertGreaterEqual(dump["first_ns"], opened["start_ns"])
        self.assertLessEqual(dump["last_ns"], ended["end_ns"])
        self.assertEqual(ended["status"], 3)
        self.assertEqual(c.json(LEDGER)["samples"], samples)
        self.assertGreater(c.json(LEDGER)["collector_cpu_ns"], 0)
        # On one clock.
        rows = self.counter(dump, "task-clock")["rows"]
        self.assertLess(rows[0][0] - rows[0][1], dump["first_ns"])

    def test_samples_come_while_it_runs(self):
        program = compiled("shape", SHAPE_C, "-O0", "-fno-omit-frame-pointer")
        c = self.collect({"workload": [program, "20"], "tool": "record"})
        c.wait_for(CHUNK)
        self.assertIsNone(c.process.poll())
        c.stop()
        c.finish()
        self.assertTrue(c.json(ENDED)["stopped"])
        self.assertEqual(c.json(ENDED)["signal"], signal.SIGTERM)

    def test_dwarf_stacks(self):
        program = compiled("shape", SHAPE_C, "-O0", "-g", "-fomit-frame-pointer")
        c = self.run_plan({"workload": [program, "0.5"], "tool": "record",
                           "sample": {"events": ["cpu-clock:u"], "callgraph": "dwarf"}})
        dump = c.dump()
        functions = {f["name"]: f for f in dump["functions"]}
        self.assertGreater(functions["main"]["total"] / dump["samples"], 0.8)

    def test_the_whole_system_for_a_while(self):
        needs_system_wide()
        c = self.run_plan({"system_wide": True, "duration": 0.5, "tool": "both"})
        ended = c.json(ENDED)
        self.assertIsNone(ended["error"])
        self.assertFalse(ended["timed_out"])
        self.assertTrue(c.dump()["counters"])

    def test_attach_to_a_process(self):
        program = compiled("shape", SHAPE_C, "-O0", "-fno-omit-frame-pointer")
        process = self.start([program, "20"])
        c = self.collect({"pids": [process.pid], "tool": "record", "sample": {"events": ["cpu-clock:u"]}})
        c.wait_for(OPENED)
        begin = cpu_seconds(process.pid)
        self.assertTrue(eventually(lambda: cpu_seconds(process.pid) - begin > 0.3))
        c.stop()
        c.finish()
        self.assertIsNone(process.poll())
        functions = {f["name"] for f in c.dump()["functions"]}
        self.assertIn("shape_seventy", functions)

    def test_attach_for_a_while(self):
        c = self.run_plan({"pids": [os.getpid()], "tool": "record", "duration": 0.5,
                           "sample": {"events": ["cpu-clock:u"]}})
        self.assertGreaterEqual(c.json(ENDED)["end_ns"] - c.json(OPENED)["start_ns"], 0.5e9)
        self.assertIsNone(c.json(ENDED)["error"])
        self.assertFalse(c.json(ENDED)["timed_out"])

    def test_kept_as_perf_data(self):
        program = compiled("shape", SHAPE_C, "-O0", "-fno-omit-frame-pointer")
        path = os.path.join(self.home, "kept.data")
        c = self.run_plan({"workload": [program, "0.5"], "tool": "both"}, raw=path)
        told = json.loads(self.tacho("info", "--json", path).stdout)
        self.assertEqual(told["samples"], c.dump()["samples"])
        again = self.run_plan(**{"import": path})
        self.assertEqual(again.dump()["samples"], c.dump()["samples"])
        self.assertEqual({f["name"]: f["total"] for f in again.dump()["functions"]},
                         {f["name"]: f["total"] for f in c.dump()["functions"]})

    def test_counters_kept_as_perf_data(self):
        path = os.path.join(self.home, "kept.data")
        c = self.run_plan({"workload": "sleep 0.3", "tool": "stat", "interval": 0.05}, raw=path)
        again = self.run_plan(**{"import": path})
        self.assertEqual(again.dump()["counters"], c.dump()["counters"])
        self.assertEqual(again.json(OPENED)["start_ns"], c.json(OPENED)["start_ns"])

    def test_perf_reads_what_was_kept(self):
        needs_program("perf")
        program = compiled("shape", SHAPE_C, "-O0", "-fno-omit-frame-pointer")
        path = os.path.join(self.home, "kept.data")
        c = self.run_plan({"workload": [program, "0.5"], "tool": "both"}, raw=path)
        done = subprocess.run(["perf", "report", "-i", path, "--stdio", "-g", "none", "-F",
                               "overhead,sym"], capture_output=True, text=True, check=False,
                              env=environment(self.home))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("shape_seventy", done.stdout)
        script = subprocess.run(["perf", "script", "-i", path, "-F", "time"], capture_output=True,
                                text=True, check=True, env=environment(self.home)).stdout
        self.assertEqual(len(script.split()), c.dump()["samples"])

    def test_a_reader_that_is_behind_loses_nothing(self):
        program = compiled("shape", SHAPE_C, "-O0", "-fno-omit-frame-pointer")
        c = self.collect({"workload": [program, "2"], "tool": "record",
                          "sample": {"events": ["cpu-clock"], "frequency": 20000,
                                     "callgraph": "dwarf,32768"}}, spill=self.home)
        c.wait_for(OPENED)
        time.sleep(1.5)  # the server looks elsewhere
        c.finish()
        ledger = c.json(LEDGER)
        self.assertEqual(ledger["dropped"], 0)
        self.assertEqual(ledger["samples"], c.dump()["samples"])


class RunTimeCode(CollectCase):
    """Names that come later than the samples."""

    def test_a_map_that_is_written_late(self):
        # The map grows behind the first look at it; names come when the run ends.
        program = compiled("latemap", r"""
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
int main(void)
{
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xb9, 0x80, 0x84, 0x1e, 0x00,
					     0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};
	char *memory = mmap(0, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0), path[64];
	void (*made)(void) = (void (*)(void))(memory + 256);
	FILE *map;

	printf("%d\n", getpid());
	fflush(stdout);
	memcpy(memory + 256, code, sizeof(code));
	while (cpu() < 0.4)
		made();
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	fprintf(map, "%lx %zx late_function\n", (long)memory + 256, sizeof(code));
	fclose(map);
	return 0;
}
""", "-fno-omit-frame-pointer")
        c = self.run_plan({"workload": [program], "tool": "record",
                           "sample": {"events": ["cpu-clock:u"]}})
        self.addCleanup(self.removed, "/tmp/perf-%d.map" % int(c.output(1)))
        functions = {f["name"]: f for f in c.dump()["functions"]}
        self.assertGreater(functions["late_function"]["self"], 0.8 * c.dump()["samples"])

    def test_java(self):
        java, javac = needs_program("java"), needs_program("javac")
        source = self.write("Spin.java", """
public class Spin {
    static long spin(long n) {
        long x = 1;
        for (long i = 0; i < n; i++)
            x = x * 31 + (i ^ x >>> 7);
        return x;
    }
    public static void main(String[] a) {
        long sum = 0;
        for (int i = 0; i < 1500; i++)
            sum += spin(1000000);
        System.out.println(sum != 0);
    }
}
""")
        subprocess.run([javac, "-d", self.home, source], check=True)
        c = self.run_plan({"workload": [java, "-cp", self.home, "Spin"], "tool": "record"})
        self.assertEqual(c.output(1), b"true\n")
        named = sum(f["self"] for f in c.dump()["functions"] if "Spin.spin" in f["name"])
        self.assertGreater(named, 0.3 * c.dump()["samples"])


class Programs(CollectCase):
    def test_not_there(self):
        for workload in ("/no/such/program", "no-such-program-anywhere a b"):
            ended = self.run_plan({"workload": workload, "tool": "both"}).json(ENDED)
            self.assertTrue(ended["exec_failed"])
            self.assertIn("cannot run", ended["error"])
            self.assertEqual(ended["status"], 127)

    def test_not_a_program(self):
        ended = self.run_plan({"workload": "/etc/passwd", "tool": "stat"}).json(ENDED)
        self.assertTrue(ended["exec_failed"])
        self.assertIn("ermission", ended["error"])
        self.assertEqual(ended["status"], 126)

    def test_status_and_signal(self):
        self.assertEqual(self.run_plan({"workload": "sh -c 'exit 7'", "tool": "stat"})
                         .json(ENDED)["status"], 7)
        ended = self.run_plan({"workload": "sh -c 'kill -9 $$'", "tool": "stat"}).json(ENDED)
        self.assertEqual(ended["signal"], 9)
        self.assertIsNone(ended["status"])

    def test_output_of_both_kinds(self):
        c = self.run_plan({"workload": "echo one; echo two >&2; cat", "shell": True, "tool": "stat"})
        self.assertEqual(c.output(1), b"one\n")
        self.assertEqual(c.output(2), b"two\n")

    def test_words_are_not_for_a_shell(self):
        c = self.run_plan({"workload": "echo '$HOME' ; `id` > /dev/null | x", "tool": "stat"})
        self.assertEqual(c.output(1), b"$HOME ; `id` > /dev/null | x\n")

    def test_output_comes_at_once(self):
        c = self.collect({"workload": "echo early; sleep 20", "shell": True, "tool": "stat"})
        c.wait_for(OUTPUT, 10)
        self.assertEqual(c.output(1), b"early\n")
        c.stop(kill=True)
        c.finish()

    def test_prints_too_much(self):
        c = self.run_plan({"workload": "yes | head -c 100000000; echo end >&2", "shell": True,
                           "tool": "stat"}, output_bytes=100000)
        self.assertEqual(len(c.output(1)) + len(c.output(2)), 100000)
        self.assertEqual(c.json(LEDGER)["output_dropped_bytes"], 100000004 - 100000)
        self.assertEqual(c.json(ENDED)["status"], 0)

    def test_closes_its_descriptors(self):
        c = self.run_plan({"workload": ["python3", "-c",
                                        "import os,time; os.closerange(0, 100); time.sleep(0.2)"],
                           "tool": "both"})
        self.assertEqual(c.json(ENDED)["status"], 0)
        self.assertIsNone(c.json(ENDED)["error"])

    def test_leaves_somebody_with_its_output(self):
        # What it leaves behind when it ends by itself goes on, and nobody waits for it.
        mark = "30.%d" % os.getpid()
        c = self.run_plan({"workload": "sleep %s & echo done" % mark, "shell": True,
                           "tool": "stat"})
        self.assertEqual(c.output(1), b"done\n")
        for pid in alive(mark):
            os.kill(int(pid), signal.SIGKILL)

    def test_forks_a_thousand(self):
        c = self.run_plan({"workload": ["python3", "-c", """
import os
for i in range(1000):
    if os.fork() == 0:
        os._exit(0)
for i in range(1000):
    os.wait()
"""], "tool": "both"})
        self.assertEqual(c.json(ENDED)["status"], 0)
        self.assertEqual(c.json(LEDGER)["lost"], 0)

    def test_environment_directory_limits(self):
        where = os.path.realpath(self.home)
        c = self.run_plan({"workload": "pwd; echo $ONE; ulimit -n; ulimit -f; taskset -cp $$",
                           "shell": True, "tool": "stat", "env": {"ONE": "a b"}, "cwd": where,
                           "affinity": "0", "limits": {"files": 50, "file_bytes": 1048576}})
        lines = c.output(1).decode().splitlines()
        self.assertEqual(lines[:3], [where, "a b", "50"])
        self.assertIn(lines[3], ("1024", "2048"))  # kilobytes or blocks, as the shell counts
        self.assertTrue(lines[4].endswith(": 0"))

    def test_directory_that_is_not_there(self):
        ended = self.run_plan({"workload": "true", "tool": "stat", "cwd": "/no/such"}).json(ENDED)
        self.assertTrue(ended["exec_failed"])
        self.assertIn("directory", ended["error"])

    def test_as_another_user(self):
        needs_other_user()
        c = self.run_plan({"workload": "id -u; id -G; echo $USER", "shell": True, "tool": "stat",
                           "user": "nobody", "cwd": "/"})
        self.assertEqual(c.output(1).decode().split(), ["65534", "65534", "nobody"])
        ended = self.run_plan({"workload": "true", "tool": "stat", "user": "no-such-user"}).json(ENDED)
        self.assertIn("no such user", ended["error"])

    def test_without_root_nobody_else(self):
        needs_other_user()
        c = Collector({"workload": "true", "tool": "stat", "user": "root"}, home=self.home, prefix=AS_NOBODY)
        self.addCleanup(c.close)
        self.assertIn("only root", c.finish().json(ENDED)["error"])

    def test_plan_that_cannot_be(self):
        ended = self.run_plan({"workload": "true", "tool": "stat",
                               "events": ["no-such-event"]}).json(ENDED)
        self.assertIn("no-such-event", ended["error"])
        self.assertFalse(ended["exec_failed"])
        ended = self.run_plan({"pids": [4194000], "tool": "stat"}).json(ENDED)
        self.assertIn("no process", ended["error"])

    def test_what_is_no_plan(self):
        c = self.collect()
        c.finish()
        self.assertTrue(c.json(ENDED)["error"])


class Ending(CollectCase):
    def mark(self):
        return "20.%d%d" % (os.getpid(), time.monotonic_ns() % 1000000)

    def test_timeout(self):
        ended = self.run_plan({"workload": "sleep 20", "timeout": 0.3, "tool": "stat"}).json(ENDED)
        self.assertTrue(ended["timed_out"])
        self.assertEqual(ended["signal"], signal.SIGTERM)

    def test_cancel_ends_all_of_it(self):
        mark = self.mark()
        c = self.collect({"workload": "sleep %s & sleep %s & setsid sleep %s & wait" % ((mark,) * 3),
                          "shell": True, "tool": "both"})
        c.wait_for(OPENED)
        self.assertTrue(eventually(lambda: len(alive(mark)) >= 4))
        c.stop()
        c.finish()
        ended = c.json(ENDED)
        self.assertTrue(ended["stopped"])
        self.assertFalse(ended["timed_out"])
        self.assertEqual(alive(mark), [])

    def test_cancel_of_one_that_ignores_it(self):
        c = self.collect({"workload": "trap '' TERM; echo ready; while :; do sleep 0.1; done", "shell": True,
                          "tool": "stat"})
        c.wait_for(OUTPUT)
        c.stop()
        c.finish()
        self.assertEqual(c.json(ENDED)["signal"], signal.SIGKILL)
        self.assertTrue(c.json(ENDED)["stopped"])

    def test_killed_at_once(self):
        c = self.collect({"workload": "sleep 20", "tool": "stat"})
        c.wait_for(OPENED)
        c.stop(kill=True)
        c.finish()
        self.assertEqual(c.json(ENDED)["signal"], signal.SIGKILL)

    def test_watching_is_stopped(self):
        c = self.collect({"pids": [os.getpid()], "tool": "stat"})
        c.wait_for(CHUNK)
        c.stop()
        c.finish()
        self.assertTrue(c.json(ENDED)["stopped"])
        self.assertIsNone(c.json(ENDED)["error"])

    def test_server_goes_away(self):
        mark = self.mark()
        for tool in ("stat", "both"):
            c = self.collect({"workload": "trap '' TERM; sleep %s & sleep %s; sleep %s" %
                              ((mark,) * 3), "shell": True, "tool": tool})
            c.wait_for(OPENED)
            self.assertTrue(eventually(lambda: len(alive(mark)) >= 3))
            c.leave()
            c.process.wait(LIMIT_S)
            self.assertTrue(eventually(lambda: not alive(mark)))

    def test_runner_is_killed(self):
        mark = self.mark()
        c = self.collect({"workload": "sleep %s & sleep %s" % (mark, mark), "shell": True,
                          "tool": "both"})
        c.wait_for(OPENED)
        self.assertTrue(eventually(lambda: len(alive(mark)) >= 3))
        c.process.kill()
        c.receive(lambda _: False)
        self.assertNotIn(ENDED, c.kinds())
        self.assertTrue(eventually(lambda: not alive(mark)))

    def test_ring_collector_is_killed(self):
        mark = self.mark()
        c = self.collect({"workload": "sleep %s" % mark, "tool": "both"})
        c.wait_for(OPENED)
        children = subprocess.run(["pgrep", "-P", str(c.process.pid)], capture_output=True,
                                  text=True, check=True).stdout.split()
        os.kill(int(children[0]), signal.SIGKILL)
        c.finish()
        self.assertIn("signal 9", c.json(ENDED)["error"])
        self.assertTrue(eventually(lambda: not alive(mark)))


class Importing(CollectCase):
    def test_a_recording(self):
        program = compiled("shape", SHAPE_C, "-O0", "-fno-omit-frame-pointer")
        path = os.path.join(self.home, "perf.data")
        self.tacho("record", "-q", "-g", "-F", "999", "-o", path, program, "0.5")
        c = self.collect(**{"import": path}).finish()
        dump = c.dump()
        functions = {f["name"]: f for f in dump["functions"]}
        self.assertGreater(functions["shape_both"]["total"] / dump["samples"], 0.8)
        self.assertEqual(c.json(OPENED)["clock"], "monotonic")
        self.assertEqual(c.json(OPENED)["start_ns"], dump["first_ns"])
        self.assertEqual(c.json(LEDGER)["done_part"], 1)
        self.assertIsNone(c.json(ENDED)["error"])

    def test_every_recording_of_the_corpus(self):
        corpus_truth()
        for name in sorted(os.listdir(CORPUS)):
            path = os.path.join(CORPUS, name)
            with open(path, "rb") as f:
                if f.read(8) not in (b"PERFILE2", b"2ELIFREP"):
                    continue
            with self.subTest(name):
                told = json.loads(self.tacho("info", "--json", path).stdout)
                c = self.run_plan(**{"import": path})
                dump = c.dump()
                self.assertEqual(dump["samples"], told["samples"])
                self.assertEqual([[e["name"], e["samples"]] for e in dump["events"] if e["samples"]],
                                 [[e["name"], e["samples"]] for e in told["events"] if e["samples"]])
                self.assertEqual(c.json(LEDGER)["samples"], told["samples"])
                self.assertIsNone(c.json(ENDED)["error"])

    def test_what_is_no_recording(self):
        path = os.path.join(self.home, "x")
        with open(path, "w", encoding="utf-8") as f:
            f.write("something else entirely, and not even binary\n" * 10)
        c = self.collect(**{"import": path}).finish()
        self.assertTrue(c.json(ENDED)["error"])
        c = self.collect(**{"import": "/no/such/file"}).finish()
        self.assertIn("/no/such/file", c.json(ENDED)["error"])

    def test_counters_of_perf(self):
        needs_program("perf")
        path = os.path.join(self.home, "stat.data")
        done = subprocess.run(["perf", "stat", "record", "-I", "50", "-e",
                               "task-clock,context-switches", "-o", path, *load("busy", 300)],
                              capture_output=True, check=False, env=environment(self.home))
        self.assertEqual(done.returncode, 0, done.stderr)
        c = self.collect(**{"import": path}).finish()
        rows = self.counter(c.dump(), "task-clock")["rows"]
        self.assertGreaterEqual(len(rows), 4)
        self.assertGreater(sum(row[2] for row in rows), 290e6)
        self.assertLess(sum(row[2] for row in rows), 600e6)


if __name__ == "__main__":
    unittest.main()
