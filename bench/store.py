"""The store by itself: samples a second into SQLite, bytes a sample on the disk, merging, deleting."""
import json
import os
import subprocess
import tempfile

from measure import TACHO, heading, show, verdict

SAMPLES = 4_000_000


def micro(rows):
    """The least disturbed of three rounds of micro_store."""
    build = os.path.dirname(TACHO)
    subprocess.run(["ninja", "-C", build, "bench/micro_store"], check=True, stdout=subprocess.DEVNULL)
    rounds = []
    for _ in range(3):
        with tempfile.TemporaryDirectory(prefix="tacho-bench-") as directory:
            out = subprocess.run([f"{build}/bench/micro_store", directory, str(SAMPLES), str(rows)],
                                 check=True, capture_output=True, text=True)
            rounds.append(json.loads(out.stdout))
    return min(rounds, key=lambda r: r["encode_cpu_s"] + r["store_s"])


def bench_store():
    heading(f"store: {SAMPLES:,} samples into SQLite, committed every 25 chunks")
    for rows in (200, 2000):
        r = micro(rows)
        ingest = r["encode_cpu_s"] + r["store_s"]
        small, merged = ((r[k] - r["empty_bytes"]) / SAMPLES for k in ("small_bytes", "merged_bytes"))
        show(f"{rows} rows", f"encoded {SAMPLES / r['encode_cpu_s'] / 1e6:.1f} M/s, "
             f"stored {SAMPLES / r['store_s'] / 1e6:.1f} M/s, merged {SAMPLES / r['merge_s'] / 1e6:.1f} M/s, "
             f"read {SAMPLES / r['read_s'] / 1e6:.0f} M/s, deleted in {r['delete_s']:.2f} s; "
             f"{small:.1f} bytes a sample, merged {merged:.1f}")
        verdict("store", SAMPLES / ingest >= 1e6,
                f"{SAMPLES / ingest / 1e6:.2f} M samples/s in chunks of {rows} (target 1 M)")
        verdict("store", merged <= 12, f"{merged:.2f} bytes a sample with summaries (target 12)")
        verdict("store", r["deleted_bytes"] - r["empty_bytes"] < 1 << 20, "deleting gives the room back")
