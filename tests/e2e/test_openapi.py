"""The description of the API: valid, complete, and true of every answer."""

import importlib.machinery
import importlib.util
import pathlib
import re

from helpers import Case, eventually, load
from openapi import METHODS, DescribedCase, jsonschema, needs_jsonschema

SIDE_BY_SIDE = True


def routes(case):
    """(method, path, role) of every route that the program has."""
    result = case.tacho("serve", "--routes")
    case.assertEqual(result.returncode, 0, result.stderr)
    return [tuple(line.split(" ")) for line in result.stdout.splitlines()]


class Document(DescribedCase):
    def setUp(self):
        super().setUp()
        self.document = self.server.description.document

    def test_form(self):
        self.assertEqual(self.document["openapi"], "3.1.0")
        for key in ("info", "paths", "components", "security", "servers", "tags"):
            self.assertIn(key, self.document)
        known = {tag["name"] for tag in self.document["tags"]}
        seen = set()
        for path, item in self.document["paths"].items():
            self.assertTrue(path.startswith("/"), path)
            for method, operation in item.items():
                where = "%s %s" % (method, path)
                self.assertIn(method, METHODS, where)
                self.assertNotIn(operation["operationId"], seen, where)
                seen.add(operation["operationId"])
                self.assertTrue(operation["summary"] and operation["description"], where)
                self.assertTrue(set(operation.get("tags", [])) <= known, where)
                self.assertTrue(any(status < "300" for status in operation["responses"]), where)
                self.check_parameters(path, where, operation.get("parameters", []))
                for response in operation["responses"].values():
                    self.assertIn("description", self.server.description.resolve(response), where)

    def check_parameters(self, path, where, parameters):
        found = [self.server.description.resolve(p) for p in parameters]
        in_path = [p["name"] for p in found if p["in"] == "path"]
        self.assertEqual(sorted(in_path), sorted(re.findall(r"{(\w+)}", path)), where)
        names = [(p["name"], p["in"]) for p in found]
        self.assertEqual(len(names), len(set(names)), where)
        for p in found:
            self.assertTrue(p["description"], where)
            self.assertIn("schema", p, where)
            self.assertTrue(p.get("required") or p["in"] != "path", where)

    def test_schemas(self):
        for name, schema in self.document["components"]["schemas"].items():
            with self.subTest(name):
                jsonschema.Draft202012Validator.check_schema(schema)

    def test_every_route_is_described_and_the_other_way_round(self):
        program = routes(self)
        self.assertEqual({(m, p) for m, p, _ in program}, self.server.description.operations())
        self.assertEqual(len(program), len(set(program)))
        for method, path, role in program:
            operation = self.document["paths"][path][method.lower()]
            sentence = "Needs no token." if role == "open" else "Needs the role %s." % role
            self.assertIn(sentence, operation["description"], (method, path))

    # Asked by other people's programs, by a browser: with any query.
    ANY_QUERY = ("/healthz", "/api/v1/healthz", "/metrics", "/", "/assets/{name}")

    def test_every_parameter_is_described_and_the_other_way_round(self):
        """A parameter that is not known is refused, with the names of those that are."""
        session = self.server.session("parameters")
        run = self.server.run(session, "true")["uuid"]
        self.server.wait_run(run)
        for method, path, _ in routes(self):
            of_session = path.startswith("/api/v1/session/")
            full = path.replace("{id}", session if of_session else run).replace("{name}", "nobody")
            described = self.server.description.parameters(method, path)
            with self.subTest(method + " " + path):
                if path in self.ANY_QUERY:
                    self.assertEqual(described, set())
                    continue
                answer = self.server.expect(400, method, full, query={"0_0": 1})
                sentence = answer.json()["error"]["message"]
                known = re.fullmatch(r"There is no parameter '0_0'(?:; it takes (.*)| here; it takes none)[.]",
                                     sentence)
                self.assertTrue(known, sentence)
                self.assertEqual(set(known[1].split(", ")) if known[1] else set(), described)

    def test_unchanged_is_not_sent_again(self):
        answer = self.server.expect(200, "GET", "openapi.json")
        self.server.expect(304, "GET", "openapi.json", headers={"If-None-Match": answer.headers["ETag"]})


class Answers(DescribedCase):
    """Every operation once with success. DescribedServer looks at every answer."""

    # What an operation needs besides the run that it is asked of.
    PARAMETERS = {
        "/api/v1/diff": lambda run, other: {"before": run, "after": other},
        "/api/v1/diff/counters": lambda run, other: {"before": run, "after": other},
        "/api/v1/benchmark/{id}/histogram": lambda run, other: {"counter": "page-faults"},
        "/api/v1/benchmark/{id}/annotate": lambda run, other: {"function": "busy"},
        "/api/v1/benchmark/{id}/table/{name}/group": lambda run, other: {"by": "comm"},
        "/api/v1/benchmark/{id}/table/{name}/histogram": lambda run, other: {"value": "weight"},
        "/api/v1/benchmark/{id}/table/{name}/heatmap": lambda run, other: {"value": "weight"},
        "/api/v1/benchmark/{id}/table/{name}/flame": lambda run, other: {"weight": "weight"},
    }

    def measured(self):
        run = self.server.run(self.session, load("busy", 400), tool="both", keep_raw=True,
                              events=["task-clock", "page-faults"], interval=0.02,
                              sample={"events": ["cpu-clock"], "frequency": 999})
        ended = self.server.wait_run(run["uuid"])
        self.assertEqual(ended["state"], "done", ended)
        return run["uuid"]

    def test_all(self):
        self.session = self.server.session("all of it")
        run, other = self.measured(), self.measured()
        self.change_things(run)
        style = re.search(r'/assets/([^"]+[.]css)', self.server.expect(200, "GET", "/").text)[1]
        for method, path in sorted(self.server.description.operations()):
            if method != "GET" or path.endswith("/live"):
                continue
            query = self.PARAMETERS.get(path, lambda run, other: {})(run, other)
            of_session = path.startswith("/api/v1/session/")
            name = "samples" if "/table/" in path else style
            full = path.replace("{id}", self.session if of_session else run).replace("{name}", name)
            with self.subTest(path):
                self.server.expect(200, "GET", full, query=query)
        for event in self.server.stream({"run": run}):
            self.server.answered.add(("GET", "/api/v1/live"))
            break
        self.take_away(run)
        self.assertEqual(self.server.description.operations() - self.server.answered, set())

    def change_things(self, run):
        self.server.patch("session/" + self.session, {"title": "renamed"})
        self.server.patch("benchmark/" + run, {"note": "a note", "tags": ["x"]})
        blocker = self.server.run(self.session, "sleep 60")["uuid"]
        waiting = self.server.post("benchmark/%s/rerun" % run)["uuid"]
        self.server.patch("queue", {"run": waiting, "before": None})
        self.server.post("benchmark/%s/cancel" % waiting)
        self.server.post("benchmark/%s/cancel" % blocker)
        data = self.server.get_bytes("benchmark/%s.data" % run)
        self.server.wait_run(self.server.post("import", data, query={"session": self.session})["uuid"])
        self.server.post("users", {"name": "ann", "role": "look"})

    def take_away(self, run):
        self.server.delete("users/ann")
        self.server.delete("benchmark/" + run)
        self.server.delete("session/" + self.session)


class Stream(DescribedCase):
    """DescribedServer looks at every event of a stream."""

    # Prints again and again: what was printed before somebody watches is asked for otherwise.
    BUSY = "while :; do echo line; i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; done"

    def test_every_event(self):
        session = self.server.session("live")
        seen = set()
        run = self.server.run(session, ["sh", "-c", self.BUSY], tool="both",
                              events=["task-clock"], interval=0.02,
                              sample={"events": ["cpu-clock"], "frequency": 999})["uuid"]
        wanted = {"state", "counts", "samples", "output", "ledger"}
        for event in self.server.stream({"run": run, "queue": 1, "sessions": 1, "session": session}):
            seen.add(event.name)
            if wanted <= seen:
                break
        self.assertLessEqual(wanted | {"snapshot", "current", "session", "queue"}, seen)
        # A snapshot that is made now has the rates of the past. One that was made before the first samples may be
        # used again until there is more to tell.
        told = eventually(lambda: self.server.snapshot_of_samples(run))
        self.assertIn("rates", told)
        self.server.post("benchmark/%s/cancel" % run)
        self.assertIn("end", [event.name for event in self.server.stream({"run": run})])


class Tool(Case):
    def test_the_checker_finds_what_is_wrong(self):
        """A test of the test: answers that are not as described are noticed."""
        needs_jsonschema()
        from openapi import Description
        from server import Answer
        document = {
            "paths": {"/a/{id}": {"get": {"responses": {
                "200": {"description": "", "content": {"application/json": {
                    "schema": {"$ref": "#/components/schemas/A"}}}},
                "default": {"description": "", "content": {"application/json": {}}}}}}},
            "components": {"schemas": {"A": {
                "type": "object", "required": ["n"],
                "properties": {"n": {"type": "integer"}, "m": {"type": ["string", "null"]}}}}}}
        description = Description(document)

        def complaint(body, status=200, kind="application/json", path="/a/1?x=2", method="GET"):
            return description.complain(method, path, Answer(status, {"Content-Type": kind}, body))
        self.assertIsNone(complaint(b'{"n": 1}'))
        self.assertIsNone(complaint(b'{"n": 1, "m": null}'))
        self.assertIsNone(complaint(b'{}', status=500))
        self.assertIn("n", complaint(b'{"m": "x"}'))
        self.assertIn("other", complaint(b'{"n": 1, "other": 2}'))
        self.assertIn("'1'", complaint(b'{"n": "1"}'))
        self.assertIn("type", complaint(b'{"n": 1}', kind="text/html"))
        self.assertIn("not described", complaint(b'{"n": 1}', status=202))
        self.assertIn("there is no", complaint(b'{"n": 1}', path="/b"))


class PageTypes(Case):
    """tools/openapi-types, on descriptions of one schema each."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = pathlib.Path(__file__).resolve().parents[2] / "tools" / "openapi-types"
        loader = importlib.machinery.SourceFileLoader("openapi_types", str(path))
        cls.tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("openapi_types", loader))
        loader.exec_module(cls.tool)

    def type_of(self, schema, name="T"):
        text = self.tool.generate({"components": {"schemas": {name: schema}}})
        self.assertTrue(text.startswith(self.tool.HEAD + "\n"))
        return text[len(self.tool.HEAD) + 1:]

    def test_plain(self):
        self.assertEqual(self.type_of({"type": ["integer", "null"]}), "export type T = number | null;\n")
        self.assertEqual(self.type_of({"enum": ["a", "b"]}), "export type T = 'a' | 'b';\n")
        self.assertEqual(self.type_of({"type": "integer", "enum": [1, 2]}), "export type T = 1 | 2;\n")
        self.assertEqual(self.type_of({}), "export type T = unknown;\n")

    def test_lists(self):
        ref = {"$ref": "#/components/schemas/U"}
        self.assertEqual(self.type_of({"type": "array", "items": ref}), "export type T = U[];\n")
        self.assertEqual(self.type_of({"type": "array", "items": {"type": ["string", "null"]}}),
                         "export type T = (string | null)[];\n")
        self.assertEqual(self.type_of({"type": "array", "prefixItems": [{"type": "string"}, ref]}),
                         "export type T = [string, U];\n")
        column = {"anyOf": [{"type": "array", "items": {"type": "number"}}, {"$ref": "#/components/schemas/Column"}]}
        self.assertEqual(self.type_of(column), "export type T = Column;\n")

    def test_objects(self):
        schema = {"type": "object", "description": "What it is.", "required": ["a"], "additionalProperties": True,
                  "properties": {"a": {"type": "string", "description": "One."}, "b": {"type": "boolean"}}}
        self.assertEqual(self.type_of(schema), "/** What it is. */\nexport interface T {\n\t/** One. */\n"
                         "\ta: string;\n\tb?: boolean;\n\t[more: string]: unknown;\n}\n")
        self.assertEqual(self.type_of({"type": "object", "additionalProperties": {"type": "string"}}),
                         "export type T = Record<string, string>;\n")

    def test_what_it_does_not_know_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, "schema T has 'oneOf', which this tool does not know"):
            self.type_of({"oneOf": [{"type": "string"}]})
