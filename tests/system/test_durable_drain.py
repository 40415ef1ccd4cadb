"""SIGTERM under load: exit 0 means that all that was confirmed is on the disk, and that the journal says so."""
import random
import signal
import threading

import pytest

import crash_load
from crash_ledger import Ledger
from durable import peek_all

LIVES = 2


@pytest.mark.parametrize("sync", ["always", "os"])
def test_S23_a_drain_under_load_leaves_a_closed_journal(store, sync):
    chance = random.Random(7)
    ledger = Ledger()
    roles = [role for role in crash_load.roles(ledger, chance) if not isinstance(role, crash_load.Operator)]
    store.start("--sync", sync, memory="256KiB")
    crash_load.prepare(store.broker.client())
    for _ in range(LIVES):
        for role in roles:
            role.connect(store.broker)
        drain_under_load(store, roles)
        ledger.crashed()
        code, report = store.verify()
        assert (code, report["end"]) == (0, "clean"), report
        store.start("--sync", sync, memory="256KiB")
        assert not store.broker.events("torn_tail_cut")
        ledger.check(store.broker.client())


def drain_under_load(store, roles):
    process = store.broker.process
    timer = threading.Timer(0.4, process.send_signal, [signal.SIGTERM])
    timer.start()
    while process.poll() is None:
        for role in roles:
            role.turn()
    timer.join()
    assert process.returncode == 0, store.broker.log()[-5000:]
    for role in roles:
        role.turn()
    [drained] = store.broker.events("drained")
    assert drained["leases_left"] >= 0
    store.stop()


@pytest.mark.quick
def test_a_second_SIGTERM_stops_at_once_and_the_journal_is_closed_as_well(store):
    client = store.start("--sync", "os").client()
    ids = client.publish("q", b"held", b"waits")
    client.consume("q", messages=1)
    client.delivery()
    process = store.broker.process
    process.send_signal(signal.SIGTERM)
    client.receive(40)  # DRAINING; the lease would be waited for
    process.send_signal(signal.SIGTERM)
    assert process.wait(1.5) == 0  # of 2 s that a drain may take
    store.stop()
    assert store.broker.events("stopped_at_once")
    assert store.verify()[1]["end"] == "clean"
    client = store.start().client()
    assert [(m["id"], m["restarts"] + m["disconnects"]) for m in peek_all(client, "q")] == [(ids[0], 1), (ids[1], 0)]


@pytest.mark.quick
def test_the_end_is_clean_even_when_nothing_happened(store):
    for _ in range(3):
        store.start()
        store.stop()
        assert store.verify()[1]["end"] == "clean"


@pytest.mark.release
def test_L9_a_drain_ends_by_its_deadline_though_the_disk_hangs(store, disk):
    broker = store.start(environment=disk.environment)
    client = broker.client()
    client.publish("q", b"safe")
    disk.say("hold")
    client.publish_nowait("q", [b"not safe"])
    broker.process.send_signal(signal.SIGTERM)
    try:
        assert broker.process.wait(5) == 1  # 2 s are its time; 0 would say that all is safe
    finally:
        disk.say("well")
        store.kill()
