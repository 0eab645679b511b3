#!/usr/bin/env python3
"""Hits of tracepoints are rows of tables: the server has the values that `tacho script` and `perf script` read
from the same recording, and what it adds up is what the rows add up to."""

import json
import os
import re
import subprocess
import unittest

from helpers import TACHO, needs_program, needs_root, needs_tracefs
from openapi import DescribedCase

SIDE_BY_SIDE = True

TRACING = "/sys/kernel/tracing/events"

# Of every type of field: numbers of all sizes with and without sign, pointers, flags, characters, texts whose
# place is in the data, arrays of numbers and of bytes. Kernels differ: those that are not there are left out.
TRACEPOINTS = """
sched:sched_switch sched:sched_waking sched:sched_wakeup sched:sched_wakeup_new sched:sched_process_fork
sched:sched_process_exec sched:sched_process_exit sched:sched_process_free sched:sched_process_wait
sched:sched_migrate_task sched:sched_stat_runtime task:task_newtask task:task_rename signal:signal_generate
signal:signal_deliver raw_syscalls:sys_enter raw_syscalls:sys_exit syscalls:sys_enter_openat
syscalls:sys_exit_openat syscalls:sys_enter_write syscalls:sys_exit_write syscalls:sys_enter_socket
syscalls:sys_exit_socket syscalls:sys_enter_mmap syscalls:sys_enter_kill syscalls:sys_enter_getppid
kmem:kmalloc kmem:kfree kmem:kmem_cache_alloc kmem:kmem_cache_free kmem:mm_page_alloc kmem:mm_page_free
kmem:rss_stat timer:timer_start timer:hrtimer_start timer:hrtimer_cancel timer:hrtimer_expire_entry
irq:softirq_entry irq:softirq_exit irq:softirq_raise workqueue:workqueue_queue_work
workqueue:workqueue_execute_start rcu:rcu_utilization net:net_dev_queue net:netif_rx net:net_dev_xmit
skb:kfree_skb skb:consume_skb sock:inet_sock_set_state tcp:tcp_probe tcp:tcp_destroy_sock
exceptions:page_fault_user filemap:mm_filemap_add_to_page_cache writeback:writeback_dirty_folio
writeback:writeback_mark_inode_dirty mmap_lock:mmap_lock_start_locking mmap_lock:mmap_lock_released
vmscan:mm_shrink_slab_start exceptions:page_fault_kernel vmalloc:alloc_vmap_area cgroup:cgroup_attach_task
initcall:initcall_start module:module_get percpu:percpu_alloc_percpu percpu:percpu_free_percpu
fib:fib_table_lookup neigh:neigh_update udp:udp_fail_queue_rcv_skb
""".split()

# Files, processes, signals, a connection over loopback: bounded, and the same each time.
WORKLOAD = r"""
import os, signal, socket, threading
signal.signal(signal.SIGUSR1, lambda *_: None)
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(1)
for i in range(20):
    os.kill(os.getpid(), signal.SIGUSR1)
    for _ in range(10):
        os.getppid()
    with open("/tmp/tacho-tables-%d" % os.getpid(), "wb") as file:
        file.write(b"x" * 5000)
    os.unlink("/tmp/tacho-tables-%d" % os.getpid())
    client = socket.create_connection(server.getsockname())
    other, _ = server.accept()
    client.sendall(b"y" * 1000)
    other.recv(1000)
    client.close()
    other.close()
    thread = threading.Thread(target=bytearray, args=(1 << 20,))
    thread.start()
    thread.join()
    os.system("true")
"""


def existing(names):
    return [n for n in names if os.path.isdir(os.path.join(TRACING, *n.split(":")))]


class Tables(DescribedCase):
    def setUp(self):
        needs_root("for tracepoints")
        needs_tracefs()
        super().setUp()

    def traced(self, events, **more):
        """A run of the workload with every hit of these, and its recording; the table of each event by its name."""
        run = self.server.run(self.server.session(), ["python3", "-c", WORKLOAD], tool="record", keep_raw=True,
                              sample={"events": events, "period": 1, "callgraph": "fp"}, **more)
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", run)
        path = os.path.join(self.home, "traced.data")
        with open(path, "wb") as file:
            file.write(self.server.get_bytes("benchmark/%s.data" % run["uuid"]))
        tables = {t["name"]: t for t in self.server.get("benchmark/%s/table" % run["uuid"])["tables"]}
        return run["uuid"], path, tables

    def rows(self, uuid, table, **query):
        """All rows that are meant, as dictionaries by column."""
        found, offset = [], 0
        path = "benchmark/%s/table/%s" % (uuid, table)
        while True:
            answer = self.server.get(path, dict(query, offset=offset, limit=1000))
            names = [c["name"] for c in answer["columns"]]
            found += [dict(zip(names, row)) for row in answer["rows"]]
            offset += len(answer["rows"])
            if offset >= answer["matched"]:
                self.assertEqual(len(found), answer["matched"])
                return found

    def script(self, path):
        """Samples of each event as `tacho script --json` reads them, in the order of time."""
        lines = subprocess.run([TACHO, "script", "-i", path, "--json"], capture_output=True, text=True, check=True)
        samples = {}
        for line in lines.stdout.splitlines():
            record = json.loads(line)
            if record["type"] == "SAMPLE":
                samples.setdefault(record["event"], []).append(record)
        return samples


class Values(Tables):
    def same_fields(self, row, sample, columns, start):
        self.assertEqual(row["tid"], sample["tid"])
        self.assertEqual(row["cpu"], sample["cpu"])
        self.assertEqual(row["time"] + start, sample["time_ns"])
        for name, value in sample["fields"].items():
            column = columns.get("field_" + name) or columns[name]
            cell = row[column["name"]]
            if column["text"] and isinstance(value, str) and "char" not in column["meaning"]:
                # Arrays: script has their bytes, the table what they are.
                plain = value.removeprefix("0x")
                if cell.startswith("{"):
                    size = len(plain) // 2 // max(1, len(cell.split(","))) if plain else 1
                    parts = [plain[i:i + 2 * size] for i in range(0, len(plain), 2 * size)] if plain else []
                    numbers = [int.from_bytes(bytes.fromhex(p), "little", signed="-" in cell) for p in parts]
                    self.assertEqual(cell, "{%s}" % ",".join(map(str, numbers)), name)
                else:
                    self.assertEqual(cell, plain, name)
            elif column["text"]:
                self.assertEqual(cell, value or "", name)
            elif column["type"] == "address":
                self.assertEqual(int(cell, 16), value if isinstance(value, int) else int(value, 16), name)
            else:
                self.assertEqual(cell, value, name)

    def test_as_script_reads_them(self):
        events = existing(TRACEPOINTS)
        uuid, path, tables = self.traced(events)
        start = min(s["time_ns"] for samples in self.script(path).values() for s in samples)
        compared, types = 0, set()
        for event, samples in self.script(path).items():
            if event not in tables:
                continue
            columns = {c["name"]: c for c in tables[event]["columns"]}
            rows = self.rows(uuid, event)
            self.assertEqual(len(rows), len(samples), event)
            self.assertEqual(tables[event]["rows"], len(samples), event)
            key = lambda time, tid, cpu: (time, tid, cpu)
            rows.sort(key=lambda r: key(r["time"], r["tid"], r["cpu"]))
            samples.sort(key=lambda s: key(s["time_ns"], s["tid"], s["cpu"]))
            start = samples[0]["time_ns"] - rows[0]["time"]
            for row, sample in zip(rows, samples):
                with self.subTest(event=event, time_ns=sample["time_ns"]):
                    self.same_fields(row, sample, columns, start)
            compared += 1
            types |= {(c["type"], c["bytes"]) for c in columns.values() if not c["derived"]}
        print("# %d tracepoints of %d, types: %s" % (compared, len(events), sorted(types)))
        self.assertGreaterEqual(compared, 20)
        self.assertGreaterEqual(len(types), 10)

    def test_as_perf_script_prints_them(self):
        perf = needs_program("perf")
        events = existing(["sched:sched_switch", "sched:sched_process_fork", "sched:sched_process_exec",
                           "task:task_newtask", "kmem:kmalloc", "kmem:mm_page_alloc", "signal:signal_generate",
                           "timer:hrtimer_start", "sched:sched_stat_runtime", "task:task_rename"])
        uuid, path, tables = self.traced(events)
        text = subprocess.run([perf, "script", "-i", path, "-f", "-F", "tid,cpu,time,event,trace", "--ns"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
        lines = re.findall(r"^ *(\d+) +\[(\d+)\] +(\d+)\.(\d+): +(\S+): +(.*)$", text, re.M)
        printed = {}
        for tid, cpu, seconds, nanoseconds, event, trace in lines:
            time = int(seconds) * 10**9 + int(nanoseconds)
            printed.setdefault(event, []).append((time, int(tid), int(cpu), trace))
        compared = 0
        for event, all_printed in printed.items():
            rows = sorted(self.rows(uuid, event), key=lambda r: (r["time"], r["tid"], r["cpu"]))
            self.assertEqual(len(rows), len(all_printed), event)
            for row, (_, tid, cpu, trace) in zip(rows, sorted(all_printed)):
                self.assertEqual((row["tid"], row["cpu"]), (tid, cpu))
                for name, value in re.findall(r"\b(\w+)=(-?\d+)(?= |$)", trace):
                    # A field that is named as a part of the thread has another name in the table.
                    cell = row.get("field_" + name, row.get(name))
                    if isinstance(cell, int):
                        # Some are printed in hexadecimal digits, without a mark.
                        self.assertIn(cell, (int(value), int(value, 16)), "%s of %s: %s" % (name, event, trace))
                        compared += 1
        self.assertGreater(compared, 100)


class Questions(Tables):
    def test_sums_are_those_of_the_rows(self):
        uuid, _, tables = self.traced(["syscalls:sys_enter_getppid", "syscalls:sys_exit_write",
                                       "syscalls:sys_enter_write", "cpu-clock"])
        # Once in each of ten rounds of twenty, and as often as others below us did it.
        rows = self.rows(uuid, "syscalls:sys_enter_getppid", where='comm == "python3"')
        self.assertEqual(len(rows), 200)
        written = self.rows(uuid, "syscalls:sys_enter_write")
        path = "benchmark/%s/table/syscalls:sys_enter_write/" % uuid
        groups = self.server.get(path + "group", {"by": "comm,tid", "value": "count"})
        self.assertEqual(groups["matched"], len(written))
        for group in groups["groups"]:
            mine = sorted(r["count"] for r in written if [r["comm"], r["tid"]] == group["keys"])
            self.assertEqual((group["count"], group["sum"], group["min"], group["max"]),
                             (len(mine), sum(mine), mine[0], mine[-1]))
            for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
                exact = mine[max(0, -int(-share * len(mine) // 1) - 1)]
                self.assertLessEqual(abs(group[name] - exact), groups["percentile_error"] * abs(exact) + 1e-9)
        spread = self.server.get(path + "histogram", {"value": "count", "bins": 7})
        self.assertEqual(sum(b["count"] for b in spread["bins"]), len(written))
        heat = self.server.get(path + "heatmap", {"value": "count", "pixels": 11, "rows": 5, "scale": "log"})
        self.assertEqual(sum(heat["cells"]), len(written))
        lanes = self.server.get(path + "lanes", {"by": "thread", "pixels": 50})
        self.assertEqual(sum(lanes["starts"]), len(written))
        self.assertEqual({lane["thread"][1] for lane in lanes["lanes"]}, {row["tid"] for row in written})
        largest = self.server.get(path[:-1], {"sort": "count", "order": "desc", "limit": 1})["rows"][0]
        names = [c["name"] for c in tables["syscalls:sys_enter_write"]["columns"]]
        self.assertEqual(dict(zip(names, largest))["count"], max(r["count"] for r in written))

    def test_flame_graphs_add_up_the_rows(self):
        write = "import os\nf = os.open('/dev/null', os.O_WRONLY)\n"
        write += "for n in range(100):\n    os.write(f, b'x' * n)\n"
        write += "for n in range(7):\n    try:\n        os.write(-1, b'x')\n    except OSError:\n        pass\n"
        run = self.server.run(self.server.session(), ["python3", "-c", write], tool="record",
                              sample={"events": ["syscalls:sys_enter_write", "syscalls:sys_exit_write"],
                                      "callgraph": "fp"})
        uuid = self.server.wait_run(run["uuid"])["uuid"]
        mine = 'comm == "python3"'
        cases = (("syscalls:sys_enter_write", "count", {"where": mine}),
                 ("syscalls:sys_enter_write", "count", {"where": mine + " && count > 50"}),
                 ("syscalls:sys_exit_write", "ret", {"where": mine}),
                 ("syscalls:sys_exit_write", "ret", {"where": mine, "cpus": "0"}),
                 ("syscalls:sys_exit_write", "ret", {}))
        for table, column, query in cases:
            with self.subTest(table=table, query=query):
                rows = self.rows(uuid, table, **query)
                counted = [r for r in rows if r[column] >= 0]
                leaves = {}
                for row in counted:
                    leaves[row["function"]] = leaves.get(row["function"], 0) + row[column]
                path = "benchmark/%s/table/%s/flame" % (uuid, table)
                answer = self.server.get(path, dict(query, weight=column, mode="inverted", min=0))
                self.assertEqual((answer["event"], answer["column"], answer["unit"]), (table, column, None))
                self.assertEqual(answer["samples"], len(counted))
                self.assertEqual(answer["rows_left_out"], len(rows) - len(counted))
                self.assertEqual(answer["total"], sum(leaves.values()))
                nodes, found = answer["nodes"], {}
                for parent, name, total in list(zip(nodes["parent"], nodes["name"], nodes["total"]))[1:]:
                    if parent == 0:
                        found[answer["names"][name][0]] = found.get(answer["names"][name][0], 0) + total
                self.assertEqual(found, {name: total for name, total in leaves.items() if total})
                plain = self.server.get(path, dict(query, weight=column, min=0))
                self.assertEqual(sum(plain["nodes"]["self"]), sum(leaves.values()))
                self.assertEqual(plain["nodes"]["total"][0], sum(leaves.values()))
                if not leaves:
                    continue  # the program did not run on that CPU
                function = max(leaves, key=leaves.get)
                both = self.server.get(path, dict(query, weight=column, mode="sandwich", function=function))
                self.assertGreaterEqual(both["callees"]["total"], leaves[function])
        rows = self.rows(uuid, "syscalls:sys_exit_write", where=mine)
        self.assertEqual(sum(r["ret"] for r in rows if r["ret"] >= 0), 4950)
        self.assertEqual(sum(r["ret"] < 0 for r in rows), 7)

    def test_rows_are_samples(self):
        """Graphs and tables of functions of the event are made of the same rows, live questions, too."""
        uuid, path, tables = self.traced(["syscalls:sys_enter_getppid", "cpu-clock"])
        self.assertIn("syscalls:sys_enter_getppid", tables)
        functions = self.server.get("benchmark/%s/functions" % uuid, {"event": "syscalls:sys_enter_getppid"})
        self.assertEqual(functions["samples"], tables["syscalls:sys_enter_getppid"]["rows"])
        self.assertEqual(functions["samples"], len(self.script(path)["syscalls:sys_enter_getppid"]))
        run = self.server.benchmark(uuid)
        self.assertEqual(run["samples"], sum(t["rows"] for t in tables.values() if t["sampled"]))

    def test_every_hit_unless_there_is_a_period(self):
        """A frequency would leave out most hits, and the kernel repeats others."""
        event = "syscalls:sys_enter_getppid"
        plans = ({}, {"frequency": 50}, {"period": 4})
        for plan, expected in zip(plans, (200, 200, 50)):
            run = self.server.run(self.server.session(), ["perl", "-e", "getppid() for 1..200"], tool="record",
                                  sample=dict({"events": [event]}, **plan))
            run = self.server.wait_run(run["uuid"])
            with self.subTest(plan=plan):
                rows = self.rows(run["uuid"], event, where='comm == "perl"')
                self.assertEqual(sum(r["weight"] for r in rows), 200)
                self.assertEqual(len(rows), expected)

    def test_addresses_are_no_numbers(self):
        """By their type, or because the kernel prints them as addresses."""
        uuid, path, tables = self.traced(["kmem:kmalloc"])
        types = {c["name"]: c["type"] for c in tables["kmem:kmalloc"]["columns"]}
        self.assertEqual((types["call_site"], types["ptr"], types["bytes_req"]), ("address", "address", "unsigned"))
        self.server.expect(400, "GET", "benchmark/%s/table/kmem:kmalloc/histogram" % uuid, query={"value": "call_site"})
        result = subprocess.run([TACHO, "report", "-i", path, "--sum", "call_site", "--stdio"],
                                capture_output=True, text=True)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("call_site", result.stderr)

    def test_two_events_of_one_tracepoint(self):
        event = "syscalls:sys_enter_getppid"
        uuid, path, tables = self.traced([event, event])
        self.assertEqual(tables[event]["rows"], tables[event + "#2"]["rows"])
        self.assertEqual(self.rows(uuid, event + "%232", where='comm == "nobody"'), [])

    def test_tables_are_numbered_in_the_order_of_events(self):
        """Not in the order of their first hits, which nobody can know."""
        event = "syscalls:sys_enter_getppid"
        session = self.server.session()
        run = self.server.run(session, ["perl", "-e", "getppid() for 1..20"], tool="record",
                              sample={"events": ["%s/name=own,period=%d/" % (event, n) for n in (20, 1)]})
        self.assertEqual(self.server.wait_run(run["uuid"])["state"], "done")
        tables = {t["name"]: t["rows"] for t in self.server.get("benchmark/%s/table" % run["uuid"])["tables"]}
        self.assertEqual(tables, {"own": 1, "own#2": 20})

    def test_terms_of_an_event_are_no_part_of_the_path(self):
        """Paths have no encoded slashes."""
        uuid, _, tables = self.traced(["syscalls:sys_enter_getppid/period=1/"])
        self.assertEqual(list(tables), ["syscalls:sys_enter_getppid|period=1|"])
        self.assertEqual(len(self.rows(uuid, "syscalls:sys_enter_getppid%7Cperiod=1%7C", where='comm == "python3"')), 200)

    def test_tables_of_events_that_users_named(self):
        """Names that are taken, or that mean something else in queries and downloads."""
        event = "syscalls:sys_enter_getppid"
        chosen = ["samples", "counts", "counters", "own", "own", "own#2"]
        uuid, _, tables = self.traced(["%s/name=%s/" % (event, name) for name in chosen])
        self.assertEqual(len(tables), len(chosen), sorted(tables))
        self.assertLessEqual({"counters#2", "counts#2", "own", "own#2", "samples#2"}, set(tables))
        for name, table in tables.items():
            with self.subTest(name=name):
                path = "benchmark/%s/table/%s" % (uuid, name.replace("#", "%23"))
                self.assertEqual(self.server.get(path)["matched"], table["rows"])
                csv = self.server.get_bytes("benchmark/%s.csv?what=%s" % (uuid, name.replace("#", "%23")))
                self.assertEqual(csv.count(b"\n"), table["rows"] + 1)

    def test_imported(self):
        _, path, tables = self.traced(["syscalls:sys_enter_write", "sched:sched_process_exec"])
        with open(path, "rb") as data:
            run = self.server.wait_run(self.server.post("import", data.read(), status=202)["uuid"])
        self.assertEqual(run["state"], "done", run)
        imported = run["uuid"]
        again = {t["name"]: t for t in self.server.get("benchmark/%s/table" % imported)["tables"]}
        for name, table in tables.items():
            self.assertEqual(again[name]["rows"], table["rows"])
            self.assertEqual(again[name]["columns"], table["columns"])

    def test_mistakes(self):
        uuid, _, _ = self.traced(["syscalls:sys_enter_write"])
        path = "benchmark/%s/table/" % uuid
        for suffix, query, status, part in (
                ("syscalls:sys_enter_wirte", {}, 404, "syscalls:sys_enter_write"),
                ("syscalls:sys_enter_write", {"where": "cuont > 3"}, 400, "count"),
                ("syscalls:sys_enter_write", {"where": "count >"}, 400, "^"),
                ("syscalls:sys_enter_write", {"sort": "cuont"}, 400, "count"),
                ("syscalls:sys_enter_write", {"order": "up"}, 400, "asc or desc"),
                ("syscalls:sys_enter_write/group", {}, 400, "by"),
                ("syscalls:sys_enter_write/group", {"by": "comm", "value": "comm"}, 400, "no numbers"),
                ("syscalls:sys_enter_write/histogram", {}, 400, "value"),
                ("syscalls:sys_enter_write/flame", {}, 400, "weight"),
                ("syscalls:sys_enter_write/flame", {"weight": "buf"}, 400, "no numbers"),
                ("syscalls:sys_enter_write/flame", {"weight": "comm"}, 400, "no numbers"),
                ("syscalls:sys_enter_write/flame", {"weight": "time"}, 400, "no numbers"),
                ("syscalls:sys_enter_write/flame", {"weight": "cuont"}, 400, "count"),
                ("syscalls:sys_enter_write/flame", {"weight": "count", "mode": "ordered"}, 400, "sandwich"),
                ("syscalls:sys_enter_write/flame", {"weight": "count", "mode": "sandwich", "function": "nobody"}, 404,
                 "nobody"),
                ("syscalls:sys_enter_write/heatmap", {"value": "count", "pixels": 0}, 400, "at least 1")):
            with self.subTest(suffix=suffix, query=query):
                answer = self.server.expect(status, "GET", path + suffix, query=query).json()
                self.assertIn(part, answer["error"]["message"])


if __name__ == "__main__":
    unittest.main()
