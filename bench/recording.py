"""Recording and reading recordings: `tacho record`, `info` and `script` beside perf's."""
import array
import atexit
import functools
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

from measure import PERF, TACHO, Run, best, heading, peak_mb, show, verdict

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES_WANTED = 1_200_000


@functools.lru_cache(None)
def folder():
    """Where the recordings lie; gone when the bench ends."""
    path = tempfile.mkdtemp(prefix="tacho-bench-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def info(path):
    # What is odd about a recording is not the bench's concern, so the status is not looked at.
    out = subprocess.run([TACHO, "info", "--json", path], capture_output=True, text=True, check=False)
    return json.loads(out.stdout)


@functools.lru_cache(None)
def mixed():
    """A recording of real programs at 25 kHz, with stacks: at least SAMPLES_WANTED samples."""
    path = os.path.join(folder(), "mixed.data")
    seconds = SAMPLES_WANTED / 25000 / (os.cpu_count() or 1) + 8
    subprocess.run([TACHO, "record", "-q", "-F", "25000", "-g", "-a", "-o", path, "--", sys.executable,
                    os.path.join(HERE, "mix.py"), str(seconds)], check=True)
    return path


def describe(path):
    said = info(path)
    print(f"  data     {said['samples']:,} samples, {os.path.getsize(path) / 1e6:.0f} MB, "
          f"{said['lost_records']:,} lost")
    return said


def bench_info():
    """Decode, order and count everything."""
    heading("info: decode, order, count by event, a recording of real programs")
    path = mixed()
    said = describe(path)
    run = best([TACHO, "info", path])
    scaled = run.wall * SAMPLES_WANTED / said["samples"]
    show("tacho", f"{run.wall:.3f} s, CPU {run.cpu:.3f} s, peak {peak_mb([TACHO, 'info', path]):.1f} MB")
    if PERF:
        argv = [PERF, "report", "--stats", "-i", path]
        theirs = Run(argv)
        show("perf", f"{theirs.wall:.2f} s, CPU {theirs.cpu:.2f} s (report --stats: counts, but neither "
             f"by event nor checked), peak {peak_mb(argv):.1f} MB")
    verdict("info", said["samples"] >= SAMPLES_WANTED, f"{said['samples']:,} samples (target: 1.2 million)")
    verdict("info", scaled <= 0.15, f"{scaled:.3f} s for 1.2 million samples (target: 0.15)")


def bench_script():
    """The same recording as text, without names."""
    heading("script: the same recording as text without names")
    path = mixed()
    ours_argv = [TACHO, "script", "-i", path, "-F", "-sym,-dso"]
    ours = best(ours_argv)
    show("tacho", f"{ours.wall:.2f} s, CPU {ours.cpu:.2f} s, peak {peak_mb(ours_argv):.1f} MB")
    if PERF:
        argv = [PERF, "script", "-i", path, "-F", "-sym,-dso,-symoff"]
        theirs = best(argv)
        show("perf", f"{theirs.wall:.2f} s, CPU {theirs.cpu:.2f} s, peak {peak_mb(argv):.1f} MB")
        verdict("script", theirs.wall >= 5 * ours.wall,
                f"{theirs.wall / ours.wall:.1f} times as fast as perf (target: 5)")


def bench_record_true():
    """The smallest recording."""
    heading("record_true: record -g true")
    path = os.path.join(folder(), "true.data")
    for tool, program in (("tacho", TACHO), ("perf", PERF)):
        if not program:
            continue
        argv = [program, "record", "-q", "-g", "-o", path, "true"]
        run = best(argv, 5)
        show(tool, f"{run.wall * 1e3:.0f} ms, CPU {run.cpu * 1e3:.0f} ms, peak {peak_mb(argv):.1f} MB")
        if tool == "tacho":
            verdict("record_true", run.wall <= 0.1, f"{run.wall * 1e3:.0f} ms (target: 100)")
            verdict("record_true", run.cpu <= 0.03, f"CPU {run.cpu * 1e3:.0f} ms (target: 30)")


SHORT_C = r"""
#include <time.h>
__attribute__((noinline)) long spin_inside(long n)
{
	volatile long sum = 0;
	for (long i = 0; i < n; i++)
		sum += i;
	return sum;
}
int main(void)
{
	while (clock() < 30 * (CLOCKS_PER_SEC / 1000))
		spin_inside(10000);
	return 0;
}
"""


def bench_short_lived(rounds=10):
    """Programs that only another mount namespace sees, and that live for 30 ms: are they opened in time?"""
    heading("short_lived: named functions of programs in a namespace of their own, 30 ms each")
    if os.geteuid():
        print("  SKIP: needs root, for a mount namespace")
        return
    program, path = os.path.join(folder(), "short"), os.path.join(folder(), "short.data")
    with open(program + ".c", "w", encoding="ascii") as f:
        f.write(SHORT_C)
    subprocess.run(["cc", "-O1", "-o", program, program + ".c"], check=True)
    inside = f"mount -t tmpfs none /mnt && cp {program} /mnt/short && /mnt/short"
    named = 0
    for _ in range(rounds):
        # Nothing of the round before.
        env = dict(os.environ, XDG_CACHE_HOME=tempfile.mkdtemp(dir=folder()))
        subprocess.run([TACHO, "record", "-q", "-o", path, "unshare", "-m", "sh", "-c", inside], check=True, env=env)
        shown = subprocess.run([TACHO, "report", "-i", path, "--stdio"], capture_output=True, text=True, check=True,
                               env=env)
        named += "spin_inside" in shown.stdout
    verdict("short_lived", named >= rounds - 1, f"named in {named} of {rounds} (target: {rounds - 1})")


WORK_C = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* Fixed work with stacks some frames deep. */
static volatile uint64_t sink;
__attribute__((noinline)) static uint64_t leaf(uint64_t x)
{
	for (int i = 0; i < 400; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}
__attribute__((noinline)) static uint64_t deep(int n, uint64_t x)
{
	return n ? deep(n - 1, x) + 1 : leaf(x);
}
int main(int argc, char **argv)
{
	uint64_t x = argc;
	for (long i = 0, n = atol(argv[1]); i < n; i++)
		x += deep((int)(i % 24), x);
	sink = x;
	return 0;
}
"""


def busy_program():
    program = os.path.join(folder(), "busy")
    if not os.path.exists(program):
        with open(program + ".c", "w", encoding="ascii") as f:
            f.write(WORK_C)
        subprocess.run(["cc", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", program,
                        program + ".c"], check=True)
    return program


def load_all_cores():
    """Seconds that the fixed work takes on all cores at once."""
    start = time.perf_counter()
    work = [subprocess.Popen([busy_program(), "8000000"]) for _ in range(os.cpu_count() or 1)]
    for process in work:
        process.wait()
    return time.perf_counter() - start


def record_load(program, path):
    """(seconds of the load, the recorder's own CPU seconds)"""
    recorder = subprocess.Popen([program, "record", "-q", "-F", "25000", "-g", "-a", "-o", path],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.7)
    seconds = load_all_cores()
    recorder.send_signal(signal.SIGINT)
    _, _, usage = os.wait4(recorder.pid, 0)
    return seconds, usage.ru_utime + usage.ru_stime


def bench_record():
    """Recording beside a load on all cores."""
    heading("record: -F 25000 -g -a beside a load on all cores")
    bare, tools = [], {"tacho": (TACHO, [], [], []), "perf": (PERF, [], [], [])}
    for _ in range(3):
        bare.append(load_all_cores())
        for tool, (program, seconds, cpu, lost) in tools.items():
            if not program:
                continue
            path = os.path.join(folder(), tool + ".data")
            taken, used = record_load(program, path)
            said = info(path)
            seconds.append(taken)
            cpu.append(used)
            lost.append(max(said["lost_records"], said["lost_samples"]))
            os.unlink(path)
    show("bare", f"{min(bare):.2f} s")
    for tool, (program, seconds, cpu, lost) in tools.items():
        if program:
            show(tool, f"load {min(seconds):.2f} s (slowed by {(min(seconds) / min(bare) - 1) * 100:.0f} %), "
                 f"recorder's CPU {min(cpu):.3f} s, lost {min(lost):,} to {max(lost):,}")
    if PERF:
        _, ours, our_cpu, our_lost = tools["tacho"]
        _, theirs, their_cpu, their_lost = tools["perf"]
        verdict("record", min(our_lost) <= min(their_lost), f"lost {min(our_lost):,}, perf {min(their_lost):,}")
        # Two runs of the same thing differ by a percent or so.
        verdict("record", min(ours) <= 1.02 * min(theirs),
                f"the load takes {min(ours) / min(theirs):.3f} of what it takes under perf (target: 1)")
        verdict("record", min(our_cpu) <= 0.5 * min(their_cpu),
                f"{min(our_cpu) / min(their_cpu):.2f} of perf's CPU time (target: 0.5)")


def times_in(words):
    """Where the times of all records stand in the words of a recording of ours (one sample_type):
    in a sample behind identifier, address and task, elsewhere before cpu and identifier."""
    at, found = 0, []
    while at < len(words):
        kind, size = words[at] & 0xffffffff, (words[at] >> 48) // 8
        if kind == 9:
            found.append(at + 4)
        elif kind < 64:
            found.append(at + size - 3)
        at += size
    return found


def enlarged(path, times):
    """The same recording over and over, each time later than the last."""
    with open(path, "rb") as f:
        head = bytearray(f.read(104))
        offset, size = struct.unpack_from("<QQ", head, 40)
        f.seek(0)
        front = bytearray(f.read(offset))
        data = array.array("Q", f.read(size))
        rest = f.read()
    places = [at for at in times_in(data) if data[at]]
    span = max(data[at] for at in places) - min(data[at] for at in places) + 1_000_000
    struct.pack_into("<Q", front, 48, size * times)
    # The feature sections would have to move: they are left away, as after a crash.
    struct.pack_into("<4Q", front, 72, 0, 0, 0, 0)
    del rest
    bigger = path + f".{times}"
    with open(bigger, "wb") as f:
        f.write(front)
        for _ in range(times):
            data.tofile(f)
            for at in places:
                data[at] += span
    return bigger


def bench_growth():
    """Ten times the data: ten times the time, the same memory."""
    heading("growth: info on a recording, and on ten times as much")
    path = mixed()
    size = os.path.getsize(path)
    if shutil.disk_usage(folder()).free < 12 * size:
        print(f"  SKIP: {12 * size / 1e9:.1f} GB of disk space are needed")
        return
    small, large = enlarged(path, 1), enlarged(path, 10)
    runs, peaks = {}, {}
    for name in (small, large):
        runs[name], peaks[name] = best([TACHO, "info", name]), peak_mb([TACHO, "info", name])
        show("tacho", f"{info(name)['samples']:>12,} samples: {runs[name].wall:.3f} s, "
             f"CPU {runs[name].cpu:.3f} s, peak {peaks[name]:.1f} MB")
    os.unlink(large)
    verdict("growth", runs[large].wall <= 12 * runs[small].wall,
            f"{runs[large].wall / runs[small].wall:.1f} times the time for 10 times the samples (target: 10, "
            "and a fifth for noise)")
    verdict("growth", peaks[large] <= peaks[small] + 16,
            f"peak memory {peaks[large]:.1f} MB, was {peaks[small]:.1f} MB")
