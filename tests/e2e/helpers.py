"""What the end-to-end tests share: running tacho as a user would, small programs of a known shape,
and skips that say why."""

import atexit
import ctypes
import hashlib
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

from perfdata import File

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TACHO = os.path.abspath(os.environ.get("TACHO", os.path.join(TOP, "build", "tacho")))
TREES = os.path.join(TOP, "tests", "trees")
TRACEFS = "/sys/kernel/tracing"
# Recordings of many kernels and machines, which are not part of the tree.
CORPUS = os.path.abspath(os.environ.get("TACHO_CORPUS", os.path.join(TOP, os.pardir, "shared", "corpus")))
AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
# After this time something hangs. No test may fail because a machine is slow or others use it.
LIMIT_S = 180
# Longer than any test: a load program that is given this time is ended by its test.
FOR_EVER_MS = 10**9
PF_EXITING = 4  # in the flags of /proc/PID/stat

# ---- a program of many shapes; whatever it does, it ends by itself after a while ----

LOAD_C = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long cpu_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void busy(long ms, clockid_t clock)
{
	volatile unsigned long sum = 0;

	while (cpu_ms(clock) < ms)
		for (int i = 0; i < 20000; i++)
			sum += i;
}

static void touch(long pages)
{
	long size = sysconf(_SC_PAGESIZE);
	char *m = mmap(0, (pages + 1) * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(m, (pages + 1) * size, MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++)
		m[i * size] = 1;
	munmap(m, (pages + 1) * size);
}

static void rest(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void calls(long n)
{
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
}

static void switches(long n)
{
	struct rusage used;

	for (long i = 0; i < n; i++)
		rest(1);
	getrusage(RUSAGE_SELF, &used);
	dprintf(1, "%ld\n", used.ru_nvcsw + used.ru_nivcsw);
}

static long work;

static void *busy_thread(void *x)
{
	busy(work, CLOCK_THREAD_CPUTIME_ID);
	return x;
}

static void *call_thread(void *x)
{
	calls(work);
	return x;
}

static void *idle_thread(void *x)
{
	char name[16];

	snprintf(name, sizeof(name), "worker%ld", (long)x);
	prctl(PR_SET_NAME, name);
	for (;;)
		rest(1);
}

static void say(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		_exit(9);
}

static void threads(long n, void *(*body)(void *))
{
	pthread_t ids[64];

	for (long i = 0; i < n; i++)
		pthread_create(&ids[i], 0, body, (void *)i);
	if (body == idle_thread)
		say("ready\n");
	for (long i = 0; i < n; i++)
		pthread_join(ids[i], 0);
}

static void on_term(int n)
{
	say(n == SIGTERM ? "got TERM\n" : "got INT\n");
	_exit(7);
}

static void on_stubborn(int n)
{
	(void)n;
	say("never mind\n");
}

static void on_go(int n)
{
	(void)n;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	long a = argc > 2 ? atol(argv[2]) : 0, b = argc > 3 ? atol(argv[3]) : 0;
	long c = argc > 4 ? atol(argv[4]) : 0;

	alarm(300);
	if (!strcmp(mode, "busy"))
		busy(a, CLOCK_PROCESS_CPUTIME_ID);
	else if (!strcmp(mode, "busythreads"))
		work = b, threads(a, busy_thread);
	else if (!strcmp(mode, "callthreads"))
		work = b, threads(a, call_thread);
	else if (!strcmp(mode, "pages"))
		touch(a);
	else if (!strcmp(mode, "sleeps"))
		for (long i = 0; i < a; i++)
			rest(1);
	else if (!strcmp(mode, "switches"))
		switches(a);
	else if (!strcmp(mode, "calls"))
		calls(a);
	else if (!strcmp(mode, "orders")) { /* for each line of its input: CPU time, calls, pages, an answer */
		char line[64];

		while (fgets(line, sizeof(line), stdin) && sscanf(line, "%ld %ld %ld", &a, &b, &c) == 3) {
			busy(cpu_ms(CLOCK_PROCESS_CPUTIME_ID) + a, CLOCK_PROCESS_CPUTIME_ID);
			calls(b);
			touch(c);
			say("done\n");
		}
	} else if (!strcmp(mode, "steps")) { /* N times: calls, pages, a rest */
		for (long i = 0; i < a; i++) {
			calls(b);
			touch(c);
			rest(4);
		}
	} else if (!strcmp(mode, "forks")) { /* children that touch pages */
		for (long i = 0; i < a; i++) {
			if (!fork()) {
				touch(b);
				_exit(0);
			}
			wait(NULL);
		}
	} else if (!strcmp(mode, "stubborn")) {
		signal(SIGINT, on_stubborn);
		signal(SIGTERM, SIG_IGN);
		say("ready\n");
		for (;;)
			pause();
	} else if (!strcmp(mode, "tell")) {
		signal(SIGTERM, on_term);
		signal(SIGINT, on_term);
		say("ready\n");
		for (;;)
			pause();
	} else if (!strcmp(mode, "idlethreads")) {
		threads(a, idle_thread);
	} else if (!strcmp(mode, "onsignal")) { /* pages and calls at SIGUSR1 */
		sigset_t set;
		int got;

		signal(SIGUSR1, on_go);
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, NULL);
		say("ready\n");
		sigwait(&set, &got);
		touch(a);
		calls(b);
	} else {
		return 99;
	}
	return 0;
}
"""

_shared = []


def shared_dir():
    """A directory for the programs, readable by everybody, gone at the end."""
    if not _shared:
        _shared.append(tempfile.mkdtemp(prefix="tacho-programs-"))
        os.chmod(_shared[0], 0o755)
        atexit.register(shutil.rmtree, _shared[0], True)
    return _shared[0]


def compiled(name, source, *flags):
    # Two files may have programs of the same name.
    digest = hashlib.sha256("\0".join((source, *flags)).encode()).hexdigest()[:12]
    path = os.path.join(shared_dir(), digest, name)
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if not compiler:
            raise unittest.SkipTest("needs a C compiler")
        with open(path + ".c", "w") as out:
            out.write(source)
        subprocess.run([compiler, "-O1", "-w", "-o", path, path + ".c", *flags], check=True)
    return path


def load(*args):
    """The command line of the program above in one of its modes."""
    return [compiled("load", LOAD_C, "-pthread"), *[str(a) for a in args]]


def order(child, cpu_ms=0, calls=0, pages=0, answers=None):
    """Has the program above, in its mode "orders", do something, and returns when that is done."""
    child.stdin.write("%d %d %d\n" % (cpu_ms, calls, pages))
    child.stdin.flush()
    answer = (answers or child.stdout).readline()
    if answer != "done\n":
        raise AssertionError("the program says %r" % answer)


def with_enough_time(run):
    """Calls @run(ms) with more and more time until it gives a true value, and returns that: a program that is held
    up may not get to what it should do within the time that tacho gives it."""
    for ms in (1000, 4000, 16000, 64000):
        result = run(ms)
        if result:
            return result
    raise AssertionError("%d ms are not enough" % ms)


def dice(what):
    """Random numbers, the same in every run unless TACHO_SEED says otherwise. The seed is printed, so that a
    failure can be repeated."""
    seed = int(os.environ.get("TACHO_SEED", "1"))
    print("# %s: TACHO_SEED=%d" % (what, seed))
    return random.Random(seed)


# ---- what this machine can do ----

def needs_root(why):
    if os.geteuid() != 0:
        raise unittest.SkipTest("needs root, " + why)


def needs_program(name):
    path = shutil.which(name)
    if not path:
        raise unittest.SkipTest("needs %s(1)" % name)
    return path


def needs_namespace():
    needs_root("for a mount namespace")
    needs_program("unshare")
    if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode:
        raise unittest.SkipTest("mount namespaces are not allowed here")


def needs_other_user():
    needs_root("to become somebody else")
    needs_program("setpriv")
    if subprocess.run([*AS_NOBODY, "test", "-x", TACHO]).returncode:
        raise unittest.SkipTest("other users cannot reach the program")


def needs_tracefs():
    if not os.path.isdir(os.path.join(TRACEFS, "events", "syscalls")):
        raise unittest.SkipTest("needs tracefs, readable (mounted on %s)" % TRACEFS)


def needs_system_wide():
    """Counting other people's work."""
    if os.geteuid() != 0 and paranoid() > 0:
        raise unittest.SkipTest("needs root or perf_event_paranoid <= 0")


def paranoid():
    try:
        with open("/proc/sys/kernel/perf_event_paranoid") as text:
            return int(text.read())
    except OSError:
        raise unittest.SkipTest("this kernel has no perf events")


def has_pmu():
    names = os.listdir("/sys/bus/event_source/devices")
    return any(n == "cpu" or n.startswith(("cpu_", "armv", "cpum_cf")) for n in names)


def needs_no_pmu():
    if has_pmu():
        raise unittest.SkipTest("this machine has a PMU")


def cgroup2_mount():
    needs_root("to make a cgroup")
    with open("/proc/self/mounts") as mounts:
        for line in mounts:
            words = line.split()
            if words[2] == "cgroup2" and "rw" in words[3].split(","):
                return words[1]
    raise unittest.SkipTest("needs cgroup v2, mounted")


def online_cpus():
    with open("/sys/devices/system/cpu/online") as text:
        cpus = []
        for part in text.read().strip().split(","):
            first, _, last = part.partition("-")
            cpus += range(int(first), int(last or first) + 1)
    return cpus


# ---- running ----

def environment(home, extra=None):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("TACHO_") and k not in ("NO_COLOR", "COLUMNS", "PAGER", "JAVA_TOOL_OPTIONS")}
    env.update({"LC_ALL": "C.UTF-8", "HOME": home, "XDG_DATA_HOME": os.path.join(home, "data"),
                "XDG_CONFIG_HOME": os.path.join(home, "config"),
                "XDG_CACHE_HOME": os.path.join(home, "cache")})
    env.update(extra or {})
    return env


class Case(unittest.TestCase):
    """A test with a home of its own."""

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="tacho-test-")
        os.chmod(self.home, 0o777)
        self.addCleanup(shutil.rmtree, self.home, True)

    def path(self, *parts):
        return os.path.join(self.home, *parts)

    def write(self, name, text):
        full = self.path(name)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as out:
            out.write(text if isinstance(text, bytes) else text.encode())
        return full

    def tacho(self, *args, env=None, before=(), timeout=LIMIT_S, **more):
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        more.setdefault("text", True)
        more.setdefault("stdin", subprocess.DEVNULL if "input" not in more else None)
        if more["stdin"] is None:
            del more["stdin"]
        return subprocess.run([*before, TACHO, *[str(a) for a in args]], timeout=timeout,
                              env=environment(self.home, env), **more)

    def stat(self, *args, **more):
        return self.tacho("stat", *args, **more)

    def start(self, argv, **more):
        """A process in the background, ended at the latest with the test."""
        more.setdefault("text", True)
        more.setdefault("env", environment(self.home))
        child = subprocess.Popen([str(a) for a in argv], **more)
        self.addCleanup(end_process, child)
        return child

    def start_stat(self, *args, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        return self.start([TACHO, "stat", *args], **more)

    def start_ready(self, *args):
        """The load program in the background, once it has said that it is ready."""
        child = self.start(load(*args), stdout=subprocess.PIPE)
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child

    def rows(self, *args, status=0, **more):
        """Counts around a command as columns, split."""
        result = self.stat("-x,", *args, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        return columns_of(result.stderr)

    def count(self, event, *args, **more):
        """The count of one event."""
        rows = self.rows("-e", event, *args, **more)
        self.assertEqual(len(rows), 1, rows)
        return float(rows[0][0])

    def rows_around_delay(self, events, before, after):
        """Rows of tacho stat -D for a program that does @before (see order()) in the delay, and @after behind it.
        Intervals are printed from the end of the delay on."""
        def begin(delay_ms):
            end = time.monotonic() + delay_ms / 1e3
            child = self.start_stat("-x,", "-I", 100, "-D", delay_ms, "-e", events, *load("orders"),
                                    stdin=subprocess.PIPE)
            order(child, **before)
            return child if time.monotonic() < end else None
        child = with_enough_time(begin)
        text = child.stderr.readline()
        order(child, **after)
        child.stdin.close()
        text += child.stderr.read()
        self.assertEqual(child.wait(LIMIT_S), 0, text)
        return columns_of(text)

    def rows_of_orders(self, event, *args, orders=10, **work):
        """Rows of tacho stat -I for a program that does the same @orders times (see order()), each time when a row
        has shown what it did before."""
        child = self.start_stat("-x,", *args, *load("orders"), stdin=subprocess.PIPE)
        text = ""
        for _ in range(orders):
            order(child, **work)
            line = ""
            while not re.match(r" *[\d.]+,[1-9]\d*,[^,]*,%s(:u)?," % event, line):
                line = child.stderr.readline()
                self.assertTrue(line, text)
                text += line
        child.stdin.close()
        text += child.stderr.read()
        self.assertEqual(child.wait(LIMIT_S), 0, text)
        return columns_of(text)

    def json_lines(self, *args, **more):
        result = self.stat("-j", *args, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stderr.splitlines()]

    def samples_so_far(self, name="x.data"):
        """Samples in a recording that may still be written: a very small file has no whole header yet."""
        path = self.path(name)
        return File(path).samples() if os.path.exists(path) and os.path.getsize(path) > 1000 else []

    def record_until(self, enough, *args):
        """What tacho record says about programs that do not end by themselves; it is ended at enough()."""
        tacho = self.start([TACHO, "record", "-o", self.path("x.data"), *args], stdin=subprocess.DEVNULL,
                           stderr=subprocess.PIPE)
        self.assertTrue(eventually(lambda: enough() or tacho.poll() is not None))
        tacho.send_signal(signal.SIGINT)
        said = tacho.communicate(timeout=LIMIT_S)[1]
        self.assertEqual(tacho.returncode, 0, said)
        return said

    @staticmethod
    def removed(path):
        """Whether a cgroup could be taken away: not while a task is still in it."""
        try:
            os.rmdir(path)
        except OSError:
            return False
        return True

    def assertOneSentence(self, text):
        """One line from tacho; below an event's name its place may be marked."""
        lines = text.splitlines()
        self.assertTrue(lines and lines[0].startswith("tacho: "), text)
        self.assertFalse([x for x in lines[1:] if not x.startswith("  ")], text)
        self.assertEqual(sum(x.startswith("tacho: ") for x in lines), 1, text)


def columns_of(text, separator=","):
    return [line.split(separator) for line in text.splitlines() if line and line[0] != "#"]


def end_process(child):
    if child.poll() is None:
        child.kill()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe:
            pipe.close()
    child.wait()


def corpus_truth():
    """What is known of each recording of the corpus, or a skip."""
    path = os.path.join(CORPUS, "truth.json")
    if not os.path.exists(path):
        raise unittest.SkipTest("needs the corpus of recordings in %s (or TACHO_CORPUS)" % CORPUS)
    with open(path, encoding="utf-8") as text:
        return json.load(text)


def state_of(pid):
    """What the first thread of a process does, as in /proc/PID/stat: S waits, T is stopped; X if it is gone."""
    try:
        with open("/proc/%d/stat" % pid) as text:
            return text.read().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def alive(pid):
    """A process is there and has not ended."""
    return state_of(pid) not in "ZX"


def has_to_end(pid):
    """A process has ended, does so just now, or has been killed."""
    if signal_set(pid, "SigPnd", signal.SIGKILL) or signal_set(pid, "ShdPnd", signal.SIGKILL):
        return True
    try:
        with open("/proc/%d/stat" % pid) as text:
            fields = text.read().rpartition(")")[2].split()
    except OSError:
        return True
    return fields[0] in "ZX" or bool(int(fields[6]) & PF_EXITING)


def eventually(test, seconds=LIMIT_S):
    """What the test gives as soon as that is something; False if it never is."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = test()
        if value:
            return value
        time.sleep(0.01)
    return False


def cpu_seconds(pid):
    """What a process has had of the CPUs."""
    with open("/proc/%d/stat" % pid) as text:
        times = text.read().rpartition(")")[2].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


# poll, select and epoll_wait with all that they are called: where programs wait for what comes next.
WAITS = {"x86_64": (7, 23, 232, 270, 271, 281, 441), "aarch64": (22, 72, 73, 441)}


def waits(pid):
    """Whether a process has nothing to do: its first thread waits in a call of poll's kind."""
    try:
        with open("/proc/%d/syscall" % pid) as text:
            return text.read().split()[0] in map(str, WAITS[os.uname().machine])
    except OSError:
        return False


# write and writev.
WRITES = {"x86_64": (1, 20), "aarch64": (64, 66)}


def is_stuck_in_write(pid):
    """Whether a thread of a process waits for room to write to. Of one that runs the kernel tells no call."""
    try:
        for tid in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/syscall" % (pid, tid)) as text:
                if text.read().split()[0] in map(str, WRITES[os.uname().machine]):
                    return True
    except OSError:
        pass
    return False


# nanosleep and clock_nanosleep.
SLEEPS = {"x86_64": (35, 230), "aarch64": (101, 115)}


def sleeps(pid):
    """Whether the first thread of a process waits for nothing but time."""
    try:
        with open("/proc/%d/syscall" % pid) as text:
            return text.read().split()[0] in map(str, SLEEPS[os.uname().machine])
    except OSError:
        return False


def has_open(pid, kind):
    """Whether a process has a descriptor open whose name matches: perf_event, bpf…"""
    try:
        return any(re.search(kind, os.readlink("/proc/%d/fd/%s" % (pid, fd))) for fd in os.listdir("/proc/%d/fd" % pid))
    except OSError:
        return False


def has_mapped(pid, name):
    """Whether a process has a file of a name that ends so in its memory."""
    try:
        with open("/proc/%d/maps" % pid) as text:
            return any(line.rstrip().endswith(name) for line in text)
    except OSError:
        return False


def wait_counting(child):
    """Until a tacho stat in the background has its counters open and waits."""
    pid = child.pid
    if not eventually(lambda: waits(pid) and (has_open(pid, "perf_event") or has_open(pid, "bpf"))):
        raise AssertionError("tacho stat does not count")


def parent_of(pid):
    with open("/proc/%d/stat" % pid) as text:
        return int(text.read().rpartition(")")[2].split()[1])


def children_of(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as text:
            return [int(p) for p in text.read().split()]
    except OSError:
        return []


def below(pid):
    """All processes below one, each before those that it has started."""
    return [process for child in children_of(pid) for process in [child, *below(child)]]


def wait_recording(child):
    """Until the collector of a recording in the background has its events open, and both wait."""
    def ready():
        return waits(child.pid) and any(waits(p) and has_open(p, "perf_event") for p in children_of(child.pid))
    if not eventually(ready):
        raise AssertionError("tacho does not record")


def signal_set(pid, name, number):
    """Whether a signal is in one of the sets of /proc/PID/status: ShdPnd, SigIgn…"""
    try:
        with open("/proc/%d/status" % pid) as text:
            found = re.search(r"^%s:\s*(\w+)$" % name, text.read(), re.M)
    except OSError:
        return False
    return bool(int(found[1], 16) >> (number - 1) & 1)


def send_and_see(pid, number):
    """Sends a signal, and waits until it was taken: two that wait would be one."""
    os.kill(pid, number)
    wait_taken(pid, number)


def wait_taken(pid, number):
    if not eventually(lambda: not signal_set(pid, "ShdPnd", number)):
        raise AssertionError("process %d does not look at its signals" % pid)


def wait_ran(pid, name=""):
    """Until each thread of this name has had a millisecond of a CPU from now on."""
    def used():
        found = {}
        for tid in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/comm" % (pid, tid)) as comm, \
                    open("/proc/%d/task/%s/schedstat" % (pid, tid)) as text:
                if comm.read().startswith(name):
                    found[tid] = int(text.read().split()[0])
        return found
    before = used()
    if not eventually(lambda: all(now - before[tid] > 1000000 for tid, now in used().items())):
        raise AssertionError("process %d does not run" % pid)


def worker_labels(pid, count):
    """"comm-tid" of all threads of the load program, once its idle threads have their names."""
    labels = []

    def named():
        labels.clear()
        for tid in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/comm" % (pid, tid)) as text:
                labels.append("%s-%s" % (text.read().strip(), tid))
        return sum(x.startswith("worker") for x in labels) == count
    if not eventually(named):
        raise AssertionError("the threads do not start")
    return sorted(labels)


def in_terminal(argv, env, columns=100, feed=None):
    """Status and output of a command on a terminal of its own; @feed(read, fd) may type."""
    pid, master = pty.fork()
    if pid == 0:
        try:
            import fcntl
            import termios
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
            os.execve(argv[0], argv, dict(env, TERM="xterm"))
        finally:
            os._exit(98)
    output = b""
    end = time.monotonic() + LIMIT_S
    try:
        while time.monotonic() < end:
            if not select.select([master], [], [], 1)[0]:
                continue
            try:
                block = os.read(master, 65536)
            except OSError:
                break
            if not block:
                break
            output += block
            if feed:
                feed(output, master)
        else:
            os.kill(pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), output
    finally:
        os.close(master)


def plain(output):
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", output.decode()).replace("\r\n", "\n")


def unpack(tree, directory):
    subprocess.run([os.path.join(TREES, "unpack"), os.path.join(TREES, tree + ".tree"), directory],
                   check=True, stdout=subprocess.DEVNULL)
    return {"TACHO_SYSFS": os.path.join(directory, "sys"),
            "TACHO_PROCFS": os.path.join(directory, "proc")}


def bpf_programs():
    """Ids of the BPF programs in the kernel."""
    numbers = {"x86_64": 321, "aarch64": 280}
    number = numbers.get(os.uname().machine)
    needs_root("to see the BPF programs of the machine")
    if not number:
        raise unittest.SkipTest("the number of bpf(2) is not known for this machine")
    libc = ctypes.CDLL(None, use_errno=True)
    found, last = set(), 0
    while True:
        attr = ctypes.create_string_buffer(struct.pack("III", last, 0, 0), 128)
        if libc.syscall(number, 11, attr, 128):  # BPF_PROG_GET_NEXT_ID
            if ctypes.get_errno() != 2:
                raise unittest.SkipTest("BPF programs cannot be listed here")
            return found
        last = struct.unpack_from("III", attr)[1]
        found.add(last)
