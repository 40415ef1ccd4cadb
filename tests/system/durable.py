"""A data directory and the brokers that live in it, one after the other; and all that a client can see of a broker's state."""
import json
import os
import signal
import subprocess

from conftest import BIN
from raw import BrokerError

# Small, so that segments end and are compacted all the time.
SEGMENT_BYTES = 64 << 10


class Store:
    """`start` is the fixture start_broker; what it does not know is that some brokers are killed."""

    def __init__(self, path, start):
        self.path = path
        self.start_function = start
        self.broker = None

    def start(self, *arguments, segment_bytes=SEGMENT_BYTES, memory="1MiB", **options):
        self.arguments = (arguments, {"segment_bytes": segment_bytes, "memory": memory, **options})
        self.broker = self.start_function("--data", str(self.path), "--segment-bytes", str(segment_bytes), "--memory", memory, *arguments, **options)
        return self.broker

    def kill(self):
        self.broker.process.send_signal(signal.SIGKILL)
        self.broker.process.wait()
        self.start_function.brokers.remove(self.broker)
        for client in self.broker.clients:
            client.close()

    def stop(self):
        """Drains it while its clients stay, until there is no lease or the time of the drain is over; it must end well."""
        self.broker.process.send_signal(signal.SIGTERM)
        self.broker.process.wait(30)
        self.start_function.brokers.remove(self.broker)
        self.broker.end()

    def restart(self, how="stop"):
        """Ends the broker in one of ENDINGS and starts the next one with the same settings."""
        getattr(self, how)()
        arguments, options = self.arguments
        return self.start(*arguments, **options)

    def journal(self, verb, *arguments):
        """sluice journal VERB: its exit code, stdout, stderr."""
        done = subprocess.run([BIN / "sluice", "journal", verb, self.path, *map(str, arguments)], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def verify(self):
        code, out, err = self.journal("verify", "--json")
        assert err == ""
        return code, json.loads(out)

    def segments(self):
        return sorted(self.path.glob("*.segment"))

    def disk_bytes(self):
        """What du counts: the blocks that are taken. Segments may go meanwhile."""
        total = 0
        for name in os.listdir(self.path):
            try:
                total += os.stat(self.path / name).st_blocks * 512
            except FileNotFoundError:
                pass
        return total

    def refused(self, *arguments, environment=None, user=None):
        """Starts a broker that must not start: exit code 1, nothing but one line for people. Gives that line."""
        done = subprocess.run([BIN / "sluiced", "--listen", "tcp://127.0.0.1:0", "--log-format", "json", "--data", str(self.path), *arguments],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, user=user,
                              env={**os.environ, **(environment or {})})
        lines = done.stderr.decode().splitlines()
        events = [line for line in lines if line.startswith("{")]
        said = [line for line in lines if not line.startswith("{")]
        assert (done.returncode, done.stdout, len(said)) == (1, b"", 1), (done.returncode, lines)
        assert said[0].startswith("sluiced: ") and "listening" not in str(events)
        return said[0]


class Disk:
    """What the library of tests/fault is told."""

    def __init__(self, path):
        self.path = path
        self.environment = {"LD_PRELOAD": str(BIN / "libsluice_disk_faults.so"), "DISK_FAULTS": str(path)}

    def say(self, word):
        made = self.path.with_suffix(".new")
        made.write_text(word)
        made.rename(self.path)


ENDINGS = ["stop", "kill"]


def pages(client, verb, key, after, **arguments):
    """All entries of a list; `after(entry)` gives the arguments of the page behind it."""
    entries, place = [], {}
    while True:
        answer = client.request(verb, **arguments, **place)
        entries += answer[key]
        if not answer["more"]:
            return entries
        place = after(entries[-1])


def peek_all(client, queue):
    return pages(client, "queue.peek", "messages", lambda m: {"after": m["position"]}, name=queue, limit=1000)


def queue_list(client):
    return pages(client, "queue.list", "queues", lambda q: {"after": q["name"]})


def binding_list(client):
    return pages(client, "bind.list", "bindings", lambda b: {"after_queue": b["queue"], "after_pattern": b["pattern"]})


def state(client):
    """Everything durable that a client can see, as values that compare; times that are told relative to now are left out."""
    queues = queue_list(client)
    return {
        "queues": {q["name"]: {key: value for key, value in q.items() if key not in ("name", "consumers", "oldest_age_ms")} for q in queues},
        "bindings": [[b["queue"], b["pattern"]] for b in binding_list(client)],
        "messages": {q["name"]: peek_all(client, q["name"]) for q in queues},
    }


def check_conservation(queues):
    """S3: enqueued is the sum of what is there and of all ends."""
    for queue in queues:
        counters = queue["counters"]
        ended = sum(counters[key] for key in ("acked", "dead_lettered", "dropped", "expired", "purged", "replayed_out"))
        assert counters["enqueued"] == queue["ready"] + queue["delayed"] + queue["leased"] + ended, queue


def drain(client, queue, count, window=500):
    """Takes and acks `count` messages; the deliveries in order."""
    consumer = client.consume(queue, messages=window, size=64 << 20)
    taken = []
    while len(taken) < count:
        some = client.deliveries(min(window, count - len(taken)))
        taken += some
        ranges = [[1, d.lease, d.lease] for d in some]
        assert client.settle(ranges, [[consumer, len(some), 1 << 20]]) == {}
    client.cancel(consumer)
    return taken


def refusal(action):
    """The name of the error with which it is refused."""
    try:
        action()
    except BrokerError as error:
        return error.name
    return None
