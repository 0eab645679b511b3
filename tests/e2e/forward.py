"""Between a server and who uses it: a forwarded port, and a browser as far as cookies go."""

import http.client
import http.cookies
import select
import socket
import threading


class Forwarder:
    """127.0.0.1:port → the server, as `ssh -L` does."""

    def __init__(self, server):
        self.server = server
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.ending = False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while not self.ending:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            other = socket.create_connection((self.server.host, self.server.port))
            threading.Thread(target=self.carry, args=(client, other), daemon=True).start()

    @staticmethod
    def carry(a, b):
        pairs = {a: b, b: a}
        with a, b:
            while True:
                for ready in select.select(list(pairs), [], [], 60)[0] or [None]:
                    try:
                        data = ready.recv(65536) if ready else b""
                        if not data:
                            return
                        pairs[ready].sendall(data)
                    except OSError:
                        return

    def close(self):
        self.ending = True
        self.listener.close()


class Browser:
    """As much of one as cookies need: they are kept by host, whatever the port."""

    def __init__(self, host="127.0.0.1"):
        self.host, self.cookies = host, {}

    def ask(self, port, method, path, body=None, **headers):
        headers = {k.replace("_", "-"): v for k, v in headers.items()}
        headers["Host"] = "%s:%d" % (self.host, port)
        headers.setdefault("Accept", "text/html,application/json;q=0.9,*/*;q=0.8")
        if self.cookies:
            headers["Cookie"] = "; ".join("%s=%s" % pair for pair in self.cookies.items())
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=180)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        for line in answer.headers.get_all("Set-Cookie") or []:
            for name, morsel in http.cookies.SimpleCookie(line).items():
                self.cookies[name] = morsel.value
        return answer, body
