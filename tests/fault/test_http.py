"""What the network can do to a server: broken requests, huge ones, slow ones, thousands of them. It
stays alive, answers others meanwhile, and its memory stays bounded."""

import http.client
import os
import resource
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from helpers import LIMIT_S, dice, eventually  # noqa: E402
from server import RUN_TOKENS, ServerCase  # noqa: E402

MEGABYTE = 1 << 20
# Broken requests at random: how many, and by TACHO_SEED which ones.
ATTACKS = int(os.environ.get("TACHO_ATTACKS", "300"))

MALFORMED = [
    b"\r\n\r\n\r\n\r\n",
    b"\x00" * 100 + b"\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS, to a server without
    b"GET\r\n\r\n",
    b"GET /\r\n\r\n",
    b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
    b"GET  /  HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost localhost\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\n Host: localhost\r\n\r\n",
    b"GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"\xff\xfe\xfd / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\nx",
    b"POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\nx",
    b"POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5x\r\n\r\nhello",
    b"POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"ffffffffffffffffff\r\n",
    b"POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
    b"Content-Length: 3\r\n\r\n0\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nCookie: " + b";=" * 2000 + b"\r\n\r\n",
    b"GET /healthz?" + b"a&" * 5000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
]


def raise_file_limit():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


class Http(ServerCase):
    options = RUN_TOKENS

    def setUp(self):
        raise_file_limit()
        super().setUp()

    def dial(self, timeout=LIMIT_S):
        return socket.create_connection(("127.0.0.1", self.server.port), timeout)

    def all_of(self, bytes_, half_close=False):
        """What it answers until it closes."""
        with self.dial() as s:
            s.sendall(bytes_)
            if half_close:
                s.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: s.recv(65536), b""))

    def send(self, bytes_):
        """What it answers until it closes, or says nothing for half a second."""
        with self.dial() as s:
            try:
                s.sendall(bytes_)
                s.settimeout(0.5)
                answer = b""
                while True:
                    part = s.recv(65536)
                    if not part:
                        return answer
                    answer += part
            except socket.timeout:
                return answer
            except OSError:
                return b""

    def assert_alive(self):
        self.assertIsNone(self.server.child.poll(), "".join(self.server.errors))
        self.assertEqual(self.server.get("/healthz"), {"status": "ok"})

    def auth(self):
        return b"Host: localhost\r\nAuthorization: Bearer " + self.server.token.encode() + b"\r\n"

    def test_malformed(self):
        for request in MALFORMED:
            answer = self.send(request)
            if b"healthz" not in request or b"Host: localhost\r\n" not in request:
                self.assertNotIn(b" 200 ", answer.split(b"\r\n")[0], request[:100])
        self.assert_alive()

    def test_random(self):
        numbers = dice("%d attacks" % ATTACKS)
        for _ in range(ATTACKS):
            request = bytearray(numbers.choice(MALFORMED))
            for _ in range(numbers.randrange(1, 8)):
                at = numbers.randrange(len(request))
                request[at:at + numbers.randrange(3)] = numbers.randbytes(numbers.randrange(4))
            with self.dial() as s:
                try:
                    s.sendall(bytes(request))
                    s.shutdown(socket.SHUT_WR)
                    s.settimeout(0.02)
                    s.recv(65536)
                except OSError:
                    pass
        self.assert_alive()

    def test_huge_head(self):
        before = self.server.rss_bytes()
        for line in (b"GET /" + b"a" * (8 * MEGABYTE) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                     b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * (8 * MEGABYTE) + b"\r\n\r\n",
                     b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * MEGABYTE + b"\r\n"):
            answer = self.send(line)
            if answer:  # it may have closed while we were still sending
                self.assertRegex(answer.split(b"\r\n")[0], rb" (400|413|414|431) ")
        self.assert_alive()
        self.assertLess(self.server.rss_bytes() - before, 8 * MEGABYTE)

    def test_ambiguous_heads(self):
        """What a proxy could read in another way than we do is refused, at once."""
        body = b'{"title": "x"}'
        length = b"Content-Length: %d\r\n" % len(body)
        for head in (length + b"Content-Length: 5\r\n", length + length,
                     length + b"Transfer-Encoding: chunked\r\n", length + b"Transfer-Encoding : chunked\r\n",
                     length + b"Transfer-Encoding: identity\r\n", b"Transfer-Encoding: gzip, chunked\r\n",
                     b"Transfer-Encoding: xchunked\r\n", length + b"Authorization: Bearer other\r\n",
                     length + b"Origin: http://localhost\r\nOrigin: http://localhost\r\n",
                     length + b"A(b): c\r\n"):
            with self.subTest(head=head), self.dial(20) as s:
                s.sendall(b"POST /api/v1/sessions HTTP/1.1\r\n" + self.auth() + head + b"\r\n" + body)
                answer = s.recv(65536)
                self.assertTrue(answer.startswith(b"HTTP/1.1 400 "), answer)
                self.assertIn(b'"message"', answer)
        self.assertEqual(self.server.get("sessions")["sessions"], [])

    def test_head_has_no_body(self):
        for path in (b"/api/v1/live?queue=1", b"/api/v1/me", b"/api/v1/nothing"):
            with self.subTest(path), self.dial(20) as s:
                s.sendall(b"HEAD " + path + b" HTTP/1.1\r\nConnection: close\r\n" + self.auth() + b"\r\n")
                answer = b"".join(iter(lambda: s.recv(65536), b""))
                self.assertEqual(answer.partition(b"\r\n\r\n")[2], b"", answer)
                self.assertEqual(b"text/event-stream" in answer, b"live" in path)

    def test_many_parameters(self):
        """Answered or refused with a sentence, but never left waiting."""
        for count in (256, 257, 400, 500, 1000, 2000):
            for length in (1, 20):
                query = b"&".join(b"a" * length + b"=1" for _ in range(count))
                if len(query) > 30000:
                    continue
                with self.subTest(count=count, length=length), self.dial(20) as s:
                    s.sendall(b"GET /api/v1/me?" + query + b" HTTP/1.1\r\n" + self.auth() + b"\r\n")
                    answer = s.recv(65536)
                    self.assertTrue(answer.startswith(b"HTTP/1.1 400"), answer)
                    # So many are read, but none has this name.
                    self.assertIn(b"at most 256 parameters" if count > 256 else b"There is no parameter 'a", answer)

    def test_pipelining(self):
        one = b"GET /healthz HTTP/1.1\r\n" + self.auth()
        answer = self.all_of((one + b"\r\n") * 199 + one + b"Connection: close\r\n\r\n")
        self.assertEqual(answer.count(b"HTTP/1.1 200 OK"), 200)

    def test_half_closed(self):
        """Who has said all and listens still gets an answer."""
        request = b"GET /api/v1/me HTTP/1.1\r\n" + self.auth() + b"\r\n"
        self.assertIn(b'"role"', self.all_of(request, half_close=True))
        # A body that ends too early is not one.
        self.all_of(b"POST /api/v1/sessions HTTP/1.1\r\n" + self.auth() +
                    b"Content-Length: 100\r\n\r\n{\"title\":", half_close=True)
        self.assertEqual(self.server.get("sessions")["sessions"], [])
        self.assert_alive()

    def test_gone_before_the_answer(self):
        for _ in range(200):
            with self.dial() as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                s.sendall(b"GET /api/v1/emap HTTP/1.1\r\n" + self.auth() + b"\r\n")
        self.assert_alive()

    def test_slow_reader(self):
        """A client that asks again and again and reads nothing does not take memory."""
        before = self.server.rss_bytes()
        s = self.dial()
        self.addCleanup(s.close)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.settimeout(1)
        try:
            for _ in range(100000):
                s.sendall(b"GET /api/v1/openapi.json HTTP/1.1\r\n" + self.auth() + b"\r\n")
        except socket.timeout:
            pass
        self.assert_alive()
        self.assertLess(self.server.rss_bytes() - before, 20 * MEGABYTE)

    def test_streams_come_and_go(self):
        session = self.server.session()
        request = ("GET /api/v1/live?session=%s&queue=1 HTTP/1.1\r\n" % session).encode() + \
            self.auth() + b"\r\n"
        for _ in range(5):
            all_ = [self.dial() for _ in range(100)]
            for s in all_:
                s.sendall(request)
            for s in all_[::2]:
                self.assertIn(b"text/event-stream", s.recv(65536))
            for s in all_:
                s.close()
        self.assert_alive()
        deadline = time.monotonic() + LIMIT_S
        while b"tacho_live_streams 0" not in self.server.get_bytes("/metrics"):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_revoked(self):
        """Who is revoked by another program is refused at once; an open stream of his ends soon."""
        token = self.server.post("users", {"name": "eve", "role": "look"}, status=201)["token"]
        with self.dial() as s:
            s.sendall(b"GET /api/v1/live?queue=1 HTTP/1.1\r\nHost: localhost\r\n"
                      b"Authorization: Bearer " + token.encode() + b"\r\n\r\n")
            self.assertIn(b"text/event-stream", s.recv(65536))
            done = self.tacho("users", "--data", self.server.data, "revoke", "eve")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.server.request("GET", "me", token=token).status, 401)
            while s.recv(65536):
                pass
        self.assert_alive()

    def test_revoked_before_the_body_is_there(self):
        session = self.server.session()
        for path, body in (("session/" + session, b'{"workload": "true"}'), ("sessions", b'{"title": "his"}'),
                           ("import", b"x" * 300000)):
            with self.subTest(path):
                token = self.server.post("users", {"name": "eve", "role": "run"}, status=201)["token"]
                with self.dial() as s:
                    s.sendall(b"POST /api/v1/%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                              b"Connection: close\r\nContent-Length: %d\r\n\r\n" %
                              (path.encode(), token.encode(), len(body)) + body[:5])
                    self.assertTrue(eventually(
                        lambda: b"tacho_http_connections 2" in self.server.get_bytes("/metrics")))
                    time.sleep(0.2)  # the head is read
                    self.server.delete("users/eve")
                    s.sendall(body[5:])
                    self.assertIn(b"HTTP/1.1 401 ", s.recv(65536))
        self.assertEqual(self.server.get("session/" + session)["runs"], [])
        self.assertEqual(len(self.server.get("sessions")["sessions"]), 1)
        self.assertEqual(os.listdir(os.path.join(self.server.data, "upload")), [])


class Crowd(ServerCase):
    """More connections than there is room for."""

    options = ("--connections", "1000")

    def setUp(self):
        raise_file_limit()
        super().setUp()

    def test_ten_thousand(self):
        if raise_file_limit() < 12000:
            self.skipTest("the limit of open files is below 12,000")
        before = self.server.rss_bytes()
        kept, answered, stop = [], [], threading.Event()

        def others():
            while not stop.is_set():
                self.assertEqual(self.server.get("/healthz"), {"status": "ok"})
                answered.append(True)

        thread = threading.Thread(target=others, daemon=True)
        thread.start()
        self.addCleanup(lambda: [s.close() for s in kept])
        for i in range(10000):
            s = socket.socket()
            s.setblocking(False)
            # Loopback has many addresses, so ports do not run out.
            s.bind(("127.0.0.%d" % (2 + i % 50), 0))
            try:
                s.connect(("127.0.0.1", self.server.port))
            except BlockingIOError:
                pass
            kept.append(s)
            if i % 3 == 0:
                try:
                    s.send(b"GET /healthz HTTP/1.1\r\nHost: loc")
                except OSError:
                    pass
            if i % 100 == 0:
                time.sleep(0.005)
        for _ in range(20):
            self.assertEqual(self.server.get("/healthz"), {"status": "ok"})
        stop.set()
        thread.join(LIMIT_S)
        self.assertGreater(len(answered), 3)
        self.assertIsNone(self.server.child.poll())
        self.assertLess(self.server.rss_bytes() - before, 64 * MEGABYTE)


class Neighbours(ServerCase):
    """More silent clients of one address than that address may have."""

    def setUp(self):
        raise_file_limit()
        super().setUp()

    def test_silent_strangers_lock_nobody_out(self):
        kept = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=LIMIT_S)
        self.addCleanup(kept.close)

        def ask_again():
            kept.request("GET", "/api/v1/me", headers={"Authorization": "Bearer " + self.server.token})
            answer = kept.getresponse()
            self.assertEqual((answer.status, b"administer" in answer.read()), (200, True))

        ask_again()
        first = kept.sock
        crowd = [socket.create_connection(("127.0.0.1", self.server.port), LIMIT_S) for _ in range(2200)]
        self.addCleanup(lambda: [s.close() for s in crowd])
        self.assertEqual(self.server.get("me")["role"], "administer")
        ask_again()
        self.assertIs(kept.sock, first)


class Loris(ServerCase):
    """Clients that send a byte now and then."""

    def test_slow_heads(self):
        all_ = [socket.create_connection(("127.0.0.1", self.server.port)) for _ in range(200)]
        self.addCleanup(lambda: [s.close() for s in all_])
        request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
        for s in all_:
            s.sendall(request)
        closed, deadline = set(), time.monotonic() + LIMIT_S
        while len(closed) < len(all_):
            self.assertLess(time.monotonic(), deadline, "%d are still open" % (200 - len(closed)))
            for i, s in enumerate(all_):
                if i in closed:
                    continue
                try:
                    s.send(b"y")
                    s.setblocking(False)
                    if s.recv(1000) == b"":
                        closed.add(i)
                except BlockingIOError:
                    pass
                except OSError:
                    closed.add(i)
            self.assertEqual(self.server.get("/healthz"), {"status": "ok"})
            time.sleep(0.5)


if __name__ == "__main__":
    import unittest
    unittest.main()
