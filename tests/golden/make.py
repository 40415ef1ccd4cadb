#!/usr/bin/python3
"""Writes the golden journal of the version that is built: every record that a broker can be made to write, in small segments, with open
leases and compacted parts; and the state that it stands for."""
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "system"), str(HERE.parent)]
import golden  # noqa: E402
import raw  # noqa: E402
from conftest import BIN, Broker, wait_until  # noqa: E402
from durable import Store  # noqa: E402

LONG_MS = 300_000_000_000  # nine years: not due while anybody runs the tests
PRODUCERS = 10_050         # more than are remembered without a session


def settle(client, queue, verb, count=1, **options):
    consumer = client.consume(queue, messages=count, size=64 << 20)
    for delivery in client.deliveries(count):
        assert client.settle_one(verb, delivery, **options) == 0
    client.cancel(consumer)


def compacted(broker, client, store):
    """Things that are written again when the first segments go: queues with bindings, keys, a producer, messages of each kind."""
    client.declare("kept", max_attempts=7, backoff_factor=1.5, dedup_window_ms=86_400_000)
    client.bind("kept", "a.*")
    client.bind("kept", "#")
    client.bind("kept.too", "a.b")
    client.publish("kept", b"plain")
    client.publish("kept", b"dressed", headers=raw.encode({"k": b"\x00\xff", "n": 1}), priority=9)
    client.publish("kept", b"later", delay_ms=LONG_MS)
    client.publish("kept", b"with a life", ttl_ms=LONG_MS)
    client.publish("kept", b"with a key", dedup_key="key of a queue")
    client.publish_topic("a.b", b"copied", dedup_key="key of a topic")
    client.declare("small", max_messages=1)
    client.publish("small", b"1")
    try:
        client.publish("small", b"2")
    except raw.BrokerError as error:
        assert error.name == "queue_full"
    settle(client, "kept", raw.NACK, delay_ms=LONG_MS, reason="not now")
    first = store.segments()[0]
    while first.exists():
        client.publish("churn", *[b"c" * 8000] * 8)
        settle(client, "churn", raw.ACK, 8)


def forgotten_producers(broker):
    """One connection that says HELLO again and again, each time as somebody else."""
    client = broker.client()
    for number in range(PRODUCERS):
        client.send(raw.HELLO, 1, {"producer": b"golden %09d" % number})
        if number % 500 == 0:
            client.receive(raw.WELCOME)
    wait_until(lambda: client.drain() is not None, what="all of them")
    client.close()


def ends(broker, client):
    """Each end of a message, each way back, each reason of a death."""
    client.declare("q", max_attempts=2, backoff_initial_ms=0, lease_ms=100)
    client.publish("q", *[b"q%d" % i for i in range(12)])
    settle(client, "q", raw.ACK, 2)
    settle(client, "q", raw.REJECT, 1, reason="rejected")
    settle(client, "q", raw.RELEASE, 1)
    settle(client, "q", raw.NACK, 1, delay_ms=LONG_MS, reason="nacked")
    settle(client, "q", raw.NACK, 1, delay_ms=0)
    settle(client, "q", raw.NACK, 1, reason="the second time")  # dead
    consumer = client.consume("q", messages=1)
    client.wait_lost(client.delivery().lease)
    client.cancel(consumer)
    gone = broker.client()
    gone.consume("q", messages=1)
    gone.delivery()
    gone.close()
    wait_until(lambda: client.info("q")["counters"]["returned_by_disconnect"] == 1)
    settle(client, "q.dlq", raw.REJECT, 1, reason="not here either")
    assert client.request("dlq.replay", name="q.dlq", limit=1)["replayed"] == 1
    client.declare("oldest", max_messages=2, overflow="dead_letter_oldest")
    client.publish("oldest", b"o1", b"o2", b"o3")
    client.declare("dropped", max_messages=2, overflow="drop_oldest")
    client.publish("dropped", b"d1", b"d2", b"d3")
    client.publish("brief", b"kept as a dead letter", ttl_ms=1)
    client.declare("forgotten", on_expiry="drop")
    client.publish("forgotten", b"gone", ttl_ms=1)
    wait_until(lambda: client.info("brief")["dead"] == 1 and client.info("forgotten")["counters"]["expired"] == 1)
    client.publish("purged", b"p1", b"p2")
    client.request("queue.purge", name="purged")
    client.publish("deleted", b"x")
    client.request("queue.delete", name="deleted")
    client.request("queue.pause", name="purged")
    client.request("bind.remove", queue="kept", pattern="#")
    client.publish_topic("a.b", b"copied later")


def write(folder):
    brokers = []

    def start(*arguments):
        brokers.append(Broker(folder, *arguments))
        return brokers[-1]

    start.brokers = brokers
    store = Store(folder / "data", start)
    broker = store.start()
    named = broker.client(producer=golden.PRODUCER)
    compacted(broker, named, store)
    forgotten_producers(broker)
    broker = store.restart("stop")
    named = broker.client(producer=golden.PRODUCER)
    named.publish("kept", b"with a key again", dedup_key="key of a queue")
    try:
        named.publish("small", b"3")
    except raw.BrokerError as error:
        assert error.name == "queue_full"
    ends(broker, named)
    named.consume("kept", messages=2)
    named.deliveries(2)  # open when it ends
    store.kill()
    return store


def main():
    with tempfile.TemporaryDirectory() as folder:
        store = write(pathlib.Path(folder))
        code, report = store.verify()
        assert code == 0 and report["end"] == "open", report
        missing = golden.RECORDS - {kind for kind, count in report["records"].items() if count}
        assert not missing, f"no broker wrote {missing}"
        version = subprocess.run([BIN / "sluiced", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
        archive = HERE / f"{version}.tar.xz"
        with tarfile.open(archive, "w:xz", preset=9) as tar:
            for path in store.segments():
                tar.add(path, path.name)
        print(f"{archive}: {archive.stat().st_size} bytes; {report['records']}")
        shown = golden.shown(golden.copy_of(archive, store, pathlib.Path(folder) / "copy"))
        (HERE / f"{version}.json").write_text(json.dumps({"records": report["records"], **shown}, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
