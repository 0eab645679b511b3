"""The page in Chromium: how soon it is there and answers, how smoothly it moves, what watching a run costs.

Files of bench/page/, run by Vitest; TACHO_LIVE_S=600 watches the busy run for ten minutes instead of half a
minute."""
import json
import os
import subprocess
import tempfile

from measure import TACHO, heading, show, verdict

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page")


def figures(name):
    """What one run of a file measures, in its order; None if it did not get to its end."""
    with tempfile.NamedTemporaryFile("r") as lines:
        done = subprocess.run([os.path.join(FOLDER, "node_modules", ".bin", "vitest"), "run", name + ".bench.ts"],
                              cwd=FOLDER, env=dict(os.environ, TACHO=TACHO, TACHO_FIGURES=lines.name), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            print(done.stdout[-3000:])
            return None
        return [json.loads(line) for line in lines]


def bench(name, title, rounds=3):
    """The least disturbed of several rounds, figure by figure."""
    heading("page: " + title)
    if not os.path.exists("/usr/bin/chromium"):
        show("tacho", "skipped: there is no chromium")
        return
    measured = [figures(name) for _ in range(rounds)]
    if None in measured:
        verdict("page_" + name, False, "it did not run to its end")
        return
    for row in zip(*measured):
        best = min(row, key=lambda one: one["value"])
        text = "%s: %.3g %s" % (best["what"].strip(), best["value"], best["unit"])
        if best.get("target") is None:
            show("tacho", text)
        else:
            verdict("page_" + name, best["value"] <= best["target"], "%s (target %g)" % (text, best["target"]))


def bench_page_load():
    bench("load", "the first load")


def bench_page_brush():
    bench("brush", "a run begins, a window is brushed")


def bench_page_flame():
    bench("flame", "a flame graph of a hundred thousand boxes, without a graphics card")


def bench_page_live():
    bench("live", "a busy run that is watched", 1)
