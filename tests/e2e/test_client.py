#!/usr/bin/env python3
"""The command line as a client of the server: run, ls, show, rm, export."""

import http.server
import json
import os
import re
import signal
import socket
import stat
import subprocess
import threading
import unittest

from helpers import AS_NOBODY, LIMIT_S, TACHO, Case, environment, in_terminal, needs_program, needs_root, plain
from server import ServerCase
from shapes import shape

SIDE_BY_SIDE = True

STAT = ["--tool", "stat", "-e", "page-faults"]


class Directory:
    """Within it the current directory is another one."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.before = os.getcwd()
        os.chdir(self.path)

    def __exit__(self, *_):
        os.chdir(self.before)


class ClientCase(ServerCase):
    def client_env(self, more=None):
        return {"TACHO_SERVER": self.server.url, "TACHO_TOKEN": self.server.token, **(more or {})}

    def client(self, *args, env=None, **more):
        return self.tacho(*args, env=self.client_env(env), **more)

    def done(self, *args, **more):
        """Standard output of a command that succeeds."""
        result = self.client(*args, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def newest(self):
        return json.loads(self.done("show", "last", "--json"))

    def start_client(self, *args):
        return self.start([TACHO, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=environment(self.home, self.client_env()))


class Run(ClientCase):
    def test_output_and_status_are_passed_on(self):
        result = self.client("run", *STAT, "--", "sh", "-c", "echo out; echo err >&2; exit 3")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertEqual(result.stdout, "out\n")
        self.assertIn("err\n", result.stderr)
        self.assertIn(self.server.url, result.stderr)
        self.assertNotIn("\033", result.stderr)
        run = self.newest()
        self.assertEqual((run["state"], run["exit_status"], run["tool"]), ("done", 3, "stat"))

    def test_bytes_stay_what_they_are(self):
        script = "import os; os.write(1, bytes(range(256)) * 3000)"
        result = self.client("run", "-q", *STAT, "--", "/usr/bin/python3", "-c", script, text=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, bytes(range(256)) * 3000)
        self.assertEqual(result.stderr, b"")

    def test_words_directory_and_environment(self):
        os.mkdir(self.path("here"))
        script = "printf '%s|' \"$@\" \"$ONE\" \"$TWO\"; pwd"
        out = self.done("run", "-q", *STAT, "--env", "ONE=1 ; x", "--env", "TWO", "--", "sh", "-c", script, "sh",
                        "a b", "$HOME;`x`", "", cwd=self.path("here"), env={"TWO": "from here"})
        self.assertEqual(out, "a b|$HOME;`x`||1 ; x|from here|%s\n" % self.path("here"))
        self.assertEqual(self.done("run", "-q", *STAT, "--shell", "echo", "$((2 + 3))", "|", "tr", "5", "6"), "6\n")

    def test_signal_and_missing_programs(self):
        self.assertEqual(self.client("run", *STAT, "--", "sh", "-c", "kill -9 $$").returncode, 128 + 9)
        result = self.client("run", *STAT, "--", "/nowhere/at-all")
        self.assertEqual(result.returncode, 127, result.stderr)
        self.assertIn("/nowhere/at-all", result.stderr)
        result = self.client("run", *STAT, "--", self.write("text", "no program\n"))
        self.assertEqual(result.returncode, 126, result.stderr)

    def test_options_reach_the_server(self):
        self.done("run", "-q", "-e", "page-faults", "-e", "task-clock", "-s", "cpu-clock", "-F", 500, "-I", "0.02",
                  "--call-graph", "none", "--session", "tuning", "--description", "what it is", "--note", "a note",
                  "--tag", "x", "--tag", "y", "--keep-raw", "--shared", "--timeout", 30, "--", "true")
        run = self.newest()
        self.assertEqual(run["tool"], "both")
        self.assertEqual(run["events"], ["page-faults", "task-clock"])
        self.assertEqual(run["sample"]["events"], ["cpu-clock"])
        self.assertEqual(run["sample"]["frequency"], 500)
        self.assertEqual((run["interval"], run["timeout"]), (0.02, 30))
        self.assertEqual((run["description"], run["note"], run["tags"]), ("what it is", "a note", ["x", "y"]))
        self.assertFalse(run["exclusive"])
        self.assertTrue(run["raw"])
        sessions = self.done("ls", "--sessions")
        self.assertRegex(sessions, r"(?m)^\w{8} .* 1 +tuning$")

    def test_detached(self):
        uuid = self.done("run", "-d", *STAT, "--", "sh", "-c", "echo later").strip()
        self.assertRegex(uuid, r"^[0-9a-f-]{36}$")
        self.server.wait_run(uuid)
        self.assertEqual(self.done("export", uuid, "-f", "log"), "later\n")

    def test_attached(self):
        child = self.start_ready("idlethreads", 1)
        self.done("run", "-q", *STAT, "-p", child.pid, "--duration", "0.3")
        self.assertEqual(self.newest()["pids"], [child.pid])

    def test_ctrl_c_cancels_and_keeps(self):
        for sig in (signal.SIGINT, signal.SIGTERM):
            client = self.start_client("run", *STAT, "-I", "0.02", "--", "sh", "-c", "echo ready; sleep 60; echo no")
            self.assertEqual(client.stdout.readline(), "ready\n")
            client.send_signal(sig)
            out, err = client.communicate(timeout=LIMIT_S)
            self.assertEqual((client.returncode, out), (128 + sig, ""), err)
            self.assertIn("kept", err)
            run = self.newest()
            self.assertEqual(run["state"], "cancelled")
            self.assertGreater(len(self.done("export", run["uuid"][:8], "-f", "csv").splitlines()), 1)

    def test_the_server_is_stopped_meanwhile(self):
        client = self.start_client("run", *STAT, "--", "sh", "-c", "echo ready; sleep 60")
        self.assertEqual(client.stdout.readline(), "ready\n")
        self.server.restart()
        _, err = client.communicate(timeout=LIMIT_S)
        self.assertNotEqual(client.returncode, 0, err)
        self.assertIn(self.newest()["state"], ("interrupted", "cancelled"))

    def test_terminal(self):
        """The program goes on until the line that tells of it was seen with all that it has."""
        def end_when_seen(output, _):
            seen = re.sub(rb"\x1b\[[0-9;]*[A-Za-z]", b"", output)
            if all(re.search(words, seen) for words in (rb"running \d", rb"task-clock", rb"\d samples")):
                self.write("enough", "")
        status, output = in_terminal([TACHO, "run", "-e", "task-clock", "-I", "0.05", "--", "sh", "-c",
                                      'until [ -e "$1" ]; do :; done', "sh", self.path("enough")],
                                     environment(self.home, self.client_env()), feed=end_when_seen)
        self.assertEqual(status, 0, output)
        text = plain(output)
        self.assertRegex(text, r"running \d")
        self.assertRegex(text, r"task-clock")
        self.assertRegex(text, r"\d samples")

    def test_wrong_usage(self):
        for words, sentence in ((["run"], "what is to be measured"), (["run", "-p", "1", "--", "true"], "either"),
                                (["run", "-F", "1", "-c", "1", "--", "true"], "choose one"),
                                (["run", "-F", "x", "--", "true"], "-F takes a number"),
                                (["run", "--tool", "x", "--", "true"], "tool"),
                                (["run", "-e", "no-such-event", "--", "true"], "no-such-event")):
            result = self.client(*words)
            self.assertEqual(result.returncode, 125, words)
            self.assertOneSentence(result.stderr)
            self.assertIn(sentence, result.stderr)


class Lists(ClientCase):
    def test_show_names_the_run_beside(self):
        """With the sentences of the server, which the page and the report show, too."""
        shared = self.done("run", "-d", "--shared", *STAT, "--", "sleep", 60).strip()
        self.server.wait_state(shared, "running")
        inside = self.done("run", "-d", *STAT, "--", "sleep", 0.1).strip()
        self.server.wait_run(inside)
        self.server.post("benchmark/%s/cancel" % shared)
        answer = self.server.get("benchmark/%s/ledger" % inside)
        sentences = [e["sentence"] for e in answer["entries"] if e["sentence"]]
        self.assertIn("Another run was measured at the same time: sleep 60 (%s)." % shared[:8], sentences)
        shown = self.done("show", inside)
        self.assertEqual([line.strip() for line in shown.partition("\nLedger\n")[2].splitlines()], sentences)
        report = self.server.get_bytes("benchmark/%s.html" % inside).decode()
        for sentence in sentences:
            self.assertIn("<li>%s</li>" % sentence, report)
        warnings = self.server.benchmark(inside)["ledger"]["warnings"]
        self.assertEqual([w["words"] for w in warnings if w["key"] == "overlap"], ["ran beside another"])
        self.assertFalse(answer["verdict"]["good"])
        self.assertIn(warnings[0]["sentence"], answer["verdict"]["text"])

    def test_ls_show_rm(self):
        first = self.done("run", "-d", *STAT, "--", "true").strip()
        second = self.done("run", "-d", "--tool", "record", "-s", "cpu-clock", "-F", 2000, "--session", "other",
                           "--", shape()).strip()
        for uuid in (first, second):
            self.server.wait_run(uuid)
        lines = self.done("ls").splitlines()
        self.assertRegex(lines[0], r"^RUN +STATE +WHEN +WHO +TOOK +TOOL +COMMAND$")
        self.assertEqual([line.split()[0] for line in lines[1:]], [second[:8], first[:8]])
        self.assertIn(" done ", lines[1])
        self.assertEqual(len(self.done("ls", "other").splitlines()), 2)
        self.assertEqual(len(self.done("ls", "-n", "1").splitlines()), 2)
        listed = json.loads(self.done("ls", "--json"))
        self.assertEqual([r["uuid"] for r in listed["runs"]], [second, first])
        shown = self.done("show", second[:10])
        self.assertIn(second, shown)
        self.assertRegex(shown, r"(?m)^ +\d+\.\d+ % +\d+\.\d+ %  spin")
        self.assertRegex(shown, r"samples, none lost|were lost")
        self.assertRegex(self.done("show", first), r"(?m)^ *\d[\d,.]* .* page-faults$")
        self.done("rm", first[:8])
        self.assertEqual(self.server.request("GET", "benchmark/" + first).status, 404)
        self.done("rm", "--session", "other")
        self.assertEqual(len(self.done("ls").splitlines()), 1)

    def test_ls_says_how_programs_ended(self):
        for command in ("exit 3", "kill -9 $$", "true"):
            self.client("run", "-q", *STAT, "--shell", "--", command)
        states = [line[10:].split("  ")[0] for line in self.done("ls").splitlines()]
        self.assertEqual(states, ["STATE", "done", "signal 9", "exit 3"])

    def test_colours_on_a_terminal_only(self):
        self.done("run", "-q", *STAT, "--", "true")
        env = environment(self.home, self.client_env())
        _, output = in_terminal([TACHO, "ls"], env)
        self.assertIn(b"\033[", output)
        _, output = in_terminal([TACHO, "ls"], dict(env, NO_COLOR="1"))
        self.assertNotIn(b"\033[3", output)
        self.assertNotIn("\033", self.done("ls") + self.done("show", "last"))

    def test_names_that_lead_nowhere(self):
        for words in (["show", "last"], ["show", "abcdef12"], ["rm", "abcdef12"], ["ls", "nothing"],
                      ["export", "abcdef12", "-f", "csv"], ["rm", "--session", "nothing"]):
            result = self.client(*words)
            self.assertEqual(result.returncode, 1, words)
            self.assertOneSentence(result.stderr)
        for words in (["show"], ["rm"], ["export", "last"], ["export", "-f", "csv"],
                      ["export", "last", "-f", "exe"]):
            result = self.client(*words)
            self.assertEqual(result.returncode, 2, words)
            self.assertOneSentence(result.stderr)

    def test_titles_are_shown_as_text(self):
        self.server.session("evil \033[31m\nname")
        out = self.done("ls", "--sessions")
        self.assertNotIn("\033", out)
        self.assertEqual(len(out.splitlines()), 2)


class Export(ClientCase):
    def test_formats(self):
        uuid = self.done("run", "-q", "-d", "-e", "page-faults", "--", shape()).strip()
        self.server.wait_run(uuid)
        starts = {"csv": b"time_s", "json": b"{", "h5": b"\x89HDF", "folded": b"shape;", "svg": b"<?xml",
                  "html": b"<!doctype", "data": b"PERFILE2"}
        for format, start in starts.items():
            path = self.path("it." + format)
            result = self.client("export", "last", "-o", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("written to", result.stderr)
            with open(path, "rb") as file:
                self.assertTrue(file.read().startswith(start), format)
            if format == "data":
                self.assertRegex(result.stderr, r"tacho: export: .*\n.*written")
        self.assertEqual(self.done("export", "last", "-f", "csv"), open(self.path("it.csv")).read())
        self.done("export", "--session", "command line", "-q", "-o", self.path("all.h5"))
        part = self.done("export", "last", "-f", "csv", "--what", "samples", "--to", "1ms")
        self.assertLess(len(part.splitlines()), 20)

    def test_what_cannot_be_written_leaves_nothing(self):
        self.done("run", "-q", *STAT, "--", "true")
        result = self.client("export", "last", "-f", "svg", "-o", self.path("no.svg"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("no samples", result.stderr)
        self.assertEqual([n for n in os.listdir(self.home) if n.startswith("no.svg")], [])
        result = self.client("export", "last", "-f", "csv", "-o", self.path("no/where.csv"))
        self.assertEqual(result.returncode, 1)
        self.assertOneSentence(result.stderr)
        with open("/dev/full", "w") as full:
            result = self.client("export", "last", "-f", "csv", stdout=full)
        self.assertEqual(result.returncode, 1)
        self.assertIn("No space left", result.stderr)


class Servers(ClientCase):
    def test_no_server(self):
        for words in (["ls"], ["show", "last"], ["rm", "x"]):
            result = self.tacho(*words, "--server", "http://127.0.0.1:9")
            self.assertEqual(result.returncode, 1)
            self.assertOneSentence(result.stderr)
            self.assertIn("tacho serve", result.stderr)
        result = self.tacho("run", "--server", "http://127.0.0.1:9", "--", "true")
        self.assertEqual(result.returncode, 125)
        self.assertOneSentence(result.stderr)

    def test_tokens(self):
        url = self.server.url
        wrong = self.tacho("ls", env={"TACHO_SERVER": url, "TACHO_TOKEN": "x" * 43})
        self.assertEqual(wrong.returncode, 1)
        self.assertOneSentence(wrong.stderr)
        self.assertIn("--token-file", wrong.stderr)
        path = self.write("token", self.server.token + "\n")
        self.assertEqual(self.tacho("ls", "--server", url, "--token-file", path).returncode, 0)
        whole = "%s/?token=%s" % (url, self.server.token)
        self.assertEqual(self.tacho("ls", "--server", whole).returncode, 0)
        # A server of one's own needs none.
        for words, env in ((["--server", url], {"TACHO_DATA": self.server.data}), (["--server", self.server.data], {}),
                           ([], {"TACHO_DATA": self.server.data}), ([], {"TACHO_SERVER": self.server.data})):
            result = self.tacho("ls", *words, env=env)
            self.assertEqual(result.returncode, 0, result.stderr)
        # But somebody who names it and has no right to its directory does.
        result = self.tacho("ls", "--server", url)
        self.assertEqual(result.returncode, 1)
        self.assertIn("needs a token", result.stderr)
        self.assertEqual(self.tacho("ls", "--server", "ftp://x").returncode, 2)

    def test_tls(self):
        openssl = needs_program("openssl")
        subprocess.run([openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=here",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", self.path("key"),
                        "-out", self.path("cert")], check=True, stderr=subprocess.DEVNULL)
        server = self.new_server("--tls-cert", self.path("cert"), "--tls-key", self.path("key"))
        self.assertTrue(server.url.startswith("https://"))
        env = {"TACHO_SERVER": server.url, "TACHO_TOKEN": server.token}
        known = self.tacho("run", "-q", *STAT, "--ca", self.path("cert"), "--", "echo", "safe", env=env)
        self.assertEqual((known.returncode, known.stdout), (0, "safe\n"), known.stderr)
        unknown = self.tacho("ls", env=env)
        self.assertEqual(unknown.returncode, 1)
        self.assertOneSentence(unknown.stderr)
        self.assertIn("certificate", unknown.stderr)

    def squatter(self, host="127.0.0.1", port=0):
        """Somebody else who holds a port; the list is what was sent to him."""
        seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                seen.append((self.path, self.headers.get("Authorization")))
                self.send_response(404)
                self.end_headers()

            def log_message(self, *_):
                pass
        other = http.server.HTTPServer((host, port), Handler)
        threading.Thread(target=other.serve_forever, daemon=True).start()
        self.addCleanup(other.server_close)
        self.addCleanup(other.shutdown)
        return other.server_port, seen

    def test_another_server_gets_no_token(self):
        port, seen = self.squatter()
        for host in ("127.0.0.1", "localhost", "0.0.0.0"):
            result = self.tacho("ls", "--server", "http://%s:%d" % (host, port), env={"TACHO_DATA": self.server.data})
            self.assertEqual(result.returncode, 1)
            self.assertIn("not as a tacho server would", result.stderr)
        self.assertEqual([token for _, token in seen], [None] * 3)

    def test_a_token_goes_where_it_was_meant_to_go(self):
        """To a server that was named with it, or through the socket of one's own; not to whoever holds a port."""
        nowhere = {"TACHO_DATA": self.path("nothing"), "TACHO_TOKEN": "x" * 43}
        by_file = ["--token-file", self.write("token", "y" * 43)]
        for words, env in (([], nowhere), (by_file, {"TACHO_DATA": self.path("nothing")})):
            result = self.tacho("ls", *words, env=env)
            self.assertEqual(result.returncode, 1)
            self.assertOneSentence(result.stderr)
            self.assertIn("there is a token, but no server is named", result.stderr)
            self.assertIn("TACHO_SERVER", result.stderr)
        # TACHO_TOKEN and TACHO_SERVER belong together.
        port, seen = self.squatter()
        other = "http://127.0.0.1:%d" % port
        self.client("ls", "--server", other)
        self.client("ls", "--server", other, *by_file)
        self.tacho("ls", "--server", other, env=nowhere)
        self.assertEqual([token for _, token in seen], [None, "Bearer " + "y" * 43, "Bearer " + "x" * 43])

    def test_a_token_by_the_socket(self):
        """It says who one is there."""
        token = self.server.post("users", {"name": "ann", "role": "look"})["token"]
        env = {"TACHO_DATA": self.server.data, "TACHO_TOKEN": token}
        self.assertEqual(self.tacho("ls", env=env).returncode, 0)
        refused = self.tacho("run", "--", "true", env=env)
        self.assertEqual(refused.returncode, 125)
        self.assertIn("you are 'ann'", refused.stderr)
        self.assertEqual(self.tacho("ls", env={**env, "TACHO_TOKEN": "x" * 43}).returncode, 1)

    def test_who_took_the_port_is_sent_nothing(self):
        url, port = self.server.url, self.server.port
        self.server.kill9()
        _, seen = self.squatter(port=port)
        for words in ([], ["--server", url]):
            result = self.tacho("run", *words, "--", "echo", "secret", env={"TACHO_DATA": self.server.data})
            self.assertEqual(result.returncode, 125)
            self.assertOneSentence(result.stderr)
            self.assertIn("tacho serve", result.stderr)
        self.assertEqual(seen, [])

    def test_socket_of_the_data_directory(self):
        env = {"TACHO_DATA": self.server.data}
        path = os.path.join(self.server.data, "server.sock")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        run = self.tacho("run", *STAT, "--", "echo", "by the socket", env=env)
        self.assertEqual((run.returncode, run.stdout), (0, "by the socket\n"), run.stderr)
        self.assertIn(self.server.url, run.stderr)
        # One that is left over, and a path that is longer than an address may be.
        self.server.kill9()
        deep = os.path.join(self.server.data, *["d" * 60] * 3)
        os.makedirs(deep, 0o700)
        self.server.data = deep
        with socket.socket(socket.AF_UNIX) as left, Directory(deep):
            left.bind("server.sock")
        self.server.start()
        self.assertEqual(self.tacho("ls", env={"TACHO_DATA": deep}).returncode, 0)
        self.server.stop()
        self.assertFalse(os.path.exists(os.path.join(deep, "server.sock")))

    def test_socket_refuses_other_users(self):
        needs_root("to become somebody else")
        needs_program("setpriv")
        path = os.path.join(self.server.data, "server.sock")
        ask = "import http.client, socket, sys\nc = http.client.HTTPConnection('localhost')\n" \
              "c.sock = socket.socket(socket.AF_UNIX)\nc.sock.connect(sys.argv[1])\n" \
              "c.request('GET', '/api/v1/me')\nprint(c.getresponse().status)"

        def status(*before):
            return subprocess.run([*before, "/usr/bin/python3", "-c", ask, path], text=True, capture_output=True)
        self.assertEqual(status().stdout, "200\n")
        self.assertIn("PermissionError", status(*AS_NOBODY).stderr)
        # Also if the directory does not protect it.
        os.chmod(self.server.root, 0o755)
        os.chmod(self.server.data, 0o755)
        os.chmod(path, 0o666)
        self.assertEqual(status(*AS_NOBODY).stdout, "401\n")

    def test_directory_of_others_is_not_trusted(self):
        os.chmod(self.server.data, 0o777)
        result = self.tacho("ls", env={"TACHO_DATA": self.server.data})
        self.assertEqual(result.returncode, 1)
        self.assertOneSentence(result.stderr)
        self.assertIn("chmod go-w", result.stderr)

    def test_socket_of_a_server_with_tls(self):
        openssl = needs_program("openssl")
        subprocess.run([openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=here",
                        "-keyout", self.path("key"), "-out", self.path("cert")], check=True,
                       stderr=subprocess.DEVNULL)
        server = self.new_server("--tls-cert", self.path("cert"), "--tls-key", self.path("key"))
        result = self.tacho("ls", env={"TACHO_DATA": server.data})
        self.assertEqual(result.returncode, 0, result.stderr)


class BadServers(Case):
    """What answers may be anything."""

    ANSWERS = [b"", b"hello", b"5", b"[]", b"{}", b"null", b'{"runs": 3}', b'{"runs": [5, null, {}]}',
               b'{"runs": [{"uuid": "../../../x", "state": []}], "next": {}}', b"{" * 100000,
               b'{"runs": [{"uuid": "\\u001b[31m", "state": "\\u001b[1m"}], "sessions": [{"uuid": 4}], "next": "1"}',
               b'{"error": "no"}', b'{"error": {"message": 7}}', b'{"uuid": "x"}', b"\xff\xfe\x00"]

    def test_answers_of_any_kind(self):
        case = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(case.status)
                self.send_header("Content-Length", str(len(case.answer)))
                self.end_headers()
                self.wfile.write(case.answer)

            do_POST = do_DELETE = do_GET

            def log_message(self, *_):
                pass
        other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=other.serve_forever, daemon=True).start()
        self.addCleanup(other.shutdown)
        env = {"TACHO_SERVER": "http://127.0.0.1:%d" % other.server_port, "TACHO_TOKEN": "x"}
        for self.status in (200, 302, 404, 500):
            for self.answer in self.ANSWERS:
                for words in (["ls"], ["ls", "-s"], ["show", "last"], ["rm", "ab"],
                              ["export", "last", "-f", "csv", "-o", self.path("out")], ["run", "--", "true"]):
                    if words[0] == "run" and self.status == 200:
                        continue  # who says that it goes on is believed
                    result = self.tacho(*words, env=env)
                    self.assertIn(result.returncode, (0, 1, 125), (self.status, self.answer, words))
                    self.assertNotIn("\033", result.stdout + result.stderr)
                    if result.returncode:
                        self.assertOneSentence(result.stderr)
        self.assertEqual(os.listdir(self.home), [])


if __name__ == "__main__":
    unittest.main()
