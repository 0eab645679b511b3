"""Lanes of spans per pixel: twenty million slices of 200 threads on 8 CPUs in a store, any window at 2,000 pixels."""
import json
import os
import subprocess
import tempfile

from measure import TACHO, heading, show, verdict

SPANS = 20_000_000
CACHE_BYTES = 256 << 20  # RUN_CACHE_BYTES


def bench_lanes():
    """Warm and cold, by the clock and by CPU time: other work on the machine is in the former only."""
    heading(f"lanes: {SPANS:,} spans as lanes of 2,000 pixels")
    build = os.path.dirname(TACHO)
    subprocess.run(["ninja", "-C", build, "bench/micro_lanes"], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory(prefix="tacho-bench-") as directory:
        out = subprocess.run([f"{build}/bench/micro_lanes", directory, str(SPANS)], check=True, capture_output=True,
                             text=True)
    r = json.loads(out.stdout)
    rows, summaries = r["chunk_bytes"] / r["spans"], r["summary_bytes"] / r["spans"]
    show("store", f"{r['seconds']:.0f} s of time, {r['chunks']} chunks; {rows:.1f} bytes a span, summaries {summaries:.1f}; "
         f"encoded {r['spans'] / r['encode_cpu_s'] / 1e6:.1f} M/s, tidied {r['spans'] / r['tidy_cpu_s'] / 1e6:.1f} M/s")
    for w in r["windows"]:
        show(f"by {w['by']}", f"{w['part'] * 100:g} % of the time: warm {w['warm_ms']:.1f} ms, worst {w['warm_worst_ms']:.1f} "
             f"(CPU {w['warm_worst_cpu_ms']:.1f}), cold {w['cold_ms']:.1f} (CPU {w['cold_cpu_ms']:.1f}); {w['cells']} cells")
    warm = max(w["warm_worst_ms"] for w in r["windows"])
    cold = max(w["cold_ms"] for w in r["windows"])
    verdict("lanes", warm <= 16, f"warm, any window: {warm:.1f} ms (target: 16)")
    verdict("lanes", cold <= 100, f"cold, any window: {cold:.1f} ms (target: 100)")
    verdict("lanes", r["cache_bytes"] <= CACHE_BYTES, f"{r['cache_bytes'] / 1e6:.0f} MB kept in memory (limit: 268)")
