"""A server whose collectors misbehave: beside a copy of tacho-server lies a script that is taken for
tacho. What it does is the first word of the run's workload."""

import os
import shutil
import sys

from helpers import TACHO
from server import Server

SCRIPT = r'''#!%s
import json, os, random, signal, socket, struct, subprocess, sys, time
OPENED, DICTIONARY, CHUNK, OUTPUT, LEDGER, NOTE, CODE, ENDED = range(128, 136)
channel = socket.socket(fileno=3)

def read(count):
    got = b""
    while len(got) < count:
        block = channel.recv(count - len(got))
        if not block:
            os._exit(0)
        got += block
    return got

def receive():
    size, kind, _ = struct.unpack("<IHH", read(8))
    return kind, read(size)

def send(kind, body):
    body = json.dumps(body).encode() if isinstance(body, dict) else body
    channel.sendall(struct.pack("<IHH", len(body), kind, 0) + body)

def opened():
    now = time.monotonic_ns()
    send(OPENED, {"start_ns": now, "start_wall_ns": time.time_ns(), "clock": "monotonic", "pid": 0,
                  "events": [], "environment": {}})
    return now

def ended(**more):
    send(ENDED, dict({"status": 0, "signal": None, "timed_out": False, "stopped": False,
                      "exec_failed": False, "error": None, "end_ns": time.monotonic_ns()}, **more))

kind, body = receive()
assert kind == 192, kind
words = json.loads(body)["plan"]["workload"].split()
what = words[0]
if what != "early":
    opened()
if what == "good":
    send(LEDGER, {"samples": 0, "lost": 0, "throttled": 0})
    ended()
elif what == "garbage":
    # Always the same: of all random messages one in a hundred says that it is longer than these bytes, but not
    # too long, and the server waits for the rest.
    channel.sendall(random.Random(1).randbytes(100000))
    time.sleep(60)
elif what == "huge":
    channel.sendall(struct.pack("<IHH", 0xffffffff, CHUNK, 0))
    time.sleep(60)
elif what == "kind":
    send(77, b"")
    time.sleep(60)
elif what == "json":
    send(LEDGER, b"{")
    time.sleep(60)
elif what == "chunk":
    send(CHUNK, b"this is no chunk")
    time.sleep(60)
elif what == "output":
    send(OUTPUT, struct.pack("<QI", 0, 9) + b"x")
    time.sleep(60)
elif what == "end":
    send(ENDED, b"[]")
    time.sleep(60)
elif what in ("status", "early"):
    os._exit(int(words[1]))
elif what == "signal":
    os.kill(os.getpid(), int(words[1]))
elif what == "orphan":
    # What it leaves has a session of its own, ignores SIGTERM, and burns CPU.
    child = subprocess.Popen(["sh", "-c", "trap '' TERM; while :; do :; done"], start_new_session=True)
    send(LEDGER, {"samples": 0, "pid": child.pid})
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)
elif what == "daemon":
    # Left behind by a program that has ended by itself: nobody's business.
    child = subprocess.Popen(["sleep", "30"], start_new_session=True)
    send(LEDGER, {"samples": 0, "pid": child.pid})
    ended()
elif what == "silent":
    channel.close()
    os.close(3) if os.path.exists("/proc/self/fd/3") else None
    time.sleep(60)
elif what == "stays":
    ended()
    time.sleep(60)
elif what == "prints":
    for _ in range(int(words[1])):
        send(OUTPUT, struct.pack("<QI", time.monotonic_ns(), 1) + b"x" * 1000)
    ended()
elif what == "waits":
    while receive()[0] != 193:
        pass
    ended(stopped=True, status=None, signal=15)
''' % sys.executable


class BadServer(Server):
    def __init__(self, *options, **more):
        super().__init__(*options, **more)
        self.programs = os.path.join(self.root, "bin")
        os.mkdir(self.programs)
        shutil.copy(os.path.join(os.path.dirname(TACHO), "tacho-server"), self.programs)
        with open(os.path.join(self.programs, "tacho"), "w") as out:
            out.write(SCRIPT)
        os.chmod(os.path.join(self.programs, "tacho"), 0o755)

    def command(self):
        line = super().command()
        return [*self.before, os.path.join(self.programs, "tacho-server"), *line[len(self.before) + 1:]]
