"""With a second user on the machine: what a program of his names is not opened with other people's rights.

The second user is nobody. What he may not see is a file of root's whose text no answer may hold."""

import os
import shutil
import signal
import struct
import subprocess
import unittest

from helpers import (AS_NOBODY, FOR_EVER_MS, LIMIT_S, TACHO, Case, compiled, environment, eventually, has_mapped,
                     needs_namespace, needs_program, needs_root, paranoid)
from jit import jit_program
from server import ServerCase

NOBODY = 65534
SECRET = "only root may read this line"

# Whatever function is hot has its lines in the file that SOURCE names.
NAMES_C = r"""
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
# 1 "SOURCE"
__attribute__((noinline)) long names_it(long n)
{
	volatile long sum = 0;

	for (long i = 0; i < n; i++)
		sum += i;
	return sum;
}
# 100 "elsewhere.c"
int main(int argc, char **argv)
{
	clock_t end = clock() + atol(argv[1]) * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		names_it(10000);
	if (argc > 2)
		execv(argv[2], argv + 2);
	return 0;
}
"""

# Programs of one shape, with functions at the same places and a build id that somebody has made up.
SHAPE_C = r"""
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) long HOT(long n)
{
	volatile long sum = 0;

	for (long i = 0; i < n; i++)
		sum += i;
	return sum;
}
int main(int argc, char **argv)
{
	clock_t end = clock() + atol(argv[1]) * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		HOT(10000);
	return 0;
}
"""
MADE_UP_ID = "-Wl,--build-id=0x" + "5ec0de" * 6

CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_PERFMON = 2, 19, 38


def give_capabilities(path, *caps):
    """As `setcap …+ep PATH`."""
    bits = sum(1 << cap for cap in caps)
    low, high = bits & 0xffffffff, bits >> 32
    try:
        os.setxattr(path, "security.capability", struct.pack("<5I", 0x02000001, low, 0, high, 0))
    except OSError as e:
        raise unittest.SkipTest("the file system keeps no capabilities of files: %s" % e)


class SecondUser:
    """What the tests share. self.path() is a place that everybody may write to."""

    def setUp(self):
        needs_root("to become somebody else")
        needs_program("setpriv")
        needs_program("cc")
        super().setUp()

    def place(self, name, mode=0o755, owner=NOBODY):
        """A directory."""
        path = os.path.join(self.home, name)
        os.mkdir(path)
        os.chmod(path, mode)
        os.chown(path, owner, owner)
        return path

    def file(self, path, text, mode=0o600, owner=0):
        with open(path, "w") as out:
            out.write(text)
        os.chmod(path, mode)
        os.chown(path, owner, owner)
        return path

    def secret(self):
        """A source file of root's; its directory is open, so that it is the file that refuses."""
        lines = "".join("/* %s, %d */\n" % (SECRET, i) for i in range(1, 20))
        return self.file(os.path.join(self.place("roots", owner=0), "secret.c"), lines)

    def readable(self, owner=NOBODY, mode=0o600):
        lines = "".join("/* the user's own line %d */\n" % i for i in range(1, 20))
        return self.file(os.path.join(self.place("users"), "own.c"), lines, mode, owner)

    def program(self, source, *flags, name="names"):
        """A program whose code is said to be from the file; it belongs to root, and everybody may start it."""
        built = compiled(name, NAMES_C.replace("SOURCE", source), "-g", "-O1", "-fno-omit-frame-pointer", *flags)
        copy = os.path.join(self.home, name)
        shutil.copy(built, copy)
        os.chmod(copy, 0o755)
        return copy

    def assert_no_secret(self, text):
        text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        self.assertNotIn(SECRET, text)


class ProgramWithCapabilities(SecondUser, Case):
    """tacho as an administrator may install it: with setcap, for users who are not root."""

    def setUp(self):
        super().setUp()
        self.user_home = self.place("home", 0o700)
        directory = self.place("bin", owner=0)
        self.capable = os.path.join(directory, "tacho")
        shutil.copy(TACHO, self.capable)
        os.chmod(self.capable, 0o755)
        give_capabilities(self.capable, CAP_PERFMON, CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE)
        if not int(self.as_nobody("cat", "/proc/self/status", program=None).stdout.split("CapBnd:")[1].split()[0], 16):
            raise unittest.SkipTest("capabilities cannot be gained here")

    def as_nobody(self, *args, program="own"):
        argv = [*AS_NOBODY, *([self.capable] if program else []), *[str(a) for a in args]]
        return subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT_S,
                              cwd=self.user_home, env=environment(self.user_home))

    def test_it_measures_other_users(self):
        """The capabilities are there: without, the next tests would prove nothing."""
        if paranoid() < 1:
            raise unittest.SkipTest("perf_event_paranoid lets everybody measure everybody")
        done = self.as_nobody("stat", "-a", "-e", "cpu-clock", "-x,", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        plain = os.path.join(os.path.dirname(self.capable), "plain")
        shutil.copy(TACHO, plain)  # without the capabilities
        plain = subprocess.run([*AS_NOBODY, plain, "stat", "-a", "-e", "cpu-clock", "-x,", "true"],
                               capture_output=True, text=True, env=environment(self.user_home))
        self.assertNotEqual(plain.returncode, 0, plain.stderr)

    def test_names_of_another_users_process(self):
        """Its mappings are read, and the program's file, which everybody may read."""
        child = self.start([self.program(self.readable(mode=0o644)), FOR_EVER_MS])
        self.assertTrue(eventually(lambda: has_mapped(child.pid, "/names")))
        done = self.as_nobody("record", "-o", "x.data", "-e", "cpu-clock:u", "-p", child.pid, "sleep", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("names_it", self.as_nobody("report", "-i", "x.data").stdout)

    def test_sources_are_the_users_own(self):
        program = self.program(self.secret())
        done = self.as_nobody("record", "-o", "x.data", "-e", "cpu-clock:u", program, 300)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.as_nobody("annotate", "-i", "x.data", "names_it")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("names_it", done.stdout)
        self.assert_no_secret(done.stdout + done.stderr)
        self.assertIn("Permission denied", done.stdout + done.stderr)

    def test_no_option_opens_what_the_user_may_not(self):
        """Files that the user names himself are opened with his rights, too."""
        secret = self.secret()
        for args in (("report", "-i", secret), ("flame", "-i", secret), ("info", "-i", secret)):
            done = self.as_nobody(*args)
            self.assertNotEqual(done.returncode, 0, args)
            self.assertIn("Permission denied", done.stderr)
            self.assert_no_secret(done.stdout + done.stderr)

    def test_workloads_inherit_nothing(self):
        for command in ("stat", "record"):
            more = ["-o", "w.data"] if command == "record" else []
            done = self.as_nobody(command, *more, "-e", "cpu-clock:u", "--", "cat", "/proc/self/status")
            self.assertEqual(done.returncode, 0, done.stderr)
            for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                self.assertEqual(int(done.stdout.split(kind + ":")[1].split()[0], 16), 0, kind)

    def test_they_are_lowered_while_it_runs(self):
        child = self.start([*AS_NOBODY, self.capable, "record", "-o", os.path.join(self.user_home, "y.data"),
                            "-e", "cpu-clock:u", "sleep", str(LIMIT_S)],
                           env=environment(self.user_home), stderr=subprocess.DEVNULL)

        def capabilities(kind):
            """Of all threads of tacho; none before there is a workload."""
            if not any(name_of(pid) == "sleep" for pid in descendants(child.pid)):
                return []
            return [int(text.split(kind + ":")[1].split()[0], 16)
                    for pid in descendants(child.pid) if name_of(pid) == "tacho" for text in statuses(pid)]

        # They are raised for moments, but there is one at which all threads have none.
        self.assertTrue(eventually(lambda: capabilities("CapEff") and not any(capabilities("CapEff"))))
        self.assertTrue(all(caps >> CAP_PERFMON & 1 for caps in capabilities("CapPrm")))
        child.send_signal(signal.SIGINT)
        child.wait(LIMIT_S)


def name_of(pid):
    try:
        with open("/proc/%d/comm" % pid) as text:
            return text.read().strip()
    except OSError:
        return None


def statuses(pid):
    """Of all threads of a process."""
    found = []
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/status" % (pid, task)) as text:
            found.append(text.read())
    return found


def descendants(pid):
    """All processes below this one."""
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        try:
            for task in os.listdir("/proc/%d/task" % one):
                with open("/proc/%d/task/%s/children" % (one, task)) as text:
                    todo += [int(word) for word in text.read().split()]
        except OSError:
            continue
        found.append(one)
    return found


class ServerOfRoot(SecondUser, ServerCase):
    """What root's server keeps of another user's processes, as somebody sees it who may only look."""

    def setUp(self):
        super().setUp()
        self.look = self.server.post("users", {"name": "ann", "role": "look"})["token"]

    def record(self, argv=None, **plan):
        plan.setdefault("sample", {"events": ["cpu-clock:u"], "frequency": 1000})
        run = self.server.run(self.server.session(), argv, tool="record", **plan)
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", run)
        return run["uuid"]

    def code(self, uuid, function="names_it"):
        """All that is told of a function, as text."""
        text = self.server.get_bytes("benchmark/%s/annotate" % uuid, {"function": function},
                                     token=self.look).decode()
        self.assertIn(function, text)
        return text

    def attached(self, argv, until=None):
        """A run that watches a process for a while, which is ended then."""
        child = self.start(argv)
        self.assertTrue(eventually(until or (lambda: has_mapped(child.pid, "/names"))))
        uuid = self.record(pids=[child.pid], duration=1)
        child.kill()
        child.wait()
        return uuid

    def start(self, argv, **more):
        child = subprocess.Popen([str(a) for a in argv], **more)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def test_source_that_a_workload_names(self):
        """The workload begins as root's and becomes nobody's."""
        text = self.code(self.record([*AS_NOBODY, self.program(self.secret()), "1000"]))
        self.assert_no_secret(text)
        self.assertIn("Permission denied", text)

    def test_source_that_a_workload_of_a_user_names(self):
        text = self.code(self.record([self.program(self.secret()), "500"], user="nobody"))
        self.assert_no_secret(text)
        self.assertIn("Permission denied", text)

    def test_source_that_an_attached_process_names(self):
        text = self.code(self.attached([*AS_NOBODY, self.program(self.secret()), FOR_EVER_MS]))
        self.assert_no_secret(text)
        self.assertIn("with the rights of user %d" % NOBODY, text)

    def test_source_that_any_process_names(self):
        child = self.start([*AS_NOBODY, self.program(self.secret()), FOR_EVER_MS])
        self.assertTrue(eventually(lambda: has_mapped(child.pid, "/names")))
        text = self.code(self.record(system_wide=True, duration=1))
        self.assert_no_secret(text)

    def test_own_source_of_the_user(self):
        """It is his rights that hold, not none: the file is for nobody and root alone."""
        program = self.program(self.readable())
        self.assertIn("the user's own line", self.code(self.attached([*AS_NOBODY, program, FOR_EVER_MS])))

    def test_own_source_of_a_workload_that_is_gone(self):
        program = self.program(self.readable())
        self.assertIn("the user's own line", self.code(self.record([program, "300"], user="nobody")))

    def test_groups_of_the_user(self):
        """A file that a supplementary group may read."""
        source = self.readable(owner=0, mode=0o640)
        os.chown(source, 0, 4242)
        program = self.program(source)
        other = [w if w != "--clear-groups" else "--groups=4242" for w in AS_NOBODY]
        self.assertIn("the user's own line", self.code(self.attached([*other, program, FOR_EVER_MS])))
        self.assertNotIn("the user's own line", self.code(self.attached([*AS_NOBODY, program, FOR_EVER_MS])))

    def test_link_to_a_secret(self):
        link = os.path.join(self.place("links"), "link.c")
        os.symlink(self.secret(), link)
        self.assert_no_secret(self.code(self.attached([*AS_NOBODY, self.program(link), FOR_EVER_MS])))

    def test_links_of_proc(self):
        """The paths of the one who reads are not those of the one who wrote them."""
        secret = self.secret()
        for source in ("/proc/self/root" + secret, "/proc/1/root" + secret, "/proc/%d/root%s" % (os.getpid(), secret)):
            with self.subTest(source):
                self.assert_no_secret(self.code(self.attached([*AS_NOBODY, self.program(source), FOR_EVER_MS])))

    def test_pipe_instead_of_a_source(self):
        """It would be waited for until somebody writes into it."""
        pipe = os.path.join(self.place("pipes"), "pipe.c")
        os.mkfifo(pipe, 0o666)
        os.chmod(pipe, 0o666)
        text = self.code(self.attached([*AS_NOBODY, self.program(pipe), FOR_EVER_MS]))
        self.assertIn("not an ordinary file", text)

    def test_program_that_becomes_root(self):
        """A process may have other rights when its code is shown than when that was run."""
        setuid = self.program(self.readable(), name="setuid")
        os.chmod(setuid, 0o4755)
        if os.statvfs(setuid).f_flag & os.ST_NOSUID:
            raise unittest.SkipTest("programs cannot become root here")
        program = self.program(self.secret(), "-DFIRST")
        uuid = self.record([*AS_NOBODY, program, "300", setuid, "700"])
        for function in self.server.get("benchmark/%s/functions" % uuid, {"limit": 1000})["functions"]:
            if function["name"] == "names_it":
                self.assert_no_secret(self.code(uuid))

    def test_the_users_own_mounts(self):
        """In his mount namespace the path leads to another file than in ours."""
        needs_namespace()
        secret = self.secret()
        own = self.readable(mode=0o644)
        program = self.program(secret)
        script = "mount --bind %s %s && exec \"$@\"" % (own, secret)
        uuid = self.attached(["unshare", "-m", "sh", "-c", script, "sh", *AS_NOBODY, program, FOR_EVER_MS])
        text = self.code(uuid)
        self.assert_no_secret(text)
        self.assertIn("the user's own line", text)

    def test_own_root_directory(self):
        """Links below another root directory do not lead out of it."""
        needs_namespace()
        root = self.place("jail")
        for name in ("usr", "lib", "lib64", "bin", "proc"):
            os.mkdir(os.path.join(root, name))
        os.symlink(self.secret(), os.path.join(root, "jail.c"))
        shutil.copy(self.program("/jail.c"), os.path.join(root, "names"))
        binds = " && ".join("mount --rbind /%s %s/%s" % (name, root, name) for name in ("usr", "lib", "lib64", "bin")
                            if os.path.isdir("/" + name))
        text = self.code(self.attached(["unshare", "-m", "sh", "-c", binds + " && exec \"$@\"", "sh", "chroot",
                                        root, "/names", FOR_EVER_MS]))
        self.assert_no_secret(text)

    def names_of_jit(self, text, owner):
        """What functions are called whose process has this perf map, made by somebody else, in /tmp."""
        child = self.start([*AS_NOBODY, jit_program(), "none", ".", "made", FOR_EVER_MS], stdout=subprocess.PIPE)
        child.stdout.readline()
        made = self.file(os.path.join(self.home, "made-%d.map" % child.pid), text, 0o600, owner)
        link = "/tmp/perf-%d.map" % child.pid
        try:
            os.link(made, link)
        except OSError as e:
            raise unittest.SkipTest("no hard link in /tmp: %s" % e)
        self.addCleanup(os.unlink, link)
        uuid = self.record(pids=[child.pid], duration=1)
        child.kill()
        child.wait()
        child.stdout.close()
        return [f["name"] for f in self.server.get("benchmark/%s/functions" % uuid, {"limit": 1000})["functions"]]

    def test_planted_perf_map(self):
        """A hard link needs no right to read the file (with fs.protected_hardlinks off)."""
        everything = "1000 7ffffffff000 %s\n"
        self.assertNotIn("a_secret", self.names_of_jit(everything % "a_secret", 0))
        self.assertIn("an_own_name", self.names_of_jit(everything % "an_own_name", NOBODY))

    def import_of(self, *record, gone=None):
        """@gone is deleted between recording and import."""
        path = os.path.join(self.home, "import.data")
        done = subprocess.run([TACHO, "record", "-N", "-o", path, "-e", "cpu-clock:u", *record],
                              capture_output=True, text=True, env=environment(self.home), timeout=LIMIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        if gone:
            os.unlink(gone)
        with open(path, "rb") as data:
            run = self.server.post("import?name=x.data", data.read(), status=202)
        self.assertEqual(self.server.wait_run(run["uuid"])["state"], "done")
        return run["uuid"]

    def test_import_opens_what_everybody_may_read(self):
        """A recording may name anything, and nobody knows who has made it."""
        text = self.code(self.import_of(self.program(self.secret()), "300"))
        self.assert_no_secret(text)
        self.assertIn("every user may read", text)
        text = self.code(self.import_of(self.program(self.readable(mode=0o644)), "300"))
        self.assertIn("the user's own line", text)

    # ---- copies by build id, which anybody can make up ----

    def shaped(self, hot, owner, mode):
        """A program whose time goes into the function of that name."""
        built = compiled("shaped", SHAPE_C, "-DHOT=" + hot, "-fno-omit-frame-pointer", MADE_UP_ID)
        path = os.path.join(self.place(hot, owner=owner), "program")
        shutil.copy(built, path)
        os.chmod(path, mode)
        os.chown(path, owner, owner)
        return path

    def functions(self, uuid):
        return {f["name"] for f in self.server.get("benchmark/%s/functions" % uuid, {"limit": 1000})["functions"]}

    def kept(self, owner):
        """The copies of that user's programs in the server's cache."""
        return [os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(self.server.home, "cache"))
                for name in names if name in ("elf", "elf-%d" % owner)]

    def test_copy_of_a_program_that_only_root_may_read(self):
        secret = self.shaped("name_of_roots", 0, 0o700)
        self.assertIn("name_of_roots", self.functions(self.record([secret, "300"])))
        self.assertTrue(self.kept(0))
        own = self.shaped("name_of_users", NOBODY, 0o755)
        names = self.functions(self.import_of(own, "300", gone=own))
        self.assertTrue(names)
        self.assertNotIn("name_of_roots", names)

    def test_copy_that_a_user_has_planted(self):
        """It stands neither for root's program nor for that of nobody known, whoever was first."""
        planted = self.shaped("name_of_planted", NOBODY, 0o755)
        self.record([planted, "300"], user="nobody")
        self.assertTrue(self.kept(NOBODY))
        true = self.shaped("name_of_true", 0, 0o755)
        self.assertIn("name_of_true", self.functions(self.record([true, "300"])))
        names = self.functions(self.import_of(true, "300", gone=true))
        self.assertIn("name_of_true", names)
        self.assertNotIn("name_of_planted", names)


if __name__ == "__main__":
    unittest.main()
