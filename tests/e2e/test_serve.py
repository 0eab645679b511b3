"""The server itself: starting, stopping, who may ask, what it refuses, what it costs while idle."""

import http.client
import json
import os
import signal
import socket
import stat
import subprocess
import time
import unittest

from helpers import (AS_NOBODY, LIMIT_S, TACHO, Case, environment, eventually, needs_other_user,
                     send_and_see)
from server import RUN_TOKENS, Server, ServerCase


class Start(ServerCase):
    def test_answers(self):
        self.assertEqual(self.server.get("/healthz", token=None)["status"], "ok")
        self.assertEqual(self.server.get("healthz", token=None)["status"], "ok")

    def test_prints_address_with_token(self):
        self.assertEqual(len(self.server.lines), 1, self.server.lines)
        self.assertRegex(self.server.lines[0],
                         r"^tacho is at http://127\.0\.0\.1:\d+/\?token=[\w-]{43}\n$")

    def test_token_is_wanted(self):
        self.assertEqual(self.server.request("GET", "sessions", token=None).status, 401)
        self.assertEqual(self.server.request("GET", "sessions", token="x" * 43).status, 401)
        self.assertEqual(self.server.get("sessions")["sessions"], [])

    def test_data_is_for_its_owner(self):
        self.assertEqual(stat.S_IMODE(os.stat(self.server.data).st_mode), 0o700)

    def test_each_start_has_a_token_of_its_own(self):
        before = self.server.token
        self.server.restart()
        self.assertNotEqual(self.server.token, before)
        self.assertEqual(self.server.request("GET", "sessions", token=before).status, 401)
        self.assertEqual(self.server.get("sessions")["sessions"], [])

    def test_sessions_survive(self):
        uuid = self.server.session("kept")
        self.server.restart()
        self.assertEqual(self.server.get("session/" + uuid)["title"], "kept")

    def test_stops_by_signals(self):
        self.assertEqual(self.server.stop(signal.SIGINT), 0)
        self.server.start()
        self.assertEqual(self.server.stop(signal.SIGTERM), 0)

    def test_hangup_is_ignored(self):
        send_and_see(self.server.pid(), signal.SIGHUP)
        self.assertEqual(self.server.get("/healthz")["status"], "ok")

    def test_second_server_refuses(self):
        other = self.tacho("serve", "--listen", "127.0.0.1:0", "--data", self.server.data)
        self.assertEqual(other.returncode, 1)
        self.assertOneSentence(other.stderr)
        self.assertIn("another server has the data directory", other.stderr)
        self.assertIn(str(self.server.pid()), other.stderr)
        self.assertIn(self.server.url, other.stderr)

    def test_port_in_use(self):
        other = self.tacho("serve", "--listen", "127.0.0.1:%d" % self.server.port,
                           "--data", self.path("other"))
        self.assertEqual(other.returncode, 1)
        self.assertOneSentence(other.stderr)
        self.assertIn("in use", other.stderr)


class Idle(ServerCase):
    def test_memory_and_wakeups(self):
        self.server.get("sessions")
        # What its start has left to do, it does first. How often it wakes up later is measured by make bench.
        self.assertTrue(eventually(self.rests))
        self.assertLessEqual(self.server.rss_bytes(), 30e6)

    def rests(self):
        before = self.server.wakeups()
        time.sleep(1)
        return self.server.wakeups() - before <= 1


class Refused(Case):
    def refused(self, *options, env=None):
        result = self.tacho("serve", "--data", self.path("store"), *options, env=env, timeout=LIMIT_S)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertOneSentence(result.stderr)
        return result.stderr

    def test_beyond_loopback(self):
        for listen in ("0.0.0.0:0", "[::]:0", ":0"):
            self.assertIn("--insecure twice", self.refused("--listen", listen))
            self.assertIn("--insecure twice", self.refused("--listen", listen, "--insecure"))

    def test_without_token(self):
        self.assertIn("--insecure twice", self.refused("--listen", "127.0.0.1:0", "--no-token"))

    def test_half_of_tls(self):
        self.assertIn("belong together", self.refused("--tls-cert", "x.pem"))

    def test_bad_certificate(self):
        path = self.write("x.pem", "nonsense")
        self.assertIn(path, self.refused("--listen", "127.0.0.1:0", "--tls-cert", path, "--tls-key", path))

    def test_bad_addresses(self):
        for listen in ("5000", "localhost", "1.2.3.4:99999", "::1:80"):
            self.assertIn("cannot listen on", self.refused("--listen", listen))
        self.assertIn("not an address", self.refused("--listen", "192.0.2.1:0", "--insecure", "--insecure"))

    def test_bad_settings(self):
        path = self.write("config/tacho/tacho.conf", "quota = 10G\nlissten = :1\n")
        self.assertIn("%s:2: there is no setting 'lissten'; did you mean 'listen'?" % path, self.refused())

    def test_data_is_a_file(self):
        path = self.write("file", "x")
        self.assertIn(path, self.refused("--data", path))

    def test_data_of_somebody_else(self):
        needs_other_user()
        os.mkdir(self.path("other"), 0o700)
        result = subprocess.run([*AS_NOBODY, TACHO, "serve", "--listen", "127.0.0.1:0", "--data",
                                 self.path("other", "x")], env=environment(self.home), text=True,
                                capture_output=True, timeout=LIMIT_S)
        self.assertEqual(result.returncode, 1)
        self.assertOneSentence(result.stderr)
        self.assertIn("Permission denied", result.stderr)

    def test_words(self):
        result = self.tacho("serve", "now")
        self.assertEqual(result.returncode, 2)
        self.assertOneSentence(result.stderr)


class Listen(Case):
    def serve(self, *options, **more):
        server = Server(*options, **more)
        self.addCleanup(server.close)
        return server.start()

    def test_ipv6(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            raise unittest.SkipTest("this machine has no ::1")
        server = self.serve(host="::1")
        self.assertIn("http://[::1]:", server.lines[0])
        self.assertEqual(server.get("sessions")["sessions"], [])

    def test_insecure_twice(self):
        server = self.serve("--listen", "0.0.0.0:0", "--insecure", "--insecure")
        self.assertEqual(server.get("sessions")["sessions"], [])

    def test_allow_from(self):
        def status(server, source, token):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=LIMIT_S,
                                                    source_address=(source, 0))
            self.addCleanup(connection.close)
            headers = {"Authorization": "Bearer " + token} if token else {}
            connection.request("GET", "/api/v1/me", headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        # On a socket of version 6 a client of version 4 has another form of its address.
        for listen in ("127.0.0.1:0", "[::]:0"):
            with self.subTest(listen):
                server = Server("--insecure", "--insecure", "--listen", listen, "--allow-from", "127.0.0.2,::2",
                                "--allow-from", "127.0.0.8/29")
                self.addCleanup(server.close)
                try:
                    server.start()  # which asks from 127.0.0.1, and needs an answer of whatever kind
                except AssertionError as error:
                    if "not an address" in str(error) or "family" in str(error):
                        raise unittest.SkipTest("this machine has no addresses of version 6")
                    raise
                for source in ("127.0.0.2", "127.0.0.8", "127.0.0.15"):
                    self.assertEqual(status(server, source, server.token)[0], 200, source)
                    self.assertEqual(status(server, source, None)[0], 401, source)
                for source in ("127.0.0.1", "127.0.0.7", "127.0.0.16"):
                    for token in (server.token, None, "x" * 43):
                        found, body = status(server, source, token)
                        self.assertEqual(found, 403, source)
                        self.assertIn("allow-from", body)
                        self.assertIn(source, body)
                # Commands of one's own do not come from an address.
                self.assertEqual(self.tacho("ls", env={"TACHO_DATA": server.data}).returncode, 0)

    def test_allow_from_is_checked(self):
        result = self.tacho("serve", "--listen", "127.0.0.1:0", "--data", self.path("d"), "--allow-from", "10.0.0.0/33")
        self.assertEqual(result.returncode, 1)
        self.assertOneSentence(result.stderr)
        self.assertIn("'10.0.0.0/33' is no range of addresses", result.stderr)

    def test_no_token(self):
        server = self.serve("--insecure", "--insecure", "--no-token")
        self.assertNotIn("token", server.lines[0])
        self.assertEqual(server.get("sessions", token=None)["sessions"], [])

    def test_users_of_settings(self):
        server = self.serve("--user", "bob:run", "--user", "alice:look", *RUN_TOKENS)
        for name, role in (("bob", "run"), ("alice", "look")):
            printed = self.tacho("users", "token", name, "--data", server.data)
            self.assertEqual(printed.returncode, 0, printed.stderr)
            token = printed.stdout.strip()
            me = server.get("me", token=token)
            self.assertEqual((me["name"], me["role"]), (name, role))
        self.assertEqual(server.request("POST", "sessions", {"title": "x"}, token=token).status, 403)
        server.restart()
        self.assertEqual(server.get("me", token=token)["name"], "alice")

    def test_bad_user(self):
        for user in ("alice", "alice:king", "../x:run", "admin:run"):
            result = self.tacho("serve", "--listen", "127.0.0.1:0", "--data", self.path("d"), "--user", user)
            self.assertEqual(result.returncode, 1)
            self.assertOneSentence(result.stderr)


class Users(ServerCase):
    def users(self, *args):
        return self.tacho("users", *args, "--data", self.server.data)

    def test_add_list_revoke(self):
        added = self.users("add", "carol", "--role", "look")
        self.assertEqual(added.returncode, 0, added.stderr)
        token = added.stdout.strip()
        self.assertEqual(self.server.get("me", token=token)["role"], "look")
        listed = self.users()
        self.assertIn("carol", listed.stdout)
        self.assertIn("admin", listed.stdout)
        self.assertNotIn(token, listed.stdout)
        again = self.users("add", "carol")
        self.assertEqual(again.returncode, 1)
        self.assertOneSentence(again.stderr)
        # Another token, for whoever has lost the first one.
        renewed = self.users("token", "carol").stdout.strip()
        self.assertEqual(self.server.request("GET", "sessions", token=token).status, 401)
        self.assertEqual(self.server.get("me", token=renewed)["name"], "carol")
        self.assertEqual(self.users("token", "nobody-here").returncode, 1)
        token = renewed
        self.assertEqual(self.users("revoke", "carol").returncode, 0)
        self.assertEqual(self.server.request("GET", "sessions", token=token).status, 401)
        self.assertEqual(self.users("revoke", "carol").returncode, 1)
        rows = json.loads(self.users("ls", "--json").stdout)["users"]
        self.assertTrue([r for r in rows if r["name"] == "carol" and r["revoked_at"]])

    def test_usage(self):
        for args in (("add",), ("token",), ("nonsense",), ("ls", "x"), ("add", "a", "b"), ("add", "x", "--role")):
            result = self.users(*args) if args[-1] != "--role" else self.tacho("users", *args)
            self.assertEqual(result.returncode, 2, args)
            self.assertOneSentence(result.stderr)
        result = self.users("add", "x", "--role", "king")
        self.assertEqual(result.returncode, 1)
        self.assertIn("look, run or administer", result.stderr)


class Config(Case):
    def config(self, *args, **more):
        result = self.tacho("config", "--json", *args, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {s["name"]: s for s in json.loads(result.stdout)["settings"]}

    def test_where_values_come_from(self):
        path = self.write("config/tacho/tacho.conf", "quota = 5G\nlisten = 127.0.0.1:1\nkeep-age = 3d\n")
        found = self.config("--quota", "7G", env={"TACHO_LISTEN": "127.0.0.1:2"})
        self.assertEqual(found["quota"]["value"], "7G")
        self.assertEqual(found["quota"]["source"], "option --quota")
        self.assertEqual(found["listen"]["value"], "127.0.0.1:2")
        self.assertEqual(found["listen"]["source"], "environment TACHO_LISTEN")
        self.assertEqual(found["keep-age"]["source"], path + ":3")
        self.assertEqual(found["cache"]["source"], "default")
        self.assertIsNone(found["tls-key"]["value"])

    def test_text(self):
        result = self.tacho("config", "--config", self.write("a.conf", "queue-max = 7\n"))
        line = [x.split() for x in result.stdout.splitlines() if x.startswith("queue-max")]
        self.assertEqual(line, [["queue-max", "7", self.path("a.conf") + ":1"]])

    def test_same_names_as_options(self):
        help_text = self.tacho("serve", "--help").stdout
        for name in self.config():
            self.assertIn("--" + name, help_text)


class Privileges(Case):
    def test_works_without_root(self):
        needs_other_user()
        server = Server(before=AS_NOBODY)
        self.addCleanup(server.close)
        server.start()
        run = server.run(server.session(), "true", tool="stat", events=["task-clock:u"])
        done = server.wait_run(run["uuid"])
        self.assertEqual(done["state"], "done", done)

    def test_signal_while_it_stops(self):
        server = Server()
        self.addCleanup(server.close)
        server.start()
        run = server.run(server.session(), ["sh", "-c", "trap '' TERM; sleep 30"], tool="stat")
        server.wait_state(run["uuid"], "running")
        # The second one comes while it stops, and stays where it is.
        send_and_see(server.pid(), signal.SIGINT)
        server.child.send_signal(signal.SIGINT)
        self.assertTrue(eventually(lambda: server.child.poll() is not None))
