"""Brokers that are killed at a random moment under load, and what the next one must know. CRASH_ROUNDS: how many data directories a mode
of sync (1), each with six crashes; CRASH_SEED repeats the load of a run, though not the moments of its kills."""
import os
import random
import threading
import time

import pytest

import crash_load
from crash_ledger import Ledger
from conftest import wait_until
from durable import SEGMENT_BYTES, check_conservation, peek_all, queue_list

CRASHES = 6
ROUNDS = range(int(os.environ.get("CRASH_ROUNDS") or 1))
SEED = int(os.environ.get("CRASH_SEED") or random.randrange(1 << 32))


def kill_under_load(store, roles, seconds):
    killer = threading.Timer(seconds, store.broker.process.kill)
    killer.start()
    while store.broker.process.poll() is None:
        for role in roles:
            role.turn()
    killer.join()
    assert store.broker.process.returncode == -9, store.broker.log()[-5000:]
    for role in roles:
        role.turn()  # what was under way; what these say more goes nowhere
    store.kill()


@pytest.mark.parametrize("number", ROUNDS)
@pytest.mark.parametrize("sync", ["always", "interval=20ms", "os"])
def test_what_was_answered_survives_kill_9_under_load(store, figure, sync, number):
    chance = random.Random(f"{SEED} {sync} {number}")
    print(f"CRASH_SEED={SEED}")
    ledger = Ledger()
    roles = crash_load.roles(ledger, chance)
    store.start("--sync", sync, memory="256KiB")
    crash_load.prepare(store.broker.client())
    for _ in range(CRASHES):
        for role in roles:
            role.connect(store.broker)
        kill_under_load(store, roles, chance.uniform(0.05, 0.5))
        ledger.crashed()
        code, report = store.verify()
        assert code == 0, report
        store.start("--sync", sync, memory="256KiB")
        ledger.check(store.broker.client())
    store.restart("stop")
    client = store.broker.client()
    left = ledger.check(client)
    assert store.broker.events("opened")[0]["epoch"] == CRASHES + 2
    # Bodies, what is kept beside each, and the keys that are remembered.
    live = sum(queue["bytes"] for queue in queue_list(client)) + 100 * len(left) + 60 * sum(queue == "keyed" for queue, _ in ledger.known)
    wait_until(lambda: client.request("server.info")["journal_bytes"] <= 3 * live + 3 * SEGMENT_BYTES, what="compaction")
    figure(f"{sync}: crashes, confirmed, deliveries, left at the end",
           f"{ledger.crashes} {sum(k.confirmed for k in ledger.known.values())} {ledger.deliveries} {len(left)}")


@pytest.mark.parametrize("number", ROUNDS)
def test_C25_kill_9_while_messages_die_leaves_each_in_exactly_one_place(store, number):
    """Rejects by the hundred a frame, so that a kill falls between any two steps there may be."""
    chance = random.Random(f"{SEED} {number}")
    store.start(memory="256KiB")
    client = store.broker.client()
    client.declare("q", dead_letter_max=1_000_000, max_attempts=1, lease_ms=60_000)
    count = 3_000
    ids = set(client.publish("q", *[b"%d" % i for i in range(count)]))
    dead = set()
    for cycle in range(CRASHES):
        client = store.broker.client()
        consumer = client.consume("q", messages=count, size=64 << 20)
        process = store.broker.process
        killer = threading.Timer(chance.uniform(0, 0.06), process.kill)
        killer.start()
        asked = {}
        while process.poll() is None:
            while client.kept or client.socket.poll(1):
                frame = client.receive()
                if frame[0] == 39:
                    dead |= asked[frame[1]]
                elif frame[0] == 36:
                    # Half of what came dies, by one way or the other; the rest stays leased.
                    leases = [frame[2] + i for i in range(len(frame[4])) if i % 8 == cycle % 8]
                    number = next(client.requests)
                    asked[number] = {frame[4][lease - frame[2]][0] for lease in leases}
                    client.send(7, number, [[chance.choice([2, 4]), lease, lease, {"reason": "why"}] for lease in leases])
        killer.join()
        store.kill()
        store.start(memory="256KiB")
        client = store.broker.client()
        queues = queue_list(client)
        check_conservation(queues)
        alive = [m["id"] for m in peek_all(client, "q")]
        letters = peek_all(client, "q.dlq") if len(queues) > 1 else []
        assert sorted(alive + [m["id"] for m in letters]) == sorted(ids)
        assert dead <= {m["id"] for m in letters}
        assert {(m["dead"]["origin"], m["dead"]["error"]) for m in letters} <= {("q", "why")}
        dead = {m["id"] for m in letters}
    assert dead
