#!/usr/bin/env python3
"""Programs that change after or while they are recorded keep their names, and nobody else who records is
disturbed by it."""

import os
import re
import shutil
import signal
import subprocess
import unittest

from helpers import TACHO, environment, eventually, needs_program, needs_root
from jit import JitCase
from server import ServerCase

# What it spends its time in has the name that it is compiled with.
PROGRAM_C = r"""
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) long HOT(long n)
{
	volatile long sum = 0;

	for (long i = 0; i < n; i++)
		sum += i;
	return sum;
}

#ifdef LIBRARY
void call_back(long (*hot)(long), long ms);
void never_called(void);
void (*keep_it)(void) = never_called;
#else
static void call_back(long (*hot)(long), long ms)
{
	clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		hot(10000);
}
#endif

int main(int argc, char **argv)
{
	call_back(HOT, atol(argv[1]));
	return 0;
}
"""

CALLER_C = r"""
#include <time.h>
void call_back(long (*hot)(long), long ms)
{
	clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		hot(10000);
}
"""

IDLE_C = "void never_called(void) {}\n"

NO_ID = "-Wl,--build-id=none"


class KeptCase(JitCase):
    def build(self, name, source, *flags):
        compiler = needs_program("cc")
        path = self.path(name)
        self.write(name + ".c", source)
        subprocess.run([compiler, "-O1", "-w", "-fno-omit-frame-pointer", "-o", path, path + ".c", *flags],
                       check=True)
        return path

    def program(self, hot, *flags):
        return self.build("program", PROGRAM_C, "-DHOT=" + hot, *flags)

    def with_libraries(self, *flags):
        """One library calls, the other is only mapped."""
        caller = self.build("libcaller.so", CALLER_C, "-shared", "-fPIC")
        idle = self.build("libidle.so", IDLE_C, "-shared", "-fPIC")
        program = self.program("hot_one", "-DLIBRARY", "-Wl,--no-as-needed", caller, idle, *flags)
        return program, caller, idle

    def is_kept(self, path):
        """Whether a file like it is in the cache."""
        with open(path, "rb") as file:
            wanted = file.read()
        for name in self.kept():
            with open(self.path("cache", "tacho", name), "rb") as file:
                if file.read() == wanted:
                    return True
        return False

    def assertKeptOnlyIfHit(self, path):
        """The loader runs the first functions of each library: a sample may lie there, or in a caller of it."""
        hit = path in self.script("-F", "ip,sym,dso")
        self.assertTrue(hit or not self.is_kept(path), path + " is kept, but no stack leads there")

    def assertHot(self, name):
        counts = self.leaves()
        self.assertGreater(counts.get(name, 0), 0.7 * sum(counts.values()), counts)

    def names(self, recording):
        """Names of functions with at least a tenth of all samples."""
        result = self.tacho("report", "-i", self.path(recording), "--stdio", "--sort", "symbol")
        self.assertEqual(result.returncode, 0, result.stderr)
        return set(re.findall(r"^ +[0-9]{2}\.[0-9]+%.*\[\.\] (\S+)", result.stdout, re.M)), result.stderr


class Rebuilt(KeptCase):
    def before_and_after(self, *flags):
        program = self.program("first_hot", *flags)
        self.record(program, 200)
        os.rename(self.path("x.data"), self.path("before.data"))
        program = self.program("second_hot", *flags)
        self.record(program, 200)
        os.rename(self.path("x.data"), self.path("after.data"))
        result = self.tacho("diff", "--table", self.path("before.data"), self.path("after.data"))
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = {line.split()[-1]: line.split() for line in result.stdout.splitlines() if "." in line}
        self.assertGreater(float(rows["first_hot"][0]), 70, result.stdout)
        self.assertGreater(float(rows["second_hot"][1]), 70, result.stdout)
        self.assertNotIn("rebuilt", result.stderr)

    def test_before_and_after(self):
        self.before_and_after()

    def test_before_and_after_without_build_ids(self):
        self.before_and_after(NO_ID)

    def test_stripped(self):
        """strip keeps the build id: the file is the right one, but has no names any more."""
        program = self.program("first_hot")
        self.record(program, 200)
        subprocess.run([needs_program("strip"), program], check=True)
        self.assertHot("first_hot")

    def test_written_over_where_it_is(self):
        """As `cp new program` does: neither its name nor its inode change."""
        for flags in ([], [NO_ID]):
            with self.subTest(flags=flags):
                program = self.program("first_hot", *flags)
                self.record(program, 200)
                other = self.build("other", PROGRAM_C, "-DHOT=second_hot", *flags)
                shutil.copyfile(other, program)
                self.assertHot("first_hot")

    def test_without_a_copy_it_is_said(self):
        for flags in ([], [NO_ID]):
            with self.subTest(flags=flags):
                program = self.program("first_hot", *flags)
                self.record("-N", program, 200)
                self.assertEqual(self.kept(), [])
                other = self.build("other", PROGRAM_C, "-DHOT=second_hot", *flags)
                shutil.copyfile(other, program)
                names, said = self.names("x.data")
                self.assertFalse(names & {"first_hot", "second_hot"}, names)
                self.assertIn("'%s' was rebuilt since the recording" % program, said)

    def test_replaced_while_it_is_recorded(self):
        """Both have the same path; each sample is of the one that ran."""
        program = self.program("first_hot")
        other = self.build("other", PROGRAM_C, "-DHOT=second_hot")
        self.record("sh", "-c", "$0 200; mv $1 $0; $0 200", program, other)
        counts = self.leaves()
        for name in ("first_hot", "second_hot"):
            self.assertGreater(counts.get(name, 0), 0.25 * sum(counts.values()), counts)

    def test_a_time_of_writing_in_the_future_says_nothing(self):
        """As of a file server whose clock is ahead, or `touch -d`."""
        for flags in ([], [NO_ID]):
            for keep in ([], ["-N"]):
                with self.subTest(flags=flags, keep=keep):
                    program = self.program("first_hot", *flags)
                    later = os.stat(program).st_mtime + 3600
                    os.utime(program, (later, later))
                    self.record(*keep, program, 200)
                    self.assertHot("first_hot")
                    self.assertNotIn("rebuilt", self.names("x.data")[1])

    def test_touched_while_it_is_recorded(self):
        """It is the same program, with and without a new time."""
        program = self.program("first_hot")
        result = self.record("sh", "-c", "$0 200; touch $0; $0 200; true", program)
        self.assertNotIn("written over", result.stderr)
        self.assertTrue(self.tasks_with("first_hot"))
        self.assertTrue(self.is_kept(program))

    def tasks_with(self, name):
        return {int(line.split()[0]) for line in self.script("-F", "tid,ip,sym", "-G").splitlines()
                if line.split()[-1:] == [name]}

    def test_written_over_while_it_is_recorded(self):
        """Neither its path nor its inode change, and still no sample gets a name of the other build."""
        for flags in ([], [NO_ID]):
            with self.subTest(flags=flags):
                program = self.program("first_hot", *flags)
                inode = os.stat(program).st_ino
                other = self.build("other", PROGRAM_C, "-DHOT=second_hot", *flags)
                self.record(program, 50)
                self.record("sh", "-c", "$0 200; cat $1 >$0; $0 200; true", program, other)
                self.assertEqual(os.stat(program).st_ino, inode)
                first, second = self.tasks_with("first_hot"), self.tasks_with("second_hot")
                self.assertLessEqual(len(first), 1)
                # Without build ids the two cannot be told apart later: then there may be no names.
                self.assertIn(len(second), [1] if not flags else [0, 1])
                self.assertFalse(first & second)


class OfOthers(KeptCase):
    """Root's cache has programs of all users, and anybody can make a program with any build id."""

    ID = "-Wl,--build-id=0x" + "5ec0de" * 6

    def setUp(self):
        needs_root("to have programs of two users")
        super().setUp()

    def record_of(self, owner, hot):
        program = self.program(hot, self.ID)
        os.chown(program, owner, owner)
        self.record(program, 200)
        os.unlink(program)

    def test_copies_of_two_users(self):
        """Whoever is recorded first, each keeps his own copy, and root's counts more."""
        self.record_of(65534, "planted_hot")
        self.assertHot("planted_hot")
        self.record_of(0, "roots_hot")
        self.assertHot("roots_hot")
        self.record_of(65534, "planted_hot")
        self.assertHot("roots_hot")
        self.assertEqual(sorted(os.path.basename(name) for name in self.kept()), ["elf-0", "elf-65534"])

    def test_copies_of_earlier_versions(self):
        """They had no owner."""
        self.record_of(0, "first_hot")
        [name] = [self.path("cache", "tacho", name) for name in self.kept()]
        os.rename(name, os.path.join(os.path.dirname(name), "elf"))
        self.assertHot("first_hot")


class OnlyWhatWasHit(KeptCase):
    def test_once(self):
        program = self.program("first_hot")
        self.record(program, 100)
        kept = self.kept()
        self.assertEqual(len(kept), 1, kept)
        self.assertTrue(self.is_kept(program))
        self.record(program, 100)
        self.assertEqual(self.kept(), kept)

    def test_nothing_of_the_distribution(self):
        needs_program("sha1sum")
        self.record("sha1sum", TACHO)
        for name in ("sha1sum", "sh"):
            self.assertFalse(self.is_kept(shutil.which(name)) and not self.shares_blocks(), self.kept())

    def shares_blocks(self):
        """Where copies cost no room, files of the distribution are kept, too."""
        return subprocess.run(["cp", "--reflink=always", shutil.which("sh"), self.path("clone")],
                              stderr=subprocess.DEVNULL).returncode == 0

    def test_a_library_without_samples_is_not_kept(self):
        program, caller, idle = self.with_libraries()
        self.record(program, 200)
        self.assertTrue(self.is_kept(program))
        self.assertKeptOnlyIfHit(idle)

    def test_callers_are_kept(self):
        program, caller, idle = self.with_libraries()
        self.record("-g", program, 200)
        self.assertTrue(self.is_kept(caller))
        self.assertKeptOnlyIfHit(idle)

    def test_callers_that_are_found_later_are_kept(self):
        """Which these are is only known after unwinding."""
        program, caller, _ = self.with_libraries()
        self.record("--call-graph", "dwarf", program, 200)
        self.assertTrue(self.is_kept(program))
        self.assertTrue(self.is_kept(caller))

    def test_all(self):
        program, caller, idle = self.with_libraries()
        self.record("--buildid-all", program, 100)
        for path in (program, caller, idle):
            self.assertTrue(self.is_kept(path), path)

    def test_a_copy_that_fails_is_said(self):
        program = self.program("first_hot")
        os.makedirs(self.path("cache", "tacho"))
        self.write(os.path.join("cache", "tacho", "build-id"), "not a directory")
        result = self.record(program, 100)
        self.assertRegex(result.stderr, "1 file that may be gone or rebuilt later was not kept: "
                                        "cannot make '.*/build-id/.*': Not a directory")

    def test_more_mappings_than_the_watch_has_room_for(self):
        """The collector stands still meanwhile; the rings of the recording have them all."""
        taskset = needs_program("taskset")
        program = self.program("first_hot")
        script = """
            kill -STOP $PPID
            until grep -q "^State:.T" /proc/$PPID/status; do :; done
            i=0; while [ $i -lt 150 ]; do /bin/true; i=$((i + 1)); done
            $0 100
            kill -CONT $PPID"""
        # On one CPU, so that its ring is full when the program comes.
        result = self.record("-m", "4M", taskset, "-c", str(min(os.sched_getaffinity(0))), "sh", "-c", script,
                             program)
        self.assertNotIn("lost", result.stderr)
        self.assertTrue(self.is_kept(program))


class Ids(KeptCase):
    def ids_of(self, path):
        text = subprocess.run([needs_program("readelf"), "-n", path], capture_output=True, text=True,
                              check=True).stdout
        return re.findall(r"Build ID: ([0-9a-f]+)", text)

    def mapped(self):
        """Path → ids in the records of its mappings."""
        text = self.script("--show-mmap-events")
        found = {}
        for ids, path in re.findall(r"MMAP2 .*@ \S+ (<[0-9a-f]+>|\S+:\S+ \d+ \d+)\]: \S+ (/.*)$", text, re.M):
            found.setdefault(path, set()).add(ids.strip("<>"))
        return found

    def test_records_have_them(self):
        program = self.program("first_hot")
        self.record(program, 50)
        self.assertEqual(self.mapped()[program], set(self.ids_of(program)))

    def test_records_have_them_without_a_watch(self):
        """Nothing is to be kept: then the rounds tell of mappings, and nobody looks earlier."""
        program = self.program("first_hot")
        self.record("-N", "--no-jvm", program, 50)
        self.assertEqual(self.mapped()[program], set(self.ids_of(program)))

    def test_perf_reads_them(self):
        perf = needs_program("perf")
        program = self.program("first_hot")
        self.record(program, 50)
        text = subprocess.run([perf, "buildid-list", "-i", self.path("x.data")], capture_output=True,
                              text=True, check=True).stdout
        self.assertIn("%s %s" % (self.ids_of(program)[0], program), text)

    def test_beside_one_who_asks_the_kernel(self):
        """The kernel marks our records as if they had a build id then: they have device and inode."""
        perf = needs_program("perf")
        for flags in ([NO_ID], []):
            program = self.program("first_hot", *flags)
            subprocess.run([perf, "record", "-q", "--buildid-mmap", "-o", self.path("perf.data"), TACHO, "record", "-q",
                            "-N", "-o", self.path("x.data"), program, "50"], check=True,
                           env=environment(self.home), stderr=subprocess.DEVNULL)
            wanted = self.ids_of(program) or [str(os.stat(program).st_ino)]
            for found in self.mapped()[program]:
                self.assertIn(wanted[0], found.split())


class Neighbours(KeptCase):
    """perf record aborts on records that are marked to have a build id and have none."""

    def assertPerfWorks(self):
        """Whoever marks its records does so every time; somebody else on this machine may now and then."""
        perf = needs_program("perf")
        env = dict(os.environ, HOME=self.home)
        for _ in range(10):
            result = subprocess.run([perf, "record", "-o", self.path("perf.data"), "sh", "-c", "ls; ls"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env)
            if result.returncode == 0:
                break
        self.assertEqual(result.returncode, 0, result.stderr)
        listed = subprocess.run([perf, "buildid-list", "-i", self.path("perf.data")], text=True,
                                capture_output=True, env=env)
        self.assertEqual(listed.returncode, 0, listed.stderr)

    def test_record(self):
        needs_root("to record the whole machine")
        child = self.start([TACHO, "record", "-v", "-a", "-o", self.path("x.data"), "sleep", "50"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for line in child.stderr:
            if "buffers of" in line:
                break
        self.assertPerfWorks()
        self.assertIsNone(child.poll())

    def test_top(self):
        needs_root("to record the whole machine")
        child = self.start([TACHO, "top", "--stdio", "-d", "0.3"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL)
        child.stdout.readline()
        self.assertPerfWorks()
        self.assertIsNone(child.poll())


class NeighboursOfAServer(ServerCase):
    assertPerfWorks = Neighbours.assertPerfWorks

    def test_a_run_of_the_whole_machine(self):
        needs_root("to record the whole machine")
        run = self.server.run(self.server.session(), tool="record", system_wide=True, duration=50)
        self.server.wait_state(run["uuid"], "running")
        self.assertTrue(eventually(lambda: self.server.benchmark(run["uuid"])["samples"]))
        self.assertPerfWorks()
        self.assertEqual(self.server.benchmark(run["uuid"])["state"], "running")
        self.server.post("benchmark/%s/cancel" % run["uuid"], status=202)
        self.server.wait_run(run["uuid"])


class RunsOfAServer(ServerCase):
    build, program, write = KeptCase.build, KeptCase.program, KeptCase.write
    kept, is_kept = JitCase.kept, KeptCase.is_kept

    def path(self, *parts):
        """The server's cache is in its own home."""
        return os.path.join(self.server.home, *parts)

    def test_the_program_is_kept(self):
        program = self.program("first_hot")
        run = self.server.run(self.server.session(), [program, "200"], tool="record",
                              sample={"events": ["cpu-clock:u"], "frequency": 2000})
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", run)
        self.assertTrue(self.is_kept(program), self.kept())


if __name__ == "__main__":
    unittest.main()
