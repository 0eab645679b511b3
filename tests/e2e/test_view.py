#!/usr/bin/env python3
"""tacho view: a recording in the browser, by a server that leaves nothing behind."""

import json
import os
import re
import signal
import subprocess
import tempfile
import unittest
import urllib.request

from helpers import LIMIT_S, TACHO, Case, children_of, environment, eventually, state_of
from shapes import shape

SIDE_BY_SIDE = True


class View(Case):
    def setUp(self):
        super().setUp()
        self.places = tempfile.mkdtemp(prefix="tacho-places-")
        self.addCleanup(lambda: os.path.isdir(self.places) and os.rmdir(self.places))
        self.recording = self.path("it.data")
        result = self.tacho("record", "-q", "-g", "-e", "cpu-clock", "-o", self.recording, "--", shape())
        self.assertEqual(result.returncode, 0, result.stderr)

    def begin(self, *args):
        env = environment(self.home, {"XDG_RUNTIME_DIR": self.places})
        env.pop("DISPLAY", None)
        env.pop("WAYLAND_DISPLAY", None)
        child = self.start([TACHO, "view", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, env=env)
        url = child.stdout.readline().strip()
        self.assertRegex(url, r"^http://127\.0\.0\.1:\d+/\?token=[\w-]+&run=[0-9a-f-]{36}$",
                         child.stderr.read() if not url else "")
        return child, url

    def nothing_left(self, url):
        port = int(re.search(r":(\d+)/", url)[1])

        def gone():
            try:
                urllib.request.urlopen("http://127.0.0.1:%d/healthz" % port, timeout=LIMIT_S)
                return False
            except OSError:
                return not os.listdir(self.places)
        self.assertTrue(eventually(gone), os.listdir(self.places))

    def ask(self, url, path):
        base, token, run = re.match(r"(.*)/\?token=([\w-]+)&run=(.*)", url).groups()
        request = urllib.request.Request("%s/api/v1/benchmark/%s%s" % (base, run, path),
                                         headers={"Authorization": "Bearer " + token})
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            return answer.read()

    def test_address_is_of_the_page(self):
        """What a browser does: the token becomes a cookie, and the page is told which run."""
        child, url = self.begin(self.recording)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        opener.addheaders = [("Accept", "text/html")]
        with opener.open(url, timeout=LIMIT_S) as answer:
            self.assertNotIn("token", answer.url)
            self.assertRegex(answer.url, r"/\?run=[0-9a-f-]{36}$")
            self.assertIn('id="app"', answer.read().decode())
        child.send_signal(signal.SIGINT)
        child.wait(LIMIT_S)

    def test_shows_and_leaves_nothing(self):
        before = self.everything()
        child, url = self.begin(self.recording)
        self.assertEqual(json.loads(self.ask(url, ".json"))["state"], "done")
        own = self.tacho("convert", "-q", "-i", self.recording, "--to", "folded", "-o", "-").stdout
        self.assertEqual(self.ask(url, ".folded").decode(), own)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(LIMIT_S), 0)
        self.nothing_left(url)
        self.assertEqual(self.everything(), before)

    def everything(self):
        return sorted(os.path.join(folder, n) for folder, _, names in os.walk(self.home) for n in names)

    def test_by_a_pipe(self):
        with open(self.recording, "rb") as recording:
            child = self.start([TACHO, "view", "--no-browser", "-"], stdin=recording, stdout=subprocess.PIPE,
                               env=environment(self.home, {"XDG_RUNTIME_DIR": self.places, "DISPLAY": ":77"}))
            url = child.stdout.readline().strip()
        self.assertEqual(json.loads(self.ask(url, ".json"))["state"], "done")
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(LIMIT_S), 0)
        self.nothing_left(url)

    def test_killed(self):
        child, url = self.begin(self.recording)
        child.kill()
        child.wait()
        self.nothing_left(url)

    def test_all_of_it_killed(self):
        """Then the next one takes away what is left."""
        child, url = self.begin(self.recording)
        keeper = children_of(child.pid)
        self.assertEqual(len(keeper), 1)
        server = children_of(keeper[0])
        # All at once: who sees that another one is gone would clean up.
        everybody = [*keeper, *server, child.pid]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in everybody:
                os.kill(pid, number)
            self.assertTrue(eventually(lambda: all(state_of(p) in "TZX" for p in everybody)))
        child.wait()
        self.assertTrue(eventually(lambda: not any(os.path.exists("/proc/%d" % p) for p in keeper + server)))
        self.assertEqual(len(os.listdir(self.places)), 1)
        child, url = self.begin(self.recording)
        self.assertEqual(len(os.listdir(self.places)), 1)
        child.send_signal(signal.SIGTERM)
        child.wait(LIMIT_S)
        self.nothing_left(url)

    def test_what_is_no_recording(self):
        for path, status in ((self.write("text", "hello\n"), 1), (self.path("nowhere"), 1)):
            result = self.tacho("view", path, env={"XDG_RUNTIME_DIR": self.places})
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertOneSentence(result.stderr)
            self.assertEqual(os.listdir(self.places), [])
        self.assertEqual(self.tacho("view").returncode, 2)

    def test_browser(self):
        tools = self.path("bin")
        os.mkdir(tools)
        script = self.write("bin/xdg-open", "#!/bin/sh\nprintf '%s' \"$1\" >\"$HOME/asked\"\n"
                            "cp \"$1\" \"$HOME/copy\" && mv \"$HOME/copy\" \"$HOME/page\"\n")
        os.chmod(script, 0o755)
        env = environment(self.home, {"XDG_RUNTIME_DIR": self.places, "DISPLAY": ":77",
                                      "PATH": tools + ":" + os.environ["PATH"]})
        child = self.start([TACHO, "view", self.recording], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                           env=env)
        self.assertIn("Ctrl-C", child.stdout.readline())
        self.assertTrue(eventually(lambda: os.path.exists(self.path("page"))))
        with open(self.path("asked")) as text:
            self.assertNotIn("token", text.read())
        with open(self.path("page")) as text:
            url = re.search(r"url=(.*?)\"", text.read())[1]
        self.assertEqual(json.loads(self.ask(url.replace("&amp;", "&"), ".json"))["state"], "done")
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(LIMIT_S), 0)
        self.nothing_left(url)


if __name__ == "__main__":
    unittest.main()
