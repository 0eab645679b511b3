"""A real Chromium for tests of what people open in a browser, driven by the WebDriver protocol."""

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

START_LIMIT_S = 180
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "Up": "\ue013", "Down": "\ue015",
        "Left": "\ue012", "Right": "\ue014", "Home": "\ue011"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Browser:
    """One window. Use it as a context manager; both processes end with it."""

    def __init__(self, width=1280, height=800, dark=False, phone=False):
        driver = shutil.which("chromedriver")
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        if not driver or not chromium:
            raise unittest.SkipTest("chromium and chromedriver are not installed")
        self.port = free_port()
        self.home = tempfile.mkdtemp(prefix="tacho-browser-")
        self.session = None
        self.driver = subprocess.Popen(
            [driver, f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.home}, start_new_session=True)
        arguments = ["--headless=new", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                     f"--window-size={width},{height}", f"--user-data-dir={self.home}/profile"]
        if os.getuid() == 0:
            arguments.append("--no-sandbox")
        options = {"binary": chromium, "args": arguments}
        try:
            self.wait_for_driver()
            answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:chromeOptions": options}}})
            self.session = answer["sessionId"]
            self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                     deviceScaleFactor=2 if phone else 1, mobile=phone,
                     screenWidth=width, screenHeight=height)
            self.cdp("Emulation.setTouchEmulationEnabled", enabled=phone)
            self.cdp("Emulation.setEmulatedMedia", features=[
                {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def wait_for_driver(self):
        limit = time.monotonic() + START_LIMIT_S
        while True:
            try:
                self.call("GET", "/status")
                return
            except OSError:
                if time.monotonic() > limit or self.driver.poll() is not None:
                    raise AssertionError("chromedriver does not start") from None
                time.sleep(0.05)

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=data,
                                         method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=START_LIMIT_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise AssertionError(json.load(e)["value"]["message"]) from None

    def ask(self, method, path, body=None):
        return self.call(method, f"/session/{self.session}{path}", body)

    def cdp(self, name, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def open(self, path):
        self.ask("POST", "/url", {"url": "file://" + os.path.abspath(path)})

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def click(self, element):
        self.ask("POST", f"/element/{next(iter(element.values()))}/click", {})

    def keys(self, *names):
        """Names of KEYS, or text that is typed."""
        actions = []
        for name in names:
            for c in [KEYS[name]] if name in KEYS else name:
                actions += [{"type": "keyDown", "value": c}, {"type": "keyUp", "value": c}]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def close(self):
        if self.session:
            try:
                self.ask("DELETE", "")
            except (AssertionError, OSError):
                pass
            self.session = None
        self.driver.terminate()
        try:
            self.driver.wait(START_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.driver.kill()
            self.driver.wait()
        shutil.rmtree(self.home, ignore_errors=True)
