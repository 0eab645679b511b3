"""The same questions about one run, while it goes on, when it has ended, when its small pieces have
become large ones, and after a restart: the answers are the same."""

import json
import random
import re
import time
import unittest

from helpers import compiled
from server import ServerCase
from test_queries import FLAGS

SIDE_BY_SIDE = True

# Two threads: one computes, the other one takes page faults now and then; both until they have had so many
# milliseconds of the CPUs, and on until a file is there.
PAIR_C = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

volatile long sink;
static long end_ms;
static const char *last;

static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int over(void)
{
	return cpu_ms() >= end_ms && (!last || !access(last, F_OK));
}

__attribute__((noinline)) void touch(void) { sink++; }
__attribute__((noinline)) void spin(long n) { for (long i = 0; i < n; i++) { sink += i; } touch(); sink++; }
__attribute__((noinline)) void hot(long n) { spin(n); sink++; }
__attribute__((noinline)) void cold(long n) { spin(n); sink++; }
__attribute__((noinline)) void pages(void)
{
	char *m = mmap(0, 64 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(m, 64 << 12, MADV_NOHUGEPAGE);
	for (int i = 0; i < 64; i++)
		m[i << 12] = 1;
	munmap(m, 64 << 12);
	sink++;
}

static void *faults(void *x)
{
	while (!over()) {
		struct timespec rest = {0, 3000000};

		pages();
		nanosleep(&rest, NULL);
	}
	return x;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	alarm(300);
	end_ms = atol(argv[1]);
	last = argc > 2 ? argv[2] : NULL;
	pthread_create(&thread, 0, faults, 0);
	while (!over()) {
		hot(7000);
		cold(3000);
	}
	pthread_join(thread, 0);
	return 0;
}
"""


def pair(ms, *until):
    return [compiled("pair", PAIR_C, *FLAGS), str(ms), *until]


class Stages(ServerCase):
    def ask(self, question, **query):
        query = {k.rstrip("_"): v for k, v in query.items()}
        return self.server.get("benchmark/%s/%s" % (self.uuid, question), query)

    def merged(self):
        text = self.server.get_bytes("/metrics").decode()
        return float(re.search(r"^tacho_merged_chunks_total (\S+)", text, re.M)[1])

    def questions(self, end):
        """About what was before @end; windows whose edges are anywhere."""
        edges = random.Random(7)
        threads = [t["tid"] for t in self.ask("threads", to=end)["threads"]]
        points = self.ask("points", to=end, max=200000)
        times = sorted(set(points["t"]))
        # On a sample, just behind it, and anywhere.
        cuts = [times[len(times) // 3], times[len(times) // 2] + 1, edges.randrange(end)]
        asked = []
        for cut in cuts:
            asked += [("flame", {"from": cut, "to": end, "min": 0}), ("flame", {"to": cut, "min": 0}),
                      ("flame", {"to": cut, "min": 0, "event": "page-faults"}),
                      ("functions", {"from": cut, "to": end, "event": "cpu-clock"}),
                      ("timeline", {"to": cut, "pixels": 50, "samples": 1}),
                      ("timeline", {"from": cut, "to": end, "pixels": 777})]
        for tid in sorted(threads):
            asked += [("flame", {"to": end, "threads": tid, "min": 0}),
                      ("flame", {"from": cuts[0], "to": cuts[1], "threads": tid, "min": 0})]
        asked += [("flame", {"to": end, "mode": "inverted", "min": 0}),
                  ("flame", {"to": end, "mode": "sandwich", "function": "hot", "min": 0}),
                  ("flame", {"to": end, "cpus": 0, "min": 0}),
                  ("functions", {"to": end, "frames": "^(hot|pages)$"}),
                  ("timeline", {"to": end, "pixels": 1, "samples": 1}),
                  ("timeline", {"to": end, "pixels": 5000}),
                  ("heatmap", {"to": end}), ("heatmap", {"to": end, "counter": "task-clock"}),
                  ("histogram", {"to": end, "counter": "page-faults"}),
                  ("histogram", {"to": end, "weight": "cpu-clock", "scale": "log"}),
                  ("points", {"to": end, "max": 200000}), ("threads", {"to": end, "pixels": 60})]
        return asked

    @staticmethod
    def plain(answer):
        """Without the order of what has no order: nodes and names by their paths."""
        if "nodes" in answer and "names" in answer:
            return Stages.tree(answer, answer["names"])
        if "callers" in answer:
            return [Stages.tree(answer[part], answer["names"]) for part in ("callers", "callees")]
        if "functions" in answer:
            return sorted(json.dumps(f, sort_keys=True) for f in answer["functions"])
        if "thinned_from" in answer:
            names = answer["names"]
            return sorted(zip(answer["t"], answer["event"], answer["address"],
                              [names[f] for f in answer["function"]]))
        if "counters" in answer:
            return dict(answer, marks=[])
        return answer

    @staticmethod
    def tree(answer, names):
        nodes, paths, found = answer["nodes"], [], {"total": answer["total"], "samples": answer.get("samples")}
        for i, (parent, name) in enumerate(zip(nodes["parent"], nodes["name"])):
            paths.append(paths[parent] + (tuple(names[name]), nodes["inlined"][i]) if i else ())
            found[paths[i]] = (nodes["self"][i], nodes["total"][i])
        return found

    def answers(self, asked):
        return [self.plain(self.ask(question, **query)) for question, query in asked]

    def compare(self, stage, asked, answers):
        for (question, query), before, now in zip(asked, answers, self.answers(asked)):
            with self.subTest(stage=stage, question=question, **query):
                self.assertEqual(now, before)

    def test_the_same_answers(self):
        run = self.server.run(self.server.session(), pair(0, self.path("enough")), tool="both",
                              events=["task-clock", "page-faults"], interval=0.01,
                              sample={"events": ["cpu-clock", "page-faults"], "frequency": 997, "callgraph": "fp"})
        self.uuid = run["uuid"]
        self.server.wait_state(self.uuid, "running")
        end = 2_000_000_000
        while self.ask("timeline", pixels=1)["to_ns"] < end + 1_000_000_000:
            self.assertEqual(self.server.benchmark(self.uuid)["state"], "running")
            time.sleep(0.05)
        asked = self.questions(end)
        self.assertGreater(len(asked), 20)
        answers = self.answers(asked)
        self.compare("a moment later", asked, answers)
        self.assertEqual(self.server.benchmark(self.uuid)["state"], "running")
        self.write("enough", "")
        stored = self.server.wait_run(self.uuid)
        self.assertEqual(stored["state"], "done", stored)
        self.compare("ended", asked, answers)
        # Now about all of it, before and after.
        more = [(question, {k: v for k, v in query.items() if v != end}) for question, query in asked]
        whole = self.answers(more)
        merged = self.merged()
        for _ in range(100):
            time.sleep(1.2)
            before, merged = merged, self.merged()
            if merged and merged == before:
                break
        self.assertGreater(merged, 0)
        self.compare("merged", asked, answers)
        self.compare("merged, all", more, whole)
        self.server.restart()
        self.compare("cold", asked, answers)
        self.compare("cold, all", more, whole)
        self.server.restart()
        # The other way round, so that nothing was decoded by the question before.
        self.compare("cold, backwards", more[::-1], whole[::-1])


if __name__ == "__main__":
    unittest.main()
