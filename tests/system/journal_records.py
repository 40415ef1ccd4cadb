"""The records of a journal, written from spec/journal.md section 5 alone: an encoder that shares nothing with the broker's.

It takes records in the form that `sluice journal dump` prints (spec/vectors/journal/README.md). As a program it writes the
vectors: `/usr/bin/python3 tests/system/journal_records.py`; test_journal_records.py checks that they are what it writes.
"""
import base64
import json
import pathlib
import struct

import msgpack

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "spec/vectors/journal"
MAX = 2**64 - 1

COUNTERS = ["enqueued", "delivered", "acked", "nacked", "released", "rejected", "expired_leases", "returned_by_disconnect",
            "dead_lettered", "dropped", "expired", "purged", "deduplicated", "replayed_out", "refused"]
COUNTS = ["deliveries", "nacks", "expiries", "disconnects", "releases", "restarts"]
HOW = {"acked": 1, "purged": 2, "dropped": 3, "expired": 4}
CAUSE = {"none": 0, "nack": 1, "lease_ran_out": 2, "holder_gone": 3, "release": 4, "reject": 5}
REASON = {"rejected": 1, "attempts": 2, "overflow": 3, "expired": 4}
STATE = {"ready": 0, "delayed": 1, "leased": 2}
OVERFLOW = {"reject": 0, "block": 1, "drop_oldest": 2, "dead_letter_oldest": 3}
ON_EXPIRY = {"dead_letter": 0, "drop": 1}


def n(number):
    out = bytearray()
    while number > 127:
        out.append(number % 128 + 128)
        number //= 128
    return bytes(out) + bytes([number])


def numbers(record, *keys):
    return b"".join(n(record[key]) for key in keys)


def raw(record, key):
    if key + "_base64" in record:
        return base64.b64decode(record[key + "_base64"])
    return record[key].encode()


def s(record, key):
    return n(len(raw(record, key))) + raw(record, key)


def u8(*values):
    return bytes(values)


def bits(*values):
    return u8(sum(2**i for i, value in enumerate(values) if value))


def body(record):
    headers, payload = raw(record, "headers"), raw(record, "payload")
    return n(len(headers)) + n(len(payload)) + headers + payload


def policy(p):
    return (numbers(p, "lease_ms", "max_attempts", "backoff_initial_ms") + struct.pack("<d", p["backoff_factor"]) +
            numbers(p, "backoff_max_ms") + struct.pack("<d", p["backoff_jitter"]) + numbers(p, "max_messages", "max_bytes") +
            u8(OVERFLOW[p["overflow"]]) + numbers(p, "block_timeout_ms", "ttl_ms") + u8(ON_EXPIRY[p["on_expiry"]]) +
            numbers(p, "dedup_window_ms", "dead_letter_max"))


def queue(r):
    assert list(r["counters"])[:len(COUNTERS)] == COUNTERS[:len(r["counters"])]
    return (n(r["queue"]) + s(r, "name") + bits(r["paused"], r["temporary"], not r["durable"]) + policy(r["policy"]) +
            n(len(r["counters"])) + b"".join(map(n, r["counters"].values())))


def published_message(m):
    has_key = raw(m, "dedup_key") != b""
    out = bits(m["priority"] != 4, m["due_ms"] != 0, m["expires_ms"] != 0, has_key)
    out += u8(m["priority"]) if m["priority"] != 4 else b""
    out += n(m["due_ms"]) if m["due_ms"] else b""
    out += n(m["expires_ms"]) if m["expires_ms"] else b""
    return out + (s(m, "dedup_key") if has_key else b"") + body(m)


def published(r):
    first = r["messages"][0]
    return (n(r["queue"]) + numbers(first, "key", "id") + numbers(r, "published_ms", "producer") + n(first.get("sequence", 0)) +
            struct.pack("<I", len(r["messages"])) + b"".join(map(published_message, r["messages"])))


def copy(c):
    dead = c.get("dead")
    out = (numbers(c, "queue", "key", "position") + u8(STATE[c["state"]]) + numbers(c, "due_ms", "expires_ms") +
           bits(c["suspect"], c["new"]) + numbers(c, *COUNTS) + s(c, "error") + bits(dead))
    if dead:
        out += u8(REASON[dead["reason"]]) + s(dead, "origin") + n(dead["at_ms"]) + numbers(dead, *COUNTS)
    return out


def message(r):
    return (numbers(r, "id", "published_ms") + u8(r["priority"]) + numbers(r, "producer", "sequence") + s(r, "topic") +
            s(r, "dedup_key") + body(r) + n(len(r["copies"])) + b"".join(map(copy, r["copies"])))


def refused_range(r):
    return numbers(r, "first_sequence", "count", "error") + s(r, "text")


def producer(r):
    return (n(r["producer"]) + s(r, "name") + n(r["last_sequence"]) + n(len(r["accepted"])) +
            b"".join(numbers(a, "first_sequence", "first_id", "count") for a in r["accepted"]) + n(len(r["refused"])) +
            b"".join(map(refused_range, r["refused"])))


def fields_of(*keys):
    return lambda r: numbers(r, *keys)


TYPES = {
    "marks": (1, fields_of("next_id", "next_key", "next_lease", "next_queue", "next_producer")),
    "queue": (2, queue),
    "queue_deleted": (3, fields_of("queue")),
    "bound": (4, lambda r: n(r["queue"]) + s(r, "pattern")),
    "unbound": (5, lambda r: n(r["queue"]) + s(r, "pattern")),
    "published": (6, published),
    "message": (7, message),
    "delivered": (8, fields_of("first_key", "first_lease", "count")),
    "ended": (9, lambda r: u8(HOW[r["how"]]) + numbers(r, "first_key", "count")),
    "returned": (10, lambda r: n(r["key"]) + u8(CAUSE[r["cause"]]) + bits(r["suspect"]) + n(r["due_ms"]) + s(r, "error")),
    "dead_lettered": (11, lambda r: n(r["key"]) + u8(CAUSE[r["cause"]]) + numbers(r, "queue", "position") +
                      u8(REASON[r["reason"]]) + s(r, "origin") + n(r["at_ms"]) + s(r, "error")),
    "replayed": (12, fields_of("key", "queue", "position")),
    "producer": (13, producer),
    "refused": (14, lambda r: n(r["producer"]) + refused_range(r)),
    "producer_gone": (15, fields_of("producer")),
    "dedup_key": (16, lambda r: n(r["queue"]) + s(r, "key") + numbers(r, "id", "at_ms")),
    "opened": (17, fields_of("at_ms")),
    "closed": (18, fields_of("at_ms")),
    "accepted": (19, fields_of("producer", "first_sequence", "first_id", "count")),
}


def encode(record):
    number, fields = TYPES[record["type"]]
    content = fields(record)
    return u8(number) + struct.pack("<I", len(content)) + content


# --- the vectors

NOW = 1_800_000_000_000
POLICY = {"lease_ms": 30000, "max_attempts": 5, "backoff_initial_ms": 1000, "backoff_factor": 2.0, "backoff_max_ms": 300000,
          "backoff_jitter": 0.2, "max_messages": 0, "max_bytes": 0, "overflow": "reject", "block_timeout_ms": 5000, "ttl_ms": 0,
          "on_expiry": "dead_letter", "dedup_window_ms": 120000, "dead_letter_max": 10000}


def with_body(record, payload=b"", headers=None):
    packed = b"" if headers is None else msgpack.packb(headers)
    if headers is not None:
        record["headers"] = headers
    record["headers_base64"] = base64.b64encode(packed).decode()
    try:
        text = payload.decode()
        if all(c >= " " and c != "\x7f" or c in "\n\r\t" for c in text):
            record["payload"] = text
    except UnicodeDecodeError:
        pass
    record["payload_base64"] = base64.b64encode(payload).decode()
    return record


def a_message(key, identity, payload=b"", headers=None, sequence=None, priority=4, due_ms=0, expires_ms=0, dedup_key=""):
    record = {"key": key, "id": identity}
    if sequence is not None:
        record["sequence"] = sequence
    record.update(priority=priority, due_ms=due_ms, expires_ms=expires_ms, dedup_key=dedup_key)
    return with_body(record, payload, headers)


def counts(*values):
    return dict(zip(COUNTS, values or [0] * 6))


def a_copy(queue, key, position, state="ready", due_ms=0, expires_ms=0, suspect=False, new=True, numbers=(), error="", dead=None):
    record = {"queue": queue, "key": key, "position": position, "state": state, "due_ms": due_ms, "expires_ms": expires_ms,
              "suspect": suspect, "new": new, **counts(*numbers), "error": error}
    return record | ({"dead": dead} if dead else {})


def counters(*values):
    return dict(zip(COUNTERS + [f"counter_{i}" for i in range(len(COUNTERS) + 1, 99)], values))


def settings():
    yield "marks of a new broker", {"type": "marks", "next_id": 1, "next_key": 1, "next_lease": 1, "next_queue": 1, "next_producer": 1}
    yield "marks at the borders of one, two, three and ten bytes", {
        "type": "marks", "next_id": 127, "next_key": 128, "next_lease": 16383, "next_queue": 16384, "next_producer": MAX}
    queue = {"type": "queue", "queue": 1, "name": "jobs", "paused": False, "temporary": False, "durable": True, "policy": POLICY}
    yield "queue with the default policy and no counters", queue | {"counters": {}}
    yield "queue, paused, with all counters", queue | {"paused": True, "counters": counters(*range(100, 115))}
    yield "queue, temporary, with a counter of a later version", queue | {
        "temporary": True, "durable": False, "name": "größe", "counters": counters(*[1] * 15, 128)}
    yield "queue with every setting at its other end", queue | {
        "policy": POLICY | {"overflow": "dead_letter_oldest", "on_expiry": "drop", "backoff_factor": 1.0, "backoff_jitter": 0.0,
                            "max_messages": MAX, "max_bytes": 2**40, "ttl_ms": 1, "dedup_window_ms": 0}, "counters": counters(1, 2)}
    for overflow in ("block", "drop_oldest"):
        yield f"queue with overflow {overflow}", queue | {"policy": POLICY | {"overflow": overflow}, "counters": {}}
    yield "queue whose name is not UTF-8", {"type": "queue", "queue": 1, "name_base64": "/wA=", "paused": False, "temporary": False, "durable": True,
                                           "policy": POLICY, "counters": {}}
    yield "queue_deleted", {"type": "queue_deleted", "queue": 300}
    yield "bound", {"type": "bound", "queue": 2, "pattern": "orders.*.eu"}
    yield "unbound", {"type": "unbound", "queue": 2, "pattern": "#"}
    yield "opened", {"type": "opened", "at_ms": NOW}
    yield "closed", {"type": "closed", "at_ms": MAX}


def messages():
    run = {"type": "published", "queue": 1, "published_ms": NOW, "producer": 0}
    yield "published, one message without anything", run | {"messages": [a_message(1, 1)]}
    yield "published, three messages of a producer with an identity", run | {"producer": 9, "messages": [
        a_message(1000 + i, 2000 + i, f"message {i}".encode(), sequence=77 + i) for i in range(3)]}
    yield "published, with each field that may stand there alone, and all of them", run | {"messages": [
        a_message(1, 11, b"a", priority=0), a_message(2, 12, b"b", due_ms=NOW + 500), a_message(3, 13, b"c", expires_ms=NOW + 900),
        a_message(4, 14, b"d", dedup_key="once"), a_message(5, 15, b"e", headers={"k": "v", "n": 3}),
        a_message(6, 16, "größe\n".encode(), {"k": True}, None, 9, 128, 129, "größe")]}
    yield "published, bytes that are no text", run | {"messages": [a_message(1, 1, b"\xff\x00\x80"), a_message(2, 2, b"\x1b[2J")]}
    yield "published, a payload of 128 bytes and keys that end at 2^64-1", run | {"messages": [
        a_message(MAX - 1, MAX - 1, b"x" * 127), a_message(MAX, MAX, b"x" * 128)]}
    full = {"type": "message", "id": 5, "published_ms": NOW, "priority": 4, "producer": 0, "sequence": 0, "topic": "", "dedup_key": ""}
    yield "message in one queue, ready", with_body(dict(full), b"payload") | {"copies": [a_copy(1, 1, 1, new=False)]}
    yield "message just published to a topic with three queues", with_body(
        full | {"priority": 9, "producer": 3, "sequence": 12, "topic": "orders.eu", "dedup_key": "o-1"}, b"{}", {"a": 1}) | {
            "copies": [a_copy(1, 10, 10), a_copy(2, 11, 11, "delayed", NOW + 1), a_copy(3, 12, 12, expires_ms=NOW + 2)]}
    yield "message, leased, a suspect, with counters and an error", with_body(dict(full), b"") | {
        "copies": [a_copy(1, 10, 10, "leased", 0, 0, True, False, (1, 2, 3, 4, 5, 128), "exit status 1")]}
    reasons = [a_copy(4 + i, 10 + i, 20 + i, new=False, error="x", numbers=(0, 0, 0, 0, 0, 1),
                      dead={"reason": reason, "origin": "jobs", "at_ms": NOW + i, **counts(5, 4, 3, 2, 1, 0)})
               for i, reason in enumerate(REASON)]
    yield "message, dead for each reason, and one that is not dead behind them", with_body(dict(full), b"p") | {
        "copies": reasons + [a_copy(9, 99, 99)]}


def changes():
    yield "delivered", {"type": "delivered", "first_key": 1000, "first_lease": 70000, "count": 100}
    for how in HOW:
        yield f"ended: {how}", {"type": "ended", "how": how, "first_key": 128, "count": 1}
    yield "ended: all numbers that there are but 0", {"type": "ended", "how": "acked", "first_key": 1, "count": MAX}
    for cause in list(CAUSE)[1:]:
        yield f"returned: {cause}", {"type": "returned", "key": 7, "cause": cause, "suspect": False, "due_ms": 0, "error": ""}
    yield "returned: a suspect, later, with an error", {
        "type": "returned", "key": 7, "cause": "nack", "suspect": True, "due_ms": NOW + 1000, "error": "größe"}
    for cause in CAUSE:
        for reason in REASON:
            yield f"dead_lettered: {cause}, {reason}", {"type": "dead_lettered", "key": 7, "cause": cause, "queue": 2, "position": 900,
                                                       "reason": reason, "origin": "jobs", "at_ms": NOW, "error": "broken"}
    yield "replayed", {"type": "replayed", "key": 7, "queue": 1, "position": 901}


def producers():
    yield "producer that published nothing", {
        "type": "producer", "producer": 1, "name": "importer", "last_sequence": 0, "accepted": [], "refused": []}
    yield "producer with outcomes", {
        "type": "producer", "producer": 200, "name": "importer", "last_sequence": 300,
        "accepted": [{"first_sequence": 1, "first_id": 1000, "count": 200}, {"first_sequence": 202, "first_id": 5000, "count": 1}],
        "refused": [{"first_sequence": 201, "count": 1, "error": 210, "text": "jobs is full"},
                    {"first_sequence": 203, "count": 98, "error": 210, "text": ""}]}
    yield "refused", {"type": "refused", "producer": 1, "first_sequence": 5, "count": 2, "error": 210, "text": "jobs is full"}
    yield "producer_gone", {"type": "producer_gone", "producer": 1}
    yield "accepted, without a message of its own", {"type": "accepted", "producer": 1, "first_sequence": 7, "first_id": 1000, "count": 1}
    yield "dedup_key of a queue", {"type": "dedup_key", "queue": 1, "key": "order-1", "id": 1000, "at_ms": NOW}
    yield "dedup_key of a topic", {"type": "dedup_key", "queue": 0, "key": "orders.eu order-1", "id": 1000, "at_ms": NOW}


FILES = {"settings.json": settings, "messages.json": messages, "changes.json": changes, "producers.json": producers}


def file_text(make):
    lines = [json.dumps({"name": name, "hex": encode(record).hex(), "record": record}, ensure_ascii=False) for name, record in make()]
    return "[\n " + ",\n ".join(lines) + "\n]\n"


if __name__ == "__main__":
    for file_name, make_records in FILES.items():
        (VECTORS / file_name).write_text(file_text(make_records), encoding="utf-8")
