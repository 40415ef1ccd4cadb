#!/usr/bin/python3
"""The figures of a release build: runs each load a few times beside the raw limit of the transport, and prints medians.

report.py [--quick] [--bin-dir DIR] [--data-dir DIR] [--runs N] [--only WORD] [--json FILE]

Starts its own sluiced on a free port. The raw limit is raw_forwarder: one ROUTER that passes messages on between two processes, without
Sluice. Runs of both take turns, so that a disturbance of the machine meets both. A figure that misses its target is marked, and is
no failure of this program; a run that is not exact, or does not end, is (exit 1). `--only durable` is all of durable_figures.py.
"""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/system")]
import durable_figures  # noqa: E402
import scale  # noqa: E402
from broker_process import BrokerFailed, BrokerProcess  # noqa: E402
from figures import Programs, Report, RunFailed, beside_raw, heading, rates  # noqa: E402
from raw import RawClient  # noqa: E402

CONSUMERS = (3, 5, 10, 20, 50)


def full_speed(programs, report, options, size, messages, target):
    """Each of ours beside the raw forwarder with one message a frame, and with a hundred, as a batch of ours may hold."""
    ours, single, joined = [], [], []
    programs.bench("--separate", "--msgs", messages // 5, "--size", size, "--verify")  # exact first; checking costs time
    for _ in range(options.runs):
        ours += programs.bench("--separate", "--msgs", messages, "--size", size)
        single.append(programs.raw("--messages", messages, "--size", size))
        joined.append(programs.raw("--messages", messages, "--size", size, "--frame", 100))
    report.add(f"raw forwarder, {size} B, one a frame", rates(single), "msg/s")
    raw = report.add(f"raw forwarder, {size} B, 100 a frame", rates(joined), "msg/s")
    median = statistics.median(rates(ours))
    report.add(f"sluice, {size} B, library's batches", rates(ours), "msg/s", target, beside_raw(median, raw))


def measure_full_speed(programs, report, options):
    heading("Full speed: one producer process, one consumer process, every publish confirmed, every message acked on its own")
    full_speed(programs, report, options, 100, 1_000_000 if options.quick else 5_000_000, 2_000_000)
    full_speed(programs, report, options, 1024, 300_000 if options.quick else 1_000_000, 500_000)


def measure_unbatched(programs, report, options):
    heading("Clients that cannot batch: one publish a frame, 100 B")
    messages = 300_000 if options.quick else 2_000_000
    ours, raw = [], []
    for _ in range(options.runs):
        ours += programs.bench("--separate", "--msgs", messages, "--batch", 1)
        raw.append(programs.raw("--messages", messages))
    limit = report.add("raw forwarder, one a frame", rates(raw), "msg/s")
    report.add("sluice, batch 1", rates(ours), "msg/s", 300_000, beside_raw(statistics.median(rates(ours)), limit))


def measure_latency(programs, report, options):
    heading("Latency at 1,000 msg/s, unbatched, 100 B, from the intended send time")
    seconds = 3 if options.quick else 10
    ours, raw = [], []
    for _ in range(options.runs):
        ours += programs.bench("--separate", "--rate", 1000, "--duration", f"{seconds}s", "--batch", 1)
        raw.append(programs.raw("--rate", 1000, "--seconds", seconds))
    for key, factor in (("p50", 1.5), ("p99", 2.0)):
        limit = report.add(f"raw forwarder, {key}", [each["latency_us"][key] for each in raw], "us")
        values = [each["latency_us"][key] for each in ours]
        report.add(f"sluice, {key}", values, "us", limit * factor, beside_raw(statistics.median(values), limit), higher_is_better=False)


def measure_small_prefetch(programs, report, options):
    heading("Little credit: 3 consumers, prefetch 5")
    messages = 100_000 if options.quick else 500_000
    flags = ("--separate", "--consumers", 3, "--prefetch", 5, "--msgs")
    programs.bench(*flags, messages // 5, "--connections", 1, "--verify")
    each, shared = [], []
    for _ in range(options.runs):
        each += programs.bench(*flags, messages)
        shared += programs.bench(*flags, messages, "--connections", 1)
    report.add("sluice, each with its own connection", rates(each), "msg/s")
    report.add("sluice, all on one connection", rates(shared), "msg/s", 100_000)


def measure_consumers(programs, report, options):
    heading("From 3 to 50 consumers, prefetch 50")
    messages = 300_000 if options.quick else 1_000_000
    ours = {count: [] for count in CONSUMERS}
    for _ in range(options.runs):
        for count in CONSUMERS:
            ours[count] += programs.bench("--separate", "--consumers", count, "--prefetch", 50, "--msgs", messages, "--verify")
    medians = [report.add(f"sluice, {count} consumers", rates(ours[count]), "msg/s") for count in CONSUMERS]
    report.add("slowest of these, in % of the fastest", [100 * min(medians) / max(medians)], "%", 80)


def measure_presets(programs, report, options):
    heading("Tables that a smaller broker published")
    for preset in ("small", "large", "cliff"):
        runs = [programs.bench("--separate", "--preset", preset) for _ in range(options.runs)]
        for same in zip(*runs):
            first = same[0]
            parameters = first["parameters"]
            name = f"{preset}: {parameters['messages']} msgs, {parameters['consumers']} consumers, prefetch {parameters['prefetch']}"
            p99_ms = statistics.median(each["latency_us"]["p99"] for each in same) / 1000
            report.add(name, rates(same), "msg/s", beside=f"p99 {p99_ms:.2f} ms; it had {first['smaller_broker']}")


def measure_memory(programs, report, options):
    heading("Memory of ready messages: 100 B, no consumer")
    messages = 200_000 if options.quick else 1_000_000
    size = 100
    queue = "bench-memory"
    over, kept = [], []
    # The first round only grows what the process keeps for itself.
    for warm in [False] + [True] * options.runs:
        before = programs.rss_bytes()
        programs.bench(queue, "--role", "producer", "--msgs", messages, "--size", size)
        full = programs.rss_bytes()
        programs.sluice("queue", "rm", queue, "--force")
        after = programs.rss_bytes()
        if warm:
            kept.append((after - before) / (1024 * 1024))
        else:
            over.append((full - before) / messages - size)
    report.add("bytes a ready message beside its payload", over, "B", 128, higher_is_better=False)
    report.add("kept after the queue is gone, a further round", kept, "MiB", 8, higher_is_better=False)


def measure_fan_out(programs, report, options):
    heading("Topics and scale: one publish to ten subscribers, 100 B, every delivery acked on its own")
    messages = 50_000 if options.quick else 200_000
    flags = ("--separate", "--topic", "--consumers", 10, "--msgs")
    programs.bench(*flags, messages // 5, "--verify")
    ours = []
    for _ in range(options.runs):
        ours += programs.bench(*flags, messages)
    report.add("sluice, deliveries, 10 subscribers", [each["deliveries_rate"] for each in ours], "/s", 1_000_000)


def measure_bursts(programs, report, options):
    heading("Topics and scale: 30,000 timers end in one second; another queue at 1,000 msg/s, unbatched, from the intended send time")
    for name, burst in (("delays fall due", scale.delays_that_fall_due), ("leases run out", scale.leases_that_run_out)):
        p99, worst = [], []
        for run in range(options.runs):
            client = RawClient(programs.broker.url, heartbeat_ms=60_000)
            queue = f"{burst.__name__}-{run}"
            burst(client, 30_000, queue=queue)
            beside = programs.start(*scale.BESIDE)
            while beside.poll() is None:
                while client.socket.poll(10):
                    client.socket.recv()
            out, err = beside.communicate()
            if beside.returncode != 0:
                raise RunFailed(f"sluice {' '.join(scale.BESIDE)}: exit {beside.returncode}\n{err}")
            latency = json.loads(out)["latency_us"]
            p99.append(latency["p99"] / 1000)
            worst.append(latency["max"] / 1000)
            client.request("queue.delete", name=queue)
            client.close()
        report.add(f"30,000 {name}: p99 on another queue", p99, "ms", 100, f"worst {max(worst):.1f} ms", higher_is_better=False)


def measure_scale(programs, report, options):
    queues, delayed = (20_000, 200_000) if options.quick else (100_000, 1_000_000)
    heading(f"Topics and scale: {queues:,} queues and {delayed:,} delayed messages of 100 B")
    client = RawClient(programs.broker.url, heartbeat_ms=60_000)
    scale.delay_many(client, 20_000, "q-000000")  # first growth of what the process keeps for itself
    client.request("queue.purge", name="q-000000")
    empty = programs.rss_bytes()
    scale.declare_many(client, queues)
    with_queues = programs.rss_bytes()
    scale.delay_many(client, delayed, "q-000000")
    full = programs.rss_bytes()
    report.add("bytes a queue", [(with_queues - empty) / (queues - 1)], "B", 2048, higher_is_better=False)
    report.add("bytes a delayed message beside its payload", [(full - with_queues) / delayed - 100], "B", 192, higher_is_better=False)
    pages = [scale.list_pages(client)[1] for _ in range(options.runs)]
    report.add("a page of queue.list", [statistics.median(took) for took in pages], "ms", beside=f"worst {max(map(max, pages)):.1f} ms",
               higher_is_better=False)
    took = []
    for _ in range(options.runs):
        begin = time.monotonic()
        programs.sluice("queue", "ls")
        took.append(time.monotonic() - begin)
    report.add("sluice queue ls --json, all of them", took, "s", higher_is_better=False)
    times = [scale.publish_times(client, "q-000001") for _ in range(options.runs)]
    report.add("a publish, until it is confirmed", [statistics.median(each) for each in times], "ms",
               beside=f"worst {max(map(max, times)):.2f} ms", higher_is_better=False)
    client.close()


MEASURES = {
    "memory": measure_memory,
    "full-speed": measure_full_speed,
    "unbatched": measure_unbatched,
    "latency": measure_latency,
    "small-prefetch": measure_small_prefetch,
    "consumers": measure_consumers,
    "presets": measure_presets,
    "fan-out": measure_fan_out,
    "bursts": measure_bursts,
    "scale": measure_scale,
}


def machine():
    model = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    commit = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True, check=False).stdout.strip()
    return {"processor": model, "cores": os.cpu_count(), "kernel": platform.release(), "load_before": os.getloadavg()[0],
            "commit": commit or "unknown"}


def read_options(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="short runs, once each: minutes become seconds, figures become rough")
    parser.add_argument("--bin-dir", type=pathlib.Path, default=pathlib.Path(os.environ.get("SLUICE_BIN_DIR") or ROOT / "build/release/bin"),
                        help="the folder of sluiced, sluice and raw_forwarder (build/release/bin)")
    parser.add_argument("--runs", type=int, help="runs of each (3; with --quick 1)")
    parser.add_argument("--data-dir", type=pathlib.Path, default=ROOT / "build",
                        help="where the durable parts make directories of their own: on the disk that is to be measured (build/)")
    parser.add_argument("--only", choices=[*MEASURES, "durable", *durable_figures.MEASURES], action="append", help="only this part; may be repeated")
    parser.add_argument("--json", type=pathlib.Path, help="also write the rows to this file")
    options = parser.parse_args(arguments)
    options.runs = options.runs or (1 if options.quick else 3)
    options.bin_dir = options.bin_dir.resolve()
    options.data_dir = options.data_dir.resolve()
    missing = [name for name in ("sluiced", "sluice", "raw_forwarder", "durable_probe") if not (options.bin_dir / name).is_file()]
    if options.runs < 1 or missing:
        parser.error(f"{options.bin_dir} has no {', '.join(missing)}: ./dev build release" if missing else "--runs must be at least 1")
    return options


def chosen(options):
    """Names of parts, each once, in order."""
    wanted = options.only or [*MEASURES, "durable"]
    names = [part for name in wanted for part in (durable_figures.MEASURES if name == "durable" else [name])]
    return dict.fromkeys(names)


def measure(options, report, folder):
    for name in chosen(options):
        if name in durable_figures.MEASURES:
            durable_figures.MEASURES[name](report, options)
            continue
        # A fresh broker each: one part's memory is not another's.
        broker = BrokerProcess(str(options.bin_dir / "sluiced"), pathlib.Path(folder) / f"{name}.log")
        try:
            MEASURES[name](Programs(options.bin_dir, broker), report, options)
        finally:
            code = broker.stop()
        if code != 0:
            raise RunFailed(f"sluiced ended with {code}:\n{broker.log()}")


def main(arguments):
    options = read_options(arguments)
    about = machine()
    print(f"{about['processor']}, {about['cores']} cores, Linux {about['kernel']}, load {about['load_before']:.2f}, commit {about['commit']}; "
          f"medians of {options.runs}")
    if about["load_before"] > 0.5:
        print("the machine is busy with something else: figures are lower, and latencies higher, than they could be")
    print(f"\n{'':<48} {'median':>11} {'':<6} {'least..most':>22}  {'target':<13} {'':<8}beside")
    report = Report()
    with tempfile.TemporaryDirectory(prefix="sluice-bench-") as folder:
        try:
            measure(options, report, folder)
        except (RunFailed, BrokerFailed) as error:
            print(f"report.py: {error}", file=sys.stderr)
            return 1
    if options.json:
        options.json.write_text(json.dumps({"machine": about, "quick": options.quick, "rows": report.rows}, indent=1) + "\n")
    short = [row["name"] for row in report.rows if row["reached"] is False]
    print(f"\n{len(short)} short of target" + (": " + "; ".join(short) if short else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
