"""Whose runs one may change: one's own, and as an administrator those of everybody."""

import re
import uuid

from server import RUN_TOKENS, ServerCase
from test_openapi import routes

SIDE_BY_SIDE = True

SOME_ID = str(uuid.uuid4())


class Owners(ServerCase):
    options = RUN_TOKENS

    def setUp(self):
        super().setUp()
        self.ann, self.bob = (self.server.post("users", {"name": name, "role": "run"})["token"]
                              for name in ("ann", "bob"))
        self.session = self.server.post("sessions", {"title": "ann's"}, token=self.ann)["uuid"]

    def submit(self, token, workload="true", session=None):
        plan = {"workload": workload, "tool": "stat", "events": ["page-faults"]}
        return self.server.post("session/" + (session or self.session), plan, token=token)["uuid"]

    def changes(self, run):
        """Every request that changes a run or its session, the deadly ones last."""
        return [("PATCH", "benchmark/" + run, {"note": "changed"}), ("PATCH", "benchmark/" + run, {"tags": ["changed"]}),
                ("PATCH", "benchmark/" + run, {"description": "changed"}),
                ("PATCH", "queue", {"run": run, "before": None}), ("POST", "benchmark/%s/cancel" % run, None),
                ("PATCH", "session/" + self.session, {"title": "changed"}), ("DELETE", "benchmark/" + run, None),
                ("DELETE", "session/" + self.session, None)]

    def test_runs_of_others_stay_as_they_are(self):
        running, waiting = self.submit(self.ann, "sleep infinity"), self.submit(self.ann)
        self.server.wait_state(running, "running")
        before = self.server.benchmark(waiting)
        for method, path, body in self.changes(waiting):
            with self.subTest(method=method, path=path):
                answer = self.server.request(method, path, body, token=self.bob)
                self.assertEqual(answer.status, 403, answer)
                self.assertIn("was started by 'ann'", answer.message())
        self.assertEqual({k: v for k, v in self.server.benchmark(waiting).items() if k != "progress"},
                         {k: v for k, v in before.items() if k != "progress"})
        self.assertEqual(self.server.get("session/" + self.session)["title"], "ann's")
        self.assertEqual(self.server.benchmark(running)["state"], "running")
        # What changes nothing of hers is open to him: a run of his own, of her plan and in her session.
        own = self.server.post("benchmark/%s/rerun" % waiting, token=self.bob)["uuid"]
        self.assertEqual(self.server.benchmark(own)["user"], "bob")
        self.server.patch("queue", {"run": own, "before": waiting}, token=self.bob)
        # Then she cannot take his away either.
        answer = self.server.request("DELETE", "session/" + self.session, token=self.ann)
        self.assertEqual(answer.status, 403, answer)
        self.assertIn("Run %s of this session was started by 'bob'" % own[:8], answer.message())

    def test_own_runs_are_ones_own(self):
        blocker = self.submit("own", "sleep infinity")
        self.server.wait_state(blocker, "running")
        empty = self.server.post("sessions", {"title": "empty"}, token=self.bob)["uuid"]
        self.session = self.server.post("sessions", {"title": "hers"}, token=self.ann)["uuid"]
        for method, path, body in self.changes(self.submit(self.ann)):
            self.server.expect((200, 202, 204), method, path, body, token=self.ann)
        self.server.delete("session/" + empty, token=self.ann)
        # An administrator changes everything.
        self.session = self.server.post("sessions", {"title": "hers"}, token=self.ann)["uuid"]
        for method, path, body in self.changes(self.submit(self.ann)):
            self.server.expect((200, 202, 204), method, path, body)

    def test_every_change_is_described(self):
        """The operations that the description calls so are those that refuse."""
        own = {(method.upper(), path) for path, item in self.server.get("openapi.json")["paths"].items()
               for method, operation in item.items() if "that somebody else has started" in operation["description"]}
        tried = {(method, re.sub(r"(benchmark|session)/[0-9a-f-]{36}", r"\1/{id}", "/api/v1/" + path))
                 for method, path, _ in self.changes(SOME_ID)}
        self.assertEqual(own, {(method, path) for method, path in tried})
        # All else that changes something makes something new, or is the administrator's.
        rest = {(method, path) for method, path, role in routes(self) if method != "GET" and role == "run"} - own
        self.assertEqual({path.rsplit("/", 1)[1] for _, path in rest}, {"sessions", "{id}", "rerun", "import"})

    def test_command_line(self):
        run = self.submit(self.ann)
        self.server.wait_run(run)
        result = self.tacho("rm", run, env={"TACHO_SERVER": self.server.url, "TACHO_TOKEN": self.bob})
        self.assertEqual(result.returncode, 1)
        self.assertOneSentence(result.stderr)
        self.assertIn("was started by 'ann'", result.stderr)
