"""Administration: declare, list, info, peek, purge, delete, limits."""
import pytest

import raw
from raw import BrokerError

pytestmark = pytest.mark.quick

BAD_NAMES = ["", "x" * 256, "x" * 100_000, "nul\0inside", "new\nline", "a/b", "../../etc/x", ".", "..", ".hidden",
             'x{y="z"}', "\U0001f600", "-dash", "caf\u00e9", "cafe\u0301", "with space", ":colon", "@at"]


def test_declare_says_whether_it_made_the_queue_and_states_the_policy(broker):
    client = broker.client()
    made = client.declare("q", lease_ms=5000, max_attempts=7)
    assert made["created"] is True
    policy = made["queue"]["policy"]
    assert (policy["lease_ms"], policy["max_attempts"]) == (5000, 7)
    assert {"backoff_initial_ms", "backoff_factor", "backoff_max_ms", "backoff_jitter", "max_messages", "max_bytes",
            "dead_letter_max"} <= set(policy)
    again = client.declare("q", lease_ms=5000, max_attempts=7)
    assert again["created"] is False
    assert again["queue"]["policy"] == policy


def test_a_conflicting_declaration_is_refused_and_changes_nothing(broker):
    client = broker.client()
    client.declare("q", lease_ms=5000)
    with pytest.raises(BrokerError) as refused:
        client.declare("q", lease_ms=6000)
    assert refused.value.name == "policy_conflict"
    assert client.info("q")["policy"]["lease_ms"] == 5000


@pytest.mark.parametrize("key, value", [("lease_ms", 99), ("lease_ms", 86_400_001), ("lease_ms", -1), ("lease_ms", "5"),
                                        ("lease_ms", 1.5), ("max_attempts", 0), ("max_attempts", -1), ("backoff_factor", -1.0),
                                        ("backoff_factor", float("nan")), ("backoff_factor", float("inf")),
                                        ("backoff_jitter", 1.5), ("backoff_jitter", float("nan")), ("max_messages", -1),
                                        ("lease_msec", 5)])
def test_a_bad_policy_names_the_key_and_makes_no_queue(broker, key, value):
    client = broker.client()
    with pytest.raises(BrokerError) as refused:
        client.declare("q", **{key: value})
    assert refused.value.name in ("bad_policy", "bad_field")
    assert key in refused.value.text
    assert client.request("queue.list")["queues"] == []


@pytest.mark.parametrize("name", BAD_NAMES, ids=lambda name: ascii(name)[:20])
def test_C36_a_bad_name_is_refused_everywhere(broker, name):
    client = broker.client()
    for verb in ("queue.declare", "queue.info", "queue.purge", "queue.delete", "queue.peek"):
        with pytest.raises(BrokerError) as refused:
            client.request(verb, name=name)
        assert refused.value.name in ("bad_queue_name", "unknown_queue"), verb
    with pytest.raises(BrokerError) as refused:
        client.declare(name)
    assert refused.value.name == "bad_queue_name"
    with pytest.raises(BrokerError) as refused:
        client.publish(name, b"x")
    assert refused.value.name == "bad_queue_name"
    with pytest.raises(BrokerError) as refused:
        client.consume(name)
    assert refused.value.name == "bad_queue_name"
    assert client.request("queue.list")["queues"] == []


@pytest.mark.parametrize("name", ["x" * 255, "a.b:c@d-e_f", "_", "9", "con", "Q", "a..b"])
def test_C36_a_good_name_is_usable_everywhere(broker, name):
    client = broker.client()
    client.declare(name)
    client.publish(name, b"x")
    assert client.info(name)["ready"] == 1
    assert [queue["name"] for queue in client.request("queue.list", prefix=name)["queues"]] == [name]
    assert client.request("queue.purge", name=name)["purged"] == 1
    client.request("queue.delete", name=name)
    with pytest.raises(BrokerError) as refused:
        client.info(name)
    assert refused.value.name == "unknown_queue"


def test_C36_names_that_differ_by_case_are_two_queues(broker):
    client = broker.client()
    client.publish("jobs", b"x")
    client.publish("Jobs", b"x", b"y")
    assert (client.info("jobs")["ready"], client.info("Jobs")["ready"]) == (1, 2)


def test_list_pages_in_order_of_name(broker):
    client = broker.client()
    names = sorted(f"q{i:03}" for i in range(25)) + ["z"]
    for name in reversed(names):
        client.declare(name)
    seen, after = [], ""
    while True:
        page = client.request("queue.list", prefix="q", after=after, limit=10)
        seen += [queue["name"] for queue in page["queues"]]
        if not page["more"]:
            break
        after = seen[-1]
    assert seen == names[:25]


def test_peek_never_leases_and_never_counts(broker):
    client = broker.client()
    ids = client.publish("q", *[b"%d" % i for i in range(5)])
    for _ in range(3):
        page = client.request("queue.peek", name="q", limit=2)
        assert [message["id"] for message in page["messages"]] == ids[:2] and page["more"]
    rest = client.request("queue.peek", name="q", limit=10, after=page["messages"][1]["position"])
    assert [message["payload"] for message in rest["messages"]] == [b"2", b"3", b"4"] and not rest["more"]
    assert client.depth("q") == (5, 0, 0, 0)
    assert all(message["deliveries"] == 0 for message in rest["messages"])


def test_peek_cuts_payloads_and_states_the_whole(broker):
    client = broker.client()
    client.publish("q", b"x" * 200_000)
    [message] = client.request("queue.peek", name="q")["messages"]
    assert (len(message["payload"]), message["payload_bytes"]) == (65_536, 200_000)


def test_peek_and_list_fit_into_one_frame(broker):
    client = broker.client()
    for _ in range(10):
        client.publish("q", *[b"x" * 65_536] * 20)
    page = client.request("queue.peek", name="q", limit=1000)
    assert page["more"] and 0 < len(page["messages"]) < 200


def test_purge_leaves_what_is_leased_and_says_so(broker):
    client = broker.client()
    client.publish("q", *[b"x"] * 10)
    client.publish("q", b"later", delay_ms=60_000)
    client.consume("q", messages=2)
    held = client.deliveries(2)
    assert client.request("queue.purge", name="q") == {"purged": 9, "leased": 2}
    assert client.depth("q") == (0, 0, 2, 0)
    assert client.ack(held[0]) == 0
    assert client.request("queue.purge", name="q") == {"purged": 0, "leased": 1}


def test_delete_tells_consumers_and_holders(broker):
    client, other = broker.client(), broker.client()
    client.publish("q", b"1", b"2")
    consumer = client.consume("q", messages=1)
    held = client.delivery()
    assert other.request("queue.delete", name="q") == {"deleted_messages": 2}
    closed = client.receive(raw.CONSUMER_CLOSED)
    assert closed[1] == consumer and closed[2][1] == "queue_deleted"
    assert client.wait_lost(held.lease) == 351
    assert client.ack(held) == 303
    with pytest.raises(BrokerError):
        client.info("q")


@pytest.mark.parametrize("verb", ["queue.info", "queue.purge", "queue.delete", "queue.peek"])
def test_an_unknown_queue_is_not_found(broker, verb):
    with pytest.raises(BrokerError) as refused:
        broker.client().request(verb, name="nowhere")
    assert refused.value.name == "unknown_queue"


def test_queue_full_at_exactly_the_limit(broker):
    client = broker.client()
    client.declare("q", max_messages=10)
    outcomes = client.wait_confirms(client.publish_nowait("q", [b"x"] * 12))
    assert [getattr(outcome, "name", "ok") for outcome in outcomes] == ["ok"] * 10 + ["queue_full"] * 2
    assert outcomes[-1].retry
    client.consume("q", messages=1)
    delivery = client.delivery()
    with pytest.raises(BrokerError):
        client.publish("q", b"x")  # leased messages count as well
    client.ack(delivery)
    client.publish("q", b"x")
    assert client.info("q")["ready"] == 10


def test_queue_full_by_bytes(broker):
    client = broker.client()
    client.declare("q", max_bytes=1000)
    client.publish("q", b"x" * 400, b"x" * 400)
    with pytest.raises(BrokerError) as refused:
        client.publish("q", b"x" * 400)
    assert refused.value.name == "queue_full"
    assert client.info("q")["bytes"] <= 1000
    client.request("queue.purge", name="q")
    client.publish("q", b"x" * 400)


@pytest.mark.release
@pytest.mark.release
def test_memory_returns_when_queues_are_empty(broker, figure):
    """memory_bytes is what the kernel says of the process; small change stays with the allocator, a backlog does not."""
    client = broker.client()
    client.publish("q", b"x")
    client.request("queue.purge", name="q")
    base = client.request("server.info")["memory_bytes"]
    count, size = 200_000, 400
    for _ in range(count // 1000):
        client.publish("q", *[b"x" * size] * 1000)
    full = client.request("server.info")["memory_bytes"]
    assert client.request("queue.purge", name="q")["purged"] == count
    empty = client.request("server.info")["memory_bytes"]
    figure(f"memory of {count} messages of {size} bytes, in bytes a message beside the payload", f"{(full - base) / count - size:.0f}")
    figure("the same after a purge, above the base, MiB", f"{(empty - base) / 2**20:.1f}")
    assert (full - base) / count - size < 400
    assert empty - base < (full - base) / 10


def test_oldest_age_rises_until_the_message_is_gone(broker):
    client = broker.client()
    client.publish("q", b"x")
    first = client.info("q")["oldest_age_ms"]
    end = 2000
    while client.info("q")["oldest_age_ms"] <= first:
        end -= 1
        assert end
    client.request("queue.purge", name="q")
    assert client.info("q")["oldest_age_ms"] == 0
