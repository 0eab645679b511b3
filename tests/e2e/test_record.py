#!/usr/bin/env python3
"""tacho record: what is in the file, how it ends, and that nothing stays behind."""

import glob
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import time
import unittest

from helpers import (AS_NOBODY, FOR_EVER_MS, LIMIT_S, TACHO, Case, alive, below, cgroup2_mount, children_of,
                     end_process, environment, eventually, has_pmu, has_to_end, in_terminal,
                     is_stuck_in_write, load, needs_namespace, needs_no_pmu, needs_other_user, needs_program,
                     needs_root, needs_system_wide, needs_tracefs, online_cpus, order, plain, send_and_see,
                     sleeps, state_of, wait_recording, waits, with_enough_time)
from perfdata import FORK, LOST, LOST_SAMPLES, SAMPLE, SWITCH, File

FINISHED_ROUND, COMPRESSED = 68, 81


class Record(Case):
    def record(self, *args, status=0, **more):
        result = self.tacho("record", "-o", self.path("x.data"), *args, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def file(self, *args, **more):
        self.record(*args, **more)
        return File(self.path("x.data"))

    def info(self, name="x.data"):
        """What tacho info says of the file."""
        result = self.tacho("info", "--json", "-i", self.path(name))
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def lost(self, name="x.data"):
        """As tacho info shows it: who counts for each event counts what the rings say once more."""
        info = self.info(name)
        return max(info["lost_records"], info["lost_samples"])

    def start_record(self, *args, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stderr", subprocess.PIPE)
        return self.start([TACHO, "record", "-o", self.path("x.data"), *args], **more)

    def start_orders(self, *args, **more):
        """A recording of a program that does what order() says, and ends with its input."""
        more.setdefault("stderr", subprocess.PIPE)
        return self.start([TACHO, "record", "-o", self.path("x.data"), "-e", "page-faults", "-c", "1", *args, "--",
                           *load("orders")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)

    def end_orders(self, tacho, status=0):
        """What tacho said; the program has ended by itself."""
        text = tacho.communicate(timeout=LIMIT_S)[1]
        self.assertEqual(tacho.returncode, status, text)
        return text

    def order_until(self, tacho, enough, pages):
        """Orders until enough()."""
        def step():
            order(tacho, pages=pages)
            return enough()
        self.assertTrue(eventually(step))

    @staticmethod
    def children(pid):
        """Processes below @pid, at any depth, that have not ended."""
        return [p for p in below(pid) if alive(p)]

    def text(self, name):
        with open(self.path(name)) as text:
            return text.read()

    def perf(self, *args):
        perf = needs_program("perf")
        result = subprocess.run([perf, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=environment(self.home), cwd=self.home, timeout=LIMIT_S)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout


class Samples(Record):
    def test_command(self):
        data = self.file("-e", "cpu-clock", "-c", "1000000", "--", *load("busy", 200))
        samples = data.samples()
        self.assertGreater(len(samples), 150)
        self.assertEqual({s[6] for s in samples}, {1000000})
        self.assertEqual(len({s[2] for s in samples}), 1)
        self.assertIn("load", data.names())
        self.assertIn(load()[0], data.mapped())
        self.assertGreater(data.count(FINISHED_ROUND), 0)
        times = [s[4] for s in samples]
        self.assertLess(max(times), time.clock_gettime_ns(time.CLOCK_MONOTONIC))
        self.assertGreater(min(times), time.clock_gettime_ns(time.CLOCK_MONOTONIC) - 100 * 10**9)

    def test_period_of_what_is_not_a_clock(self):
        """One sample for so many, not one for each."""
        every = self.counted("-e", "page-faults", "-c", "1", "--", *load("forks", 1, 2000))
        tenth = self.counted("-e", "page-faults", "-c", "10", "--", *load("forks", 1, 2000))
        term = self.counted("-e", "page-faults/period=10/", "--", *load("forks", 1, 2000))
        self.assertGreater(every[0], 2000)
        for samples, events in (tenth, term):
            self.assertEqual(events, samples * 10)
            # The kernel begins anew in each process, and programs differ by a few faults.
            self.assertAlmostEqual(events, every[0], delta=300)

    def counted(self, *args):
        """Samples, and how many events they stand for."""
        self.record(*args)
        text = self.tacho("script", "-i", self.path("x.data"), "-F", "period").stdout
        periods = [int(line) for line in text.split()]
        return len(periods), sum(periods)

    def test_default_event(self):
        result = self.record("--", *load("busy", 100))
        self.assertRegex(result.stderr, r"\[ tacho record: [\d,]+ samples, .* in .*x.data \]")
        self.assertEqual("no PMU" in result.stderr, not has_pmu())
        self.assertGreater(File(self.path("x.data")).count(SAMPLE), 50)

    def test_children_are_recorded(self):
        data = self.file("-e", "page-faults", "-c", "1", "--", *load("forks", 3, 200))
        self.assertEqual(data.count(FORK), 3)
        pids = [s[2] for s in data.samples()]
        self.assertEqual(sum(pids.count(p) >= 200 for p in set(pids)), 3)

    def test_no_inherit(self):
        data = self.file("-i", "-e", "page-faults", "-c", "1", "--", *load("forks", 3, 200))
        self.assertEqual(len({s[2] for s in data.samples()}), 1)

    def test_several_events(self):
        data = self.file("-e", "page-faults", "-e", "cpu-clock", "-c", "10000000", "--",
                         *load("busy", 50))
        self.assertEqual(len(data.attrs), 2)
        self.assertEqual(len({s[0] for s in data.samples()} & {s[0] for s in data.samples()}),
                         len({s[0] for s in data.samples()}))

    def test_period_of_the_event_wins(self):
        names = os.listdir("/sys/bus/event_source/devices")
        if "software" not in names:
            raise unittest.SkipTest("needs a software PMU in sysfs")
        self.record("-e", "software/config=0,period=5000000/", "-F", "100", "--", "true")

    def test_tracepoints_and_filter(self):
        needs_tracefs()
        needs_root("for tracepoints")
        everything = self.file("-e", "syscalls:sys_enter_getppid", "--", *load("calls", 50))
        self.assertEqual(everything.count(SAMPLE), 50)
        data = self.file("-e", "syscalls:sys_enter_getppid", "-e", "syscalls:sys_exit_getppid",
                         "--filter", "ret < 0", "--", *load("calls", 50))
        self.assertEqual(data.count(SAMPLE), 50)
        self.assertEqual(len({s[0] for s in data.samples()}), 1)

    def test_filter_errors(self):
        needs_tracefs()
        needs_root("for tracepoints")
        result = self.record("-e", "sched:sched_switch", "--filter", "nosuch == 1", "true",
                             status=125)
        self.assertIn("prev_pid", result.stderr)
        result = self.record("--filter", "a == 1", "-e", "sched:sched_switch", "true", status=125)
        self.assertOneSentence(result.stderr)

    def test_group(self):
        """Only the leader of a group that is read is sampled; all values come with it."""
        data = self.file("-e", "{cpu-clock,page-faults}:S", "-c", "1000000", "--",
                         *load("busy", 100))
        self.assertEqual(len(data.attrs), 2)
        samples = [r[2] for r in data.records if r[0] == SAMPLE]
        self.assertGreater(len(samples), 50)
        at, size = struct.unpack_from("=QQ", data.attrs[0], len(data.attrs[0]) - 16)
        leaders = {data.bytes[i:i + 8] for i in range(at, at + size, 8)}  # one a CPU
        self.assertLessEqual({s[:8] for s in samples}, leaders)
        for leader in leaders:
            values = [struct.unpack_from("=QQQQQQQ", s, 48) for s in samples if s[:8] == leader]
            self.assertLessEqual({v[0] for v in values}, {2})
            self.assertEqual([v[3] for v in values], sorted(v[3] for v in values))

    def test_call_stacks(self):
        data = self.file("-g", "-e", "cpu-clock", "-c", "1000000", "--max-stack", "5", "--",
                         *load("busy", 100))
        depths = [struct.unpack_from("=Q", r[2], 48)[0] for r in data.records if r[0] == SAMPLE]
        self.assertGreater(len(depths), 50)
        self.assertTrue(all(1 <= d <= 8 for d in depths), depths)  # with marks of the modes

    def test_stack_copies(self):
        data = self.file("--call-graph", "dwarf,4096", "-e", "cpu-clock:u", "-c", "1000000", "--",
                         *load("busy", 100))
        sizes = [len(r[2]) for r in data.records if r[0] == SAMPLE]
        self.assertTrue(sizes and all(4096 < s < 4096 + 1024 for s in sizes), sizes[:5])

    def test_switches(self):
        data = self.file("--switch-events", "-e", "cpu-clock", "--", *load("sleeps", 20))
        self.assertGreaterEqual(data.count(SWITCH), 40)

    def test_delay(self):
        """Nothing is sampled before, but mappings are known."""
        def begin(delay_ms):
            end_ns = time.monotonic_ns() + delay_ms * 10**6
            tacho = self.start_orders("-D", delay_ms)
            order(tacho, pages=300)
            return (tacho, end_ns) if time.monotonic_ns() < end_ns else end_process(tacho)
        tacho, end_ns = with_enough_time(begin)
        self.order_until(tacho, self.samples_so_far, pages=1)
        order(tacho, pages=100)
        self.end_orders(tacho)
        data = File(self.path("x.data"))
        self.assertGreaterEqual(data.count(SAMPLE), 100)
        self.assertGreaterEqual(min(s[4] for s in data.samples()), end_ns)
        self.assertIn(load()[0], data.mapped())

    def test_no_samples(self):
        data = self.file("-n", "-e", "cpu-clock", "--", *load("busy", 50))
        self.assertEqual(data.count(SAMPLE), 0)
        self.assertIn(load()[0], data.mapped())

    def test_compressed(self):
        data = self.file("-z", "-g", "-e", "cpu-clock", "-c", "500000", "--", *load("busy", 200))
        self.assertGreater(data.count(COMPRESSED), 0)
        self.assertEqual(data.count(SAMPLE), 0)

    def test_frequency_is_lowered(self):
        result = self.record("-F", "100000000", "-e", "cpu-clock", "--", "true")
        self.assertIn("lowered", result.stderr)
        self.record("-F", "100000000", "--strict-freq", "-e", "cpu-clock", "--", "true", status=125)
        self.record("-F", "max", "-e", "cpu-clock", "--", "true")


class Places(Record):
    def test_process_and_its_end(self):
        child = self.start_ready("onsignal", 200, 0)
        tacho = self.start_record("-e", "page-faults", "-c", "1", "-p", child.pid)
        wait_recording(tacho)
        child.send_signal(signal.SIGUSR1)
        tacho.communicate(timeout=LIMIT_S)
        self.assertEqual(tacho.returncode, 0)
        data = File(self.path("x.data"))
        self.assertGreaterEqual(data.count(SAMPLE), 200)
        self.assertEqual({s[2] for s in data.samples()}, {child.pid})

    def test_process_for_as_long_as_a_command(self):
        """The command says for how long; the names and mappings are those of the process."""
        child = self.start_ready("onsignal", 200, 0)
        data = self.file("-e", "dummy", "-c", "1", "-p", child.pid, "--", "true")
        self.assertIn("load", data.names())
        self.assertTrue(any(name.endswith("/load") for name in data.mapped()))

    def test_thread_alone(self):
        child = self.start_ready("onsignal", 200, 0)
        tacho = self.start_record("-i", "-e", "page-faults", "-c", "1", "-t", child.pid)
        wait_recording(tacho)
        child.send_signal(signal.SIGUSR1)
        tacho.communicate(timeout=LIMIT_S)
        self.assertGreaterEqual(File(self.path("x.data")).count(SAMPLE), 200)

    def test_whole_system(self):
        needs_system_wide()
        data = self.file("-a", "-e", "cpu-clock", "-F", "1000", "--", *load("busy", 200))
        self.assertTrue({s[5] for s in data.samples()} <= set(online_cpus()))
        pids = [s[2] for s in data.samples()]
        self.assertGreater(max(pids.count(p) for p in pids), 50)
        self.assertIn("load", data.names())

    def test_some_cpus(self):
        needs_system_wide()
        cpu = online_cpus()[-1]
        # A CPU that sleeps all the time may give no samples.
        data = self.file("-C", cpu, "-e", "cpu-clock", "-F", "1000", "--",
                         needs_program("taskset"), "-c", cpu, *load("busy", 200))
        self.assertEqual({s[5] for s in data.samples()}, {cpu})
        # Mappings are made on any CPU.
        self.assertIn(load()[0], data.mapped())

    @unittest.skipUnless(os.environ.get("TACHO_TEST_HOTPLUG"),
                         "takes CPU 1 offline for a second; set TACHO_TEST_HOTPLUG=1 to allow it")
    def test_cpu_goes_away(self):
        needs_root("to take a CPU offline")
        switch = "/sys/devices/system/cpu/cpu1/online"
        recording = self.start_record("-a", "-F", "100", "--timeout", "3000", stderr=subprocess.PIPE)
        time.sleep(1)
        try:
            with open(switch, "w", encoding="ascii") as f:
                f.write("0")
            time.sleep(0.5)
        finally:
            with open(switch, "w", encoding="ascii") as f:
                f.write("1")
        said = recording.communicate(timeout=LIMIT_S)[1]
        said = said.decode() if isinstance(said, bytes) else said
        self.assertRegex(said, r"CPU 1 was taken offline: of 3\.\d s only [012]\.\d s of it are recorded")

    def test_threads_read_the_same(self):
        needs_system_wide()
        needs_program("taskset")
        if len(online_cpus()) < 2:
            raise unittest.SkipTest("needs two CPUs")
        # One program on each CPU: which of them the kernel would use is its own affair.
        script = "for cpu in %s; do taskset -c $cpu $0 busy 200 & done; wait" % " ".join(map(str, online_cpus()))
        data = self.file("-a", "--threads", "2", "-e", "cpu-clock", "-F", "1000", "--", "sh", "-c", script, load()[0])
        self.assertEqual({s[5] for s in data.samples()}, set(online_cpus()))

    def test_user(self):
        needs_other_user()
        # Nobody else has this number, whatever runs beside us.
        user = 1000000 + os.getpid()
        child = self.start(["setpriv", "--reuid", user, "--clear-groups", *load("busythreads", 1, FOR_EVER_MS)])
        self.assertTrue(eventually(lambda: os.stat("/proc/%d" % child.pid).st_uid == user))
        self.record_until(self.samples_so_far, "-u", user, "-e", "cpu-clock", "-F", "1000")
        self.assertEqual({s[2] for s in File(self.path("x.data")).samples()}, {child.pid})

    def test_cgroup(self):
        needs_system_wide()
        name = "tacho-record-test-%d" % os.getpid()
        group = os.path.join(cgroup2_mount(), name)
        os.mkdir(group)
        self.addCleanup(eventually, lambda: self.removed(group))
        child = self.start(load("busy", FOR_EVER_MS))
        self.addCleanup(child.kill)
        with open(os.path.join(group, "cgroup.procs"), "w") as out:
            out.write(str(child.pid))
        self.record_until(self.samples_so_far, "-G", name, "-e", "cpu-clock", "-F", "1000")
        self.assertEqual({s[2] for s in File(self.path("x.data")).samples()}, {child.pid})
        child.kill()

    def test_unprivileged(self):
        needs_other_user()
        result = self.tacho("record", "-g", "-o", self.path("n.data"), "--", *load("busy", 100),
                            before=AS_NOBODY)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(File(self.path("n.data")).count(SAMPLE), 50)
        result = self.tacho("record", "-a", "-o", self.path("m.data"), "true", before=AS_NOBODY)
        if os.path.exists(self.path("m.data")):
            raise unittest.SkipTest("everybody may watch the system here")
        self.assertEqual(result.returncode, 125)
        self.assertIn("perf_event_paranoid", result.stderr)


    def test_unprivileged_with_large_buffers(self):
        """More than may be locked: the first buffer must not take what the others need."""
        needs_other_user()
        result = self.record("-m", "8M", "-e", "cpu-clock:u", "--", *load("busy", 50),
                             before=["prlimit", "--memlock=0", *AS_NOBODY])
        self.assertIn("buffers are of", result.stderr)

    def test_many_rings_are_small(self):
        """Without inheritance each thread has one."""
        children = [self.start_ready("idlethreads", 60) for _ in range(3)]
        result = self.record("-v", "-i", "-e", "page-faults", "--timeout", "50", "-p",
                             ",".join(str(child.pid) for child in children))
        rings, size_kb = re.search(r"(\d+) buffers of (\d+) KiB", result.stderr).groups()
        self.assertEqual(int(rings), 183)
        self.assertLessEqual(int(rings) * int(size_kb), 256 << 10)


class Output(Record):
    def test_old_file_is_kept(self):
        self.record("-e", "page-faults", "true")
        first = File(self.path("x.data")).bytes
        self.record("-e", "page-faults", "true")
        self.assertEqual(File(self.path("x.data.old")).bytes, first)

    def test_old_file_survives_a_typing_error(self):
        """Twice, because the older one is kept under another name once."""
        self.write("x.data", "precious")
        for name in "no-such-command", "./no-such-command":
            self.assertIn("not found", self.record(name, status=127).stderr)
        with open(self.path("x.data")) as data:
            self.assertEqual(data.read(), "precious")

    def test_default_name(self):
        self.tacho("record", "-e", "page-faults", "true", cwd=self.home)
        self.assertEqual(len(File(self.path("perf.data")).attrs), 1)

    def test_pipe(self):
        result = self.tacho("record", "-o", "-", "-e", "page-faults", "-c", "1", "--", "echo",
                            "hello", text=False)
        self.assertEqual(result.returncode, 0)
        self.assertTrue(result.stdout.startswith(b"PERFILE2" + struct.pack("Q", 16)))
        self.assertIn(b"hello\n", result.stderr)
        self.assertNotIn(b"hello\n", result.stdout)

    def test_reader_of_the_pipe_goes(self):
        tacho = self.start([TACHO, "record", "-o", "-", "-e", "page-faults", "-c", "1", "--",
                            *load("steps", 500, 0, 400)],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=False)
        tacho.stdout.read(100)
        tacho.stdout.close()
        self.assertIn(b"reader", tacho.stderr.read())
        self.assertEqual(tacho.wait(LIMIT_S), 125)

    def test_pipe_that_nobody_opens(self):
        os.mkfifo(self.path("x.data"))
        result = self.record("-e", "page-faults", "true", status=125)
        self.assertIn("nobody reads", result.stderr)

    def test_named_pipe(self):
        """Its reader may come later."""
        os.mkfifo(self.path("x.data"))

        def held():
            """A recording that has looked for a reader and waits; who comes too late to hold it finds it ended."""
            tacho = self.start_record("-e", "page-faults", "-c", "1", "--", *load("pages", 100))
            eventually(lambda: tacho.poll() is not None or any(map(sleeps, children_of(tacho.pid))))
            for collector in children_of(tacho.pid):
                os.kill(collector, signal.SIGSTOP)
                if eventually(lambda: state_of(collector) in "TZX") and state_of(collector) == "T":
                    return tacho, collector
            return None
        tacho, collector = next(filter(None, (held() for _ in range(5))), (None, None))
        self.assertTrue(tacho, "it does not wait")
        reader = os.open(self.path("x.data"), os.O_RDONLY | os.O_NONBLOCK)
        os.set_blocking(reader, True)
        os.kill(collector, signal.SIGCONT)
        with open(reader, "rb") as pipe:
            self.assertTrue(eventually(lambda: select.select([pipe], [], [], 0)[0]))
            self.assertEqual(pipe.read(8), b"PERFILE2")
            pipe.read()
        tacho.communicate(timeout=LIMIT_S)
        self.assertEqual(tacho.returncode, 0)

    def test_pipe_that_is_full(self):
        """The third key press gets rid of a recording whose reader does not read."""
        reader, writer = os.pipe()
        tacho = self.start([TACHO, "record", "-o", "-", "-e", "page-faults", "-c", "1", "-m", "16",
                            "--", *load("steps", 10**6, 0, 500)], stdout=writer,
                           stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.assertTrue(eventually(lambda: len(self.children(tacho.pid)) == 2))
        below = self.children(tacho.pid)
        # A little room in the pipe might be enough for what is written at the end.
        self.assertTrue(eventually(lambda: any(map(is_stuck_in_write, below))))
        os.close(writer)
        for _ in range(3):
            send_and_see(tacho.pid, signal.SIGINT)
        tacho.communicate(timeout=LIMIT_S)
        self.assertEqual(tacho.returncode, 125)
        self.assertTrue(eventually(lambda: all(state_of(p) in "XZ" for p in below)))
        os.close(reader)

    def test_only_files_are_renamed(self):
        os.symlink("elsewhere", self.path("x.data"))
        result = self.record("-e", "page-faults", "--switch-output", "true", status=125)
        self.assertIn("plain file", result.stderr)
        self.assertTrue(os.path.islink(self.path("x.data")))

    def test_quiet(self):
        self.assertEqual(self.record("-q", "true").stderr, "")

    def test_terminal_shows_progress(self):
        typed = []

        def feed(output, terminal):
            if b"\r\x1b[Ktacho record: " in output and not typed:
                typed.append(1)
                os.write(terminal, b"\x03")
        status, output = in_terminal(
            [TACHO, "record", "-e", "cpu-clock", "-o", self.path("x.data"), "-p", str(os.getpid())],
            environment(self.home), feed=feed)
        self.assertEqual(status, 0, output)
        self.assertTrue(typed, output)
        self.assertRegex(plain(output), r"\[ tacho record: .*\]")

    def test_max_size(self):
        result = self.record("-g", "-e", "page-faults", "-c", "1", "--max-size", "100K", "--",
                             *load("steps", 3000, 0, 300))
        self.assertIn("tacho: record: the file is as large as --max-size allows (100K): recording has "
                      "stopped and the command was ended\n", result.stderr)
        # Mappings and the like still get in when it is full, samples do not.
        size = os.path.getsize(self.path("x.data"))
        self.assertTrue(60 << 10 <= size <= 104 << 10, size)

    def test_max_size_is_told_although_quiet(self):
        result = self.record("-q", "-e", "page-faults", "-c", "1", "--max-size", "100K", "--",
                             *load("steps", 3000, 0, 300))
        self.assertIn("recording has stopped", result.stderr)

    def test_max_size_without_room_for_samples(self):
        needs_system_wide()
        result = self.record("-a", "--max-size", "8K", "--", "sleep", "60")
        self.assertIn("--max-size (8K) leaves no room for samples", result.stderr)
        self.assertIn("give a larger size", result.stderr)

    def test_max_size_is_not_reached(self):
        result = self.record("--max-size", "100M", "--", "true")
        self.assertNotIn("max-size", result.stderr)

    def test_words_of_perf(self):
        self.record("--aio", "--tail-synthesize", "--buildid-all", "--", "true")
        self.record("--aio=4", "--", "true")

    def test_overwrite_describes_what_there_is_at_the_end(self):
        """A process that runs already, and goes on: with or without, its samples have a mapping."""
        child = self.start(load("busy", FOR_EVER_MS), stdout=subprocess.DEVNULL)
        for option in ([], ["--tail-synthesize"]):
            self.record("--overwrite", *option, "-p", child.pid, "--timeout", 300)
            self.assertIn(load()[0], File(self.path("x.data")).mapped())
        child.kill()
        child.wait()

    def test_switch_by_size(self):
        tacho = self.start_orders("--switch-output=20K", "--switch-max-files", "2")
        seen = set()

        def several():
            seen.update(glob.glob(self.path("x.data.*")))
            return len(seen) > 2
        self.order_until(tacho, several, pages=300)
        text = self.end_orders(tacho)
        files = glob.glob(self.path("x.data.*"))
        self.assertEqual(len(files), 2, files)
        written = text.count("wrote")
        self.assertGreater(written, 2)
        self.assertIn("in %d files, the last 2 of which are kept ]" % written, text)
        self.assertIn(load()[0], File(min(files)).mapped())
        self.assertFalse(os.path.exists(self.path("x.data")))

    def test_switch_by_signal(self):
        tacho = self.start_orders("--switch-output")
        order(tacho, pages=10)
        tacho.send_signal(signal.SIGUSR2)
        self.assertTrue(eventually(lambda: glob.glob(self.path("x.data.2*"))))
        order(tacho, pages=10)
        self.end_orders(tacho)
        self.assertEqual(len(glob.glob(self.path("x.data.2*"))), 2)

    def snapshot(self, tacho):
        """The samples of a snapshot of what has been recorded until now."""
        before = set(glob.glob(self.path("x.data.2*")))
        tacho.send_signal(signal.SIGUSR2)
        self.assertTrue(eventually(lambda: set(glob.glob(self.path("x.data.2*"))) - before))
        # Its name may be there before all of it is.
        name, = set(glob.glob(self.path("x.data.2*"))) - before
        self.assertTrue(eventually(lambda: "wrote" in tacho.stderr.readline()))
        return File(name).count(SAMPLE)

    def overwritten(self):
        """What tacho says of a program that touches 400 pages, is forgotten, and touches 100."""
        def run(ms):
            tacho = self.start_orders("--overwrite=%d" % (ms // 1000))
            order(tacho, pages=400)
            self.assertTrue(eventually(lambda: self.snapshot(tacho) < 100))
            begun = time.monotonic()
            order(tacho, pages=100)
            text = self.end_orders(tacho)
            # Else the last samples may have been too old, too.
            return text if time.monotonic() < begun + ms / 1e3 else None
        return with_enough_time(run)

    def test_overwrite(self):
        """Only the last seconds, but with the mappings from before them."""
        text = self.overwritten()
        data = File(self.path("x.data"))
        self.assertIn("record: %d samples" % data.count(SAMPLE), text)
        self.assertTrue(100 <= data.count(SAMPLE) < 400, data.count(SAMPLE))
        self.assertIn(load()[0], data.mapped())

    def assertKnowsItsTimes(self, name):
        """The header's first and last sample are those of this file, as perf reads it."""
        text = self.perf("report", "--header-only", "-i", self.path(name))
        said = [float(re.search("time of %s sample : ([0-9.]+)" % which, text)[1])
                for which in ("first", "last")]
        times = [s[4] / 1e9 for s in File(self.path(name)).samples()]
        self.assertAlmostEqual(said[0], min(times), delta=1e-5)
        self.assertAlmostEqual(said[1], max(times), delta=1e-5)

    def test_files_know_their_times(self):
        self.record("-e", "page-faults", "-c", "1", "--switch-output=20K", "--",
                    *load("steps", 400, 0, 10))
        for name in glob.glob(self.path("x.data.*")):
            if File(name).count(SAMPLE):
                self.assertKnowsItsTimes(name)
        self.overwritten()
        self.assertKnowsItsTimes("x.data")

    def test_snapshot(self):
        tacho = self.start_orders("--overwrite=%d" % LIMIT_S)
        order(tacho, pages=300)
        first = self.snapshot(tacho)
        self.assertGreaterEqual(first, 300)
        order(tacho, pages=300)
        self.end_orders(tacho)
        self.assertGreaterEqual(File(self.path("x.data")).count(SAMPLE), first + 300)

    def test_full_disk(self):
        """Said once, the command goes on, and what is there can be read."""
        needs_namespace()
        script = ('mount -t tmpfs -o size=256k none "$0" && cd "$0" && '
                  '"$1" record -m 64K -e page-faults -c 1 -o x.data -- "$2" orders; '
                  'echo status $?; cp x.data "$3"')
        os.mkdir(self.path("small"))
        with open(self.path("said"), "w+") as said:
            child = self.start(["unshare", "-m", "sh", "-c", script, self.path("small"), TACHO, load()[0],
                                self.path("saved.data")],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said)
            self.order_until(child, lambda: "recording has stopped" in self.text("said"), pages=200)
            out = child.communicate(timeout=LIMIT_S)[0]
        self.assertIn("status 125", out)
        text = self.text("said")
        self.assertIn("No space left", text)
        samples = File(self.path("saved.data")).count(SAMPLE)
        self.assertGreater(samples, 100)
        self.assertIn("[ tacho record: %s samples, " % format(samples, ","), text)
        self.assertIn("could not be written", text)

    def test_failure_is_told_at_once(self):
        """Not when the command, which may take hours, has ended."""
        needs_program("prlimit")
        with open(self.path("said"), "w+") as said:
            tacho = self.start(["prlimit", "--fsize=200000", TACHO, "record", "-o", self.path("x.data"), "-m", "64K",
                                "-e", "page-faults", "-c", "1", "--", *load("orders")],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said)
            self.order_until(tacho, lambda: "recording has stopped" in self.text("said"), pages=200)
            order(tacho, pages=200)
            self.end_orders(tacho, status=125)
        self.assertEqual(self.text("said").count("recording has stopped"), 1)

    def test_lost_samples_are_told(self):
        """A collector that does not run for a while; its buffer is one page."""
        tacho = self.start_record("-m", "1", "-e", "page-faults", "-c", "1", "--",
                                  *load("onsignal", 5000, 0), stdout=subprocess.PIPE)
        self.assertEqual(tacho.stdout.readline(), "ready\n")
        collector, = children_of(tacho.pid)
        workload, = children_of(collector)
        os.kill(collector, signal.SIGSTOP)
        self.assertTrue(eventually(lambda: state_of(collector) == "T"))
        os.kill(workload, signal.SIGUSR1)
        self.assertTrue(eventually(lambda: state_of(workload) == "Z"))
        os.kill(collector, signal.SIGCONT)
        _, text = tacho.communicate(timeout=LIMIT_S)
        data = File(self.path("x.data"))
        lost = sum(struct.unpack_from("=QQ", r[2])[1] for r in data.records if r[0] == LOST)
        lost += sum(struct.unpack_from("=Q", r[2])[0] for r in data.records
                    if r[0] == LOST_SAMPLES)
        self.assertGreater(lost, 4000)
        self.assertGreaterEqual(lost + data.count(SAMPLE), 5000)
        self.assertIn("%s more were lost" % format(lost, ","), text)
        self.assertIn("-m", text)

    def test_all_losses_are_told_once(self):
        """Those that the kernel has told of, and those at the end that it has not."""
        tacho = self.start_record("-m", "1", "-e", "page-faults", "-c", "1", "--", "sh", "-c",
                                  "echo; for i in 1 2 3; do read x; %s pages 2000; echo; done; read x"
                                  % load()[0], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(tacho.stdout.readline(), "\n")
        collector, = children_of(tacho.pid)
        for stopped in True, False, True:
            if stopped:
                os.kill(collector, signal.SIGSTOP)
                self.assertTrue(eventually(lambda: state_of(collector) == "T"))
            tacho.stdin.write("\n")
            tacho.stdin.flush()
            self.assertEqual(tacho.stdout.readline(), "\n")
            os.kill(collector, signal.SIGCONT)
            # It has emptied its rings when it waits again.
            self.assertTrue(eventually(lambda: state_of(collector) != "T" and waits(collector)))
        _, text = tacho.communicate("\n", timeout=LIMIT_S)
        self.assertGreater(self.info()["lost_records"], 2000)
        self.assertIn("%s more were lost" % format(self.lost(), ","), text)

    def test_bad_usage(self):
        for args in (["-F", "x"], ["-F", "10", "-c", "10"], ["-c", "0"], ["--call-graph", "magic"],
                     ["--call-graph", "dwarf,70000"], ["--call-graph", "fp,100"], ["-m", "x"],
                     ["-j", "sideways"], ["-z", "--compression-level=99"], ["--clockid", "raw"],
                     ["--switch-output=never"], ["--switch-max-files", "3"],
                     ["--overwrite", "--switch-output"], ["--max-size", "much"],
                     ["-e", "nosuchevent"], ["-e", "duration_time"], ["-u", "no-such-user"],
                     ["-o", "-", "--overwrite"], ["-p", "1", "-a"],
                     ["-o", "/nosuchdir/x", "-e", "page-faults"]):
            with self.subTest(args):
                self.assertOneSentence(self.record(*args, "true", status=125).stderr)

    def test_missing_pmu(self):
        needs_no_pmu()
        self.assertIn("doctor", self.record("-e", "instructions", "true", status=125).stderr)


class Ends(Record):
    def test_status(self):
        for script, status in (("exit 3", 3), ("kill -9 $$", 137), ("exit 0", 0)):
            self.record("-e", "page-faults", "--", "sh", "-c", script, status=status)
        self.assertOneSentence(self.record("-e", "cs", "no-such-program", status=127).stderr)
        self.assertOneSentence(self.record("-e", "cs", "/etc/passwd", status=126).stderr)

    def test_timeout_ends_the_tree(self):
        """With a child of the command, and one whose parent is gone."""
        script = "> {0}; sleep 1000 & echo $! >> {0}; (sleep 1000 & echo $! >> {0}); wait"
        self.write("pids", "")

        def run(timeout_ms):
            self.record("-e", "page-faults", "--timeout", timeout_ms, "--", "sh", "-c",
                        script.format(self.path("pids")))
            pids = [int(p) for p in self.text("pids").split()]
            self.assertTrue(all(has_to_end(p) for p in pids))
            self.assertTrue(eventually(lambda: all(state_of(p) == "X" for p in pids)))
            return len(pids) == 2
        with_enough_time(run)

    def test_timeout_without_own_proc(self):
        """That of another pid namespace tells nothing of the command."""
        needs_namespace()
        result = self.tacho("record", "-e", "page-faults", "-o", self.path("x.data"), "--timeout",
                            "100", "sleep", "50", before=["unshare", "-p", "-f"], timeout=LIMIT_S)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_interrupt(self):
        """Without a command the first ends it."""
        tacho = self.start_record("-e", "page-faults", "-p", os.getpid())
        wait_recording(tacho)
        tacho.send_signal(signal.SIGINT)
        _, text = tacho.communicate(timeout=LIMIT_S)
        self.assertEqual(tacho.returncode, 0, text)

    def test_interrupt_is_handed_on(self):
        tacho = self.start_record("-e", "page-faults", "--", *load("tell"), stdout=subprocess.PIPE)
        self.assertEqual(tacho.stdout.readline(), "ready\n")
        tacho.send_signal(signal.SIGTERM)
        self.assertEqual(tacho.stdout.readline(), "got TERM\n")
        tacho.communicate(timeout=LIMIT_S)
        self.assertEqual(tacho.returncode, 7)

    def test_terminal_goes_away(self):
        """As with ssh -t: no shell is there that would tell the command."""
        master, slave = pty.openpty()
        tacho = self.start(["setsid", "-c", TACHO, "record", "-o", self.path("x.data"), "-e",
                            "page-faults", "--", *load("idlethreads", 1)], stdin=slave,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        os.close(slave)
        self.assertEqual(tacho.stdout.readline(), "ready\n")
        os.close(master)
        self.assertEqual(tacho.wait(LIMIT_S), 128 + signal.SIGHUP)

    def test_second_interrupt(self):
        tacho = self.start_record("-e", "page-faults", "--", *load("stubborn"),
                                  stdout=subprocess.PIPE)
        self.assertEqual(tacho.stdout.readline(), "ready\n")
        below = self.children(tacho.pid)
        self.assertEqual(len(below), 2)
        for _ in range(2):
            send_and_see(tacho.pid, signal.SIGINT)
        tacho.communicate(timeout=LIMIT_S)
        self.assertTrue(all(has_to_end(p) for p in below))
        self.assertTrue(self.all_gone(below))
        File(self.path("x.data"))

    def started_tree(self):
        """A recording of a shell with children, one of which has left its session and parent."""
        tacho = self.start_record("-e", "page-faults", "-c", "1", "--", "sh", "-c",
                                  "sleep 1000 & (setsid sleep 1000 &) ; sleep 1000")
        self.assertTrue(eventually(lambda: len(self.children(tacho.pid)) == 5))
        return tacho, self.children(tacho.pid)

    def all_gone(self, pids):
        """Ended; whether somebody has looked at them is not our business."""
        return eventually(lambda: all(state_of(p) in "ZX" for p in pids))

    def test_front_end_is_killed(self):
        tacho, below = self.started_tree()
        tacho.kill()
        self.assertTrue(self.all_gone(below), below)
        self.assertGreater(File(self.path("x.data")).count(SAMPLE), 0)

    def test_collector_is_killed(self):
        tacho, below = self.started_tree()
        # A round, of which there is one each second, has been written to its end.
        self.assertTrue(eventually(self.samples_so_far))
        collector, = children_of(tacho.pid)
        os.kill(collector, signal.SIGKILL)
        _, text = tacho.communicate(timeout=LIMIT_S)
        self.assertEqual(tacho.returncode, 125)
        self.assertIn("signal 9", text)
        self.assertTrue(self.all_gone(below), below)
        self.assertGreater(File(self.path("x.data")).count(SAMPLE), 0)

    def test_daemon_is_left_alone(self):
        """What the command leaves behind on purpose goes on."""
        self.record("-e", "page-faults", "--", "sh", "-c",
                    "setsid sleep 1000 >/dev/null 2>&1 & echo $! > " + self.path("pid"))
        with open(self.path("pid")) as text:
            pid = int(text.read())
        os.kill(pid, signal.SIGKILL)


class Perf(Record):
    """perf reads what we write."""

    def assertSamples(self, lines, data):
        self.assertEqual(lines.count("\n"), data.count(SAMPLE))

    def test_script(self):
        data = self.file("-e", "cpu-clock,page-faults", "--", *load("busy", 100))
        text = self.perf("script", "-i", self.path("x.data"), "-F", "comm,event,ip")
        self.assertSamples(text, data)
        self.assertIn("load", text)

    def test_compressed(self):
        self.record("-z", "-e", "page-faults", "-c", "1", "--", *load("pages", 300))
        text = self.perf("script", "-i", self.path("x.data"), "-F", "comm,event")
        self.assertGreaterEqual(text.count("page-faults"), 300)

    def test_pipe(self):
        perf = needs_program("perf")
        script = '"$0" record -e page-faults -c 1 -o - -- "$1" pages 300 | "$2" script -i - -F comm,event'
        pipe = subprocess.run(["sh", "-c", script, TACHO, load()[0], perf], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, env=environment(self.home),
                              timeout=LIMIT_S)
        self.assertGreaterEqual(pipe.stdout.count("page-faults"), 300)

    def test_group_values(self):
        self.record("-e", "{cpu-clock,page-faults}:S", "-c", "1000000", "--", *load("pages", 3000))
        text = self.perf("script", "-i", self.path("x.data"), "-F", "comm,event,period")
        self.assertIn("page-faults", text)

    def test_tracepoint(self):
        needs_tracefs()
        needs_root("for tracepoints")
        self.record("-e", "syscalls:sys_enter_getppid", "--", *load("calls", 20))
        text = self.perf("script", "-i", self.path("x.data"), "-F", "comm,event,trace")
        self.assertEqual(text.count("syscalls:sys_enter_getppid"), 20)


if __name__ == "__main__":
    unittest.main()
