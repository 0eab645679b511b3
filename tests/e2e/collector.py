"""Speaks the protocol of `tacho collect` as the server does: starts it with a plan, gathers what it
sends, stops it, or goes away."""

import json
import os
import select
import socket
import struct
import subprocess
import threading
import time

from helpers import LIMIT_S, TACHO, environment

DUMP = os.path.join(os.path.dirname(TACHO), "tests", "collect_dump")
(OPENED, DICTIONARY, CHUNK, OUTPUT, LEDGER, NOTE, CODE, ENDED) = range(128, 136)
PLAN, STOP = 192, 193


class Collector:
    """One run. Messages are (type, body, when they came)."""

    def __init__(self, plan=None, home="/", prefix=(), **order):
        self.socket, theirs = socket.socketpair()
        self.messages, self.bytes, self.ended = [], b"", False
        self.process = subprocess.Popen(
            [*prefix, "sh", "-c", 'exec "$0" collect 3<&0 </dev/null', TACHO],
            stdin=theirs, env=environment(home))
        theirs.close()
        if plan is not None:
            order["plan"] = plan
        self.send(PLAN, json.dumps(order).encode())

    def send(self, kind, body=b""):
        self.socket.sendall(struct.pack("<IHH", len(body), kind, 0) + body)

    def stop(self, kill=False):
        self.send(STOP, struct.pack("<I", 1 if kill else 0))

    def receive(self, until, limit_s=LIMIT_S):
        """Reads until @until(self) is true or the collector has closed its end."""
        end = time.monotonic() + limit_s
        while not until(self) and not self.ended:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.socket], [], [], left)[0]:
                raise TimeoutError("the collector says nothing; so far: %s" % self.kinds())
            try:
                piece = self.socket.recv(1 << 20)
            except ConnectionResetError:
                piece = b""
            if not piece:
                self.ended = True
            self.bytes += piece
            while len(self.bytes) >= 8:
                size, kind, _ = struct.unpack_from("<IHH", self.bytes)
                if len(self.bytes) < 8 + size:
                    break
                self.messages.append((kind, self.bytes[8:8 + size], time.monotonic_ns()))
                self.bytes = self.bytes[8 + size:]
        return self

    def finish(self, limit_s=LIMIT_S):
        """All that it has to say."""
        self.receive(lambda c: False, limit_s)
        self.process.wait(LIMIT_S)
        return self

    def wait_for(self, kind, limit_s=LIMIT_S):
        return self.receive(lambda c: any(k == kind for k, _, _ in c.messages), limit_s)

    def kinds(self):
        return [k for k, _, _ in self.messages]

    def bodies(self, kind):
        return [body for k, body, _ in self.messages if k == kind]

    def json(self, kind):
        """The last of that kind."""
        found = self.bodies(kind)
        return json.loads(found[-1]) if found else None

    def output(self, stream):
        pieces = [body for body in self.bodies(OUTPUT) if struct.unpack_from("<I", body, 8)[0] == stream]
        return b"".join(body[12:] for body in pieces)

    def notes(self):
        return [body.decode() for body in self.bodies(NOTE)]

    def dump(self):
        """What dictionary and chunks say, put together by the program's own decoder."""
        ours, theirs = socket.socketpair()
        process = subprocess.Popen([DUMP], stdin=theirs, stdout=subprocess.PIPE)
        theirs.close()

        def write():
            for kind, body, _ in self.messages:
                ours.sendall(struct.pack("<IHH", len(body), kind, 0) + body)
            ours.close()

        writer = threading.Thread(target=write)
        writer.start()
        text = process.communicate()[0]
        writer.join()
        if process.returncode:
            raise AssertionError("collect_dump failed")
        return json.loads(text)

    def leave(self):
        """The server is gone."""
        self.socket.close()

    def close(self):
        self.socket.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
