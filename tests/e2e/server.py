"""A real server for tests: `tacho serve` on a free port of the loopback with a data directory of its own.

    class Something(ServerCase):
        def test_it(self):
            session = self.server.post("sessions", {"title": "a"})
            run = self.server.post("session/" + session["uuid"], {"workload": "true"}, status=202)
            self.server.wait_run(run["uuid"])

Paths are below /api/v1/ unless they begin with a slash. An answer with another status than the one
that was expected is a failure that shows the body."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse

from helpers import LIMIT_S, TACHO, Case, environment

# For tests that give people tokens with the role 'run': a server that runs programs as root gives none.
RUN_TOKENS = () if os.geteuid() else ("--run-as", "nobody")
ENDED = ("done", "failed", "cancelled", "interrupted")


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode()

    def json(self):
        return json.loads(self.body)

    def message(self):
        """The sentence of an error."""
        return self.json()["error"]["message"]

    def __repr__(self):
        return "%d %r" % (self.status, self.body[:2000])


class Event:
    """One server-sent event."""

    def __init__(self, number, name, data):
        self.id, self.name, self.data = number, name, data

    def json(self):
        return json.loads(self.data)

    def __repr__(self):
        return "%s %s %s" % (self.id, self.name, self.data[:200])


class LocalConnection(http.client.HTTPConnection):
    """To the socket in a data directory."""

    def __init__(self, path, timeout=LIMIT_S):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Server:
    """Started by start(); stop() ends it as Ctrl-C would, kill9() as a power cut would."""

    def __init__(self, *options, data=None, home=None, env=None, before=(), host="127.0.0.1", port=0):
        self.root = tempfile.mkdtemp(prefix="tacho-server-")
        os.chmod(self.root, 0o777)
        self.home = home or self.root
        self.data = data or os.path.join(self.root, "store")
        self.options, self.env, self.before = list(options), env, list(before)
        self.host, self.port, self.token, self.url = host, port, None, None
        self.tls, self.child, self.lines, self.errors = False, None, [], []

    # ---- its life ----

    def command(self):
        name = "[%s]" % self.host if ":" in self.host else self.host
        return [*self.before, TACHO, "serve", "--listen", "%s:%d" % (name, self.port),
                "--data", self.data, *self.options]

    def start(self):
        self.lines, self.errors = [], []
        self.child = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      env=environment(self.home, self.env))
        self.threads = [threading.Thread(target=self.collect, args=pair, daemon=True) for pair in
                        ((self.child.stdout, self.lines), (self.child.stderr, self.errors))]
        for thread in self.threads:
            thread.start()
        end = time.monotonic() + LIMIT_S
        while not self.find_url():
            if self.child.poll() is not None or time.monotonic() > end:
                self.end()
                raise AssertionError("the server does not start: %s%s" %
                                     ("".join(self.lines), "".join(self.errors)))
            time.sleep(0.002)
        while True:
            try:
                # 403: it answers other addresses only.
                if self.request("GET", "/healthz", token=None).status in (200, 403):
                    return self
            except OSError:
                pass
            if self.child.poll() is not None or time.monotonic() > end:
                self.end()
                raise AssertionError("the server does not answer: " + "".join(self.errors))
            time.sleep(0.002)

    @staticmethod
    def collect(pipe, lines):
        for line in pipe:
            lines.append(line)
        pipe.close()

    def find_url(self):
        for line in list(self.lines):
            found = re.search(r"(https?)://(\[[^\]]+\]|[^:/\s]+):(\d+)/(?:\?token=([\w-]+))?", line)
            if found:
                self.tls = found[1] == "https"
                self.port = int(found[3])
                self.token = found[4]
                self.url = "%s://%s:%d" % (found[1], found[2], self.port)
                return True
        return False

    def end(self):
        """By whatever means; nothing happens if it has ended."""
        if self.child and self.child.poll() is None:
            self.child.kill()
        if self.child:
            self.child.wait()
            for thread in self.threads:
                thread.join(10)

    def stop(self, sig=signal.SIGINT, seconds=LIMIT_S):
        """Asks it to end; its exit status."""
        self.child.send_signal(sig)
        try:
            self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.end()
            raise AssertionError("the server does not stop")
        self.end()
        return self.child.returncode

    def kill9(self):
        self.child.send_signal(signal.SIGKILL)
        self.end()

    def restart(self):
        """On the same port and the same data; stopped first if it runs."""
        if self.child and self.child.poll() is None:
            self.stop()
        return self.start()

    def close(self):
        """Ends as a user would end it, unless the test has ended it already."""
        status = self.stop() if self.child and self.child.poll() is None else 0
        shutil.rmtree(self.root, True)
        if status:
            raise AssertionError("the server ended with status %d: %s" % (status, "".join(self.errors)[-2000:]))

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    # ---- asking it ----

    @staticmethod
    def path(path, query=None):
        full = path if path.startswith("/") else "/api/v1/" + path
        if query:
            full += ("&" if "?" in full else "?") + urllib.parse.urlencode(query, doseq=True)
        return full

    def connect(self, timeout=LIMIT_S):
        if self.tls:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            return http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=context)
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def headers(self, token, more):
        token = self.token if token == "own" else token
        headers = {"Authorization": "Bearer " + token} if token else {}
        headers.update(more or {})
        return headers

    def request(self, method, path, body=None, query=None, token="own", headers=None, timeout=LIMIT_S):
        """Any request; a dict or list is sent as JSON. Never fails because of the status."""
        headers = self.headers(token, headers)
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        connection = self.connect(timeout)
        try:
            connection.request(method, self.path(path, query), body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        except OSError as e:
            self.explain(e)
            raise
        finally:
            connection.close()

    def explain(self, error):
        """Nobody answers: if the server has ended, how, and what it said."""
        try:
            status = self.child.wait(0.2)
        except subprocess.TimeoutExpired:
            return
        for thread in self.threads:
            thread.join(1)
        error.strerror = "%s; the server has ended, status %d: %s" % (error.strerror, status,
                                                                     "".join(self.errors)[-2000:])

    def expect(self, status, method, path, body=None, **more):
        answer = self.request(method, path, body, **more)
        wanted = (status,) if isinstance(status, int) else status
        if answer.status not in wanted:
            raise AssertionError("%s %s: %r" % (method, path, answer))
        return answer

    def get(self, path, query=None, status=200, **more):
        """JSON of a GET."""
        return self.expect(status, "GET", path, query=query, **more).json()

    def get_bytes(self, path, query=None, status=200, **more):
        return self.expect(status, "GET", path, query=query, **more).body

    def post(self, path, body=None, status=(200, 201, 202), **more):
        return self.expect(status, "POST", path, body, **more).json()

    def patch(self, path, body, status=200, **more):
        return self.expect(status, "PATCH", path, body, **more).json()

    def delete(self, path, status=204, **more):
        return self.expect(status, "DELETE", path, **more)

    # ---- runs ----

    def session(self, title="a test"):
        return self.post("sessions", {"title": title}, status=201)["uuid"]

    def run(self, session, workload=None, status=202, **plan):
        """Queues a run; its JSON."""
        if workload is not None:
            plan["workload"] = workload
        return self.post("session/" + session, plan, status=status)

    def benchmark(self, uuid, status=200):
        return self.get("benchmark/%s.json" % uuid, status=status)

    def wait_state(self, uuid, states, seconds=LIMIT_S):
        states = (states,) if isinstance(states, str) else states
        end = time.monotonic() + seconds
        while True:
            run = self.benchmark(uuid)
            if run["state"] in states:
                return run
            if run["state"] in ENDED or time.monotonic() > end:
                raise AssertionError("run is %s, not %s: %s" %
                                     (run["state"], " or ".join(states), json.dumps(run)[:3000]))
            time.sleep(0.02)

    def wait_run(self, uuid, seconds=LIMIT_S):
        """Until it has ended, in whatever way."""
        return self.wait_state(uuid, ENDED, seconds)

    # ---- the stream ----

    def stream(self, query, last_id=None, seconds=LIMIT_S, token="own"):
        """Events as they come, until the stream ends or nothing comes for so long.

        for event in server.stream({"run": uuid}): …"""
        headers = self.headers(token, {"Accept": "text/event-stream"})
        if last_id is not None:
            headers["Last-Event-ID"] = str(last_id)
        connection = self.connect(seconds)
        try:
            connection.request("GET", self.path("live", query), headers=headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise AssertionError("live: %d %r" % (answer.status, answer.read()))
            yield from events_of(answer)
        except socket.timeout:
            return
        finally:
            connection.close()

    def snapshot_of_samples(self, run):
        """What a new watcher of a run is told of the samples before it came; None if that has none yet."""
        for event in self.stream({"run": run}):
            if event.name == "samples":
                return event.json()
            if event.name == "current":
                return None
        return None

    # ---- what it costs ----

    def pid(self):
        return self.child.pid

    def rss_bytes(self):
        with open("/proc/%d/status" % self.child.pid) as text:
            return int(re.search(r"VmRSS:\s+(\d+) kB", text.read())[1]) * 1024

    def wakeups(self):
        """Voluntary switches of all threads, so far."""
        total = 0
        for tid in os.listdir("/proc/%d/task" % self.child.pid):
            with open("/proc/%d/task/%s/status" % (self.child.pid, tid)) as text:
                total += int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", text.read())[1])
        return total

    def data_bytes(self):
        """On the disk, all files of the data directory."""
        total = 0
        for folder, _, names in os.walk(self.data):
            for name in names:
                try:
                    total += os.lstat(os.path.join(folder, name)).st_blocks * 512
                except FileNotFoundError:
                    pass
        return total


def events_of(lines):
    """Server-sent events out of lines of bytes."""
    number, name, data = None, "message", []
    for line in lines:
        line = line.decode().rstrip("\r\n")
        if not line:
            if data:
                yield Event(number, name, "\n".join(data))
            name, data = "message", []
            continue
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "id":
            number = value
        elif field == "event":
            name = value
        elif field == "data":
            data.append(value)


class ServerCase(Case):
    """A test with a server of its own; `options` of a class are those of `tacho serve`."""

    options = ()

    def setUp(self):
        super().setUp()
        self.server = self.new_server(*self.options)

    def new_server(self, *options, **more):
        server = Server(*options, **more)
        self.addCleanup(server.close)
        return server.start()
