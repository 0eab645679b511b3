#!/usr/bin/env python3
"""Java: whole stacks with names, of programs that tacho starts and of those that run already."""

import os
import re
import signal
import subprocess
import tempfile
import unittest

from helpers import (AS_NOBODY, FOR_EVER_MS, LIMIT_S, TACHO, compiled, cpu_seconds, eventually, load, needs_other_user,
                     needs_program, wait_recording)
from jit import JitCase
from server import Server

SIDE_BY_SIDE = True

# Of a known shape: main calls work() once, so main is never compiled; below it is a recursion, and
# two leaves. It runs for so many milliseconds of CPU time of its own thread.
WORK_JAVA = """
import java.util.HashMap;

public class Work {
    static long leaf(long n) {
        long sum = 0;
        for (long i = 0; i < n; i++)
            sum += i ^ (sum << 1);
        return sum;
    }

    static long strings(int n) {
        HashMap<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < n; i++)
            counts.merge("key" + i % 100, 1, Integer::sum);
        return counts.size();
    }

    static long deep(int depth) {
        return depth == 0 ? leaf(20000) + strings(100) : deep(depth - 1) + 1;
    }

    static void work(long ms) throws Exception {
        long sum = 0;
        boolean told = false;
        while (spent() < ms) {
            sum += deep(8);
            if (!told && spent() > 500) {
                System.out.println("warm");
                told = true;
            }
        }
        System.out.println(ProcessHandle.current().pid() + " " + sum);
    }

    static long spent() throws Exception {
        String stat = new String(java.nio.file.Files.readAllBytes(
            java.nio.file.Path.of("/proc/thread-self/schedstat")));
        return Long.parseLong(stat.substring(0, stat.indexOf(' '))) / 1000000;
    }

    public static void main(String[] args) throws Exception {
        System.out.println(ProcessHandle.current().pid());
        work(Long.parseLong(args[0]));
    }
}
"""

# Has a file called libjvm.so in its memory, listens where a JVM would, and stops whoever connects to it.
PRETENDER_C = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = open(argv[1], O_RDONLY), listener = socket(AF_UNIX, SOCK_STREAM, 0);
	clock_t end = clock() + atol(argv[2]) * (CLOCKS_PER_SEC / 1000);
	struct ucred peer;
	socklen_t size = sizeof(peer);

	mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/.java_pid%d", getpid());
	unlink(address.sun_path);
	if (bind(listener, (void *)&address, sizeof(address)) || listen(listener, 1))
		return 1;
	fcntl(listener, F_SETFL, O_NONBLOCK);
	printf("%d\n", getpid());
	fflush(stdout);
	while (clock() < end) {
		fd = accept(listener, 0, 0);
		if (fd < 0)
			continue;
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
		printf("%s %d\n", kill(peer.pid, SIGSTOP) ? "not stopped" : "stopped", peer.pid);
		fflush(stdout);
	}
	return 0;
}
"""

TOLD = "Java was told by JAVA_TOOL_OPTIONS"


class JvmCase(JitCase):
    def forget_socket(self, pid):
        """One that is killed leaves it, and later processes may have its number."""
        path = "/tmp/.java_pid%d" % pid
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))


class Jvm(JvmCase):
    @classmethod
    def setUpClass(cls):
        cls.java, javac = needs_program("java"), needs_program("javac")
        cls.classes = tempfile.TemporaryDirectory(prefix="tacho-java-")
        cls.addClassCleanup(cls.classes.cleanup)
        os.chmod(cls.classes.name, 0o755)
        source = os.path.join(cls.classes.name, "Work.java")
        with open(source, "w") as out:
            out.write(WORK_JAVA)
        subprocess.run([javac, "-d", cls.classes.name, source], check=True)

    def work(self, ms, *options):
        return [self.java, *options, "-cp", self.classes.name, "Work", str(ms)]

    def start_work(self, ms, *options, before=(), **more):
        child = self.start([*before, *self.work(ms, *options)], stdout=subprocess.PIPE, **more)
        pid = int(child.stdout.readline())
        self.forget_map(pid, now=True)
        self.forget_socket(pid)
        return child, pid

    def record_running(self, pid, cpu_s, *options):
        """Until the program has had so much of a CPU, however long that takes."""
        recording = self.start([TACHO, "record", "-o", self.path("x.data"), *options, "-p", pid],
                               stderr=subprocess.PIPE)
        wait_recording(recording)
        begin = cpu_seconds(pid)
        self.assertTrue(eventually(lambda: cpu_seconds(pid) - begin > cpu_s))
        recording.send_signal(signal.SIGINT)
        _, said = recording.communicate(timeout=LIMIT_S)
        self.assertEqual(recording.returncode, 0, said)
        return said

    def record_work(self, *args, **more):
        result = self.record(*args, **more)
        self.forget_map(int(result.stdout.split()[0]))
        return result

    def java_stacks(self):
        """Samples of the program's own thread that were taken in Java code."""
        return [s for s in self.stacks() if s.head.startswith("java") and s.frames and
                s.frames[0][1].startswith("/tmp/perf-")]

    @staticmethod
    def reaches_main(stack):
        """From the leaf to main(), and from there to the thread's beginning."""
        names = stack.names()
        if any(re.search(r"\bWork\.main\(", name) for name in names):
            return True
        if "jni_CallStaticVoidMethod" not in names:
            return False
        called = names.index("jni_CallStaticVoidMethod")
        inside = names[:called]
        return (names[called + 1] == "JavaMain" and "StubRoutines (1)" in inside and
                inside[inside.index("StubRoutines (1)") - 1] == "Interpreter")

    def assertWhole(self, share):
        stacks = self.java_stacks()
        whole = [s for s in stacks if self.reaches_main(s)]
        self.assertGreater(len(stacks), 100)
        self.assertGreaterEqual(len(whole), share * len(stacks))
        named = [s for s in stacks if s.names()[0] != "[unknown]"]
        self.assertGreaterEqual(len(named), 0.98 * len(stacks))

    def test_whole_stacks_of_a_short_program(self):
        self.record_work("-g", *self.work(300))
        self.assertWhole(0.9)

    def test_whole_stacks_of_a_longer_program(self):
        self.record_work("-g", *self.work(4000))
        self.assertWhole(0.95)
        names = {name for s in self.java_stacks() for name in s.names()}
        self.assertIn("long Work.leaf(long)", names)
        self.assertIn("long Work.deep(int)", names)

    def test_main_has_a_name_in_folded_stacks(self):
        self.record_work("-g", *self.work(300))
        result = self.tacho("convert", "--to", "folded", "-i", self.path("x.data"), "-o", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        java = whole = 0
        for line in result.stdout.splitlines():
            stack, _, count = line.rpartition(" ")
            frames = stack.split(";")
            if frames[0].startswith("java") and re.match("Interpreter|.* Work[.]", frames[-1]):
                java += int(count)
                whole += int(count) if any(re.match(r"main|.*\bWork\.main\(", f) for f in frames) else 0
        self.assertGreaterEqual(whole, 0.9 * java)

    def test_main_has_a_name_in_stored_runs(self):
        self.record_work("-g", *self.work(300))
        with Server() as server, open(self.path("x.data"), "rb") as data:
            uuid = server.post("import", data.read(), status=202)["uuid"]
            self.assertEqual(server.wait_run(uuid)["state"], "done")
            functions = server.get("benchmark/%s/functions?search=main" % uuid)["functions"]
            folded = server.get_bytes("benchmark/%s.folded" % uuid).decode()
        mains = [f for f in functions if re.match(r"main \[interpreted\]|.*\bWork\.main\(", f["name"])]
        self.assertTrue(mains, functions)
        self.assertGreater(mains[0]["total_samples"], 100)
        self.assertRegex(folded, r"main \[interpreted\]|\bWork\.main\(")

    def test_what_is_said(self):
        result = self.record_work(*self.work(50))
        self.assertEqual(result.stderr.count(TOLD), 1, result.stderr)
        self.assertEqual(result.stderr.count("Picked up JAVA_TOOL_OPTIONS"), 1, result.stderr)

    def test_nothing_is_said_without_java(self):
        result = self.record(*load("busy", 20))
        self.assertNotIn("JAVA", result.stderr)
        self.assertNotIn("Java", result.stderr)

    def test_options_of_the_user_win(self):
        result = self.record("sh", "-c", "echo $JAVA_TOOL_OPTIONS",
                             env={"JAVA_TOOL_OPTIONS": "-XX:-PreserveFramePointer"})
        self.assertIn("-XX:+PreserveFramePointer", result.stdout)
        self.assertTrue(result.stdout.endswith(" -XX:-PreserveFramePointer\n"), result.stdout)

    def test_java_left_alone(self):
        result = self.record("--no-jvm", "sh", "-c", "echo ${JAVA_TOOL_OPTIONS-nothing}")
        self.assertEqual(result.stdout, "nothing\n")
        result = self.record("--no-jvm", *self.work(50))
        self.assertNotIn(TOLD, result.stderr)
        self.assertFalse(os.path.exists("/tmp/perf-%d.map" % int(result.stdout.split()[0])))

    def test_ended_by_a_timeout(self):
        """Again with more time if the program was held up: before it had used half a second of a CPU, or for two
        seconds when it was to end, after which it is killed."""
        script = 'trap : TERM; "$@" & while kill -0 $! 2>/dev/null; do wait $!; done; wait $!; echo ended $?'
        for i in range(6):
            result = self.record("-g", "--timeout", 1500 << i, "sh", "-c", script, "sh", *self.work(300000))
            pid = re.match(r"\d+\n", result.stdout)
            if pid:
                self.forget_map(int(pid[0]))
            if pid and "warm\n" in result.stdout and "ended 143\n" in result.stdout:
                break
        else:
            self.fail(result)
        self.assertNotIn("left no names", result.stderr)
        self.assertIn("long Work.leaf(long)", {n for s in self.stacks() for n in s.names()})

    def test_killed(self):
        """As soon as it has said its number."""
        result = self.record("sh", "-c", '"$@" | { read pid; kill -9 $pid; }', "sh", *self.work(20000))
        self.assertIn("1 JVM left no names of its Java code", result.stderr)

    # ---- running already ----

    def test_asked_for_its_names(self):
        child, pid = self.start_work(100000, "-XX:+PreserveFramePointer")
        self.assertFalse(os.path.exists("/tmp/perf-%d.map" % pid))
        said = self.record_running(pid, 0.5, "-g")
        self.assertNotIn("JVM", said)
        self.assertIsNone(child.poll())
        self.assertWhole(0.95)
        self.assertFalse(os.path.exists("/tmp/.attach_pid%d" % pid))

    def test_asked_as_its_user(self):
        needs_other_user()
        _, pid = self.start_work(20000, "-XX:+PreserveFramePointer", before=AS_NOBODY,
                                 cwd=self.classes.name)
        said = self.record_running(pid, 0.5, "-g")
        self.assertNotIn("JVM", said)
        self.assertWhole(0.95)

    def test_one_that_would_die_of_the_signal(self):
        """With -Xrs it does not catch SIGQUIT, but listens from its start on."""
        child, pid = self.start_work(20000, "-Xrs")
        result = self.record("-p", pid, "--timeout", 200)
        self.assertNotIn("JVM", result.stderr)
        self.assertIsNone(child.poll())
        self.assertTrue(os.path.exists("/tmp/perf-%d.map" % pid))

    def test_one_that_would_print_its_stacks(self):
        child, pid = self.start_work(20000, "-XX:+DisableAttachMechanism")
        self.record("-p", pid, "--timeout", 200)
        self.assertIsNone(child.poll())
        child.terminate()
        self.assertNotIn("Full thread dump", child.stdout.read())

    def test_cut_stacks_are_told(self):
        _, pid = self.start_work(20000)
        self.record_running(pid, 1.5, "-g")
        result = self.tacho("convert", "--to", "folded", "-i", self.path("x.data"), "-o", "-")
        self.assertIn("start it with -XX:+PreserveFramePointer", result.stderr)

    def test_not_asked_if_not_wanted(self):
        _, pid = self.start_work(20000)
        self.record("--no-jvm", "-p", pid, "--timeout", 200)
        self.assertFalse(os.path.exists("/tmp/perf-%d.map" % pid))


class Pretender(JvmCase):
    """A process that is no JVM."""

    def recorded(self, before=()):
        library = self.write("libjvm.so", "no library")
        os.chmod(library, 0o644)
        program = [*before, compiled("pretender", PRETENDER_C), library, FOR_EVER_MS]
        said = self.path("said")
        with open(said, "w") as out:
            self.start(program, stdout=out)

        def find(pattern):
            with open(said) as text:
                return re.search(pattern, text.read(), re.M)

        self.assertTrue(eventually(lambda: find(r"^\d+\n")))
        pid = int(find(r"^\d+\n")[0])
        self.forget_socket(pid)

        def stopped():
            """Who asks has three seconds, in which a slow machine may not let it connect."""
            result = self.record("-p", pid, "--timeout", 200)
            self.assertIn("the JVM %d has given no names for its code: it does not answer" % pid, result.stderr)
            return find(r"^stopped (\d+)$")

        asker = eventually(stopped)
        self.assertTrue(asker)
        self.assertFalse(os.path.exists("/proc/" + asker[1]))

    def test_one_that_stops_who_asks(self):
        self.recorded()

    def test_one_of_another_user(self):
        needs_other_user()
        self.recorded(AS_NOBODY)


if __name__ == "__main__":
    unittest.main()
