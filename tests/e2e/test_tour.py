"""The lines of docs/API.md, as they stand there, against a server."""

import json
import os
import re
import subprocess

from helpers import TOP, eventually, needs_program
from server import ServerCase

PORT = "5000"


def blocks():
    """All lines that a reader would type, and the server's own line."""
    with open(os.path.join(TOP, "docs", "API.md")) as text:
        document = text.read()
    typed = re.findall(r"^```sh\n(.*?)^```$", document, re.M | re.S)
    return document, typed


class Tour(ServerCase):
    def new_server(self, *options, **more):
        # Where the document has it.
        return super().new_server(*options, home=self.home, data=self.path("measurements"), **more)

    def script(self, typed):
        lines = ["set -eu", "cd \"$HOME\""]
        for number, block in enumerate(typed):
            lines += ["echo '== %d'" % number, block]
        text = "\n".join(lines)
        self.assertIn("127.0.0.1:" + PORT, text)
        return text.replace("127.0.0.1:" + PORT, "127.0.0.1:%d" % self.server.port)

    def test_every_line(self):
        for name in ("bash", "curl", "jq", "find"):
            needs_program(name)
        document, typed = blocks()
        self.assertGreater(len(typed), 6)
        self.assertIn("tacho serve --listen 127.0.0.1:%s --data ~/measurements" % PORT, document)
        before = self.server.data_bytes()
        result = subprocess.run(["bash", "-c", self.script(typed)], text=True, timeout=300,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=dict(os.environ, HOME=self.home, LC_ALL="C.UTF-8"))
        self.assertEqual(result.returncode, 0, result.stdout[-3000:] + result.stderr[-3000:])
        self.check_output(result.stdout)
        self.check_files()
        self.assertEqual(self.server.get("sessions")["sessions"], [])
        self.assertEqual(os.listdir(os.path.join(self.server.data, "raw")), [])
        # What was measured is gone from the disk; the log of the store may still be as long.
        self.assertTrue(eventually(lambda: self.server.data_bytes() < before + (8 << 20)))

    def check_output(self, text):
        self.assertNotIn('"error":{"status"', text)
        answers = dict(re.findall(r"^== (\d+)\n(.*?)(?=^== |\Z)", text, re.M | re.S))
        whole = "\n".join(answers.values())
        self.assertIn('"role": "administer"', whole)
        self.assertRegex(whole, r'"running": \[')
        self.assertEqual(len(re.findall(r"^event: ", whole, re.M)), 3)
        self.assertRegex(whole, r"(?m)^(cancelled|running)$")
        samples = int(re.search(r'"samples": (\d+)', whole)[1])
        self.assertGreater(samples, 10)
        self.assertIn('"name":"page-faults"', whole)
        self.assertIn('"comm":"find"', whole)
        self.assertIn('"baseline"', whole)
        # Nothing is left, nor is the token good for anything.
        self.assertRegex(whole[-200:], r"\n0\s+401\s*$")

    def check_files(self):
        begins = {"json": b'{"uuid"', "csv": b"time_s", "h5": b"\x89HDF\r\n\x1a\n", "data": b"PERFILE2",
                  "svg": b"<", "html": b"<!doctype html"}
        for suffix in ("json", "csv", "jsonl", "h5", "data", "folded", "svg", "html", "log"):
            with open(self.path("run." + suffix), "rb") as file:
                data = file.read()
            self.assertTrue(data.startswith(begins.get(suffix, b"")), (suffix, data[:100]))
            self.assertTrue(data, suffix)
        with open(self.path("run.json")) as file:
            self.assertEqual(json.load(file)["state"], "done")
        with open(self.path("session.h5"), "rb") as file:
            self.assertEqual(file.read(8), begins["h5"])

    def test_paths_that_are_named_exist(self):
        """Whatever the document mentions is there, as the description says."""
        document, _ = blocks()
        paths = self.server.get("openapi.json")["paths"]
        for name in re.findall(r"\$API/([a-z]+)", document):
            self.assertTrue(any(p.startswith("/api/v1/" + name) for p in paths), name)
        for path in ("/metrics", "/healthz", "/api/v1/openapi.json"):
            self.assertIn(path, document)
            self.assertIn(path, paths)
