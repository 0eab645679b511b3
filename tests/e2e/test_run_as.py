"""Whose rights runs have, on a server of root: those of --run-as, of whoever called sudo, or nobody's."""

import os
import pwd
import subprocess

from collector import ENDED, Collector
from helpers import (AS_NOBODY, LIMIT_S, Case, environment, eventually, needs_namespace, needs_other_user,
                     needs_program, needs_root, paranoid)
from server import Server, ServerCase

NOBODY = 65534

# The environment of a server: some of it says who started it, some is secret, and some is for everybody.
SECRETIVE = {"XDG_RUNTIME_DIR": "/run/user/0", "SUDO_USER": "eve", "DATABASE_PASSWORD": "s3cret",
             "JAVA_TOOL_OPTIONS": "-Dpassword=s3cret", "TACHO_TOKEN": "x" * 43, "PATH": os.environ["PATH"] + ":/root/bin",
             "TZ": "Europe/Berlin", "TERM": "xterm", "LC_TIME": "C"}


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
