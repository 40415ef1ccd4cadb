"""The command line's topics, subscriptions, policies and operators' verbs: what each does, what it prints, and what it refuses."""
import json
import os
import pty
import re
import subprocess

import pytest

from conftest import BIN, wait_until

pytestmark = pytest.mark.quick


def one_error(done, code):
    """An error is one line on stderr (a hint may follow), and nothing on stdout."""
    assert done.code == code, done
    assert done.out == "", done
    lines = done.err.strip().splitlines()
    assert lines[0].startswith("sluice: "), done
    assert len(lines) == 1 or len(lines) == 2 and lines[1].startswith("  hint: "), done
    return lines[0]


def json_lines(done):
    assert done.code == 0, done
    return [json.loads(line) for line in done.out.splitlines()]


def on_terminal(broker, *arguments, answer=b""):
    """Runs sluice with a terminal for all three streams, and returns its exit code and what it showed."""
    master, slave = pty.openpty()
    process = subprocess.Popen([BIN / "sluice", *map(str, arguments)], stdin=slave, stdout=slave, stderr=slave,
                               env={**os.environ, "SLUICE_URL": broker.url, "NO_COLOR": "1"}, close_fds=True)
    os.close(slave)
    os.write(master, answer)
    shown = b""
    try:
        while part := os.read(master, 65536):
            shown += part
    except OSError:  # the other end of the terminal is closed
        pass
    os.close(master)
    return process.wait(20), shown.decode()


# --- pub

def test_pub_to_a_topic_reaches_each_bound_queue_with_one_id(sluice):
    sluice("bind", "add", "a", "orders.*")
    sluice("bind", "add", "b", "orders.#")
    done = sluice("pub", "--topic", "orders.eu", "hello", "-H", "k:v")
    assert (done.code, done.err) == (0, "") and re.fullmatch(r"\d+\n", done.out), done
    for queue in "ab":
        message = sluice("get", queue, "--json").json()
        assert (message["id"], message["payload"], message["headers"]) == (int(done.out), "hello", {"k": "v"})
    assert sluice("pub", "--topic", "orders.eu", "x", "--json").json()["topic"] == "orders.eu"
    many = sluice("pub", "--topic", "orders.eu", "--lines", "--json", stdin="1\n2\n").json()
    assert (many["topic"], many["published"]) == ("orders.eu", 2)


def test_pub_to_a_topic_without_a_queue_is_exit_4_and_keeps_nothing(sluice):
    one_error(sluice("pub", "--topic", "orders.eu", "x"), 4)
    error = sluice("pub", "--topic", "orders.eu", "x", "--json")
    assert (error.code, error.json()["error"]["name"]) == (4, "no_route")
    assert sluice("queue", "ls").out == ""


@pytest.mark.parametrize("body", ["{}", "[1,2]", "[]", "", "%%", "-x", "queue"])
def test_a_body_is_a_body_whatever_it_looks_like(sluice, body):
    sluice("bind", "add", "q", "t")
    for target in (("--topic", "t"), ("q",)):
        assert sluice("pub", *target, "--", body).code == 0
        assert sluice("get", "q", "--raw").out == body


def test_pub_with_a_time_to_live_ends_as_a_dead_letter_without_a_consumer(sluice):
    assert sluice("pub", "q", "short", "--ttl", "50ms").code == 0
    sluice("pub", "q", "long", "--ttl", "1h")
    wait_until(lambda: sluice("queue", "info", "q", "--json").json()["dead"] == 1, what="the end of its time")
    [dead] = json_lines(sluice("dlq", "peek", "q", "--json"))
    assert (dead["payload"], dead["dead"]["reason"]) == ("short", "expired")
    [left] = json_lines(sluice("peek", "q", "--json"))
    # One is of the wall clock as it was, the other as it is now.
    assert abs(left["expires_ms"] - left["published_ms"] - 3_600_000) < 1_000


def test_pub_twice_with_a_key_is_one_message(sluice):
    first = sluice("pub", "q", "a", "--dedup-key", "order-7").out
    assert sluice("pub", "q", "b", "--dedup-key", "order-7").out == first
    assert sluice("pub", "q", "c", "--dedup-key", "order-8").out != first
    assert [row["payload"] for row in json_lines(sluice("peek", "q", "--json"))] == ["a", "c"]


# --- bench

@pytest.mark.parametrize("form", [(), ("--separate",)])
def test_bench_to_a_topic_counts_every_message_at_every_consumer(broker, sluice, form):
    done = sluice("bench", "--topic", "--consumers", "3", "--producers", "2", "--msgs", "5000", "--verify", "--json", *form)
    [result] = json_lines(done)
    assert (result["messages"], result["deliveries"], result["confirmed"], result["acked"]) == (5000, 15_000, 5000, 15_000)
    assert result["verify"] == {"lost": 0, "doubled": 0, "altered": 0} and result["left"] == 0
    wait_until(lambda: broker.client().request("server.info")["queues"] == 0, what="the end of the subscriptions")


def test_bench_to_a_topic_refuses_what_would_mean_nothing(sluice):
    assert "--topic" in one_error(sluice("bench", "--topic", "--queues", "2", "--consumers", "2"), 2)
    assert "--topic" in one_error(sluice("bench", "--topic", "--preset", "small"), 2)


# --- sub

def test_sub_to_a_topic_gets_what_comes_and_goes_without_a_trace(broker, sluice, start_sluice):
    client = broker.client()
    reader = start_sluice("sub", "--topic", "news.*", "-n", "2", "--json")
    wait_until(lambda: client.request("server.info")["consumers"] == 1, what="the subscription")
    assert sluice("pub", "--topic", "news.today", "--lines", stdin="1\n2\n").code == 0
    out, err = reader.communicate(timeout=30)
    rows = [json.loads(line) for line in out.splitlines()]
    assert (reader.returncode, [(row["payload"], row["pattern"]) for row in rows]) == (0, [("1", "news.*"), ("2", "news.*")]), err
    assert "queue" not in rows[0]
    wait_until(lambda: client.request("server.info")["queues"] == 0, what="the end of its queue")
    one_error(sluice("pub", "--topic", "news.today", "3"), 4)


def test_sub_to_a_topic_takes_the_flags_of_a_policy_for_its_own_queue(broker, sluice, start_sluice):
    client = broker.client()
    start_sluice("sub", "--topic", "news", "--no-ack", "--prefetch", "1", "--max-messages", "2", "--overflow", "drop_oldest", "--ttl", "1h",
                 "--on-expiry", "drop", "--lease", "7s")
    [queue] = wait_until(lambda: client.request("queue.list")["queues"], what="the subscription's queue")
    assert queue["name"].startswith("_sub-")
    policy = {key: queue["policy"][key] for key in ("max_messages", "overflow", "ttl_ms", "on_expiry", "lease_ms")}
    assert policy == {"max_messages": 2, "overflow": "drop_oldest", "ttl_ms": 3_600_000, "on_expiry": "drop", "lease_ms": 7_000}
    client.publish_topic("news", b"1")
    wait_until(lambda: client.depth(queue["name"]) == (0, 0, 1, 0), what="the delivery of the first")
    client.publish_topic("news", b"2", b"3", b"4")
    assert client.depth(queue["name"]) == (1, 0, 1, 0)
    assert client.info(queue["name"])["counters"]["dropped"] == 2


def test_sub_refuses_the_flags_of_a_policy_where_they_would_change_nothing(sluice):
    assert "without a QUEUE" in one_error(sluice("sub", "q", "--max-messages", "2"), 2)
    assert "without a QUEUE" in one_error(sluice("sub", "q", "--topic", "t", "--ttl", "1s"), 2)
    assert "--overflow" in one_error(sluice("sub", "--topic", "t", "--overflow", "explode"), 2)
    assert sluice("queue", "ls").out == ""


def test_sub_to_a_topic_hands_each_message_to_a_command(broker, sluice, start_sluice):
    client = broker.client()
    worker = start_sluice("sub", "--topic", "news.#", "-n", "1", "--exec", 'echo "$(cat) $SLUICE_PATTERN"')
    wait_until(lambda: client.request("server.info")["consumers"] == 1, what="the subscription")
    sluice("pub", "--topic", "news", "hello")
    assert (worker.communicate(timeout=30)[0], worker.returncode) == ("hello news.#\n", 0)


def test_sub_of_a_queue_with_a_topic_binds_it_for_good(broker, sluice, start_sluice):
    client = broker.client()
    first = start_sluice("sub", "billing", "--topic", "orders.#", "-n", "1")
    wait_until(lambda: client.request("server.info")["consumers"] == 1, what="the subscription")
    sluice("pub", "--topic", "orders.eu", "one")
    assert (first.communicate(timeout=30)[0], first.returncode) == ("one\n", 0)
    assert sluice("bind", "ls").out == "billing\torders.#\n"
    sluice("pub", "--topic", "orders.us", "two")
    again = sluice("sub", "billing", "--topic", "orders.#", "-n", "1", "--exec", 'echo "$(cat) $SLUICE_QUEUE"')
    assert again.out == "two billing\n" and "bound queue" not in again.err, again


def test_workers_of_a_named_subscription_share_its_messages(broker, sluice, start_sluice):
    client = broker.client()
    workers = [start_sluice("sub", "group", "--topic", "work.*", "--prefetch", "1", "-n", "1") for _ in range(2)]
    wait_until(lambda: client.request("server.info")["consumers"] == 2, what="the workers")
    sluice("pub", "--topic", "work.x", "--lines", stdin="1\n2\n")
    assert sorted(worker.communicate(timeout=30)[0] for worker in workers) == ["1\n", "2\n"]


@pytest.mark.parametrize("arguments", [("sub", "--topic", "news"), ("sub", "q", "--topic", "news")], ids=" ".join)
def test_sub_to_a_topic_outlives_a_restart_of_the_broker(start_broker, sluice, start_sluice, arguments):
    first = start_broker()
    worker = start_sluice(*arguments, "-n", "1", "--url", first.url)
    admin = first.client()
    wait_until(lambda: admin.request("server.info")["consumers"] == 1, what="the consumer")
    first.end()
    second = start_broker("--listen", first.url)
    admin = second.client()
    wait_until(lambda: admin.request("server.info")["consumers"] == 1 and admin.request("server.info")["bindings"] == 1,
               what="the subscription")
    assert sluice("pub", "--topic", "news", "after the restart", url=first.url).code == 0
    out, err = worker.communicate(timeout=30)
    assert (worker.returncode, out) == (0, "after the restart\n"), err
    assert "connection lost" in err and "connected again" in err


def test_sub_to_a_topic_where_nothing_comes_is_exit_7(sluice):
    one_error(sluice("sub", "--topic", "news", "--wait", "50ms"), 7)


# --- queue

def test_every_part_of_a_policy_is_declared_edited_and_shown(sluice):
    flags = {"--lease": "5s", "--max-attempts": "3", "--backoff-initial": "10ms", "--backoff-factor": "1.5", "--backoff-max": "1m",
             "--backoff-jitter": "0.5", "--max-messages": "100", "--max-bytes": "64KiB", "--overflow": "block", "--block-timeout": "2s",
             "--ttl": "1h", "--on-expiry": "drop", "--dedup-window": "0s", "--dlq-max": "7"}
    policy = {"lease_ms": 5000, "max_attempts": 3, "backoff_initial_ms": 10, "backoff_factor": 1.5, "backoff_max_ms": 60000,
              "backoff_jitter": 0.5, "max_messages": 100, "max_bytes": 65536, "overflow": "block", "block_timeout_ms": 2000,
              "ttl_ms": 3600000, "on_expiry": "drop", "dedup_window_ms": 0, "dead_letter_max": 7, "durable": False}
    words = [word for flag in flags.items() for word in flag]
    assert sluice("queue", "add", "declared", *words, "--json").json()["policy"] == policy
    sluice("queue", "add", "edited")
    before = sluice("queue", "info", "edited", "--json").json()["policy"]
    for flag, key in zip(flags.items(), policy):
        after = sluice("queue", "edit", "edited", *flag, "--json").json()["policy"]
        assert {other for other in after if after[other] != before[other]} == {key}, flag
        before = after
    assert before == policy
    facts = dict(line.split("\t") for line in sluice("queue", "info", "edited").out.splitlines())
    assert (facts["overflow"], facts["ttl_ms"], facts["on_expiry"], facts["paused"]) == ("block", "3600000", "drop", "no")


def test_edit_says_what_it_cannot_do(sluice):
    one_error(sluice("queue", "edit", "nothing", "--lease", "5s"), 4)
    sluice("queue", "add", "q")
    assert "nothing to change" in one_error(sluice("queue", "edit", "q"), 2)
    for flags in (("--lease", "1ms"), ("--max-attempts", "1000001"), ("--block-timeout", "0s"), ("--ttl", "100000d"),
                  ("--backoff-factor", "0.5"), ("--dlq-max", "0"), ("--dedup-window", "25h")):
        line = one_error(sluice("queue", "edit", "q", *flags), 2)
        assert flags[0].removeprefix("--dlq-").lstrip("-").replace("-", "_") in line, line


def test_a_paused_queue_delivers_nothing_until_it_is_resumed(broker, sluice, start_sluice):
    sluice("pub", "q", "x")
    assert sluice("queue", "pause", "q", "--json").json()["paused"] is True
    assert sluice("queue", "ls").out.rstrip("\n").split("\t")[-1] == "yes"
    assert sluice("get", "q").code == 7
    worker = start_sluice("sub", "q", "-n", "1")
    client = broker.client()
    wait_until(lambda: client.request("server.info")["consumers"] == 1, what="the consumer")
    assert client.depth("q") == (1, 0, 0, 0)
    resumed = sluice("queue", "resume", "q")
    assert (resumed.code, resumed.out) == (0, ""), resumed
    assert worker.communicate(timeout=30)[0] == "x\n"
    assert sluice("queue", "info", "q", "--json").json()["paused"] is False
    for verb in ("pause", "resume"):
        one_error(sluice("queue", verb, "nothing"), 4)


def test_the_oldest_make_room_and_a_full_queue_is_told(sluice):
    sluice("queue", "add", "news", "--max-messages", "2", "--overflow", "drop_oldest")
    assert sluice("pub", "news", "--lines", stdin="1\n2\n3\n").code == 0
    assert [row["payload"] for row in json_lines(sluice("peek", "news", "--json"))] == ["2", "3"]
    sluice("queue", "edit", "news", "--overflow", "block", "--block-timeout", "50ms")
    one_error(sluice("pub", "news", "4"), 1)


# --- bind

def test_bindings_are_added_listed_and_removed(sluice):
    assert sluice("bind", "add", "b", "x.#", "--json").json() == {"queue": "b", "pattern": "x.#", "added": True}
    assert sluice("bind", "add", "b", "x.#", "--json").json()["added"] is False
    sluice("bind", "add", "a", "y.*")
    sluice("bind", "add", "a", "x")
    assert sluice("bind", "ls").out == "a\tx\na\ty.*\nb\tx.#\n"
    assert json_lines(sluice("bind", "ls", "a", "--json")) == [{"queue": "a", "pattern": "x"}, {"queue": "a", "pattern": "y.*"}]
    assert sluice("bind", "rm", "a", "x", "--json").json() == {"queue": "a", "pattern": "x", "removed": True}
    one_error(sluice("bind", "rm", "a", "x"), 4)
    assert sluice("bind", "rm", "a", "x", "--json").json()["error"]["name"] == "not_bound"
    one_error(sluice("bind", "rm", "nothing", "x"), 4)
    one_error(sluice("bind", "ls", "nothing"), 4)
    assert sluice("queue", "info", "a").code == 0


def test_more_bindings_than_a_page_are_listed(broker, sluice):
    client = broker.client()
    for number in range(1_001):
        client.bind("q", f"t.{number}")
    assert len(set(sluice("bind", "ls").out.splitlines())) == 1_001


@pytest.mark.parametrize("pattern", ["", "a..b", "a.#.b", "a*", "a b", "x" * 256], ids=repr)
def test_a_pattern_that_is_none_is_refused(sluice, pattern):
    one_error(sluice("bind", "add", "q", pattern), 2)
    one_error(sluice("sub", "--topic", pattern, "--wait", "50ms"), 2)
    one_error(sluice("sub", "q", "--topic", pattern, "--wait", "50ms"), 2)
    one_error(sluice("pub", "--topic", pattern, "x"), 2)
    assert sluice("queue", "ls").out == ""


# --- consumer, conn

def test_consumers_are_listed_with_their_credit(broker, sluice):
    worker = broker.client()
    worker.consume("q", 5, 1000)
    worker.consume("r", 1)
    assert sluice("consumer", "ls", "q").out.split("\t")[0::2] == ["q", "1", "5"]
    [row] = json_lines(sluice("consumer", "ls", "q", "--json"))
    assert (row["queue"], row["held"], row["credit_messages"], row["credit_bytes"]) == ("q", 0, 5, 1000)
    assert [row["queue"] for row in json_lines(sluice("consumer", "ls", "--json"))] == ["q", "r"]
    one_error(sluice("consumer", "ls", "nothing"), 4)
    shown = on_terminal(broker, "consumer", "ls")[1]
    assert shown.splitlines()[0].split() == ["QUEUE", "SESSION", "CONSUMER", "HELD", "CREDIT", "CREDIT", "BYTES"]


def test_sessions_are_listed_and_closed(broker, sluice):
    victim = broker.client(name="victim\x1b[2J\n")
    victim.consume("q")
    sessions = {row["client"]: row for row in json_lines(sluice("conn", "ls", "--json"))}
    row = sessions["victim\x1b[2J\n"]
    assert row["consumers"] == 1 and "sluice conn ls" in sessions
    table = sluice("conn", "ls").out
    assert "victim\\x1b[2J\\n" in table and all(line.count("\t") == 6 for line in table.splitlines())
    one_error(sluice("conn", "close", row["session"]), 2)
    assert sluice("conn", "close", row["session"], "--force", "--json").json() == {"session": row["session"], "closed": True}
    assert victim.receive(2)[1] == 113
    one_error(sluice("conn", "close", row["session"], "--force"), 4)
    assert sluice("conn", "close", row["session"], "--force", "--json").json()["error"]["name"] == "unknown_session"


@pytest.mark.parametrize("answer, code, left", [(b"n\n", 1, 1), (b"y\n", 0, 0)])
def test_closing_a_session_asks_on_a_terminal(broker, sluice, answer, code, left):
    victim = broker.client(name="victim")
    [session] = [row["session"] for row in json_lines(sluice("conn", "ls", "--json")) if row["client"] == "victim"]
    ended, shown = on_terminal(broker, "conn", "close", session, answer=answer)
    assert ended == code and f"close session {session}? [y/N]" in shown, shown
    assert sum(row["client"] == "victim" for row in json_lines(sluice("conn", "ls", "--json"))) == left


# --- server drain

def test_drain_lets_what_is_leased_be_settled_and_ends_the_broker(broker, sluice):
    client = broker.client()
    client.publish("q", b"held")
    client.consume("q", 1)
    held = client.delivery()
    done = sluice("server", "drain", "--json")
    assert (done.code, done.json()) == (0, {"draining": True, "leased": 1}), done
    [outcome] = client.wait_confirms(client.publish_nowait("q", [b"late"]))
    assert outcome.name == "draining"
    assert client.ack(held) == 0
    assert broker.process.wait(20) == 0


def test_drain_asks_if_messages_would_be_lost(broker, sluice):
    client = broker.client()
    client.publish("q", b"1", b"2")
    line = one_error(sluice("server", "drain"), 2)
    assert "2 messages" in line
    assert sluice("queue", "info", "q", "--json").json()["ready"] == 2
    client.consume("q", 1)
    client.delivery()  # held, so that the broker is there to answer
    assert sluice("server", "drain", "--force").code == 0
    wait_until(lambda: broker.events("draining"), what="the drain")


# --- dlq

@pytest.fixture
def dead_letters(broker):
    """q.dlq with one dead letter of each reason, and r.dlq with one that was rejected."""
    client = broker.client()
    client.declare("q", max_messages=1, overflow="dead_letter_oldest", max_attempts=1)
    client.publish("q", b"overflow", b"expired", ttl_ms=50)
    wait_until(lambda: client.depth("q")[3] == 2, what="the dead letters")
    for queue in "qr":
        client.publish(queue, b"rejected")
        client.consume(queue, 1)
        assert client.reject(client.delivery()) == 0
    client.publish("q", b"attempts")
    client.consume("q", 1)
    assert client.nack(client.delivery()) == 0
    return client


def test_dead_letters_are_chosen_by_reason(dead_letters, sluice):
    for reason in ("overflow", "expired", "rejected", "attempts"):
        [row] = json_lines(sluice("dlq", "peek", "q", "--reason", reason, "--json"))
        assert (row["payload"], row["dead"]["reason"]) == (reason, reason)
        assert sluice("dlq", "peek", "q", "--reason", reason).out.split("\t")[1] == reason
        assert sluice("dlq", "replay", "q", "--reason", reason, "--dry-run", "--json").json()["replayed"] == 1
    assert [line.split("\t")[:3] for line in sluice("dlq", "ls").out.splitlines()] == [["q.dlq", "q", "4"], ["r.dlq", "r", "1"]]
    assert [line.split("\t")[:3] for line in sluice("dlq", "ls", "r").out.splitlines()] == [["r.dlq", "r", "1"]]
    rejected = json_lines(sluice("dlq", "ls", "--reason", "rejected", "--json"))
    assert [(row["name"], row["depth"]) for row in rejected] == [("q.dlq", 1), ("r.dlq", 1)]
    assert sluice("dlq", "ls", "--reason", "expired").out.split("\t")[:3] == ["q.dlq", "q", "1"]
    assert sluice("dlq", "replay", "q", "--reason", "expired", "--to", "again", "--json").json()["replayed"] == 1
    assert sluice("get", "again").out == "expired\n"
    one_error(sluice("dlq", "peek", "q", "--reason", "expired"), 7)
    one_error(sluice("dlq", "peek", "nothing", "--reason", "expired"), 4)
    one_error(sluice("dlq", "peek", "q", "--reason", "sadness"), 2)


def test_dead_letters_are_paged_by_position_with_and_without_a_reason(broker, sluice):
    client = broker.client()
    client.declare("q", max_attempts=1)
    client.publish("q", *[b"%d" % number for number in range(5)])
    client.consume("q", 5)
    for delivery in reversed(client.deliveries(5)):  # so that positions are not in the order of ids
        assert (client.reject if int(delivery.payload) % 2 else client.nack)(delivery) == 0
    for reason, expected in (((), ["4", "3", "2", "1", "0"]), (("--reason", "attempts"), ["4", "2", "0"])):
        seen, after = [], 0
        while True:
            done = sluice("dlq", "peek", "q", "-n", "2", "--after", after, "--json", *reason)
            seen += [row["payload"] for row in json_lines(done)]
            more = re.search(r"--after (\d+)", done.err)
            if not more:
                break
            after = more[1]
        assert seen == expected


# --- mistakes

@pytest.mark.parametrize("arguments", [
    ("pub", "--topic", "t"), ("pub", "--topic", "t", "q", "x"), ("pub", "--topic", "", "x"), ("pub", "--topic", "a.*", "x"),
    ("pub", "--topic", "x" * 256, "x"), ("pub", "q", "x", "--ttl", "0s"), ("pub", "q", "x", "--ttl", "-1s"), ("pub", "q", "x", "--ttl", "5"),
    ("pub", "q", "x", "--ttl", "100000d"), ("pub", "q", "x", "--ttl", "18446744073709551615ms"), ("pub", "q", "x", "--dedup-key", ""),
    ("pub", "q", "x", "--dedup-key", "k" * 256), ("pub", "q", "--lines", "--dedup-key", "k"), ("sub",), ("sub", "", "--topic", "t"),
    ("queue", "add", "q", "--overflow", "explode"), ("queue", "add", "q", "--on-expiry", "DROP"), ("queue", "add", "q", "--block-timeout", "0s"),
    ("queue", "pause"), ("queue", "pause", "a", "b"), ("queue", "resume", "a/b"), ("bind",), ("bind", "add", "q"), ("bind", "add", "a/b", "t"),
    ("bind", "rm", "q"), ("bind", "ls", "a", "b"), ("bind", "list"), ("consumer",), ("consumer", "ls", "a", "b"), ("conn",), ("conn", "close"),
    ("conn", "close", "0", "--force"), ("conn", "close", "-1", "--force"), ("conn", "close", "1.5", "--force"),
    ("conn", "close", "9223372036854775808", "--force"), ("conn", "ls", "x"), ("server", "drain", "now"), ("server", "log-level", "debug"),
    ("dlq", "ls", "--reason", ""), ("trace", "1"), ("explain", "1")], ids=lambda arguments: " ".join(arguments)[:60])
def test_a_mistake_is_one_clear_line_and_exit_2(sluice, arguments):
    one_error(sluice(*arguments), 2)
    as_json = sluice(*arguments, "--json")
    assert as_json.code == 2 and as_json.json()["error"]["message"], as_json
    assert sluice("queue", "ls").out == ""


@pytest.mark.parametrize("command", [
    ("pub", "--topic", "t", "x"), ("sub", "--topic", "t", "-n", "1"), ("sub", "q", "--topic", "t", "-n", "1"), ("queue", "edit", "q", "--ttl", "1s"),
    ("queue", "pause", "q"), ("queue", "resume", "q"), ("bind", "add", "q", "t"), ("bind", "rm", "q", "t"), ("bind", "ls"), ("consumer", "ls"),
    ("conn", "ls"), ("conn", "close", "1", "--force"), ("server", "drain", "--force")], ids=" ".join)
def test_no_broker_is_exit_5(sluice, command):
    one_error(sluice(*command, "--url", "tcp://127.0.0.1:1", "--timeout", "100ms"), 5)


def test_every_help_has_an_example(sluice):
    for command in ("pub", "sub", "queue add", "queue edit", "queue pause", "queue resume", "bind add", "bind rm", "bind ls", "consumer ls",
                    "conn ls", "conn close", "server drain", "dlq ls", "dlq peek", "dlq replay"):
        done = sluice(*command.split(), "--help")
        example = done.out.partition("Example:\n")[2]
        assert done.code == 0 and f"sluice {command}" in example, done
