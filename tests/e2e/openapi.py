"""A server whose every answer is held against its own description: an answer that openapi.json does
not allow fails the test that asked for it."""

import copy
import json
import re
import unittest
import urllib.parse

from server import Server, ServerCase

try:
    import jsonschema
except ImportError:
    jsonschema = None

METHODS = ("get", "post", "put", "patch", "delete")


def needs_jsonschema():
    if not jsonschema:
        raise unittest.SkipTest("needs python3-jsonschema")


def strict(schema):
    """In place: what is not described is not allowed, unless the schema says otherwise."""
    if isinstance(schema, dict):
        if "properties" in schema and "additionalProperties" not in schema:
            schema["additionalProperties"] = False
        for value in schema.values():
            strict(value)
    elif isinstance(schema, list):
        for value in schema:
            strict(value)


def pattern(template):
    """What a path looks like, as a regular expression."""
    parts = re.split(r"({\w+})", template)
    return re.compile("".join("[^/]+?" if p.startswith("{") else re.escape(p) for p in parts) + "$")


class Description:
    """openapi.json as something that can be asked."""

    def __init__(self, document):
        self.document = document
        strict_document = copy.deepcopy(document)
        strict(strict_document)
        self.resolver = jsonschema.RefResolver.from_schema(strict_document)
        # A path with more fixed text is meant before one with less: {id}.json before {id}.
        templates = sorted(document["paths"], key=lambda t: -len(re.sub(r"{\w+}", "", t)))
        self.patterns = [(pattern(t), t) for t in templates]

    def resolve(self, thing):
        while "$ref" in thing:
            thing = self.resolver.resolve(thing["$ref"])[1]
        return thing

    def operations(self):
        return {(m.upper(), path) for path, item in self.document["paths"].items()
                for m in item if m in METHODS}

    def find(self, method, path):
        """The template of a path that has this method, or None."""
        path = urllib.parse.urlsplit(path).path
        for expression, template in self.patterns:
            if expression.match(path) and method.lower() in self.document["paths"][template]:
                return template
        return None

    def complain(self, method, path, answer):
        """What is wrong with an answer: a sentence, or None."""
        template = self.find(method, path)
        if not template:
            return None if answer.status in (401, 403, 404, 405, 400, 413, 414) else \
                "there is no %s of %s" % (method, path)
        responses = self.document["paths"][template][method.lower()]["responses"]
        response = responses.get(str(answer.status), responses["default"])
        if answer.status < 400 and str(answer.status) not in responses and answer.status != 304:
            return "%d is not described" % answer.status
        response = self.resolve(response)
        content = {kind.partition(";")[0]: value for kind, value in response.get("content", {}).items()}
        if not content or answer.status == 304:
            return "there should be no body" if answer.body else None
        kind = (answer.headers["Content-Type"] or "").partition(";")[0]
        if kind not in content:
            return "the type is %s, not one of %s" % (kind, ", ".join(content))
        if kind != "application/json" or "schema" not in content[kind]:
            return None
        return self.against(content[kind]["schema"], answer.json())

    def parameters(self, method, template):
        """Names of the parameters of the query."""
        operation = self.document["paths"][template][method.lower()]
        found = [self.resolve(p) for p in operation.get("parameters", [])]
        return {p["name"] for p in found if p["in"] == "query"}

    def complain_event(self, name, value):
        """What is wrong with an event of the live stream: a sentence, or None."""
        stream = self.document["paths"]["/api/v1/live"]["get"]["responses"]["200"]
        schemas = stream["content"]["text/event-stream"]["x-events"]
        return self.against(schemas[name], value) if name in schemas else "it is not described"

    def against(self, schema, value):
        schema = copy.deepcopy(schema)
        strict(schema)
        checker = jsonschema.Draft202012Validator(schema, resolver=self.resolver,
                                                  format_checker=jsonschema.FormatChecker())
        for error in checker.iter_errors(value):
            return "%s: %s" % ("/".join(str(p) for p in error.absolute_path) or "(all)",
                               error.message[:500])
        return None


class DescribedServer(Server):
    """Remembers which operations were answered with success in `answered`."""

    description = None

    def __init__(self, *options, **more):
        super().__init__(*options, **more)
        self.answered = set()

    def start(self):
        needs_jsonschema()
        self.description = None
        super().start()
        document = super().request("GET", "openapi.json").json()
        self.description = Description(document)
        return self

    def request(self, method, path, body=None, **more):
        answer = super().request(method, path, body, **more)
        if self.description and method != "HEAD":
            full = self.path(path)
            complaint = self.description.complain(method, full, answer)
            if complaint:
                raise AssertionError("%s %s is answered otherwise than openapi.json says: %s\n%s" %
                                     (method, path, complaint, repr(answer)[:1500]))
            if answer.status < 300:
                self.answered.add((method, self.description.find(method, full)))
        return answer


    def stream(self, query, **more):
        for event in super().stream(query, **more):
            complaint = self.description.complain_event(event.name, event.json())
            if complaint:
                raise AssertionError("The event %s is otherwise than openapi.json says: %s\n%s" %
                                     (event.name, complaint, event.data[:1500]))
            yield event


class DescribedCase(ServerCase):
    def new_server(self, *options, **more):
        server = DescribedServer(*options, **more)
        self.addCleanup(server.close)
        return server.start()


def dump(value):
    return json.dumps(value, indent=1, sort_keys=True)[:3000]
