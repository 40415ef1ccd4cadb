"""What semantics.md calls durable is the same after a restart, whether the broker was stopped or killed."""
import subprocess
import sys
import time

import pytest

import raw
from conftest import BIN, ROOT, wait_until
from durable import ENDINGS, check_conservation, peek_all, refusal, state

pytestmark = pytest.mark.quick
either = pytest.mark.parametrize("how", ENDINGS)
NO_WAIT = {"backoff_initial_ms": 0}


def taken(client, queue, count=1):
    """Deliveries to a new consumer with that much credit."""
    client.consume(queue, messages=count, size=64 << 20)
    return client.deliveries(count)


def nack_once(client, queue, **options):
    """Takes the next message, and gives it back as failed."""
    consumer = client.consume(queue, messages=1)
    delivery = client.delivery()
    assert client.nack(delivery, **options) == 0
    client.cancel(consumer)
    return delivery


@either
def test_messages_keep_what_they_were_published_with(store, how):
    client = store.start().client()
    client.declare("q", ttl_ms=3_600_000)
    client.publish("q", b"plain")
    client.publish("q", b"", b"\x00\xff" * 1000)
    client.publish("q", b"dressed", headers=raw.encode({"trace": "a-1", "n": [1, {"b": b"\x00"}]}), priority=9)
    client.publish("q", b"later", delay_ms=3_600_000)
    client.publish("q", b"short of time", ttl_ms=600_000)
    client.publish("q", b"L" * 300_000)  # more than a segment
    before = peek_all(client, "q")
    client = store.restart(how).client()
    after = peek_all(client, "q")
    # Times to come are told from this moment, by a clock in whole milliseconds.
    for old, new in zip(before, after, strict=True):
        for key in ("due_ms", "expires_ms"):
            assert abs(old.pop(key, 0) - new.pop(key, 0)) <= 3
        assert old == new
    assert [d.payload for d in taken(client, "q", 5)] == [b"dressed", b"plain", b"", b"\x00\xff" * 1000, b"short of time"]
    [large] = taken(client, "q")
    assert large.payload == b"L" * 300_000
    assert client.depth("q") == (0, 1, 6, 0)


@either
def test_a_due_time_passes_while_the_broker_is_down_and_is_not_moved(store, how):
    client = store.start().client()
    began = time.monotonic()
    client.publish("q", b"soon", delay_ms=400)
    client.publish("q", b"later", delay_ms=1_500)
    client.publish("dying", b"x", ttl_ms=300)
    getattr(store, how)()
    time.sleep(max(0.0, began + 0.45 - time.monotonic()))  # time itself is what is tested: nobody is there to wait for
    client = store.start().client()
    client.consume("q")
    assert client.delivery().payload == b"soon" and time.monotonic() - began < 1.498
    assert client.delivery().payload == b"later"
    assert 1.498 <= time.monotonic() - began < 10
    wait_until(lambda: client.depth("dying") == (0, 0, 0, 1), what="expiry after the restart")
    [letter] = peek_all(client, "dying.dlq")
    assert letter["dead"]["reason"] == "expired"


@either
def test_counters_by_cause_error_and_order_of_what_failed(store, how):
    client = store.start().client()
    client.declare("q", max_attempts=10, lease_ms=300, **NO_WAIT)
    ids = client.publish("q", b"nacked", b"released", b"ran out", b"holder gone", b"held")
    held = {d.payload: d for d in taken(client, "q", 5)}
    assert client.nack(held[b"nacked"], reason="no wait") == 0
    assert client.release(held[b"released"]) == 0
    assert client.extend(held[b"holder gone"], lease_ms=60_000) == 0
    assert client.extend(held[b"held"], lease_ms=60_000) == 0
    client.wait_lost(held[b"ran out"].lease)
    # The holder of the last two goes, and the broker after it.
    other = store.broker.client()
    other.request("queue.pause", name="q")
    client.close()
    wait_until(lambda: other.info("q")["counters"]["returned_by_disconnect"] == 2, what="the closed holder's messages")
    before = state(other)
    for message, (cause, error) in zip(before["messages"]["q"], [("nacks", "no wait"), ("releases", ""), ("expiries", ""), ("disconnects", ""), ("disconnects", "")],
                                       strict=True):
        assert (message["deliveries"], message[cause], message["error"]) == (1, 1, error)
    client = store.restart(how).client()
    assert state(client) == before
    assert [m["id"] for m in peek_all(client, "q")] == ids
    # Suspects are handed out alone, after the restart as before it.
    client.request("queue.resume", name="q")
    client.consume("q", messages=5)
    counts = [client.delivery()]
    while len(counts) < 5:
        assert client.ack(counts[-1]) == 0
        counts.append(client.delivery())
    assert {(d.id, d.count) for d in counts} == {(id, 2) for id in ids}
    check_conservation([client.info("q")])


@either
def test_open_leases_return_free_of_charge_and_numbers_go_on(store, how):
    client = store.start().client()
    client.declare("q", max_attempts=2)
    ids = client.publish("q", b"a", b"b", b"c")
    old = taken(client, "q", 3)
    for life in range(1, 2 if how == "stop" else 4):  # a drain waits for the leases
        client = store.restart(how).client()
        messages = peek_all(client, "q")
        assert [(m["id"], m["state"], m["restarts"], m["deliveries"], m["nacks"] + m["expiries"]) for m in messages] == [
            (id, "ready", life, life, 0) for id in ids]
        assert set(client.settle([[raw.ACK, d.lease, d.lease] for d in old]).values()) == {303}
        new = taken(client, "q", 3)
        assert [(d.id, d.count, d.options.get("attempts", 0)) for d in new] == [(id, life + 1, 0) for id in ids]
        assert min(d.lease for d in new) > max(d.lease for d in old)
        old = new


@either
def test_C13_the_fifth_failure_after_a_restart_is_the_last_one(store, how):
    client = store.start().client()
    client.declare("q", max_attempts=5, **NO_WAIT)
    [id] = client.publish("q", b"m")
    for i in range(4):
        assert nack_once(client, "q", delay_ms=0, reason=f"failure {i + 1}").count == i + 1
    client = store.restart(how).client()
    [message] = peek_all(client, "q")
    assert (message["id"], message["nacks"], message["error"], message["state"]) == (id, 4, "failure 4", "ready")
    fifth = nack_once(client, "q", reason="failure 5")
    assert (fifth.id, fifth.count, fifth.options["attempts"]) == (id, 5, 4)
    assert client.depth("q") == (0, 0, 0, 1)
    dead = peek_all(client, "q.dlq")[0]["dead"]
    assert (dead["reason"], dead["error"], dead["deliveries"], dead["nacks"]) == ("attempts", "failure 5", 5, 5)


@either
def test_C13_a_returned_message_keeps_its_due_time(store, how):
    client = store.start().client()
    client.declare("q", backoff_initial_ms=3_600_000, backoff_max_ms=3_600_000, backoff_jitter=0)
    client.publish("q", b"own delay", b"backoff")
    for options in ({"delay_ms": 7_200_000, "reason": "because"}, {}):
        nack_once(client, "q", **options)
    due = [m["due_ms"] for m in peek_all(client, "q")]
    client = store.restart(how).client()
    messages = peek_all(client, "q")
    assert [m["error"] for m in messages] == ["because", ""]
    assert all(abs(m["due_ms"] - old) <= 3 for m, old in zip(messages, due, strict=True)), (messages, due)


def test_C11_a_returned_message_has_its_old_place_after_a_restart(store):
    client = store.start().client()
    client.declare("q", **NO_WAIT)
    client.publish("q", *[b"%d" % i for i in range(1, 6)])
    assert nack_once(client, "q").payload == b"1"
    one, two = taken(client, "q", 2)
    assert client.nack(two) == 0 and client.release(one) == 0
    for how in ENDINGS:
        client = store.restart(how).client()
        held = taken(client, "q", 5)
        assert [d.payload for d in held] == [b"1", b"2", b"3", b"4", b"5"]
        for delivery in held:
            assert client.release(delivery) == 0


@either
def test_C20_order_history_and_totals_of_dead_letters(store, how):
    client = store.start().client()
    client.declare("q", max_attempts=2, **NO_WAIT)

    def die(*names):
        for name in names:
            client.publish("q", name)
            nack_once(client, "q", reason="first")
            [delivery] = taken(client, "q")
            assert client.reject(delivery, reason=name.decode()) == 0

    die(b"1", b"2")
    first = state(client)
    client = store.restart(how).client()
    assert state(client) == first
    die(b"3", b"4")
    second = state(client)
    for _ in range(2):
        client = store.restart(how).client()
        assert state(client) == second
    letters = second["messages"]["q.dlq"]
    assert [m["payload"] for m in letters] == [b"1", b"2", b"3", b"4"]
    assert [(m["dead"]["reason"], m["dead"]["error"], m["dead"]["deliveries"], m["dead"]["nacks"]) for m in letters] == [
        ("rejected", name, 2, 1) for name in "1234"]
    assert second["queues"]["q"]["counters"]["dead_lettered"] == 4 and second["queues"]["q.dlq"]["counters"]["enqueued"] == 4
    # Drop-oldest drops the right one, and what is replayed starts anew.
    client.request("queue.edit", name="q", policy={"dead_letter_max": 3})
    assert client.request("dlq.replay", name="q.dlq", limit=1) == {"replayed": 1, "refused": 0}
    client = store.restart(how).client()
    assert [m["payload"] for m in peek_all(client, "q.dlq")] == [b"3", b"4"]
    [replayed] = peek_all(client, "q")
    assert (replayed["payload"], replayed["deliveries"], replayed["error"]) == (b"2", 0, "2")
    assert client.info("q.dlq")["counters"]["dropped"] == 1
    check_conservation([client.info("q"), client.info("q.dlq")])


@either
def test_policies_bindings_and_pause(store, how):
    client = store.start().client()
    client.declare("q", max_attempts=7, backoff_factor=1.5, backoff_jitter=0.25, overflow="drop_oldest", max_messages=100, ttl_ms=90_000,
                   on_expiry="drop", dedup_window_ms=60_000, dead_letter_max=11)
    client.declare("edited", max_bytes=5_000)
    client.request("queue.edit", name="edited", policy={"max_bytes": 4_000, "overflow": "block", "block_timeout_ms": 123})
    for name in ("q", "edited"):
        client.bind(name, "a.*")
        client.bind(name, "#")
    client.request("bind.remove", queue="q", pattern="#")
    client.request("queue.pause", name="edited")
    client.request("queue.pause", name="q")
    client.request("queue.resume", name="q")
    client.declare("gone")
    client.publish("gone", b"x")
    client.request("queue.delete", name="gone")
    before = state(client)
    client = store.restart(how).client()
    assert state(client) == before
    assert before["bindings"] == [["edited", "#"], ["edited", "a.*"], ["q", "a.*"]]
    client.publish_topic("a.b", b"to both")
    client.publish_topic("c", b"to one")
    assert refusal(lambda: client.publish("gone.dlq.nothing", b"")) is None  # made anew, by a name of its own
    assert [m["payload"] for m in peek_all(client, "edited")] == [b"to both", b"to one"]
    client.consume("edited")
    assert taken(client, "q")[0].payload == b"to both" and client.nothing(raw.DELIVER)
    client.request("queue.resume", name="edited")
    assert [d.payload for d in client.deliveries(2)] == [b"to both", b"to one"]


@either
def test_copies_of_a_topic_live_on_their_own(store, how):
    client = store.start(memory="64KiB").client()
    for i in range(3):
        client.bind(f"fan.{i}", "#")
    payloads = [b"%d" % i + b"p" * 2000 for i in range(200)]
    ids = client.publish_topic("t", *payloads)
    for delivery in taken(client, "fan.1", 100):
        assert client.ack(delivery) == 0
    client = store.restart(how).client()
    for name, there in (("fan.0", ids), ("fan.1", ids[100:]), ("fan.2", ids)):
        messages = peek_all(client, name)
        assert [m["id"] for m in messages] == there
        assert [m["payload"] for m in messages] == payloads[-len(there):]


@either
def test_C39_purge_reaches_what_nobody_touched_since_the_restart(store, how):
    client = store.start().client()
    client.declare("q", max_attempts=1)
    client.publish("q", *[b"%d" % i for i in range(12)])
    for delivery in taken(client, "q", 2):
        client.reject(delivery, reason="odd")
    store.restart(how)

    def sluice(*arguments):
        done = subprocess.run([BIN / "sluice", *arguments, "--url", store.broker.url], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout

    assert sluice("queue", "ls")[1].startswith("q\t10\t")
    assert len(sluice("peek", "q", "-n", "20")[1].splitlines()) == 10
    assert len(sluice("dlq", "peek", "q")[1].splitlines()) == 2
    assert sluice("dlq", "replay", "q", "--limit", "1")[0] == 0
    assert sluice("dlq", "purge", "q", "--force")[0] == 0
    code, out = sluice("queue", "purge", "q", "--force", "--json")
    assert code == 0 and '"purged":11' in out.replace(" ", "")
    code, out = sluice("queue", "purge", "q", "--force", "--json")
    assert code == 0 and '"purged":0' in out.replace(" ", "")
    assert sluice("queue", "purge", "nobody", "--force")[0] == 4
    client = store.restart(how).client()
    assert (client.depth("q"), client.info("q")["counters"]["purged"]) == ((0, 0, 0, 0), 11)


@either
def test_C36_strange_names_after_a_restart(store, how):
    client = store.start().client()
    good = ["A", "a", "con", "0", "_", "a" * 255, "x.y:z@w-v", "a..b", "b.dlq", "a" * 255 + ".dlq", "nul.", "1-2"]
    bad = ["", ".", "..", "a/b", "../../etc/x", "a" * 256, "a\nb", "a\x00b", "-a", 'x{y="z"}', "Ã©", ".dlq"]
    for name in good:
        client.publish(name, name.encode())
    for name in bad:
        assert refusal(lambda: client.publish(name, b"")) == "bad_queue_name", name
    before = state(client)
    client = store.restart(how).client()
    assert state(client) == before
    assert sorted(before["queues"]) == sorted(good)
    for name in good:
        assert client.request("queue.purge", name=name)["purged"] == 1
        client.request("queue.delete", name=name)
    client = store.restart(how).client()
    assert state(client)["queues"] == {}
    names = {path.name for path in store.path.iterdir()}
    assert names == {"lock"} | {path.name for path in store.segments()}


def test_queues_of_unnamed_subscriptions_are_gone_after_a_kill(store):
    client = store.start().client()
    client.declare("named")
    client.bind("named", "t")
    with subprocess.Popen([sys.executable, ROOT / "tests/system/consumer.py", store.broker.url, "", "1", "5000", "t", "100"],
                          stdout=subprocess.PIPE, text=True) as subscriber:
        assert subscriber.stdout.readline() == "ready\n"
        client.publish_topic("t", b"1", b"2", b"3")
        assert len(state(client)["queues"]) == 2
        client = store.restart("kill").client()
        assert list(state(client)["queues"]) == ["named"]
        assert state(client)["bindings"] == [["named", "t"]]
        subscriber.kill()
    assert [m["payload"] for m in peek_all(client, "named")] == [b"1", b"2", b"3"]
    client = store.restart("stop").client()
    assert list(state(client)["queues"]) == ["named"]


@either
def test_S13_resent_sequences_and_keys_are_known_after_a_restart(store, how):
    name = b"sixteen  bytes.."
    client = store.start().client(producer=name)
    client.declare("small", max_messages=2)
    client.declare("keyed", dedup_window_ms=3_600_000)
    client.declare("brief", dedup_window_ms=200)
    client.bind("keyed", "k")
    ids = client.publish("small", b"1", b"2")
    assert refusal(lambda: client.publish("small", b"3")) == "queue_full"
    keyed = client.publish("keyed", b"4", dedup_key="key")
    assert client.publish("keyed", b"5", dedup_key="key") == keyed  # 5: accepted without a message of its own
    topic = client.publish_topic("k", b"6", dedup_key="key")
    client.publish("brief", b"7", dedup_key="key")
    # An acked one is remembered as well.
    [delivery] = taken(client, "small")
    client.ack(delivery)
    before = state(client)
    client = store.restart(how).client(producer=name)
    assert client.welcome["producer_sequence"] == 7
    client.sequence = 0
    outcomes = client.wait_confirms(client.publish_nowait("small", [b"other bytes"] * 7))
    assert outcomes[:2] == ids and (outcomes[2].name, outcomes[2].retry) == ("queue_full", True)
    assert outcomes[3:6] == [*keyed, *keyed, *topic]
    other = store.broker.client()
    assert other.publish("keyed", b"again", dedup_key="key") == keyed
    assert other.publish_topic("k", b"again", dedup_key="key") == topic
    time.sleep(0.2)  # the window itself
    assert other.publish("brief", b"again", dedup_key="key")[0] > topic[0]
    assert client.publish("keyed", b"8")[0] > topic[0]
    for queue in before["messages"]:
        there = [(m["id"], m["payload"]) for m in before["messages"][queue]]
        # nothing is there twice
        assert [(m["id"], m["payload"]) for m in peek_all(other, queue)][: len(there)] == there
        assert len(peek_all(other, queue)) == len(there) + (queue in ("keyed", "brief"))
