"""Topics, subscriptions, and what the queues behind them do when they are full, on the wire."""
import pytest
import raw
from raw import BrokerError

pytestmark = pytest.mark.quick


def refusal(call, *arguments, **options):
    with pytest.raises(BrokerError) as refused:
        call(*arguments, **options)
    return refused.value.name


def test_welcome_names_what_this_broker_can_do(broker):
    client = broker.client(hello=False)
    client.hello()
    assert {"topics", "ttl", "dedup"} <= set(client.welcome["features"])


def test_a_publish_to_a_topic_reaches_every_bound_queue_once_with_one_id(broker):
    client = broker.client()
    assert client.bind("eu", "orders.eu.*") and client.bind("eu", "orders.#") and client.bind("all", "#")
    assert not client.bind("eu", "orders.#")
    client.bind("us", "orders.us.*")
    [message] = client.publish_topic("orders.eu.paris", b"m", headers=raw.encode({"traceparent": "00-1"}))
    for queue, held in (("eu", 1), ("all", 1), ("us", 0)):
        assert client.depth(queue)[0] == held
    for queue in ("eu", "all"):
        client.consume(queue)
        delivery = client.delivery()
        assert (delivery.id, delivery.payload) == (message, b"m")
        assert raw.decode(delivery.options["headers"]) == {"traceparent": "00-1"}


def test_no_route_and_bad_topics_are_told_to_the_publisher(broker):
    client = broker.client()
    assert refusal(client.publish_topic, "a.b", b"m") == "no_route"
    client.bind("q", "#")
    for topic in ("a..b", "a.*", "#", "", ".", "a b", "x" * 256):
        assert refusal(client.publish_topic, topic, b"m") == "bad_topic"
    for pattern in ("a.#.b", "a*", "", "a..b", "##"):
        assert refusal(client.bind, "q", pattern) == "bad_topic"
    assert client.depth("q")[0] == 0


def test_an_unnamed_subscription_goes_with_its_session(broker):
    client, subscriber = broker.client(), broker.client()
    consumer = subscriber.consume("", topic="news.#", policy={"max_messages": 2, "overflow": "drop_oldest"})
    client.publish_topic("news.today", b"1")
    assert subscriber.delivery().payload == b"1"
    assert refusal(subscriber.consume, "named", topic="news.#") == "bad_field"
    assert refusal(subscriber.consume, "", topic="a.#.b") == "bad_topic"
    assert refusal(subscriber.consume, "", topic="x", policy={"overflow": "explode"}) == "bad_policy"
    subscriber.cancel(consumer)
    assert refusal(client.publish_topic, "news.today", b"2") == "no_route"
    subscriber.consume("", topic="news.#")
    subscriber.socket.close()
    while client.barrier()["queues"]:
        pass
    assert refusal(client.publish_topic, "news.today", b"3") == "no_route"


def test_a_slow_subscriber_slows_nobody_but_as_its_own_policy_says(broker):
    client, fast = broker.client(), broker.client()
    client.declare("dropping", max_messages=10, overflow="drop_oldest")
    client.declare("rejecting", max_messages=10)
    client.bind("dropping", "t")
    client.bind("fast", "t")
    fast.consume("fast", 1_000)
    client.publish_topic("t", *[b"x"] * 500)
    assert len(fast.deliveries(500)) == 500
    assert client.depth("dropping")[0] == 10
    client.bind("rejecting", "t")
    outcomes = client.wait_confirms(client.publish_nowait("t", [b"x"] * 12, 1))
    assert [getattr(outcome, "name", "ok") for outcome in outcomes] == ["ok"] * 10 + ["queue_full"] * 2
    assert len(fast.deliveries(10)) == 10
    assert client.depth("fast")[0] == 0


def test_bindings_are_listed_in_pages_and_removed(broker):
    client = broker.client()
    for queue, pattern in (("b", "x"), ("a", "y"), ("a", "x.#")):
        client.bind(queue, pattern)
    page = client.request("bind.list", limit=2)
    assert [(b["queue"], b["pattern"]) for b in page["bindings"]] == [("a", "x.#"), ("a", "y")] and page["more"]
    page = client.request("bind.list", after_queue="a", after_pattern="y")
    assert [(b["queue"], b["pattern"]) for b in page["bindings"]] == [("b", "x")] and not page["more"]
    assert client.request("bind.remove", queue="b", pattern="x")["removed"]
    assert not client.request("bind.remove", queue="b", pattern="x")["removed"]
    assert refusal(client.request, "bind.remove", queue="nothing", pattern="x") == "unknown_queue"


def test_a_blocked_publish_is_confirmed_when_there_is_room_and_refused_when_there_is_none_in_time(broker):
    client, worker = broker.client(), broker.client()
    client.declare("q", max_messages=1, overflow="block", block_timeout_ms=300)
    client.publish("q", b"1")
    waiting = client.publish_nowait("q", [b"2"])
    client.publish("other", b"x")  # is confirmed meanwhile
    worker.consume("q", 1)
    assert worker.ack(worker.delivery()) == 0
    assert isinstance(client.wait_confirms(waiting)[0], int)
    assert refusal(client.publish, "q", b"3") == "queue_full"
    assert client.depth("q")[0] == 1


def test_the_oldest_make_room_and_are_kept_as_dead_letters_where_the_policy_says_so(broker):
    client = broker.client()
    client.declare("q", max_messages=2, overflow="dead_letter_oldest")
    client.publish("q", b"1", b"2", b"3")
    assert client.depth("q") == (2, 0, 0, 1)
    [dead] = client.request("queue.peek", name="q.dlq")["messages"]
    assert (dead["payload"], dead["dead"]["reason"]) == (b"1", "overflow")


def test_time_to_live_takes_effect_without_a_consumer_and_not_while_leased(broker):
    client = broker.client()
    client.publish("q", b"held", ttl_ms=100, priority=9)
    client.publish("q", b"short", ttl_ms=100)  # the last to expire
    client.consume("q", 1)
    held = client.delivery()
    while client.depth("q")[3] == 0:
        pass
    assert client.depth("q") == (0, 0, 1, 1)
    assert client.nack(held, delay_ms=0) == 0
    assert client.depth("q") == (0, 0, 0, 2)
    reasons = [message["dead"]["reason"] for message in client.request("queue.peek", name="q.dlq")["messages"]]
    assert reasons == ["expired", "expired"]


def test_a_dedup_key_is_enqueued_once_and_confirmed_with_the_first_id(broker):
    client, other = broker.client(), broker.client()
    [first] = client.publish("q", b"a", dedup_key="order-7")
    assert other.publish("q", b"b", dedup_key="order-7") == [first]
    assert client.publish("q", b"c", dedup_key="order-8") != [first]
    assert client.depth("q")[0] == 2
    for key in ("", "k" * 256, 5, b"k", 1.5):
        assert refusal(client.publish, "q", b"x", dedup_key=key) == "bad_field"


@pytest.mark.parametrize("value", [-1, 0, 2**53 + 1, 2**63, 2**64 - 1, 1.5, float("nan"), float("inf"), "5", [], {}])
def test_C34_an_odd_time_to_live_is_refused_and_nothing_is_published(broker, value):
    client = broker.client()
    assert refusal(client.publish, "q", b"x", ttl_ms=value) == "bad_field"
    assert client.barrier()["ready"] == 0


def test_pause_stops_deliveries_only(broker):
    client, worker = broker.client(), broker.client()
    client.publish("q", b"1")
    assert client.request("queue.pause", name="q")["paused"]
    worker.consume("q", 10)
    client.publish("q", b"2")
    worker.barrier()
    assert client.depth("q")[0] == 2
    assert not client.request("queue.resume", name="q")["paused"]
    assert [d.payload for d in worker.deliveries(2)] == [b"1", b"2"]


def test_edit_lives_at_once_and_refuses_what_declare_refuses(broker):
    client = broker.client()
    client.declare("q", max_attempts=3)
    assert client.request("queue.edit", name="q", policy={"lease_ms": 250})["policy"]["max_attempts"] == 3
    client.publish("q", b"x")
    client.consume("q", 1)
    assert client.delivery().lease_ms == 250
    assert refusal(client.request, "queue.edit", name="q", policy={"lease_ms": 1}) == "bad_policy"
    assert refusal(client.request, "queue.edit", name="q", policy={"laese_ms": 1}) == "bad_policy"
    assert refusal(client.request, "queue.edit", name="nothing", policy={}) == "unknown_queue"


def test_sessions_are_listed_and_closed_and_consumers_listed(broker):
    client, victim = broker.client(name="operator"), broker.client(name="victim")
    victim.consume("q", 5)
    sessions = {s["client"]: s for s in client.request("session.list")["sessions"]}
    assert sessions["victim"]["consumers"] == 1 and sessions["operator"]["consumers"] == 0
    [consumer] = client.request("consumer.list", queue="q")["consumers"]
    assert (consumer["session"], consumer["credit_messages"], consumer["held"]) == (sessions["victim"]["session"], 5, 0)
    assert client.request("session.close", session=sessions["victim"]["session"])["closed"]
    bye = victim.receive(raw.BYE)
    assert bye[1] == 113
    assert not client.request("session.close", session=sessions["victim"]["session"])["closed"]
    assert client.request("consumer.list", queue="q")["consumers"] == []


def test_neighbours_of_a_message_that_kills_its_consumers_are_delivered(broker):
    client = broker.client()
    client.declare("q", max_attempts=2, backoff_initial_ms=10)
    client.publish("q", b"good", b"poison", b"fine")
    done = []
    while client.info("q")["counters"]["dead_lettered"] == 0:
        worker = broker.client()
        worker.consume("q", 10)
        held = [worker.delivery()]
        held += worker.deliveries(client.depth("q")[2] - 1) if client.depth("q")[2] > 1 else []
        if any(delivery.payload == b"poison" for delivery in held):
            worker.socket.close()
            while client.depth("q")[2]:
                pass
            continue
        for delivery in held:
            done.append(delivery.payload)
            assert worker.ack(delivery) == 0
        worker.send(raw.BYE)
        worker.socket.close()
    worker = broker.client()
    worker.consume("q", 10)
    done += [worker.delivery().payload for _ in range(2 - len(done))]
    assert sorted(done) == [b"fine", b"good"]
    [dead] = client.request("queue.peek", name="q.dlq")["messages"]
    assert dead["payload"] == b"poison"
