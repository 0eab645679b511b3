"""Whose rights runs have, on a server of root: those of --run-as, of whoever called sudo, or nobody's."""

import os
import pwd
import re
import shutil
import signal
import subprocess
import unittest

import perfdata
from collector import ENDED, OPENED, Collector
from helpers import (AS_NOBODY, FOR_EVER_MS, LIMIT_S, TACHO, Case, alive, compiled, environment, eventually, load,
                     needs_namespace, needs_other_user, needs_program, needs_root, needs_tracefs, paranoid,
                     with_enough_time)
from server import Server, ServerCase

NOBODY = 65534

# Says that it runs; at SIGUSR1 it executes the program that it is told, if any. With "drop" it has no rights but
# those of its real user: as set-user-ID programs do when they need root's no more.
WAITS_C = r"""
#include <signal.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	sigset_t set;
	int got;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (argc > 1 && !strcmp(argv[1], "drop") && setresuid(getuid(), getuid(), getuid()))
		return 1;
	if (write(1, "ready\n", 6) != 6)
		return 1;
	sigwait(&set, &got);
	execv(argv[1], argv + 1);
	return 1;
}
"""

# "make": begins a session with a key in its keyring, and executes the rest. "look": says whether it finds the key.
KEYS_C = r"""
#include <linux/keyctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "make")) {
		if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 ||
		    syscall(SYS_add_key, "user", "tacho-test", "s3cret", 6, KEY_SPEC_SESSION_KEYRING) < 0)
			return 77;
		execvp(argv[2], argv + 2);
		return 1;
	}
	puts(syscall(SYS_request_key, "user", "tacho-test", NULL, 0) < 0 ? "no key" : "a key");
	return 0;
}
"""

# A unit of the machine as those outside of the cores are: with CPUs of its own. The kernel sees a software event.
BOX = {"type": "1", "cpumask": "0", "format/event": "config:0-7"}

# The environment of a server: some of it says who started it, some is secret, and some is for everybody.
SECRETIVE = {"XDG_RUNTIME_DIR": "/run/user/0", "SUDO_USER": "eve", "DATABASE_PASSWORD": "s3cret",
             "JAVA_TOOL_OPTIONS": "-Dpassword=s3cret", "TACHO_TOKEN": "x" * 43, "PATH": os.environ["PATH"] + ":/root/bin",
             "TZ": "Europe/Berlin", "TERM": "xterm", "LC_TIME": "C"}


def needs_events_for_users():
    """Kernels of some distributions let only root open events, at perf_event_paranoid 3 or 4."""
    needs_other_user()
    result = subprocess.run([*AS_NOBODY, TACHO, "stat", "-x,", "-e", "page-faults:u", "true"], cwd="/", text=True,
                            capture_output=True)
    if result.returncode or not re.match(r"\d", result.stderr):
        raise unittest.SkipTest("a plain user cannot measure his own process here")


def idle(*before):
    """A process that waits until it is ended."""
    return subprocess.Popen([*before, "sleep", "100000"], stdin=subprocess.DEVNULL)


class RootCase(Case):
    def setUp(self):
        needs_root("for a server that may start programs as anybody")
        needs_program("setpriv")
        super().setUp()

    def serve(self, *options, **more):
        server = Server(*options, **more)
        self.addCleanup(server.close)
        return server.start()

    def user(self, server, role="run", name="ann"):
        return server.post("users", {"name": name, "role": role}, status=201)["token"]

    def idle(self, *before):
        child = idle(*before)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child.pid

    def output(self, server, run):
        done = server.wait_run(run["uuid"])
        self.assertEqual(done["state"], "done", done)
        return server.get_bytes("benchmark/%s.log" % run["uuid"]).decode()

    def submit(self, server, status=202, token="own", **plan):
        plan = {"tool": "stat", "events": ["page-faults"], **plan}
        return server.post("session/" + server.session(), plan, status=status, token=token)


class RunAs(RootCase):
    def setUp(self):
        super().setUp()
        self.server = self.serve("--run-as", "nobody", env=SECRETIVE)
        self.token = self.user(self.server)

    def test_workload_has_rights_and_environment_of_the_user(self):
        script = "id -u; id -G; echo $USER $LOGNAME $HOME ${SUDO_USER-none} ${XDG_RUNTIME_DIR-none}"
        for token in ("own", self.token):
            run = self.submit(self.server, workload=script, shell=True, cwd="/", token=token)
            self.assertEqual(run["run_as"], "nobody")
            self.assertEqual(self.output(self.server, run).split(),
                             ["65534", "65534", "nobody", "nobody", pwd.getpwnam("nobody").pw_dir, "none", "none"])

    def test_environment_is_the_users_own(self):
        for token in ("own", self.token):
            run = self.submit(self.server, workload="env", env={"ASKED": "for"}, cwd="/", token=token)
            text = self.output(self.server, run)
            self.assertNotIn("s3cret", text)
            found = dict(line.split("=", 1) for line in text.splitlines())
            found.pop("JAVA_TOOL_OPTIONS", None)  # ours
            user = pwd.getpwnam("nobody")
            kept = {name: value for name, value in environment(self.home, SECRETIVE).items()
                    if name in ("LANG", "LANGUAGE", "TZ", "TERM") or name.startswith("LC_")}
            self.assertEqual(found, {
                "HOME": user.pw_dir, "USER": "nobody", "LOGNAME": "nobody", "SHELL": user.pw_shell or "/bin/sh",
                "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games", "ASKED": "for",
                "RUN_BY_TACHO": run["uuid"], **kept})

    def test_workload_cannot_read_the_data_directory(self):
        script = "for f in tacho.db server.lock server.sock; do cat %s/$f && echo readable; done; true"
        run = self.submit(self.server, workload=script % self.server.data, shell=True, cwd="/", token=self.token)
        self.assertNotIn("readable", self.output(self.server, run))

    def test_keys_of_the_servers_session_stay_there(self):
        keys = compiled("keys", KEYS_C)
        if subprocess.run([keys, "make", "true"]).returncode == 77:
            raise unittest.SkipTest("there are no keyrings here")
        server = self.serve("--run-as", "nobody", before=[keys, "make"])
        for user, found in (("nobody", "no key\n"), ("root", "a key\n")):
            run = self.submit(server, workload=[keys, "look"], user=user, cwd="/")
            self.assertEqual(self.output(server, run), found)

    def test_nothing_is_left_running(self):
        script = "sleep 100000 & echo $!; (setsid sleep 100000 & echo $!)"
        run = self.submit(self.server, workload=script, shell=True, cwd="/", token=self.token)
        pids = [int(pid) for pid in self.output(self.server, run).split()]
        self.assertEqual((len(pids), [pid for pid in pids if alive(pid)]), (2, []))

    def test_only_administrators_choose_another_user(self):
        answer = self.submit(self.server, 403, workload="id -u", user="root", token=self.token)
        self.assertIn("only an administrator", answer["error"]["message"])
        run = self.submit(self.server, workload="id -u", user="root", cwd="/")
        self.assertEqual(self.output(self.server, run), "0\n")
        # Nor by running again what an administrator ran.
        self.server.expect(403, "POST", "benchmark/%s/rerun" % run["uuid"], token=self.token)
        self.submit(self.server, workload="true", user=str(NOBODY), cwd="/", token=self.token)

    def test_only_processes_of_the_user_are_measured(self):
        strange = {"root's": self.idle(), "of another group": self.idle(*AS_NOBODY[:3], "--regid", "1", "--clear-groups"),
                   "half root's": self.idle("setpriv", "--ruid", str(NOBODY))}
        own = self.idle(*AS_NOBODY)
        self.assertTrue(eventually(lambda: all(open("/proc/%d/comm" % pid).read() == "sleep\n"
                                               for pid in (own, *strange.values()))))
        for name, pid in strange.items():
            for kind in ("pids", "tids"):
                with self.subTest(name, kind=kind):
                    answer = self.submit(self.server, 403, token=self.token, duration=0.1, **{kind: [own, pid]})
                    self.assertIn("Process %d does not belong" % pid, answer["error"]["message"])
        for pids, token in (([own], self.token), ([strange["root's"]], "own")):
            run = self.submit(self.server, pids=pids, duration=0.1, token=token)
            self.assertEqual(self.server.wait_run(run["uuid"])["state"], "done")

    def test_whole_system(self):
        status = 403 if paranoid() > 0 else 202
        self.submit(self.server, status, system_wide=True, duration=0.1, token=self.token)
        run = self.submit(self.server, system_wide=True, duration=0.1)
        self.assertEqual(self.server.wait_run(run["uuid"])["state"], "done")

    def test_the_collector_looks_again(self):
        """The number may belong to another process by then, and the user may have lost a role."""
        for order, plan, why in (
                ({"run_as": "nobody"}, {"pids": [self.idle()], "duration": 0.1}, "does not belong"),
                ({"run_as": "nobody"}, {"workload": "id", "user": "root"}, "only an administrator"),
                ({}, {"workload": "id"}, "only an administrator")):
            with self.subTest(plan):
                c = Collector({"tool": "stat", **plan}, home=self.home, restricted=True, **order)
                self.addCleanup(c.close)
                self.assertIn(why, c.finish().json(ENDED)["error"])

    def test_it_is_told(self):
        self.assertIn("rights of nobody", "".join(self.server.errors))
        self.assertEqual({k: v for k, v in self.server.get("me")["server"]["runs"].items() if k != "rights"},
                         {"user": "nobody", "apart": True})

    def test_processes_of_the_user_are_ours(self):
        pid = self.idle(*AS_NOBODY)
        self.assertTrue(eventually(lambda: [p["mine"] for p in self.server.get(
            "processes", {"search": str(pid)})["processes"] if p["pid"] == pid] == [True]))


class Kernel(RootCase):
    """What somebody who may run measures on root's server is what the kernel lets the user measure."""

    def begin(self, restricted=True, prefix=(), **plan):
        c = Collector(plan, home=self.home, restricted=restricted, run_as="nobody", prefix=prefix)
        self.addCleanup(c.close)
        return c

    def collect(self, *args, **plan):
        return self.begin(*args, **plan).finish()

    def events(self, *names, **more):
        opened = self.collect(tool="stat", workload="true", cwd="/", events=list(names), **more).json(OPENED)
        return opened["events"]

    def program(self, mode=0o755):
        path = os.path.join(self.home, "waits-%o" % mode)
        shutil.copy(compiled("waits", WAITS_C), path)
        os.chmod(path, mode)
        if mode & 0o4000 and os.statvfs(path).f_flag & os.ST_NOSUID:
            raise unittest.SkipTest("programs cannot become root here")
        return path

    def waits(self, *argv):
        child = subprocess.Popen([*AS_NOBODY, *argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child

    def busy(self, program):
        """The load program in a process with the ids and groups of the user, once it is executed."""
        process = subprocess.Popen([*AS_NOBODY[:-1], "--init-groups", program, "busy", str(FOR_EVER_MS)])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertTrue(eventually(lambda: os.readlink("/proc/%d/exe" % process.pid) == os.path.realpath(program)))
        return process.pid

    def test_a_program_that_has_had_other_rights(self):
        """It looks like any of the user's, so only the kernel can tell: it is asked when the events are opened."""
        needs_events_for_users()
        pid = self.waits(self.program(0o4755), "drop").pid
        with open("/proc/%d/status" % pid) as status:
            self.assertIn("Uid:\t65534\t65534\t65534\t65534\n", status.read())
        for plan in ({"tool": "stat", "events": ["page-faults:u"]},
                     {"tool": "record", "sample": {"events": ["cpu-clock:u"]}},
                     {"tool": "record", "sample": {"events": ["dummy:u"]}}):
            with self.subTest(plan):
                c = self.collect(pids=[pid], duration=0.1, **plan)
                self.assertIn("the process is not yours", c.json(ENDED)["error"] or "")
                self.assertIsNone(self.collect(False, pids=[pid], duration=0.1, **plan).json(ENDED)["error"])

    def test_a_program_that_gets_other_rights_while_the_run_waits(self):
        server = self.serve("--run-as", "nobody")
        token = self.user(server)
        child = self.waits(self.program(), self.program(0o4755))
        first = self.submit(server, workload="sleep 100000", cwd="/")
        server.wait_state(first["uuid"], "running")
        run = self.submit(server, pids=[child.pid], duration=0.1, token=token)
        child.send_signal(signal.SIGUSR1)
        self.assertEqual(child.stdout.readline(), "ready\n")
        server.post("benchmark/%s/cancel" % first["uuid"])
        self.assertIn("does not belong to user 'nobody'", server.wait_run(run["uuid"])["error"])

    def test_a_program_that_gets_other_rights_while_it_is_measured(self):
        """The kernel takes the events away: the run ends as if the process had."""
        needs_events_for_users()
        child = self.waits(self.program(), self.program(0o4755))
        c = self.begin(tool="record", pids=[child.pid], sample={"events": ["cpu-clock:u"]}).wait_for(OPENED)
        child.send_signal(signal.SIGUSR1)
        self.assertEqual(child.stdout.readline(), "ready\n")
        self.assertIsNone(c.finish().json(ENDED)["error"])
        self.assertIsNone(child.poll())

    def test_no_process(self):
        with open("/proc/sys/kernel/pid_max") as text:
            pid = int(text.read())
        for kind in ("pids", "tids"):
            c = self.collect(tool="stat", events=["page-faults:u"], duration=0.1, **{kind: [pid]})
            self.assertIn("%d (it may have ended)" % pid, c.json(ENDED)["error"])

    def test_events_of_the_kernel(self):
        needs_events_for_users()
        if paranoid() < 2:
            raise unittest.SkipTest("perf_event_paranoid lets everybody watch the kernel")
        names = ("task-clock", "context-switches", "page-faults:k")
        self.assertTrue(all(e["supported"] and not e["user_only"] for e in self.events(*names, restricted=False)))
        clock, switches, faults = self.events(*names)
        self.assertEqual((clock["name"], clock["supported"], clock["user_only"]), ("task-clock:u", True, True))
        for event in (switches, faults):
            self.assertFalse(event["supported"])
            self.assertIn("perf_event_paranoid", event["problem"])

    def test_tracepoints(self):
        needs_tracefs()
        needs_events_for_users()
        if paranoid() < 2:
            raise unittest.SkipTest("perf_event_paranoid lets everybody watch the kernel")
        plan = {"workload": "sleep 0.01", "cwd": "/"}
        sample = {"tool": "record", "sample": {"events": ["sched:sched_switch"]}}
        self.assertIn("perf_event_paranoid", self.collect(**plan, **sample).json(ENDED)["error"] or "")
        self.assertIsNone(self.collect(False, **plan, **sample).json(ENDED)["error"])
        # Many would be counted by BPF programs, which see all processes.
        many = ["sched:sched_switch", "sched:sched_wakeup", "sched:sched_process_exit", "sched:sched_process_exec"]
        c = self.collect(tool="stat", events=many, **plan)
        self.assertEqual([e["user_only"] for e in c.json(OPENED)["events"]], [True] * 4)

    def test_units_outside_of_the_cores(self):
        """They count what the whole system does, whatever the target is."""
        needs_namespace()
        if paranoid() < 1:
            raise unittest.SkipTest("perf_event_paranoid lets everybody watch the whole system")
        devices = os.path.join(self.home, "devices")
        for name, text in BOX.items():
            path = os.path.join(devices, "uncore_box", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as out:
                out.write(text + "\n")
        mount = "mount --bind %s /sys/bus/event_source/devices && exec \"$@\"" % devices
        prefix = ["unshare", "-m", "sh", "-c", mount, "sh"]
        event = "uncore_box/event=1/"
        self.assertEqual([e["supported"] for e in self.events(event, restricted=False, prefix=prefix)], [True])
        ended = self.collect(tool="stat", workload="true", cwd="/", events=[event], prefix=prefix).json(ENDED)
        self.assertIn("needs perf_event_paranoid ≤ 0", ended["error"] or "")

    def test_own_programs_have_names(self):
        """The user's own rights are enough for all that a run is for."""
        needs_events_for_users()
        server = self.serve("--run-as", "nobody")
        token = self.user(server)
        path = shutil.copy(load("busy")[0], self.path("deleted"))
        deleted, running = self.busy(path), self.busy(load("busy")[0])
        os.unlink(path)

        def is_named(**target):
            run = self.submit(server, tool="both", sample={"events": ["cpu-clock"], "frequency": 1000}, token=token,
                              **target)
            run = server.wait_run(run["uuid"])
            self.assertEqual(run["state"], "done", run)
            functions = server.get("benchmark/%s/functions" % run["uuid"])["functions"]
            return "busy" in [f["name"] for f in functions]

        # The deleted program first: later, there is a copy of its file, which has the same build id.
        for pid in (deleted, running):
            with self.subTest(deleted=pid == deleted):
                self.assertTrue(with_enough_time(lambda ms, pid=pid: is_named(pids=[pid], duration=ms / 1000)))
        self.assertTrue(is_named(workload=load("busy", 300), cwd="/"))

    def test_imports_do_not_tell_where_the_kernel_is(self):
        """Addresses and the place of the kernel's code are chosen by whoever sends the recording."""
        with open("/proc/kallsyms") as symbols:
            where = {line.split()[2]: int(line.split()[0], 16) for line in symbols if " T " in line}
        if not where.get("schedule"):
            raise unittest.SkipTest("the kernel shows no addresses, not even to root")
        recording = perfdata.Recording(perfdata.Recording.CLOCK)
        recording.kernel(2 ** 64 - 2 ** 31, 2 ** 31 - 1)
        recording.comm("curious")
        recording.sample(0, 10 ** 9, where["schedule"] + 1, mode=1)
        server = self.serve("--run-as", "nobody")
        names = {}
        for token in ("own", self.user(server)):
            run = server.post("import?name=x", recording.bytes(), status=202, token=token)
            self.assertEqual(server.wait_run(run["uuid"])["state"], "done")
            names[token] = [f["name"] for f in server.get("benchmark/%s/functions" % run["uuid"])["functions"]]
        administrators = names.pop("own")
        self.assertIn("schedule", administrators)
        self.assertNotIn("schedule", sum(names.values(), []))

    def test_hidden_processes(self):
        """On a /proc that shows users their own processes only, those of others are not listed."""
        needs_namespace()
        if tuple(int(n) for n in os.uname().release.split("-")[0].split(".")[:2]) < (5, 8):
            raise unittest.SkipTest("before Linux 5.8 all mounts of /proc have the same options")
        hide = "mount -t proc -o hidepid=invisible proc /proc && exec \"$@\""
        server = self.serve("--run-as", "nobody", before=["unshare", "-m", "sh", "-c", hide, "sh"])
        token = self.user(server)
        own, roots = self.idle(*AS_NOBODY), self.idle()

        def listed(pid, token):
            found = server.get("processes", {"search": str(pid)}, token=token)["processes"]
            return pid in [p["pid"] for p in found]

        self.assertTrue(eventually(lambda: listed(own, token)))
        self.assertTrue(listed(roots, "own"))
        self.assertTrue(listed(own, "own"))
        self.assertFalse(listed(roots, token))


class Sudo(RootCase):
    def test_runs_as_the_caller(self):
        server = self.serve(env={"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)})
        self.assertIn("rights of nobody, who called sudo", "".join(server.errors))
        for token in ("own", self.user(server)):
            self.assertEqual(self.output(server, self.submit(server, workload="id -u", cwd="/", token=token)), "65534\n")

    def test_caller_without_a_name(self):
        result = self.tacho("serve", "--listen", "127.0.0.1:0", "--data", self.path("d"), env={"SUDO_UID": "4123456789"})
        self.assertEqual(result.returncode, 1)
        self.assertOneSentence(result.stderr)
        self.assertIn("--run-as USER", result.stderr)


class RootAlone(RootCase):
    def test_no_token_that_runs(self):
        server = self.serve()
        self.assertIn("only administrators", "".join(server.errors))
        answer = server.post("users", {"name": "ann", "role": "run"}, status=403)
        self.assertIn("--run-as USER", answer["error"]["message"])
        self.user(server, "look", "bob")
        added = self.tacho("users", "add", "ann", "--data", server.data)
        self.assertEqual((added.returncode, added.stdout), (1, ""))
        self.assertOneSentence(added.stderr)
        self.assertIn("--run-as USER", added.stderr)
        # The administrator's own token starts runs, as root.
        self.assertEqual(self.output(server, self.submit(server, workload="id -u", cwd="/")), "0\n")
        result = self.tacho("serve", "--listen", "127.0.0.1:0", "--data", self.path("d"), "--user", "ann:run")
        self.assertEqual(result.returncode, 1)
        self.assertOneSentence(result.stderr)

    def check_naming_root(self, name, **more):
        """It is as if nobody had been named: administrators alone start programs."""
        server = self.serve("--run-as", name, **more)
        answer = server.post("users", {"name": "ann", "role": "run"}, status=403)
        self.assertIn("who is not root", answer["error"]["message"])
        self.assertTrue(eventually(lambda: "only administrators" in "".join(server.errors)))
        self.assertEqual(self.output(server, self.submit(server, workload="id -u", cwd="/")), "0\n")

    def test_naming_root(self):
        for name in ("root", "0"):
            with self.subTest(name):
                self.check_naming_root(name, env={"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)})

    def test_naming_root_by_another_name(self):
        needs_namespace()
        with open("/etc/passwd") as users:
            other = self.write("passwd", "toor:x:0:0::/root:/bin/sh\n" + users.read())
        self.check_naming_root("toor", before=("unshare", "-m", "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"',
                                               other))

    def test_token_of_another_time_only_looks(self):
        for later in ([], ["--run-as", "root"]):
            with self.subTest(later):
                self.check_token_of_another_time(later)

    def check_token_of_another_time(self, later):
        server = self.serve("--run-as", "nobody")
        token = self.user(server)
        server.stop()
        server.options = later
        server.start()
        answer = self.submit(server, 403, workload="id", token=token)
        self.assertIn("--run-as USER", answer["error"]["message"])
        self.assertEqual(server.get("me", token=token)["role"], "look")


class Same(ServerCase):
    """The server's own user: no boundary, and everybody is told."""

    def setUp(self):
        self.before = ()
        if not os.geteuid():
            needs_other_user()
            self.before = AS_NOBODY
        super().setUp()

    def new_server(self, *options, **more):
        return super().new_server(*options, before=self.before, env={**SECRETIVE, "OWN": "kept"}, **more)

    def test_it_is_told(self):
        self.assertTrue(eventually(lambda: "whoever may start runs can also do what an administrator can"
                                   in "".join(self.server.errors)))
        self.assertFalse(self.server.get("me")["server"]["runs"]["apart"])
        added = self.tacho("users", "add", "ann", "--data", self.server.data, before=self.before)
        self.assertEqual(added.returncode, 0, added.stderr)
        self.assertIn("administer", added.stderr)

    def test_environment_is_the_servers_but_for_what_is_tachos(self):
        run = self.server.run(self.server.session(), "env", tool="stat", events=["page-faults"])
        self.assertEqual(self.server.wait_run(run["uuid"])["state"], "done")
        found = self.server.get_bytes("benchmark/%s.log" % run["uuid"]).decode().splitlines()
        self.assertIn("OWN=kept", found)
        self.assertEqual([line for line in found if line.startswith("TACHO_")], [])

    def test_somebody_else_needs_root(self):
        result = self.tacho("serve", "--data", self.path("d"), "--run-as", "no-such-user", timeout=LIMIT_S)
        self.assertEqual(result.returncode, 1)
        self.assertOneSentence(result.stderr)
        self.assertIn("no user 'no-such-user'", result.stderr)
