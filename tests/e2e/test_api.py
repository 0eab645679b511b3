"""The API on a real server with real runs. Every answer is also held against openapi.json."""

import gzip
import json
import os
import re
import signal
import struct
import uuid
from unittest.mock import ANY

from helpers import LIMIT_S, columns_of, eventually, load, needs_system_wide, needs_tracefs, wait_counting
from openapi import DescribedCase, dump
from server import RUN_TOKENS

SIDE_BY_SIDE = True

NOBODY = str(uuid.UUID(int=0x12345678123456781234567812345678))


class Sessions(DescribedCase):
    def test_life(self):
        made = self.server.expect(201, "POST", "sessions", {"title": "first light"})
        session = made.json()
        self.assertEqual(made.headers["Location"], "/api/v1/session/" + session["uuid"])
        self.assertEqual((session["title"], session["runs"], session["next"]), ("first light", [], None))
        self.assertRegex(session["created_at"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        listed = self.server.get("sessions")
        self.assertEqual(listed["sessions"], [{**{k: session[k] for k in ("uuid", "title", "created_at")},
                                               "runs": 0}])
        changed = self.server.patch("session/" + session["uuid"], {"title": "second"})
        self.assertEqual(changed["title"], "second")
        self.assertEqual(self.server.get("session/" + session["uuid"])["title"], "second")
        self.server.delete("session/" + session["uuid"])
        self.server.get("session/" + session["uuid"], status=404)
        self.assertEqual(self.server.get("sessions"), {"sessions": [], "next": None})

    def test_pages_have_everything_once(self):
        made = [self.server.session("number %d" % i) for i in range(6)]
        seen, cursor = [], None
        while True:
            page = self.server.get("sessions", {"limit": 3, **({"before": cursor} if cursor else {})})
            self.assertEqual(len(page["sessions"]), 3)
            seen += [s["uuid"] for s in page["sessions"]]
            cursor = page["next"]
            if cursor is None:
                break
        self.assertEqual(seen, made[::-1])

    def test_search(self):
        for title in ("Alpha beta", "gamma", "100% of _it_"):
            self.server.session(title)

        def found(text):
            return [s["title"] for s in self.server.get("sessions", {"search": text})["sessions"]]
        self.assertEqual(found("ALPHA"), ["Alpha beta"])
        self.assertEqual(found("amm"), ["gamma"])
        # What means something in SQL means itself here.
        self.assertEqual(found("%"), ["100% of _it_"])
        self.assertEqual(found("_"), ["100% of _it_"])
        self.assertEqual(found("'; drop table sessions; --"), [])
        self.assertEqual(len(found("")), 3)

    def test_refusals(self):
        def refused(method, path, body, *words, status=400):
            message = self.server.expect(status, method, path, body).message()
            for word in words:
                self.assertIn(word, message)
        session = self.server.session()
        refused("POST", "sessions", {}, "title")
        refused("POST", "sessions", {"title": 7}, "title", "string")
        refused("POST", "sessions", {"title": ""}, "empty")
        refused("POST", "sessions", {"titel": "x"}, "titel", "title")
        refused("POST", "sessions", "{\"title\": ", "JSON")
        refused("POST", "sessions", "[1]", "object")
        refused("POST", "sessions", "{\"title\": \"a\", \"title\": \"b\"}", "JSON")
        refused("POST", "sessions", "[" * 5000 + "]" * 5000, "deeper")
        refused("POST", "sessions", b"{\"title\": \"\xff\xfe\"}", "JSON")
        refused("POST", "sessions", "{\"title\": \"a\\u0000b\"}", "NUL character (line 1")
        refused("POST", "sessions", {"title": "x" * 2000}, "title", "longer")
        refused("PATCH", "session/" + session, {"name": "x"}, "name")
        refused("GET", "sessions?limit=0", None, "limit")
        refused("GET", "sessions?limit=1001", None, "limit", "1000")
        refused("GET", "sessions?limit=many", None, "limit")
        refused("GET", "sessions?before=-1", None, "before")
        refused("GET", "sessions?serach=x", None, "serach", "search")
        for bad in (NOBODY, "nonsense", NOBODY.upper() + "0", "%20", "a" * 1000):
            for method, body in (("GET", None), ("DELETE", None), ("PATCH", {"title": "x"}),
                                 ("POST", {"workload": "true"})):
                refused(method, "session/" + bad, body, status=404)
        self.assertEqual(len(self.server.get("sessions")["sessions"]), 1)

    def test_head(self):
        self.server.session()
        whole = self.server.expect(200, "GET", "sessions")
        head = self.server.expect(200, "HEAD", "sessions")
        self.assertEqual(head.body, b"")
        self.assertEqual(head.headers["Content-Type"], whole.headers["Content-Type"])

    def test_other_methods(self):
        answer = self.server.expect(405, "PUT", "sessions", {})
        self.assertEqual(set(re.split(r",\s*", answer.headers["Allow"])) - {"HEAD", "OPTIONS"},
                         {"GET", "POST"})
        self.server.expect(405, "DELETE", "emap")
        self.server.expect(404, "GET", "no/such/thing")
        self.server.expect(404, "GET", "/api/v2/sessions")


class Runs(DescribedCase):
    def setUp(self):
        super().setUp()
        self.session = self.server.session()

    def ended(self, *args, **plan):
        run = self.server.run(self.session, *args, **plan)
        return self.server.wait_run(run["uuid"])

    def test_what_a_run_says(self):
        plan = {"description": "a first one", "workload": [*load("busy", 300)], "env": {"COLOUR": "blue"},
                "cwd": "/", "tool": "both", "events": ["task-clock", "page-faults"], "interval": 0.05,
                "sample": {"events": ["cpu-clock"], "frequency": 500, "callgraph": "fp"},
                "tags": ["one", "two"], "note": "why", "client": {"zoom": 3}}
        answer = self.server.expect(202, "POST", "session/" + self.session, plan)
        run = answer.json()
        self.assertEqual(answer.headers["Location"], run["links"]["self"])
        self.assertIn(run["state"], ("queued", "running"))
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", dump(run))
        for field in ("description", "cwd", "tool", "events", "interval", "note", "tags", "client"):
            self.assertEqual(run[field], plan[field], field)
        self.assertEqual(run["argv"], plan["workload"])
        self.assertEqual(run["sample"]["frequency"], 500)
        self.assertEqual(run["env"], [["COLOUR", "blue"]])
        self.assertEqual((run["session"], run["exit_status"], run["signal"], run["error"]),
                         (self.session, 0, None, None))
        self.assertTrue(run["exclusive"])
        self.assertIsNone(run["run_as"])
        self.assertEqual(run["user"], self.server.get("me")["name"])
        self.assertTrue(run["created_at"] <= run["started_at"] <= run["ended_at"], dump(run))
        self.assertIsNone(run["progress"])
        self.assertGreater(run["samples"], 20)
        self.assertGreater(run["bytes"], 0)
        self.assertEqual({e["name"].partition(":")[0] for e in run["opened_events"]},
                         {"task-clock", "page-faults", "cpu-clock"})
        self.assertEqual(run["environment"]["kernel"], os.uname().release)
        self.assertEqual(run["ledger"]["samples"], run["samples"])
        # Everywhere the same, but for the bytes: chunks are merged meanwhile.
        for name in ("", ".json"):
            self.assertEqual(self.server.get("benchmark/" + run["uuid"] + name), dict(run, bytes=ANY))
        self.assertEqual(self.server.get("session/" + self.session)["runs"], [dict(run, bytes=ANY)])
        self.assertEqual(self.server.get("benchmarks")["runs"], [dict(run, bytes=ANY)])

    def test_list_of_runs(self):
        made = [self.server.run(self.session, ["true", str(i)])["uuid"] for i in range(5)]
        for each in made:
            self.server.wait_run(each)
        for path in ("session/" + self.session, "benchmarks"):
            first = self.server.get(path, {"limit": 2})
            second = self.server.get(path, {"limit": 10, "before": first["next"]})
            self.assertEqual([r["uuid"] for r in first["runs"] + second["runs"]], made[::-1])
            self.assertIsNone(second["next"])
            found = self.server.get(path, {"search": "true 3"})["runs"]
            self.assertEqual([r["uuid"] for r in found], [made[3]])

    def test_plans_that_are_refused(self):
        def refused(plan, *words):
            message = self.server.expect(400, "POST", "session/" + self.session, plan).message()
            for word in words:
                self.assertIn(word, message)
        refused({}, "workload")
        refused({"workload": "true", "intervall": 1}, "intervall", "interval")
        refused({"workload": "true", "sample": {"freqency": 1}}, "freqency", "frequency")
        refused({"workload": "true", "events": ["no-such-event"]}, "no-such-event")
        refused({"workload": "true", "events": ["page-fault"]}, "page-faults")
        refused({"workload": "true", "tool": "record", "sample": {"events": ["cpu-clok"]}}, "cpu-clok")
        refused({"workload": "echo 'unclosed"}, "quote")
        refused({"workload": ""}, "workload")
        refused({"workload": "true", "interval": 0}, "interval")
        refused({"workload": "true", "cwd": "relative"}, "cwd")
        refused({"workload": "true", "env": {"A=B": "c"}}, "env")
        refused({"workload": "true", "pids": [1]}, "pids")
        refused({"workload": "true", "state": "done"}, "state")
        self.assertEqual(self.server.get("session/" + self.session)["runs"], [])

    def test_programs_that_fail(self):
        self.assertEqual(self.ended(["sh", "-c", "exit 3"])["exit_status"], 3)
        killed = self.ended(["sh", "-c", "kill -9 $$"])
        self.assertEqual((killed["signal"], killed["exit_status"]), (9, None))
        missing = self.ended("no-such-program-anywhere")
        self.assertEqual(missing["state"], "failed")
        self.assertIn("no-such-program-anywhere", missing["error"])
        late = self.ended("sleep 60", timeout=0.3)
        self.assertTrue(late["timed_out"], dump(late))

    def test_event_with_the_highest_bit(self):
        """As some of AMD's have it; this one is not there, which is all that is wrong with it."""
        run = self.ended("true", tool="stat", events=["task-clock", "r8000000000000000"])
        self.assertEqual((run["state"], run["error"]), ("done", None), dump(run))
        event = {e["name"]: e for e in run["opened_events"]}["r8000000000000000"]
        self.assertEqual(event["config"] % 2 ** 64, 1 << 63)

    def test_cancel(self):
        running = self.server.run(self.session, "sleep 60")
        queued = self.server.run(self.session, "sleep 61")
        self.server.wait_state(running["uuid"], "running")
        self.assertEqual(self.server.benchmark(queued["uuid"])["state"], "queued")
        answer = self.server.post("benchmark/%s/cancel" % queued["uuid"], status=202)
        self.assertEqual(answer["state"], "cancelled")
        self.server.post("benchmark/%s/cancel" % running["uuid"], status=202)
        ended = self.server.wait_run(running["uuid"])
        self.assertEqual(ended["state"], "cancelled")
        message = self.server.expect(409, "POST", "benchmark/%s/cancel" % running["uuid"]).message()
        self.assertIn("already cancelled", message)
        self.server.expect(404, "POST", "benchmark/%s/cancel" % NOBODY)
        self.server.expect(400, "POST", "benchmark/%s/cancel" % running["uuid"], {"now": True})

    def test_rerun(self):
        first = self.ended(load("pages", 50), tool="stat", events=["page-faults"], tags=["x"])
        again = self.server.post("benchmark/%s/rerun" % first["uuid"], status=202)
        self.assertNotEqual(again["uuid"], first["uuid"])
        again = self.server.wait_run(again["uuid"])
        for field in ("session", "argv", "workload", "tool", "events", "interval", "tags", "env", "state"):
            self.assertEqual(again[field], first[field], field)
        self.assertEqual(again["state"], "done")
        self.server.expect(404, "POST", "benchmark/%s/rerun" % NOBODY)

    def test_words_about_a_run(self):
        run = self.ended("true", note="before", tags=["a"], description="line")
        path = "benchmark/" + run["uuid"]
        changed = self.server.patch(path, {"note": "after"})
        self.assertEqual((changed["note"], changed["tags"], changed["description"]), ("after", ["a"], "line"))
        changed = self.server.patch(path, {"tags": ["b", "c"], "description": "other"})
        self.assertEqual((changed["note"], changed["tags"], changed["description"]),
                         ("after", ["b", "c"], "other"))
        changed = self.server.patch(path, {"note": None, "tags": []})
        self.assertEqual((changed["note"], changed["tags"]), (None, []))
        self.assertEqual(self.server.get(path), changed)
        self.assertEqual(self.server.expect(400, "PATCH", path, {"state": "done"}).json()["error"]["code"],
                         "bad_request")
        for bad in ({"tags": "x"}, {"tags": [1]}, {"tags": ["x" * 101]}, {"tags": ["x"] * 33},
                    {"note": 5}, {"note": "x" * 70000}, {"notes": "x"}):
            self.server.expect(400, "PATCH", path, bad)
        self.assertEqual(self.server.get(path), changed)

    def test_words_are_told_to_watchers(self):
        run = self.server.run(self.session, "sleep 60")
        self.server.wait_state(run["uuid"], "running")
        seen = []
        for event in self.server.stream({"run": run["uuid"]}):
            if not seen:
                self.server.patch("benchmark/" + run["uuid"], {"note": "look"})
            seen.append(event.json().get("note"))
            if seen[-1] == "look" or len(seen) > 1000:
                break
        self.assertEqual(seen[-1], "look")
        self.server.delete("benchmark/" + run["uuid"])

    def test_delete_while_it_runs(self):
        mark = self.path("mark")
        run = self.server.run(self.session, ["sh", "-c", "echo $$ > %s; sleep 60" % mark])
        self.assertTrue(eventually(lambda: os.path.exists(mark) and open(mark).read()))
        pid = int(open(mark).read())
        self.server.delete("benchmark/" + run["uuid"])
        self.server.expect(404, "GET", "benchmark/" + run["uuid"])
        self.server.expect(404, "DELETE", "benchmark/" + run["uuid"])
        self.assertTrue(eventually(lambda: not os.path.exists("/proc/%d" % pid)))

    def test_delete_session_with_runs(self):
        running = self.server.run(self.session, "sleep 60")
        queued = self.server.run(self.session, "sleep 60")
        done = self.server.run(self.session, "true", exclusive=False)
        self.server.wait_run(done["uuid"])
        self.server.wait_state(running["uuid"], "running")
        self.server.delete("session/" + self.session)
        for run in (running, queued, done):
            self.server.expect(404, "GET", "benchmark/" + run["uuid"])
        self.assertEqual(self.server.get("queue"), {"running": [], "queued": [], "next": None})


class Queue(DescribedCase):
    def test_order_can_be_changed(self):
        session = self.server.session()
        blocker = self.server.run(session, "sleep 60")["uuid"]
        self.server.wait_state(blocker, "running")
        a, b, c = [self.server.run(session, ["true", x])["uuid"] for x in "abc"]

        def order():
            queue = self.server.get("queue")
            self.assertEqual([r["uuid"] for r in queue["running"]], [blocker])
            self.assertEqual([r["progress"]["place"] for r in queue["queued"]],
                             list(range(1, len(queue["queued"]) + 1)))
            return [r["uuid"] for r in queue["queued"]]
        self.assertEqual(order(), [a, b, c])
        answer = self.server.patch("queue", {"run": c, "before": a})
        self.assertEqual([r["uuid"] for r in answer["queued"]], [c, a, b])
        self.server.patch("queue", {"run": c, "before": b})
        self.assertEqual(order(), [a, c, b])
        self.server.patch("queue", {"run": a, "before": None})
        self.assertEqual(order(), [c, b, a])
        page = self.server.get("queue", {"limit": 2})
        self.assertEqual([r["uuid"] for r in page["queued"]], [c, b])
        page = self.server.get("queue", {"limit": 2, "before": page["next"]})
        self.assertEqual([r["uuid"] for r in page["queued"]], [a])
        for bad, status in (({"run": a}, 400), ({"run": a, "before": a}, 400), ({"before": a}, 400),
                            ({"run": NOBODY, "before": None}, 404), ({"run": a, "before": NOBODY}, 404),
                            ({"run": a, "before": None, "now": 1}, 400),
                            ({"run": blocker, "before": a}, 409)):
            self.server.expect(status, "PATCH", "queue", bad)
        self.assertEqual(order(), [c, b, a])
        self.server.post("benchmark/%s/cancel" % blocker)
        ended = [self.server.wait_run(x) for x in (c, b, a)]
        self.assertEqual(sorted(ended, key=lambda r: r["started_at"]), ended)


class Machine(DescribedCase):
    def test_events(self):
        page = self.server.get("emap", {"limit": 1000})
        names = [e["name"] for e in page["events"]]
        self.assertIn("page-faults", names)
        self.assertIn("cycles", names)
        faults = page["events"][names.index("page-faults")]
        self.assertEqual((faults["group"], faults["available"], faults["reason"]), ("sw", True, None))
        for event in page["events"]:
            if event["available"] is False:
                self.assertTrue(event["reason"], event)
        self.assertEqual({e["group"] for e in self.server.get("emap", {"group": "sw"})["events"]}, {"sw"})
        self.server.expect(400, "GET", "emap", query={"group": "soft"})

    def test_all_pages(self):
        seen, cursor = [], None
        while True:
            page = self.server.get("emap", {"limit": 1000, **({"before": cursor} if cursor else {})})
            seen += [(e["group"], e["pmu"], e["name"]) for e in page["events"]]
            cursor = page["next"]
            if cursor is None:
                break
        self.assertGreater(len(seen), 30)
        self.assertEqual(len(seen), len(set(seen)))

    def test_search_in_names_and_descriptions(self):
        by_name = [e["name"] for e in self.server.get("emap", {"search": "PAGE-fault"})["events"]]
        self.assertIn("page-faults", by_name)
        described = self.server.get("emap", {"search": "predicted wrongly"})["events"]
        self.assertIn("branch-misses", [e["name"] for e in described])
        self.assertNotIn("page-faults", [e["name"] for e in described])
        self.assertEqual(self.server.get("emap", {"search": "nothing is called so"})["events"], [])

    def test_most_used_first(self):
        session = self.server.session()
        for events in (["page-faults"], ["page-faults", "context-switches"]):
            run = self.server.run(session, "true", tool="stat", events=events)
            self.server.wait_run(run["uuid"])
        first = self.server.get("emap", {"limit": 2})["events"]
        self.assertEqual([(e["name"], e["used"]) for e in first],
                         [("page-faults", 2), ("context-switches", 1)])

    def test_events_are_tried_once(self):
        """Opening thousands of events for each question would take seconds."""
        needs_tracefs()
        needs_system_wide()
        self.server.get("emap")
        counting = self.start_stat("-x,", "-e", "syscalls:sys_enter_perf_event_open", "-p", str(self.server.pid()))
        wait_counting(counting)
        for _ in range(20):
            self.server.get("emap", {"search": "sched"})
        counting.send_signal(signal.SIGINT)
        self.assertLess(int(columns_of(counting.communicate(timeout=LIMIT_S)[1])[0][0]), 20)

    def test_processes(self):
        child = self.start_ready("idlethreads", 3)
        found = self.server.get("processes", {"search": "idlethreads"})["processes"]
        mine = [p for p in found if p["pid"] == child.pid]
        self.assertEqual(len(mine), 1, found)
        self.assertTrue(mine[0]["mine"])
        self.assertEqual((mine[0]["comm"], mine[0]["threads"]), ("load", 4))
        self.assertTrue(mine[0]["command"].endswith("load idlethreads 3"), mine)
        by_pid = self.server.get("processes", {"search": str(child.pid)})["processes"]
        self.assertIn(child.pid, [p["pid"] for p in by_pid])
        first = self.server.get("processes", {"limit": 2})
        self.assertEqual(len(first["processes"]), 2)
        second = self.server.get("processes", {"limit": 2, "before": first["next"]})
        pids = [p["pid"] for p in first["processes"] + second["processes"]]
        self.assertEqual(pids, sorted(pids, reverse=True))

    def test_attach_to_a_listed_process(self):
        child = self.start_ready("idlethreads", 2)
        session = self.server.session()
        run = self.server.run(session, pids=[child.pid], duration=0.5, tool="stat",
                              events=["context-switches"])
        self.assertFalse(run["exclusive"])
        self.assertIsNone(run["workload"])
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", dump(run))
        self.assertIsNone(child.poll())


class Itself(DescribedCase):
    def test_health_needs_no_token(self):
        for path in ("/healthz", "/api/v1/healthz"):
            answer = self.server.expect(200, "GET", path, token=None)
            self.assertEqual(answer.json(), {"status": "ok"})

    def test_me(self):
        me = self.server.get("me")
        self.assertEqual(me["role"], "administer")
        self.assertEqual(me["server"]["host"], os.uname().nodename)

    def figures(self):
        answer = self.server.expect(200, "GET", "/metrics")
        self.assertTrue(answer.headers["Content-Type"].startswith("text/plain"))
        values = {}
        for line in answer.text.splitlines():
            if line.startswith("#"):
                self.assertRegex(line, r"^# (HELP|TYPE) [a-z_]+ \S")
                continue
            self.assertRegex(line, r'^[a-z_]+(\{[a-z_]+="[^"]*"\})? [0-9.e+-]+$')
            name, value = line.rsplit(" ", 1)
            values[name] = float(value)
        return values

    def test_figures(self):
        session = self.server.session()
        self.server.wait_run(self.server.run(session, load("busy", 100), tool="record")["uuid"])
        # The collector may take a moment longer than its run.
        self.assertTrue(eventually(lambda: self.figures()["tacho_runs_running"] == 0))
        values = self.figures()
        self.assertEqual(values['tacho_runs_finished_total{state="done"}'], 1)
        self.assertEqual(values["tacho_runs_started_total"], 1)
        self.assertGreater(values["tacho_samples_total"], 0)
        self.assertGreater(values["tacho_store_bytes"], 0)
        self.assertEqual(values["tacho_expired_runs_total"], 0)
        self.assertGreater(values["tacho_http_requests_total"], 2)
        self.assertGreater(values["process_resident_memory_bytes"], 1 << 20)
        self.server.expect(401, "GET", "/metrics", token=None)

    def page_files(self):
        """The page and the paths of what it loads first."""
        answer = self.server.expect(200, "GET", "/")
        return answer, re.findall(r'(?:src|href)="(/[^"]+)"', answer.text)

    def test_page(self):
        answer, paths = self.page_files()
        self.assertTrue(answer.headers["Content-Type"].startswith("text/html"))
        self.assertIn('id="app"', answer.text)
        self.assertIn("no-cache", answer.headers["Cache-Control"])
        kinds = {}
        for path in paths:
            self.assertRegex(path, r"^/assets/[\w.-]+$")
            part = self.server.expect(200, "GET", path)
            kinds[path.rsplit(".")[-1]] = part.headers["Content-Type"].split(";")[0]
            self.assertIn("immutable", part.headers["Cache-Control"])
            self.assertIn("max-age=31536000", part.headers["Cache-Control"])
            # It does not change: asked again with what we have, nothing comes.
            again = self.server.expect(304, "GET", path, headers={"If-None-Match": part.headers["ETag"]})
            self.assertEqual((again.body, again.headers["ETag"]), (b"", part.headers["ETag"]))
        self.assertEqual(kinds, {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"})
        self.server.expect(304, "GET", "/", headers={"If-None-Match": answer.headers["ETag"]})
        self.server.expect(404, "GET", "/assets/index.js")
        self.server.expect(404, "GET", "/assets/index.html")

    def test_page_is_the_same_at_every_address(self):
        text = self.page_files()[0].text
        session = self.server.session()
        for query in ({"session": session}, {"run": NOBODY}, {"view": "flame", "from": "1", "whatever": "2"}):
            self.assertEqual(self.server.expect(200, "GET", "/", query=query).text, text)

    def test_page_is_compressed(self):
        for path in ["/"] + self.page_files()[1]:
            plain = self.server.expect(200, "GET", path, headers={"Accept-Encoding": "identity"})
            packed = self.server.expect(200, "GET", path, headers={"Accept-Encoding": "br, gzip"})
            self.assertIsNone(plain.headers["Content-Encoding"])
            self.assertEqual(packed.headers["Content-Encoding"], "gzip")
            self.assertEqual(gzip.decompress(packed.body), plain.body)
            self.assertNotEqual(plain.headers["ETag"], packed.headers["ETag"])
            for answer in (plain, packed):
                self.assertEqual(answer.headers["Vary"], "Accept-Encoding")
                self.assertEqual(int(answer.headers["Content-Length"]), len(answer.body))
            head = self.server.expect(200, "HEAD", path, headers={"Accept-Encoding": "gzip"})
            self.assertEqual((head.body, head.headers["Content-Length"], head.headers["ETag"]),
                             (b"", packed.headers["Content-Length"], packed.headers["ETag"]))

    def test_page_needs_a_token(self):
        for path in ["/"] + self.page_files()[1]:
            self.assertEqual(self.server.request("GET", path, token="").status, 401, path)

    def test_stream_needs_a_topic(self):
        self.server.expect(400, "GET", "live")
        self.server.expect(404, "GET", "live", query={"run": NOBODY})
        self.server.expect(404, "GET", "live", query={"session": "x"})
        self.server.expect(400, "GET", "live", query={"benchmark": NOBODY})

    def test_stream_goes_on_where_it_was(self):
        session = self.server.session()
        first = self.server.run(session, "true")["uuid"]
        self.server.wait_run(first)
        last = None
        for event in self.server.stream({"session": session}):
            last = event.id or last
            if event.name == "state" and event.json()["state"] == "done":
                break
        second = self.server.run(session, "true")["uuid"]
        self.server.wait_run(second)
        for how in ({"last_id": last}, {}):
            query = {"session": session} if how else {"session": session, "last": last}
            seen = set()
            for event in self.server.stream(query, **how):
                if event.name == "state":
                    seen.add(event.json()["uuid"])
                    if (event.json()["uuid"], event.json()["state"]) == (second, "done"):
                        break
            self.assertEqual(seen, {second})

    def test_stream_of_queue_and_session(self):
        session = self.server.session()
        states, queues = [], 0
        for event in self.server.stream({"queue": 1, "session": session}):
            if not states and not queues:
                run = self.server.run(session, "true")
                queues = 1
            if event.name == "state" and event.json()["uuid"] == run["uuid"]:
                self.assertIsNone(self.server.description.against(
                    {"$ref": "#/components/schemas/Run"}, event.json()))
                states.append(event.json()["state"])
            if event.name == "queue":
                queues += 1
            if states and states[-1] == "done":
                break
        self.assertEqual(states[-1], "done")
        self.assertGreater(queues, 1)


class People(DescribedCase):
    options = RUN_TOKENS

    def test_users(self):
        made = self.server.post("users", {"name": "ann", "role": "look"}, status=201)
        self.assertEqual((made["name"], made["role"]), ("ann", "look"))
        me = self.server.get("me", token=made["token"])
        self.assertEqual((me["name"], me["role"]), ("ann", "look"))
        users = {u["name"]: u for u in self.server.get("users")["users"]}
        self.assertEqual(users["ann"]["role"], "look")
        self.assertIsNone(users["ann"]["revoked_at"])
        self.assertNotIn("token", json.dumps(list(users.values())))
        self.server.expect(409, "POST", "users", {"name": "ann", "role": "run"})
        for bad in ({"name": "bob"}, {"name": "bob", "role": "king"}, {"name": "", "role": "run"},
                    {"name": "a b", "role": "run"}, {"name": "a/b", "role": "run"},
                    {"name": "x" * 64, "role": "run"}, {"name": "bob", "role": "run", "token": "mine"}):
            self.server.expect(400, "POST", "users", bad)
        self.server.delete("users/ann")
        self.server.expect(401, "GET", "me", token=made["token"])
        self.server.expect(404, "DELETE", "users/nobody")
        own = self.server.get("me")["name"]
        self.server.expect(409, "DELETE", "users/" + own)
        # The name is free again, with another token.
        again = self.server.post("users", {"name": "ann", "role": "run"}, status=201)
        self.assertNotEqual(again["token"], made["token"])
        self.assertEqual(self.server.get("me", token=again["token"])["role"], "run")
        page = self.server.get("users", {"limit": 1})
        self.assertEqual(len(page["users"]), 1)
        self.assertIsNotNone(page["next"])

    def test_who_started_it(self):
        token = self.server.post("users", {"name": "ann", "role": "run"})["token"]
        session = self.server.session()
        run = self.server.post("session/" + session, {"workload": "true"}, token=token)
        self.assertEqual(run["user"], "ann")
        self.assertEqual(self.server.wait_run(run["uuid"])["user"], "ann")


class Import(DescribedCase):
    def recording(self):
        file = self.path("my.data")
        result = self.tacho("record", "-e", "cpu-clock", "-F", "2000", "-o", file, "--", *load("busy", 200))
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(file, "rb") as data:
            return data.read()

    def test_body(self):
        data = self.recording()
        session = self.server.session()
        run = self.server.post("import", data, status=202,
                               query={"session": session, "name": "/some/dir/my.data", "keep_raw": "true"})
        self.assertEqual(run["session"], session)
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", dump(run))
        self.assertGreater(run["samples"], 100)
        self.assertTrue(run["raw"])
        self.assertEqual(self.server.get_bytes("benchmark/%s.data" % run["uuid"]), data)
        message = self.server.expect(409, "POST", "benchmark/%s/rerun" % run["uuid"]).message()
        self.assertIn("file", message)

    def test_beside_a_run(self):
        data = self.recording()
        beside = self.server.run(self.server.session(), ["sleep", "60"], exclusive=False)["uuid"]
        self.server.wait_state(beside, "running")
        read = self.server.wait_run(self.server.post("import", data, status=202)["uuid"])
        self.server.post("benchmark/%s/cancel" % beside, status=202)
        # Reading may have disturbed what was measured meanwhile, but not what is in the file.
        self.assertEqual(read["ledger"]["overlap"], [])
        others = [o["run"] for o in self.server.wait_run(beside)["ledger"]["overlap"]]
        self.assertEqual(others, [read["uuid"]])

    def test_form(self):
        data = self.recording()
        body = (b"--limit\r\nContent-Disposition: form-data; name=\"file\"; filename=\"of a form.data\"\r\n"
                b"Content-Type: application/octet-stream\r\n\r\n" + data + b"\r\n--limit--\r\n")
        run = self.server.post("import", body, status=202,
                               headers={"Content-Type": "multipart/form-data; boundary=limit"})
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", dump(run))
        self.assertGreater(run["samples"], 100)
        self.assertFalse(run["raw"])
        self.assertEqual(self.server.get("session/" + run["session"])["title"], "of a form.data")

    def test_largest_numbers(self):
        """An event's config and period are what they are, also if a file lies about them."""
        data = bytearray(self.recording())
        attrs = struct.unpack_from("<Q", data, 24)[0]
        struct.pack_into("<QQ", data, attrs + 8, 2 ** 64 - 1, 2 ** 64 - 1)  # config, period
        struct.pack_into("<Q", data, attrs + 40, struct.unpack_from("<Q", data, attrs + 40)[0] & ~(1 << 10))
        run = self.server.post("import", bytes(data), status=202)
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "done", dump(run))
        self.assertEqual(run["opened_events"][0]["config"] % 2 ** 64, 2 ** 64 - 1)
        self.assertEqual(run["opened_events"][0]["period"] % 2 ** 64, 2 ** 64 - 1)

    def test_what_is_no_recording(self):
        run = self.server.post("import", b"this is not a recording" * 100, status=202)
        run = self.server.wait_run(run["uuid"])
        self.assertEqual(run["state"], "failed")
        self.assertTrue(run["error"])
        # By the name that was given, not by where the server keeps it.
        run = self.server.post("import", b"this is not a recording", query={"name": "mine.data"}, status=202)
        run = self.server.wait_run(run["uuid"])
        self.assertIn("'mine.data' is not perf.data", run["error"])
        self.assertNotIn(self.server.data, run["error"])
        self.server.delete("session/" + run["session"])
        self.server.expect(400, "POST", "import", b"")
        self.server.expect(404, "POST", "import", b"x", query={"session": NOBODY})
        self.server.expect(400, "POST", "import", b"x", query={"keep": "true"})
        self.server.expect(400, "POST", "import", b"x", query={"name": "x" * 300})
        self.server.expect(400, "POST", "import", b"x", query={"keep_raw": "perhaps"})
        self.assertEqual(len(self.server.get("sessions")["sessions"]), 1)
