"""A load of real programs for so many seconds: SQLite, Redis, PostgreSQL, a C++ compile, Java and
Python, side by side, each over and over. Servers listen on Unix sockets in a folder of their own.

usage: mix.py SECONDS
"""
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SQL = """CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<60000)
INSERT INTO t SELECT x, hex(randomblob(8)) FROM c;
CREATE INDEX i ON t(b); SELECT count(*), min(b) FROM t WHERE b > '8' GROUP BY substr(b,1,2);
"""
CPP = """#include <iostream>
#include <map>
#include <regex>
#include <string>
int main() { std::map<std::string, std::regex> m; m.emplace("a", std::regex("(a|b)+c"));
std::cout << std::regex_match("ababc", m.at("a")) << std::endl; }
"""
JAVA = """import java.util.*;
public class Load { public static void main(String[] a) { long sum = 0;
for (int n = 0; n < 200; n++) { Map<String,Integer> m = new TreeMap<>();
for (int i = 0; i < 20000; i++) m.merge("k" + (i * 7919 % 5003), i, Integer::sum);
for (int v : m.values()) sum += v; } System.out.println(sum); } }
"""
PYTHON = """import json
for n in range(60):
    json.loads(json.dumps([{"a": i, "b": [i] * 5} for i in range(3000)]))
"""


def have(*names):
    return all(shutil.which(name) for name in names)


class Mix:
    def __init__(self, folder):
        self.folder = folder
        self.loops, self.servers, self.missing = {}, [], []

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        return path

    def serve(self, argv):
        self.servers.append(subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def add_redis(self):
        if not have("redis-server", "redis-benchmark"):
            return self.missing.append("Redis")
        sock = self.path("redis.sock")
        self.serve(["redis-server", "--port", "0", "--unixsocket", sock, "--save", "", "--dir", self.folder])
        return self.loops.update(redis=["redis-benchmark", "-s", sock, "-q", "-n", "60000", "-t",
                                        "set,get,lpush,zadd"])

    def add_postgres(self):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not programs or not have("runuser"):
            return self.missing.append("PostgreSQL")
        run = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        data = os.path.join(self.folder, "pg")
        os.mkdir(data)
        shutil.chown(data, "postgres") if run else None
        quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/"}
        subprocess.run(run + [programs[-1] + "/initdb", "-D", data + "/d", "-A", "trust"], **quiet)
        self.serve(run + [programs[-1] + "/postgres", "-D", data + "/d", "-k", data, "-c", "listen_addresses="])
        base = ["-h", data, "-U", "postgres" if run else os.environ["USER"], "postgres"]
        for _ in range(100):
            if subprocess.run(["psql", *base, "-c", "select 1"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0:
                break
            time.sleep(0.1)
        bench = programs[-1] + "/pgbench"
        subprocess.run([bench, "-i", *base], **quiet)
        return self.loops.update(postgres=[bench, "-c", "2", "-T", "3", *base])

    def add_programs(self):
        for name, needs, argv, text in (
                ("SQLite", "sqlite3", ["sqlite3", ":memory:", ".read " + self.path("load.sql", SQL)], None),
                ("C++", "g++", ["g++", "-O2", "-c", "-o", self.path("load.o"), self.path("load.cc", CPP)], None),
                ("Java", "java", ["java", self.path("Load.java", JAVA)], None),
                ("Python", "python3", ["python3", self.path("load.py", PYTHON)], None)):
            if have(needs):
                self.loops[name] = argv
            else:
                self.missing.append(name)

    def run(self, seconds):
        end = time.monotonic() + seconds
        running = {}
        while time.monotonic() < end:
            for name, argv in self.loops.items():
                if name not in running or running[name].poll() is not None:
                    running[name] = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                                     cwd="/")
            time.sleep(0.05)
        for process in list(running.values()) + self.servers:
            process.send_signal(signal.SIGINT)  # PostgreSQL ends at once by it
        for process in list(running.values()) + self.servers:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def main():
    with tempfile.TemporaryDirectory(prefix="tacho-mix-") as folder:
        os.chmod(folder, 0o755)
        mix = Mix(folder)
        mix.add_programs()
        mix.add_redis()
        mix.add_postgres()
        if mix.missing:
            print("not installed, so not in the mix:", ", ".join(mix.missing), file=sys.stderr)
        mix.run(float(sys.argv[1]))


if __name__ == "__main__":
    main()
