"""What a journal costs, beside what its disk can do: parts of report.py that start brokers of their own on a directory of a real disk.

How the disk is asked: tests/bench/durable_probe.cpp. Backlogs are published first, by `sluice bench` or a client of tests/system/raw.py; what
is timed is measured by the broker's own programs, or here where a consumer must see the order.
"""
import contextlib
import pathlib
import shutil
import statistics
import tempfile
import threading
import time

import scale
from broker_process import BrokerProcess
from figures import Programs, RunFailed, heading, rates, run_json
from raw import ACK, DELIVER, NACK, SETTLE, RawClient

MIB = 1024 * 1024
RECORD_BYTES = 46            # of a full record of one message, beside its body
START_SECONDS_MAX = 120      # of the largest backlog, on a busy machine
STOP_SECONDS_MAX = 60
DISK_BYTES_FREE_MIN = 24 << 30
SETTLE_SECONDS_MAX = 20


class Home:
    """A directory of the file system that is measured, and brokers on it, one after the other."""

    def __init__(self, options, name):
        self.options = options
        options.data_dir.mkdir(parents=True, exist_ok=True)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"sluice-{name}-", dir=options.data_dir))
        self.data = self.folder / "data"
        self.starts = 0

    def close(self):
        shutil.rmtree(self.folder)

    def disk(self, size, count):
        return run_json([self.options.bin_dir / "durable_probe", "disk", self.folder, size, count])[0]

    def confirm(self, durable, memory, count):
        return run_json([self.options.bin_dir / "durable_probe", "confirm", self.folder, durable, memory, count])[0]

    def used_bytes(self):
        total = 0
        for path in self.data.glob("*.segment*"):
            with contextlib.suppress(FileNotFoundError):  # a segment that went meanwhile
                total += path.stat().st_blocks * 512
        return total

    @contextlib.contextmanager
    def broker(self, *flags, data=True):
        self.starts += 1
        where = ("--data", str(self.data)) if data else ()
        begin = time.monotonic()
        broker = BrokerProcess(str(self.options.bin_dir / "sluiced"), self.folder / f"{self.starts}.log", *where, *flags,
                               start_seconds=START_SECONDS_MAX)
        programs = Programs(self.options.bin_dir, broker)
        programs.started_s = time.monotonic() - begin
        code = None
        try:
            yield programs
        finally:
            code = broker.stop(STOP_SECONDS_MAX)
        if code != 0:
            raise RunFailed(f"sluiced ended with {code}:\n{broker.log()}")


@contextlib.contextmanager
def home(options, name):
    place = Home(options, name)
    try:
        yield place
    finally:
        place.close()


class Peak:
    """The most that a directory held while this was at work."""

    def __init__(self, place):
        self.place = place
        self.bytes = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look)

    def _look(self):
        while not self.over.wait(0.02):
            self.bytes = max(self.bytes, self.place.used_bytes())

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def settled_bytes(place, allowed):
    """What the directory holds once it is within what is allowed, or after a while."""
    end = time.monotonic() + SETTLE_SECONDS_MAX
    while (used := place.used_bytes()) > allowed and time.monotonic() < end:
        time.sleep(0.05)
    return used


def handle(client, queue, verb, credit, credit_bytes, more, options=()):
    """Consumes, and settles each frame of deliveries as one range with `verb`, as long as `more(deliveries)` says so."""
    consumer = client.consume(queue, messages=credit, size=credit_bytes)
    going = True
    while going:
        frame = client.receive(DELIVER)
        lease, entries = frame[2], frame[4]
        going = more(entries)
        size = sum(len(entry[2]) for entry in entries)
        client.send(SETTLE, None, [[verb, lease, lease + len(entries) - 1, *options]], [[consumer, len(entries), size]])
    client.barrier()


def publish(programs, queue, messages, size):
    programs.bench(queue, "--role", "producer", "--msgs", messages, "--size", size)


def batch_bytes(place):
    """The mean of the batches that the journal holds, as its next start counts them."""
    with place.broker() as programs:
        opened = programs.broker.events("opened")[0]
        return opened["bytes"] / max(1, opened["batches"])


def measure_rate(report, options):
    heading("Durable, full speed: 100 B, one producer process, one consumer process, every publish confirmed, every message acked on its own")
    messages = 1_000_000 if options.quick else 5_000_000
    modes = {"always": [], "interval=1s": [], "os": []}
    small, large, batches = [], [], []
    for _ in range(options.runs):
        for mode, ours in modes.items():
            with home(options, "rate") as place:
                if mode == "always":
                    small.append(place.disk(4096, 500))
                with place.broker("--sync", mode) as programs:
                    programs.bench("--separate", "--msgs", messages // 5, "--verify")
                    ours += programs.bench("--separate", "--msgs", messages)
                if mode == "always":
                    batches.append(batch_bytes(place))
                    large.append(place.disk(int(batches[-1]), 200))
    syncs = report.add("disk: write + fdatasync of 4 KiB", rates(small), "/s")
    report.add("disk: the same, of the journal's mean batch", [each["bytes_a_second"] / 1e6 for each in large], "MB/s",
               beside=f"{statistics.median(batches) / 1024:,.0f} KiB, {statistics.median(rates(large)):,.0f}/s")
    ours = statistics.median(rates(modes["always"]))
    report.add("sluice, --sync always", rates(modes["always"]), "msg/s", 1_000_000, f"{ours / syncs:,.0f} messages a sync of 4 KiB")
    for mode in ("interval=1s", "os"):
        report.add(f"sluice, --sync {mode}", rates(modes[mode]), "msg/s", beside=f"{statistics.median(rates(modes[mode])) / ours:.2f} of always")


def measure_confirm(report, options):
    heading("Durable, one unbatched publisher, one at a time, 100 B: from the publish to its confirmation")
    found = []
    with home(options, "confirm") as place, place.broker() as durable, place.broker(data=False) as memory:
        for _ in range(options.runs):
            found.append(place.confirm(durable.broker.url, memory.broker.url, 500 if options.quick else 3_000))
    for key, name in (("sync", "disk: write + fdatasync of 4 KiB"), ("memory", "sluice in memory")):
        report.add(f"{name}, p50", [each[f"{key}_p50_us"] for each in found], "us",
                   beside=f"p99 {statistics.median(each[f'{key}_p99_us'] for each in found):,.0f}", higher_is_better=False)
    # Run by run: what disturbs one of the three disturbs the others.
    ratios = [each["durable_p50_us"] / (each["sync_p50_us"] + each["memory_p50_us"]) for each in found]
    report.add("sluice, --sync always, p50", [each["durable_p50_us"] for each in found], "us",
               beside=f"p99 {statistics.median(each['durable_p99_us'] for each in found):,.0f}", higher_is_better=False)
    report.add("the same, of one sync and one publish in memory", ratios, "", 1.5, higher_is_better=False)


def measure_recovery(report, options):
    messages = 1_000_000 if options.quick else 10_000_000
    heading(f"Durable, start with {messages:,} messages of 100 B on a warm cache, until it listens")
    started, memory, live = [], [], 0
    with home(options, "recovery") as place:
        with place.broker() as programs:
            publish(programs, "backlog", messages, 100)
            live = programs.rss_bytes()
        for _ in range(options.runs):
            with place.broker() as programs:
                if programs.broker.events("recovered")[0]["messages"] != messages:
                    raise RunFailed(f"not all were there again:\n{programs.broker.log()}")
                started.append(programs.started_s)
                memory.append(programs.rss_bytes())
    report.add("start", started, "s", 5 * messages / 10_000_000, f"{messages / statistics.median(started):,.0f} messages/s",
               higher_is_better=False)
    report.add("bytes a message beside its payload, then", [each / messages - 100 for each in memory], "B",
               beside=f"{live / messages - 100:,.0f} before the stop", higher_is_better=False)


def measure_larger_than_memory(report, options):
    full = not options.quick and shutil.disk_usage(options.data_dir).free >= DISK_BYTES_FREE_MIN
    messages, size = (1_000_000 if full else 100_000), 10_000
    heading(f"Durable, {messages:,} messages of {size:,} B, started with --memory 256MiB")
    flags = ("--memory", "256MiB")
    with home(options, "memory") as place:
        with place.broker(*flags) as programs:
            publish(programs, "backlog", messages, size)
            before = programs.rss_bytes()
        with place.broker(*flags) as programs:
            report.add("start", [programs.started_s], "s", higher_is_better=False)
            after = programs.rss_bytes()
            ids = []

            def more(entries):
                ids.extend(entry[0] for entry in entries)
                return len(ids) < messages

            client = RawClient(programs.broker.url, heartbeat_ms=60_000)
            begin = time.monotonic()
            handle(client, "backlog", ACK, 4_096, 16 * MIB, more)
            took = time.monotonic() - begin
            client.close()
            if len(ids) != messages or any(a >= b for a, b in zip(ids, ids[1:])):
                raise RunFailed("the backlog did not come whole and in order")
            end = programs.rss_bytes()
    report.add("memory after the start", [after / MIB], "MiB", beside=f"{before / MIB:,.0f} MiB before the stop, {end / MIB:,.0f} at the end",
               higher_is_better=False)
    report.add("consumed in order, acked in ranges", [messages / took], "msg/s", beside=f"{messages * size / took / 1e6:,.0f} MB/s")


def measure_start(report, options):
    queues, delayed = (20_000, 200_000) if options.quick else (100_000, 1_000_000)
    heading(f"Durable, start with {queues:,} queues and {delayed:,} delayed messages of 100 B, until it listens")
    started = []
    with home(options, "start") as place:
        with place.broker() as programs:
            client = RawClient(programs.broker.url, heartbeat_ms=60_000)
            scale.declare_many(client, queues)
            scale.delay_many(client, delayed, "q-000000")
            client.close()
        for _ in range(options.runs):
            with place.broker() as programs:
                found = programs.broker.events("recovered")[0]
                if (found["queues"], found["messages"]) != (queues, delayed):
                    raise RunFailed(f"not all were there again: {found}")
                started.append(programs.started_s)
    report.add("start", started, "s", higher_is_better=False)


def report_disk(report, name, place, peak, live, segment):
    allowed = 3 * live + 2 * segment
    settled = settled_bytes(place, allowed)
    report.add(f"disk under {name}, at most", [peak.bytes / MIB], "MiB", allowed / MIB, higher_is_better=False,
               beside=f"{live / MIB:,.2f} MiB alive, segments of {segment / MIB:,.0f} MiB")
    report.add("the same, when it has settled", [settled / MIB], "MiB", allowed / MIB, higher_is_better=False)


def measure_disk(report, options):
    heading("Durable, disk in use; at most 3 x what is alive and 2 segments")
    segment = 4 * MIB
    flags = ("--segment-bytes", "4MiB")
    later = 200_000 if options.quick else 1_000_000
    with home(options, "disk") as place, place.broker(*flags) as programs, Peak(place) as peak:
        client = RawClient(programs.broker.url, heartbeat_ms=60_000)
        client.publish("old", b"x" * 100)
        client.close()
        programs.bench("--separate", "--rate", 100_000, "--duration", f"{later // 100_000}s")
        report_disk(report, f"1 old message, {later:,} later ones", place, peak, 100 + RECORD_BYTES, segment)
    messages, retries = (20_000, 400_000) if options.quick else (100_000, 4_000_000)
    done = 0

    def more(entries):
        nonlocal done
        done += len(entries)
        return done < retries

    with home(options, "disk") as place, place.broker(*flags) as programs, Peak(place) as peak:
        client = RawClient(programs.broker.url, heartbeat_ms=60_000)
        client.declare("retried", max_attempts=1_000_000)
        scale.publish_many(client, "retried", messages, lambda i: b"x" * 100)
        begin = time.monotonic()
        handle(client, "retried", NACK, 4_096, 16 * MIB, more, [{"delay_ms": 0}])
        took = time.monotonic() - begin
        client.close()
        report_disk(report, f"{messages:,} messages, {retries:,} retries", place, peak, messages * (100 + RECORD_BYTES), segment)
        report.add("retries of one consumer", [retries / took], "msg/s")


MEASURES = {
    "durable-rate": measure_rate,
    "durable-confirm": measure_confirm,
    "durable-recovery": measure_recovery,
    "durable-memory": measure_larger_than_memory,
    "durable-start": measure_start,
    "durable-disk": measure_disk,
}
