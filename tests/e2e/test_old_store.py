"""A store that an older version has written: it opens, and every answer about its runs has the same numbers.

tests/store/NAME.store.tar.xz is the data directory, NAME.answers.json.xz what that version answered, both made
by tests/store/make. What has changed on purpose is in tests/store/changed.json, with the reason."""

import glob
import json
import lzma
import math
import os
import re
import tarfile
import tempfile
import unittest

from helpers import Case
from server import Server

SIDE_BY_SIDE = True
STORES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "store")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def differences(old, new, path=""):
    """Places where two answers differ, as (path, text). List indices in a path are `[]`."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(set(old) | set(new)):
            place = path + "." + key
            if key not in new:
                yield place, "is gone"
            elif key not in old:
                yield place, "is new"
            else:
                yield from differences(old[key], new[key], place)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield path + "[]", "%d entries, were %d" % (len(new), len(old))
        for left, right in zip(old, new):
            yield from differences(left, right, path + "[]")
    elif isinstance(old, float) and isinstance(new, float):
        # Another CPU or compiler may add in another order.
        if not math.isclose(old, new, rel_tol=1e-9):
            yield path, "%r, was %r" % (new, old)
    elif old != new or is_number(old) != is_number(new):
        yield path, "%.100r, was %.100r" % (new, old)


class Changes:
    """changed.json: rules of (question, path), each with its reason; all must be needed."""

    def __init__(self, store):
        with open(os.path.join(STORES, "changed.json")) as text:
            self.rules = [rule for rule in json.load(text) if rule["store"] == store]
        self.used = set()

    def allow(self, question, path):
        for number, rule in enumerate(self.rules):
            if re.fullmatch(rule["question"], question) and re.fullmatch(rule["path"], path):
                self.used.add(number)
                return True
        return False

    def unused(self):
        return [rule for number, rule in enumerate(self.rules) if number not in self.used]


class OldStores(Case):
    def differing(self, server, answers, changes):
        for question, was in answers.items():
            got = server.request("GET", question)
            if got.status != was["status"]:
                yield "%s: status %d, was %d" % (question, got.status, was["status"])
            elif was["status"] == 200:  # the words of refusals may become better
                now = got.json() if isinstance(was["body"], (dict, list)) else got.text.split("\n")
                then = was["body"].split("\n") if isinstance(was["body"], str) else was["body"]
                for path, text in differences(then, now):
                    if not changes.allow(question, path):
                        yield "%s: %s %s" % (question, path, text)

    def check(self, name):
        with lzma.open(os.path.join(STORES, name + ".answers.json.xz"), "rt") as text:
            answers = json.load(text)
        changes = Changes(name)
        with tempfile.TemporaryDirectory(prefix="tacho-old-store-") as folder:
            with tarfile.open(os.path.join(STORES, name + ".store.tar.xz")) as tar:
                tar.extractall(folder)
            with Server(data=folder) as server:
                found = list(self.differing(server, answers, changes))
        if found:
            self.fail("%d places differ:\n%s" % (len(found), "\n".join(found[:30])))
        self.assertEqual(changes.unused(), [], "rules that no answer needs")
        self.assertGreater(len(answers), 200)

    def test_old_stores_answer_with_the_same_numbers(self):
        names = sorted(os.path.basename(path)[:-len(".store.tar.xz")]
                       for path in glob.glob(os.path.join(STORES, "*.store.tar.xz")))
        self.assertTrue(names)
        for name in names:
            with self.subTest(name):
                self.check(name)


if __name__ == "__main__":
    unittest.main()
