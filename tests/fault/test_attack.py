"""Bytes changed at random, through the real programs and a real server: recordings, programs and texts to all
commands that read them; requests, uploads and a database to the server. Whatever comes, a command ends with a status
of its own, the server answers, and neither a sanitizer nor a signal ends one of them.

A part of it, always the same, is a test. tools/attack does it with ASan and UBSan for as long as one likes:
TACHO_ATTACK_S seconds for each test, with the numbers of TACHO_SEED."""

import json
import os
import shutil
import socket
import sqlite3
import sys
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import lying_elf  # noqa: E402
from helpers import LIMIT_S, TOP, Case, compiled, dice  # noqa: E402
from server import ServerCase  # noqa: E402
from test_http import MALFORMED  # noqa: E402
from test_lying import PROGRAM_C  # noqa: E402

SECONDS = float(os.environ.get("TACHO_ATTACK_S", "0"))
CORPUS = os.path.join(TOP, "tests", "fuzz", "corpus")
# Done, failed, wrong usage, and the same of commands with a workload.
STATUSES = (0, 1, 2, 125)
WORDS = ("Sanitizer", "runtime error:")
HOSTILE = ["", "0", "1", "-1", "99999999999999999999", "1e308", "nan", "\0", "%", "a" * 3000, "\u00fc", "(", "x,y",
           "10ms", "-5s", "18446744073709551615", "columns", "samples", "cpu-clock:u", "/", "..", "'\"<>", "[", "*"]


def seeds(name):
    """Files of a fuzz target's corpus."""
    folder = os.path.join(CORPUS, name)
    for file in sorted(os.listdir(folder)):
        with open(os.path.join(folder, file), "rb") as bytes_:
            yield bytes_.read()


def changed(numbers, data, most=12):
    """Some bytes replaced, cut out, put in, copied, or set to what numbers break at."""
    data = bytearray(data)
    for _ in range(numbers.randrange(1, most)):
        at, length = numbers.randrange(len(data) + 1), numbers.choice((1, 1, 2, 4, 8, 64))
        how = numbers.randrange(6)
        if how == 0:
            data[at:at + length] = numbers.randbytes(length)
        elif how == 1:
            data[at:at + length] = numbers.choice((b"\0", b"\xff", b"\x80", b"\x7f")) * length
        elif how == 2 and data:
            data[at:at + 1] = bytes([(data[at % len(data)] ^ (1 << numbers.randrange(8)))])
        elif how == 3:
            del data[at:at + numbers.choice((length, len(data) // 4))]
        elif how == 4:
            data[at:at] = numbers.randbytes(length)
        else:
            other = numbers.randrange(len(data) + 1)
            data[at:at + length] = data[other:other + length]
    return bytes(data)


def rounds(count):
    """So many, or as many as TACHO_ATTACK_S allows."""
    end = time.monotonic() + SECONDS
    done = 0
    while done < count if not SECONDS else time.monotonic() < end:
        yield done
        done += 1
    print("# %d rounds" % done)


def complaint(text):
    """What a sanitizer says, if it does."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if any(word in line for word in WORDS):
            return "\n".join(lines[at:at + 40])
    return None


class Programs(Case):
    def setUp(self):
        super().setUp()
        self.program = self.path("lying")
        shutil.copy(compiled("lying-g-O1", PROGRAM_C, "-g", "-O1"), self.program)
        with open(self.program, "rb") as file:
            self.good = file.read()
        done = self.tacho("record", "-e", "cpu-clock:u", "-F", "300", "--call-graph", "dwarf,4096", "-o",
                          self.path("good.data"), "--", self.program, "0.05")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("good.data"), "rb") as file:
            self.recording = file.read()

    def survives(self, data, *args):
        """Keeps what ends a command otherwise than by a status of its own."""
        done = self.tacho(*args, text=False)
        errors = done.stderr.decode("utf-8", "replace")
        if done.returncode in STATUSES and not complaint(errors):
            return
        name = os.path.join(TOP, "fuzz-out", "attack-%s-%08x" % (args[0], zlib.crc32(data)))
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as file:
            file.write(data)
        self.fail("%s: status %d; the input is in %s\n%s" % (args, done.returncode, name, complaint(errors) or errors))

    def attack(self, numbers, data, commands):
        with open(self.path("input"), "wb") as file:
            file.write(data)
        command = numbers.choice(commands)
        self.survives(data, *[self.path("input") if word == "INPUT" else word for word in command])

    def test_recordings(self):
        numbers = dice("recordings")
        commands = (["report", "-i", "INPUT"], ["script", "-i", "INPUT"], ["script", "--json", "-i", "INPUT"],
                    ["info", "-i", "INPUT"], ["info", "--json", "-i", "INPUT"],
                    ["annotate", "-i", "INPUT", "lie_hot"], ["flame", "-i", "INPUT", "-o", self.path("out.svg")],
                    ["convert", "--to", "folded", "-i", "INPUT", "-o", self.path("out.folded")],
                    ["diff", "INPUT", self.path("good.data")], ["report", "--json", "--sort", "sym", "-i", "INPUT"])
        files = [self.recording, *seeds("perfdata"), *seeds("perfdata_pipe")]
        for _ in rounds(60):
            self.attack(numbers, changed(numbers, numbers.choice(files)), commands)

    def test_texts(self):
        numbers = dice("texts")
        commands = (["report", "-i", "INPUT"], ["flame", "-i", "INPUT", "-o", self.path("out.svg")],
                    ["diff", "INPUT", "INPUT"], ["convert", "--to", "folded", "-i", "INPUT", "-o", "-"])
        files = [*seeds("folded"), *seeds("perf_script")]
        for _ in rounds(30):
            self.attack(numbers, changed(numbers, numbers.choice(files)), commands)

    def test_programs(self):
        numbers = dice("programs")
        lies = list(lying_elf.lies(self.good))
        commands = (["report", "-i", self.path("good.data")], ["annotate", "-i", self.path("good.data"), "lie_hot"],
                    ["script", "-i", self.path("good.data")])
        for _ in rounds(30):
            data = numbers.choice(lies)[1] if numbers.randrange(2) else changed(numbers, self.good)
            os.unlink(self.program)
            with open(self.program, "wb") as file:
                file.write(data)
            self.survives(data, *numbers.choice(commands))


class Served(ServerCase):
    """A server with a run of every kind of table, attacked through its port and behind its back."""

    def setUp(self):
        super().setUp()
        self.session = self.server.session()
        run = self.server.run(self.session, ["sh", "-c", "for i in 1 2 3; do echo $i; done"], tool="both",
                              events=["task-clock", "page-faults"],
                              sample={"events": ["cpu-clock:u"], "frequency": 500})
        self.known = self.server.wait_run(run["uuid"])
        self.routes = sorted(self.server.get("openapi.json")["paths"].items())

    def assert_alive(self):
        self.assertIsNone(self.server.child.poll(), "".join(self.server.errors)[-4000:])
        self.assertEqual(self.server.get("/healthz")["status"], "ok")
        self.assertIsNone(complaint("".join(self.server.errors)))

    def question(self, numbers):
        """A path of the description, with parameters that it has and values that nobody expects."""
        path, methods = numbers.choice([route for route in self.routes
                                        if "get" in route[1] and not route[0].endswith("/live")])
        path = path.replace("{id}", self.session if "/session/" in path else self.known["uuid"])
        path = path.replace("{name}", numbers.choice(("samples", "counts", "nothing", "%2e%2e")))
        names = [p.get("name") for p in methods["get"].get("parameters", []) if p.get("in") == "query"]
        query = {name: numbers.choice(HOSTILE) for name in names if name and not numbers.randrange(3)}
        return path if path.startswith("/api") else "/api/v1" + path, query

    def ask(self, numbers):
        path, query = self.question(numbers)
        answer = self.server.request("GET", path, query=query)
        self.assertIn(answer.status, range(200, 505), (path, query, answer))
        self.assertNotEqual(answer.status, 500, (path, query, answer))
        if answer.status >= 400 and answer.body:
            self.assertTrue(answer.message(), (path, query))

    def shout(self, numbers):
        """A request that is none."""
        good = ("GET /api/v1/benchmark/%s/flame HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n" %
                (self.known["uuid"], self.server.token)).encode()
        with socket.create_connection(("127.0.0.1", self.server.port), LIMIT_S) as s:
            try:
                s.sendall(changed(numbers, numbers.choice([good, *MALFORMED])))
                s.shutdown(socket.SHUT_WR)
                # Half a request is waited for; what counts is that others are answered.
                s.settimeout(0.02)
                s.recv(65536)
            except OSError:
                pass

    def upload(self, numbers, files):
        answer = self.server.request("POST", "import", changed(numbers, numbers.choice(files)),
                                     query={"session": self.session, "name": "x"})
        self.assertIn(answer.status, (202, 400, 409, 413, 415, 422), answer)
        if answer.status == 202:
            self.server.wait_run(answer.json()["uuid"])
            self.server.delete("benchmark/" + answer.json()["uuid"])

    def submit(self, numbers):
        """A plan that may be nonsense; what it starts ends by itself."""
        plan = changed(numbers, json.dumps({"workload": "true", "events": ["task-clock"], "tags": ["a"],
                                            "timeout": 5, "exclusive": False}).encode(), 4)
        answer = self.server.request("POST", "session/" + self.session, plan,
                                     headers={"Content-Type": "application/json"})
        self.assertIn(answer.status // 100, (2, 4), answer)

    def test_requests(self):
        numbers = dice("requests")
        files = [*seeds("perfdata"), *seeds("folded"), *seeds("perf_script")]
        for n in rounds(150):
            what = numbers.randrange(20)
            if what < 10:
                self.ask(numbers)
            elif what < 17:
                self.shout(numbers)
            elif what < 19:
                self.submit(numbers)
            else:
                self.upload(numbers, files)
            if n % 50 == 0:
                self.assert_alive()
        self.assert_alive()

    def lie(self, numbers, path):
        """Changes the database: a number of a row, a blob, or bytes of the file."""
        if numbers.randrange(4) == 0:
            with open(path, "r+b") as file:
                data = bytearray(file.read())
                for _ in range(numbers.randrange(1, 6)):
                    data[numbers.randrange(100, len(data))] = numbers.randrange(256)
                file.seek(0)
                file.write(data)
            return
        db = sqlite3.connect(path)
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' "
                                               "AND name NOT LIKE 'sqlite%'")]
        for _ in range(numbers.randrange(1, 4)):
            table = numbers.choice(tables)
            column = numbers.choice(db.execute("PRAGMA table_info(%s)" % table).fetchall())[1]
            rows = db.execute("SELECT rowid, %s FROM %s" % (column, table)).fetchall()
            if not rows:
                continue
            row, value = numbers.choice(rows)
            if isinstance(value, bytes):
                value = numbers.choice((changed(numbers, value, 4), numbers.choice(rows)[1]))
            elif isinstance(value, str):
                value = changed(numbers, value.encode(), 4).decode("utf-8", "replace")
            else:
                value = numbers.choice((0, -1, 5, 1 << 31, 1 << 32, (1 << 63) - 1, -1 << 63, 65536, 1e300, "x"))
            try:
                db.execute("UPDATE %s SET %s = ? WHERE rowid = ?" % (table, column), (value, row))
            except sqlite3.Error:
                pass  # no two rows may have it
        db.commit()
        db.close()

    def started(self):
        """Whether the server starts on the database; otherwise it has said why."""
        try:
            self.server.start()
            return True
        except AssertionError:
            errors = "".join(self.server.errors)
            self.assertIsNone(complaint(errors))
            self.assertIn(self.server.child.returncode, (1, 2), errors)
            self.assertTrue(errors.strip())
            return False

    def test_database(self):
        numbers = dice("databases")
        path = os.path.join(self.server.data, "tacho.db")
        self.server.stop()
        shutil.copytree(self.server.data, self.path("kept"))
        for _ in rounds(4):
            shutil.rmtree(self.server.data)
            shutil.copytree(self.path("kept"), self.server.data)
            self.lie(numbers, path)
            if not self.started():
                continue
            for _ in range(12):
                path_, query = self.question(numbers)
                answer = self.server.request("GET", path_, query=query)
                self.assertIn(answer.status, range(200, 505), (path_, query, answer))
            self.assertIsNone(self.server.child.poll(), "".join(self.server.errors)[-4000:])
            self.server.stop()
            self.assertIsNone(complaint("".join(self.server.errors)))
        shutil.rmtree(self.server.data)
        shutil.copytree(self.path("kept"), self.server.data)


if __name__ == "__main__":
    import unittest
    unittest.main()
