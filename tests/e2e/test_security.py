"""What must be refused is refused, and what cannot be refused does no harm."""

import http.client
import json
import os
import re
import socket
import urllib.parse
import uuid

from forward import Browser, Forwarder
from helpers import LIMIT_S, load
from server import RUN_TOKENS, ServerCase, events_of
from test_openapi import routes

SIDE_BY_SIDE = True

SOME_ID = str(uuid.uuid4())


def raw(server, data, seconds=60, port=None):
    """Bytes to the server; all that it answers until it closes or is silent."""
    with socket.create_connection((server.host, port or server.port), timeout=seconds) as s:
        answer = b""
        try:
            s.sendall(data)
            while True:
                block = s.recv(65536)
                if not block:
                    break
                answer += block
        except (ConnectionError, socket.timeout):
            pass
        return answer


def request_text(method, target, headers=()):
    lines = ["%s %s HTTP/1.1" % (method, target), "Connection: close", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def status_of(answer):
    found = re.match(rb"HTTP/1\.[01] (\d+)", answer)
    return int(found[1]) if found else 0


class Tokens(ServerCase):
    options = RUN_TOKENS

    def setUp(self):
        super().setUp()
        # Real things, so that what is refused would have succeeded.
        self.session = self.server.session("to be kept")
        run = self.server.run(self.session, "true")
        self.run_id = run["uuid"]
        self.server.wait_run(self.run_id)
        self.before = self.now()

    def now(self):
        """The session; how large its runs are changes when they are tidied up."""
        session = self.server.get("session/" + self.session)
        for run in session["runs"]:
            del run["bytes"]
        return session

    def path_of(self, path):
        own = self.session if path.startswith("/api/v1/session/") else self.run_id
        return path.replace("{id}", own).replace("{name}", "ann")

    def check_all(self, status, **how):
        """Every route that is not open answers with this status, in JSON, and does nothing."""
        asked = 0
        for method, path, role in routes(self):
            if role == "open":
                continue
            asked += 1
            with self.subTest(method=method, path=path):
                answer = self.server.request(method, self.path_of(path),
                                             None if method == "GET" else {"title": "taken over"}, **how)
                self.assertEqual(answer.status, status, answer)
                self.assertEqual(answer.json()["error"]["status"], status)
        self.assertGreater(asked, 15)
        self.assertEqual(self.now(), self.before)

    def test_no_token(self):
        self.check_all(401, token=None)

    def test_wrong_token(self):
        self.check_all(401, token="A" * 43)

    def test_revoked_token(self):
        token = self.server.post("users", {"name": "ann", "role": "administer"})["token"]
        self.server.get("me", token=token)
        self.server.delete("users/ann")
        self.check_all(401, token=token)

    def test_stream_of_a_revoked_token_ends(self):
        token = self.server.post("users", {"name": "ann", "role": "look"})["token"]
        run = self.server.run(self.session, "sleep 60")["uuid"]
        self.server.wait_state(run, "running")
        connection = self.server.connect(10)  # before anybody looks by himself
        self.addCleanup(connection.close)
        connection.request("GET", "/api/v1/live?run=" + run, headers={"Authorization": "Bearer " + token})
        stream = connection.getresponse()
        self.assertEqual(stream.status, 200)
        self.server.delete("users/ann")
        ended = [event for event in events_of(stream) if event.name == "end"]
        # It was cut off while the run went on.
        self.assertEqual(ended, [])
        self.assertEqual(self.server.benchmark(run)["state"], "running")

    def test_odd_tokens(self):
        own = self.server.token
        for value in ("Bearer", "Bearer ", "Bearer " + own[:-1], "Bearer " + own + "x", "Basic " + own,
                      "Bearer " + own.swapcase(), "Bearer %00" + own, own, "Bearer a b", "Bearer " + "x" * 4000,
                      "Bearer ' OR 1=1 --"):
            with self.subTest(value[:40]):
                answer = self.server.request("GET", "me", token=None, headers={"Authorization": value})
                self.assertIn(answer.status, (400, 401))
        self.assertEqual(self.server.request("GET", "me", token=None,
                                             headers={"Cookie": "tacho=" + own}).status, 401)

    def test_unknown_paths_need_a_token_too(self):
        self.assertIn(self.server.request("GET", "nothing/here", token=None).status, (401, 404))

    def test_role_too_low(self):
        rank = {"look": 1, "run": 2, "administer": 3}
        for name in ("look", "run"):
            token = self.server.post("users", {"name": "u-" + name, "role": name})["token"]
            refused = 0
            for method, path, role in routes(self):
                if role == "open" or path.endswith("/live"):
                    continue
                with self.subTest(name, method=method, path=path):
                    if rank[role] > rank[name]:
                        refused += 1
                        answer = self.server.request(method, self.path_of(path), {}, token=token)
                        self.assertEqual(answer.status, 403, answer)
                        self.assertIn(role, answer.message())
                    elif method == "GET":
                        answer = self.server.request(method, self.path_of(path), token=token)
                        self.assertNotIn(answer.status, (401, 403), answer)
            self.assertGreater(refused, 2)
        self.assertEqual(self.now(), self.before)

    def test_token_is_not_told(self):
        token = self.server.token
        for path in ("me", "users", "/metrics", "/", "openapi.json", "queue"):
            self.assertNotIn(token, self.server.request("GET", path).text)
        # Nothing in the data directory has a secret, only what is made of it.
        browser = Browser()
        browser.ask(self.server.port, "GET", "/?token=" + token)
        secrets = [token, *browser.cookies.values(), self.server.post("users", {"name": "ann", "role": "run"})["token"],
                   self.tacho("users", "token", "ann", "--data", self.server.data).stdout.strip()]
        self.assertEqual([len(s) for s in secrets], [43] * 4)
        seen = 0
        for folder, _, files in os.walk(self.server.data):
            for file in files:
                if file != "server.sock":
                    with open(os.path.join(folder, file), "rb") as data:
                        content = data.read()
                    seen += 1
                    for secret in secrets:
                        self.assertNotIn(secret.encode(), content, file)
        self.assertGreater(seen, 2)

    def test_a_run_cannot_show_the_token(self):
        """What a run of the server's own user finds in the data directory is in its log, which all may see."""
        server = self.new_server()
        run = server.run(server.session(), "cat %s/admin-token %s/tokens/*; true" % ((server.data,) * 2), shell=True)
        server.wait_run(run["uuid"])
        look = server.post("users", {"name": "ann", "role": "look"})["token"]
        log = server.expect(200, "GET", "benchmark/%s.log" % run["uuid"], token=look).text
        self.assertNotIn(server.token, log)
        self.assertIn("No such file", log)

    def test_tokens_after_a_restart(self):
        token = self.server.token
        ann = self.server.post("users", {"name": "ann", "role": "run"})["token"]
        self.server.restart()
        self.assertNotEqual(self.server.token, token)
        self.assertEqual(self.server.request("GET", "me", token=token).status, 401)
        self.assertEqual(self.server.get("me")["role"], "administer")
        self.assertEqual(self.server.get("me", token=ann)["role"], "run")

    def test_files_of_earlier_versions_go(self):
        self.server.stop()
        tokens = os.path.join(self.server.data, "tokens")
        os.mkdir(tokens)
        for path in (os.path.join(self.server.data, "admin-token"), os.path.join(tokens, "ann")):
            with open(path, "w") as file:
                file.write("x" * 43 + "\n")
        self.server.start()
        self.assertFalse(os.path.exists(os.path.join(self.server.data, "admin-token")))
        self.assertFalse(os.path.exists(tokens))
        self.assertIn("tacho users token", "".join(self.server.errors))


class Hosts(ServerCase):
    options = ("--allow-host", "perf.example.org")

    def ask(self, *headers, method="GET", path="/api/v1/me"):
        own = "Authorization: Bearer " + self.server.token
        return status_of(raw(self.server, request_text(method, path, [own, *headers])))

    def test_hosts(self):
        for host in ("127.0.0.1:%d" % self.server.port, "127.0.0.1", "localhost", "localhost:8080",
                     "LOCALHOST:1", "[::1]:5000", "perf.example.org", "perf.example.org:443"):
            self.assertEqual(self.ask("Host: " + host), 200, host)
        for host in ("evil.example", "evil.example:%d" % self.server.port, "127.0.0.1.evil.example",
                     "localhost.evil.example", "evil.example@127.0.0.1", "127.0.0.1@evil.example",
                     "xperf.example.org", "perf.example.org.evil.example", "", "localhost:x",
                     "localhost/evil", "localhost evil", "0.0.0.0", "[::1].evil.example", "169.254.0.1"):
            self.assertIn(self.ask("Host: " + host), (400, 403, 421), host)
        self.assertIn(self.ask(), (400, 403), "without Host")
        self.assertIn(self.ask("Host: localhost", "Host: evil.example"), (400, 403), "two of them")

    def test_open_path_too(self):
        answer = raw(self.server, request_text("GET", "/healthz", ["Host: evil.example"]))
        self.assertIn(status_of(answer), (400, 403, 421))

    def test_origins(self):
        host = "Host: 127.0.0.1:%d" % self.server.port
        for method, path in (("GET", "/api/v1/me"), ("POST", "/api/v1/sessions"),
                             ("DELETE", "/api/v1/session/" + SOME_ID), ("GET", "/")):
            for origin in ("http://evil.example", "https://127.0.0.1.evil.example", "null",
                           "http://127.0.0.1:1", "http://localhost.evil.example:%d" % self.server.port,
                           "file://", "http://", "x" * 500):
                with self.subTest(method=method, path=path, origin=origin):
                    self.assertEqual(self.ask(host, "Origin: " + origin, method=method, path=path), 403)
        self.assertEqual(self.ask(host, "Origin: http://127.0.0.1:%d" % self.server.port), 200)
        self.assertEqual(self.ask("Host: perf.example.org", "Origin: http://perf.example.org"), 200)

    def test_no_page_may_read_answers(self):
        answer = self.server.request("GET", "me")
        self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])
        preflight = self.server.request("OPTIONS", "sessions", headers={
            "Origin": "http://evil.example", "Access-Control-Request-Method": "DELETE"})
        self.assertGreaterEqual(preflight.status, 400)
        self.assertIsNone(preflight.headers["Access-Control-Allow-Origin"])


class Cookies(ServerCase):
    def log_in(self, browser, server, port=None):
        answer, _ = browser.ask(port or server.port, "GET", "/?token=" + server.token)
        self.assertIn(answer.status, (302, 303), answer.status)
        self.assertNotIn(server.token, answer.headers["Location"])
        return answer

    def test_attributes(self):
        answer = self.log_in(Browser(), self.server)
        line = answer.headers["Set-Cookie"]
        self.assertRegex(line, r"^tacho_[0-9a-f]{8}=")
        words = [w.strip().lower() for w in line.split(";")[1:]]
        for word in ("httponly", "samesite=strict", "path=/"):
            self.assertIn(word, words)

    def test_cookie_is_not_the_token(self):
        browsers = [Browser(), Browser()]
        for browser in browsers:
            self.log_in(browser, self.server)
        values = [next(iter(b.cookies.values())) for b in browsers]
        self.assertEqual(len({self.server.token, *values}), 3)
        self.assertEqual(self.server.request("GET", "me", token=values[0]).status, 401)
        browsers[0].cookies = {name: self.server.token for name in browsers[0].cookies}
        self.assertEqual(browsers[0].ask(self.server.port, "GET", "/api/v1/me")[0].status, 401)

    def test_cookie_goes_with_its_token(self):
        browser = Browser()
        for how in ("revoke", "token"):
            token = self.server.post("users", {"name": "ann", "role": "look"})["token"]
            browser.ask(self.server.port, "GET", "/?token=" + token)
            self.assertEqual(browser.ask(self.server.port, "GET", "/api/v1/me")[0].status, 200)
            self.assertEqual(self.tacho("users", how, "ann", "--data", self.server.data).returncode, 0)
            self.assertEqual(browser.ask(self.server.port, "GET", "/api/v1/me")[0].status, 401)
            self.assertEqual(self.server.request("GET", "me", token=token).status, 401)

    def test_cookie_survives_a_restart(self):
        browser = Browser()
        self.log_in(browser, self.server)
        self.server.restart()
        self.assertEqual(browser.ask(self.server.port, "GET", "/api/v1/me")[0].status, 200)

    def test_wrong_token_gets_none(self):
        answer, _ = Browser().ask(self.server.port, "GET", "/?token=" + "x" * 43)
        self.assertEqual(answer.status, 401)
        self.assertIsNone(answer.headers["Set-Cookie"])

    def test_cookie_is_enough(self):
        browser = Browser()
        self.log_in(browser, self.server)
        self.assertEqual(browser.ask(self.server.port, "GET", "/")[0].status, 200)
        answer, body = browser.ask(self.server.port, "GET", "/api/v1/me")
        self.assertEqual((answer.status, json.loads(body)["role"]), (200, "administer"))
        answer, _ = browser.ask(self.server.port, "POST", "/api/v1/sessions", '{"title": "x"}',
                                Origin="http://127.0.0.1:%d" % self.server.port,
                                Content_Type="application/json")
        self.assertEqual(answer.status, 201)

    def test_foreign_page_cannot_use_it(self):
        browser = Browser()
        self.log_in(browser, self.server)
        for method, path in (("POST", "/api/v1/sessions"), ("GET", "/api/v1/me"), ("POST", "/api/v1/import")):
            for extra in ({"Origin": "http://evil.example"}, {"Origin": "null"},
                          {"Origin": "http://evil.example", "Content_Type": "text/plain"},
                          {"Origin": "http://127.0.0.1:1"}):
                answer, _ = browser.ask(self.server.port, method, path, '{"title": "x"}', **extra)
                self.assertEqual(answer.status, 403, (method, path, extra))
        # A form or an image of another page, told by browsers that send no Origin.
        answer, _ = browser.ask(self.server.port, "POST", "/api/v1/sessions", '{"title": "x"}',
                                Sec_Fetch_Site="cross-site")
        self.assertEqual(answer.status, 403)
        self.assertEqual(self.server.get("sessions")["sessions"], [])

    def test_headers_of_the_page(self):
        browser = Browser()
        self.log_in(browser, self.server)
        answer, body = browser.ask(self.server.port, "GET", "/")
        policy = answer.headers["Content-Security-Policy"]
        self.assertTrue("default-src 'none'" in policy or "default-src 'self'" in policy, policy)
        self.assertIn("frame-ancestors 'none'", policy)
        self.assertNotIn("unsafe-inline' 'unsafe-eval", policy)
        self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
        self.assertIn(answer.headers["Referrer-Policy"], ("no-referrer", "same-origin"))
        # Nothing on it that the policy forbids.
        self.assertNotIn("unsafe", policy)
        for word in (rb"<script(?! [^>]*src=)", rb"<style", rb" style=", rb" on\w+=", rb"javascript:"):
            self.assertNotRegex(body, word)

    def test_asked_for_a_token(self):
        answer, body = Browser().ask(self.server.port, "GET", "/?run=%22%3E%3Cb%3E&view=flame")
        text = body.decode()
        self.assertEqual(answer.status, 401)
        self.assertTrue(answer.headers["Content-Type"].startswith("text/html"))
        self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
        self.assertNotIn("<script", text)
        # The form leads to what was asked for, with the token.
        self.assertIn('<form method="get" action="/">', text)
        self.assertIn('name="run" value="&quot;&gt;&lt;b&gt;"', text)
        self.assertIn('name="view" value="flame"', text)
        self.assertRegex(text, '<input id="token" name="token"')
        answer, body = Browser().ask(self.server.port, "GET", "//evil.example/x?y=1")
        self.assertIn('action="/evil.example/x"', body.decode())
        for wrong in ("x" * 43, "two%20words", "%3Cb%3E"):
            answer, body = Browser().ask(self.server.port, "GET", "/?token=" + wrong)
            self.assertEqual(answer.status, 401)
            self.assertIn("does not open it", body.decode())
            self.assertNotIn('value="', body.decode())

    def test_pasted_address_has_the_token(self):
        pasted = urllib.parse.quote("http://127.0.0.1:5000/?token=" + self.server.token, safe="")
        browser = Browser()
        answer, _ = browser.ask(self.server.port, "GET", "/?view=flame&token=" + pasted)
        self.assertEqual((answer.status, answer.headers["Location"]), (303, "/?view=flame"))
        self.assertEqual(browser.ask(self.server.port, "GET", "/")[0].status, 200)

    def test_through_a_forwarded_port(self):
        forward = Forwarder(self.server)
        self.addCleanup(forward.close)
        self.assertNotEqual(forward.port, self.server.port)
        for host in ("127.0.0.1", "localhost"):
            browser = Browser(host)
            answer = self.log_in(browser, self.server, forward.port)
            # It leads back to where the browser came from, not to the server's own port.
            self.assertNotIn(str(self.server.port), answer.headers["Location"])
            answer, body = browser.ask(forward.port, "GET", "/")
            self.assertEqual(answer.status, 200)
            self.assertNotIn(str(self.server.port).encode(), body)
            answer, _ = browser.ask(forward.port, "POST", "/api/v1/sessions", '{"title": "far"}',
                                    Origin="http://%s:%d" % (host, forward.port))
            self.assertEqual(answer.status, 201)
            answer, _ = browser.ask(forward.port, "POST", "/api/v1/sessions", '{"title": "x"}',
                                    Origin="http://%s:%d" % (host, self.server.port))
            self.assertEqual(answer.status, 403)

    def test_stream_through_a_forwarded_port(self):
        forward = Forwarder(self.server)
        self.addCleanup(forward.close)
        session = self.server.session()
        connection = http.client.HTTPConnection("127.0.0.1", forward.port, timeout=LIMIT_S)
        self.addCleanup(connection.close)
        connection.request("GET", "/api/v1/live?session=" + session,
                           headers={"Authorization": "Bearer " + self.server.token})
        stream = connection.getresponse()
        self.assertEqual(stream.status, 200)
        run = self.server.run(session, "true")
        for event in events_of(stream):
            if event.name == "state" and event.json()["state"] == "done":
                self.assertEqual(event.json()["uuid"], run["uuid"])
                return
        self.fail("the stream has ended")

    def test_two_servers_of_one_name(self):
        other = self.new_server()
        browser = Browser()
        for server in (self.server, other):
            self.log_in(browser, server)
        self.assertEqual(len(browser.cookies), 2, browser.cookies)
        mine, yours = self.server.session("mine"), other.session("yours")
        for server, own in ((self.server, mine), (other, yours)):
            answer, body = browser.ask(server.port, "GET", "/api/v1/sessions")
            self.assertEqual(answer.status, 200)
            self.assertEqual([s["uuid"] for s in json.loads(body)["sessions"]], [own])
        # The cookie of one opens nothing at the other.
        first = next(iter(browser.cookies))
        browser.cookies = {first: browser.cookies[first]}
        self.assertEqual(sorted(browser.ask(s.port, "GET", "/api/v1/me")[0].status
                                for s in (self.server, other)), [200, 401])


class Paths(ServerCase):
    def test_no_way_out(self):
        run = self.server.run(self.server.session(), "true")["uuid"]
        self.server.wait_run(run)
        up = ("../" * 8, "..%2f" * 8, "%2e%2e/" * 8, "%2e%2e%2f" * 8, "..\\" * 8, "..%5c" * 8,
              "%252e%252e%252f" * 8, "....//" * 8, ".%00./" * 8, "%c0%ae%c0%ae/" * 8)
        begins = ("/", "//", "/api/v1/", "/api/v1/benchmark/", "/api/v1/benchmark/%s/" % run,
                  "/api/v1/benchmark/%s." % run, "/api/v1/session/", "/api/v1/users/", "/assets/")
        headers = ["Host: localhost", "Authorization: Bearer " + self.server.token]
        for begin in begins:
            for way in up:
                for end in ("etc/passwd", "admin-token", "etc/passwd%00.json"):
                    for method in ("GET", "DELETE"):
                        answer = raw(self.server, request_text(method, begin + way + end, headers))
                        self.assertIn(status_of(answer), (400, 403, 404, 405, 409), begin + way + end)
                        self.assertNotIn(b"root:", answer)
                        self.assertNotIn(self.server.token.encode(), answer)
        for target in ("/etc/passwd", "file:///etc/passwd", "http://evil.example/api/v1/me", "*", "",
                       "/api/v1/benchmark/%s.json/.." % run, "/api/v1/benchmark/%s.%%2e%%2e" % run,
                       "/api/v1/benchmark/%s.tacho.db" % run, "/tacho.db", "/raw/", "/upload/"):
            answer = raw(self.server, request_text("GET", target, headers))
            self.assertNotEqual(status_of(answer), 200, target)
        self.assertEqual(self.server.benchmark(run)["state"], "done")

    def test_line_ends_do_not_make_headers(self):
        headers = ["Host: localhost", "Authorization: Bearer " + self.server.token]
        evil = "%0d%0aX-Evil:%201%0d%0a%0d%0abody"
        for target in ("/" + evil, "/api/v1/session/" + evil, "/api/v1/sessions?search=" + evil,
                       "/?session=" + evil, "/?token=" + evil, "/api/v1/live?run=" + evil,
                       "/?token=%s&x=%s" % (self.server.token, evil)):
            answer = raw(self.server, request_text("GET", target, headers))
            self.assertNotIn(b"\nX-Evil", answer, target)
            self.assertTrue(status_of(answer), target)


class Sizes(ServerCase):
    options = ("--upload-max", "1M", "--body-max", "64K")

    def test_body(self):
        answer = self.server.request("POST", "sessions", json.dumps({"title": "x" * 100000}))
        self.assertEqual(answer.status, 413)
        # Also when its size is not said beforehand.
        text = request_text("POST", "/api/v1/sessions", [
            "Host: localhost", "Authorization: Bearer " + self.server.token, "Transfer-Encoding: chunked"])
        answer = raw(self.server, text + b"10000\r\n" + b"x" * 65536 + b"\r\n10000\r\n" + b"x" * 65536 +
                     b"\r\n0\r\n\r\n")
        self.assertEqual(status_of(answer), 413, answer[:200])
        self.assertEqual(self.server.get("sessions")["sessions"], [])

    def test_upload(self):
        answer = self.server.request("POST", "import", b"x" * (2 << 20))
        self.assertEqual(answer.status, 413)
        self.assertTrue(answer.message())
        form = (b"--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\n" +
                b"x" * (2 << 20) + b"\r\n--b--\r\n")
        answer = self.server.request("POST", "import", form,
                                     headers={"Content-Type": "multipart/form-data; boundary=b"})
        self.assertEqual(answer.status, 413)
        self.assertEqual(self.server.get("sessions")["sessions"], [])
        self.assertEqual(os.listdir(os.path.join(self.server.data, "upload")), [])

    def test_headers(self):
        own = ["Host: localhost", "Authorization: Bearer " + self.server.token]
        for headers in (["X-Long: " + "x" * (1 << 20)], ["X-%d: y" % i for i in range(20000)],
                        ["Cookie: " + "; ".join("c%d=x" % i for i in range(50000))]):
            answer = raw(self.server, request_text("GET", "/api/v1/me", own + headers))
            self.assertIn(status_of(answer), (0, 400, 413, 431))
        answer = raw(self.server, request_text("GET", "/api/v1/sessions?search=" + "x" * (1 << 20), own))
        self.assertIn(status_of(answer), (0, 400, 413, 414, 431))
        self.assertEqual(self.server.get("me")["role"], "administer")

    def test_many_parameters(self):
        many = "&".join("run=%s" % SOME_ID for _ in range(300))
        answer = self.server.request("GET", "live?" + many)
        self.assertIn(answer.status, (400, 404, 414))
        self.assertEqual(self.server.get("me")["role"], "administer")


class Metacharacters(ServerCase):
    def setUp(self):
        super().setUp()
        self.mark = self.path("mark")
        touch = "touch " + self.mark
        self.evil = ["; %s" % touch, "$(%s)" % touch, "`%s`" % touch, "| %s" % touch, "&& %s" % touch,
                     "& %s &" % touch, "\n%s\n" % touch, "' ; %s ; '" % touch, "\" ; %s ; \"" % touch,
                     "> %s" % self.mark, "${IFS}%s" % touch, "\r\nX-Evil: 1\r\n\r\n",
                     "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "%s%n%x", "../../../x",
                     "'; DROP TABLE runs; --", "\u202e\u0007\u001b[31mred", "~root", "*", "\\", "-rf",
                     "--help", "=cmd|' /C calc'!A0"]
        self.session = self.server.session()

    def tearDown(self):
        self.assertFalse(os.path.exists(self.mark), "it was executed")
        super().tearDown()

    def check_answer(self, answer):
        """JSON that parses, or HTML without what was put into it; and no header of ours."""
        self.assertIsNone(answer.headers["X-Evil"])
        kind = answer.headers["Content-Type"] or ""
        if kind.startswith("application/json"):
            answer.json()
        if kind.startswith("text/html"):
            self.assertNotIn("<script>alert", answer.text)
            self.assertNotIn("<img src=x", answer.text)

    def files_of(self, run):
        for suffix in ("json", "csv", "jsonl", "folded", "svg", "html", "log", "data", "h5"):
            answer = self.server.request("GET", "benchmark/%s.%s" % (run, suffix))
            self.assertIsNone(answer.headers["X-Evil"], suffix)
            self.assertLess(answer.status, 500 + 2 * (answer.status == 501), (suffix, answer))
            if suffix == "svg" and answer.status == 200:
                self.assertNotIn("<script>alert", answer.text)
                self.assertNotIn("<img src=x", answer.text)
            disposition = answer.headers["Content-Disposition"] or ""
            self.assertNotRegex(disposition, r"[\r\n]|\.\./|[<>]")

    def test_titles_and_words(self):
        for text in self.evil:
            with self.subTest(text):
                made = self.server.expect(201, "POST", "sessions", {"title": text})
                self.check_answer(made)
                self.assertEqual(made.json()["title"], text)
                self.check_answer(self.server.request("GET", "sessions", query={"search": text}))
        run = self.server.run(self.session, "true", description=self.evil[1])
        self.server.wait_run(run["uuid"])
        for text in self.evil:
            if len(text) <= 100:
                changed = self.server.patch("benchmark/" + run["uuid"],
                                            {"note": text, "tags": [text], "description": text})
                self.assertEqual((changed["note"], changed["tags"]), (text, [text]))
            page = self.server.request("GET", "/")
            self.assertEqual(page.status, 200)
            self.check_answer(page)
        self.files_of(run["uuid"])

    def test_workload_is_not_a_shell(self):
        runs = []
        for text in self.evil:
            if text == "\\" or text.count("'") % 2 or text.count('"') % 2:
                continue  # the sentence about quotes is another test's
            runs.append((text, self.server.run(self.session, "echo " + text, tool="stat",
                                               events=["page-faults"])))
        for text in self.evil:
            runs.append((text, self.server.run(self.session, ["printf", "%s", text], tool="stat",
                                               events=["page-faults"])))
            runs.append((None, self.server.run(self.session, [text or "x", "x"])))
        for text, run in runs:
            ended = self.server.wait_run(run["uuid"], 120)
            if text is None:
                self.assertEqual(ended["state"], "failed", ended)
                self.check_answer(self.server.request("GET", "benchmark/" + run["uuid"]))
            elif run["argv"][0] == "printf":
                log = self.server.get_bytes("benchmark/%s.log" % run["uuid"])
                self.assertIn(text.strip().encode(), log)
        self.check_answer(self.server.request("GET", "/", query={"session": self.session}))
        self.files_of(runs[1][1]["uuid"])

    def test_surroundings_of_the_workload(self):
        for text in self.evil:
            with self.subTest(text):
                run = self.server.run(self.session, ["printenv", "EVIL"], env={"EVIL": text})
                self.assertEqual(self.server.wait_run(run["uuid"])["state"], "done")
                log = self.server.get_bytes("benchmark/%s.log" % run["uuid"])
                self.assertIn(text.strip().encode(), log)
        waiting = []
        for text in self.evil:
            for plan in ({"cwd": text}, {"cwd": "/" + text}, {"user": text}, {"env": {text: "x"}}):
                answer = self.server.request("POST", "session/" + self.session,
                                             {"workload": ["printf", "ran"], **plan})
                self.assertIn(answer.status, (202, 400, 403), answer)
                self.check_answer(answer)
                if answer.status == 202:
                    waiting.append((plan, answer.json()["uuid"]))
        for plan, run in waiting:
            ended = self.server.wait_run(run, 120)
            if "env" not in plan:
                self.assertEqual(ended["state"], "failed", (plan, ended["error"]))
                self.assertTrue(ended["error"])

    def test_fields_of_a_plan(self):
        for text in self.evil:
            plans = [{"affinity": text}, {"tool": text}, {"tool": "record", "sample": {"callgraph": text}},
                     {"cpus": text}, {"interval": text}, {"pids": [text]}, {"limits": {text: 1}}, {text: 1}]
            # A name that nobody knows is compared with all others, which takes a while.
            if text in self.evil[:3]:
                plans += [{"events": [text]}, {"events": text},
                          {"tool": "record", "sample": {"events": [text]}}]
            for plan in plans:
                answer = self.server.request("POST", "session/" + self.session, {"workload": "true", **plan})
                self.assertEqual(answer.status, 400, (plan, answer))
                self.check_answer(answer)
                self.assertTrue(answer.message())
            run = self.server.run(self.session, "true", client={text: text}, tags=[text], note=text)
            self.assertEqual((run["client"], run["tags"], run["note"]), ({text: text}, [text], text))
            self.server.delete("benchmark/" + run["uuid"])

    def test_paths_and_parameters(self):
        for text in self.evil:
            quoted = urllib.parse.quote(text, safe="")
            for path in ("session/" + quoted, "benchmark/" + quoted, "benchmark/%s.json" % quoted,
                         "live?run=" + quoted, "live?session=" + quoted, "emap?search=" + quoted,
                         "emap?group=" + quoted, "processes?search=" + quoted, "sessions?limit=" + quoted,
                         "sessions?before=" + quoted, "sessions?%s=1" % quoted, "/?session=" + quoted,
                         "/" + quoted):
                answer = self.server.request("GET", path)
                self.assertLess(answer.status, 500, (path, answer))
                self.check_answer(answer)
            self.assertIn(self.server.request("DELETE", "users/" + quoted).status, (400, 404))
            self.check_answer(self.server.expect(400, "POST", "users", {"name": text, "role": "look"})
                              if text not in ("-rf", "--help") else self.server.request("GET", "users"))

    def test_bytes_that_are_no_text(self):
        form = (b'--b\r\nContent-Disposition: form-data; name="f"; filename="\xff\xc3("\r\n\r\nPERFILE2\r\n'
                b'--b--\r\n')
        self.check_answer(self.server.request("POST", "import", form, headers={
            "Content-Type": "multipart/form-data; boundary=b"}))
        for bad in ("%ff%fe", "%c3%28", "%00", "a%00b", "%", "%4", "%zz", "%ed%a0%80"):
            self.check_answer(self.server.request("POST", "import?name=" + bad, b"PERFILE2"))
            for path in ("sessions?search=", "emap?search=", "processes?search=", "session/", "benchmark/",
                         "live?run=", "sessions?before=", "/?session=", "/", "users/", "sessions?"):
                answer = self.server.request("GET", path + bad)
                self.assertLess(answer.status, 500, (path + bad, answer))
                self.check_answer(answer)
        self.check_answer(self.server.request("GET", "sessions"))
        self.assertEqual(self.server.get("me")["role"], "administer")

    def test_names_of_uploads(self):
        file = self.path("a.data")
        result = self.tacho("record", "-e", "cpu-clock", "-o", file, "--", *load("busy", 50))
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(file, "rb") as data:
            recording = data.read()
        for text in self.evil:
            with self.subTest(text):
                answer = self.server.expect(202, "POST", "import", recording,
                                            query={"name": text, "keep_raw": "1"})
                self.check_answer(answer)
                run = self.server.wait_run(answer.json()["uuid"])
                self.assertEqual(run["state"], "done", run["error"])
                answer = self.server.expect(200, "GET", "benchmark/%s.data" % run["uuid"])
                self.assertEqual(answer.body, recording)
                self.assertIsNone(answer.headers["X-Evil"])
                self.assertNotRegex(answer.headers["Content-Disposition"] or "", r"[\r\n]|\.\./|[<>]")
                name = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", " ").replace("\n", " ")
                form = ("--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"%s\"\r\n\r\n" %
                        name).encode() + recording + b"\r\n--b--\r\n"
                answer = self.server.request("POST", "import", form,
                                             headers={"Content-Type": "multipart/form-data; boundary=b"})
                self.assertIn(answer.status, (202, 400), answer)
                self.check_answer(answer)
        kept = os.listdir(os.path.join(self.server.data, "raw"))
        self.assertTrue(all(re.match(r"^[0-9a-f-]{36}\.data$", name) for name in kept), kept)
