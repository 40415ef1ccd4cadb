"""Producers, consumers and an operator that load a broker until it is killed, and go on with the next one. One thread; `turn` does what is
to do without waiting for anything. A broker that drains is let go."""
import itertools

import raw
from crash_ledger import TOPIC_QUEUES, name_of, payload_of
from raw import ACK, NACK, REJECT, RELEASE

WORK = {"max_attempts": 4, "backoff_initial_ms": 1, "backoff_max_ms": 40, "dead_letter_max": 1_000_000, "lease_ms": 60_000}
WINDOW = 200


class Role:
    """One connection. `connect` comes once a life of the broker."""
    hello = {}

    def __init__(self, ledger, chance):
        self.ledger, self.chance = ledger, chance

    def connect(self, broker):
        self.client = broker.client(heartbeat_ms=60_000, **self.hello)
        self.draining = False

    # A drain refuses publishes, and tells of itself; leases that it does not wait for end with it.
    draining = False

    def frames(self):
        frames, self.client.kept = list(self.client.kept), type(self.client.kept)()
        while self.client.socket.poll(0):
            frames.append(raw.decode(self.client.socket.recv()))
        self.draining |= any(frame[0] == raw.DRAINING for frame in frames)
        return [frame for frame in frames if frame[0] not in (raw.HEARTBEAT, raw.DRAINING, raw.BYE)]


class Producer(Role):
    """Publishes numbered messages; after a crash it sends again what has no answer, and some that have one."""

    def __init__(self, ledger, chance, role, target, queues, kind=0, identity=None, keys=False):
        super().__init__(ledger, chance)
        self.role, self.target, self.queues, self.kind, self.keys = role, target, queues, kind, keys
        self.hello = {"producer": identity} if identity else {}
        self.resends = bool(identity) or keys
        self.next = 1
        self.open = {}      # number -> None, in order: without an answer
        self.decided = 0    # all numbers up to here, with an identity

    def connect(self, broker):
        super().connect(broker)
        self.by_sequence = {}
        if self.hello:
            known = self.client.welcome["producer_sequence"]
            assert self.decided <= known < self.next, f"S13: {self.role}: {known} of {self.next}, {self.decided} are decided"
            # From there on without a gap: answered ones among them.
            self.client.sequence = first = max(0, min([*self.open, self.next]) - 1 - self.chance.randrange(50))
            self._send(range(first + 1, self.next))
        elif self.keys:
            again = [number for number in range(max(1, self.next - 100), self.next) if number in self.open or self.chance.random() < 0.3]
            self._send(again)
        else:
            self.open.clear()  # nobody will ever know

    def _send(self, numbers):
        messages = []
        for number in numbers:
            name = f"{self.role}:{number}"
            self.ledger.sent(self.queues, name)
            messages.append([payload_of(name), self._options(number)])
            self.open[number] = None
        if messages:
            sequences = self.client.publish_nowait(self.target, messages, self.kind)
            self.by_sequence.update(zip(sequences, numbers))

    def _options(self, number):
        if self.keys:
            return {"dedup_key": f"key {number}"}
        if self.role == "lane":
            return {}
        odd = {0: {"delay_ms": 1 + number % 200}, 1: {"priority": number % 10}, 2: {"headers": raw.encode({"n": number})}}
        return odd.get(number % 9, {})

    def turn(self):
        for frame in self.frames():
            assert frame[0] == raw.CONFIRM, frame
            for first, count, error in (frame[3] if len(frame) > 3 else None) or []:
                assert error[1] == "draining", error
            for first, first_id, count in frame[2]:
                for i in range(count):
                    number = self.by_sequence[first + i]
                    self.ledger.confirmed(self.queues, f"{self.role}:{number}", first_id + i)
                    self.open.pop(number, None)
        self.decided = min(self.open, default=self.next) - 1
        if len(self.open) < WINDOW and not self.draining:
            count = self.chance.choice([1, 1, 5, 20])
            self.next += count
            self._send(range(self.next - count, self.next))


class Consumer(Role):
    """Takes messages and settles them as `deeds` weighs it; 0 is to keep it for a while."""

    def __init__(self, ledger, chance, queue, deeds, in_order=False):
        super().__init__(ledger, chance)
        self.queue, self.deeds, self.in_order = queue, deeds, in_order

    def connect(self, broker):
        super().connect(broker)
        self.consumer = self.client.consume(self.queue, messages=64, size=1 << 20)
        self.held, self.asked, self.last_id = [], {}, 0

    def turn(self):
        settlements, credit = [], 0
        for frame in self.frames():
            if frame[0] == raw.SETTLED:
                self._settled(frame)
                continue
            assert frame[0] == raw.DELIVER, frame
            for i, entry in enumerate(frame[4]):
                delivery = raw.Delivery(frame[1], frame[2] + i, frame[3], *entry[:3], (entry[3] if len(entry) > 3 else None) or {})
                self.ledger.delivered(self.queue, delivery)
                if self.in_order:
                    assert delivery.id > self.last_id, f"S12: {delivery.id} after {self.last_id}"
                    self.last_id = delivery.id
                self.held.append(delivery)
                credit += 1
        keep = []
        for delivery in self.held:
            [verb] = self.chance.choices([ACK, NACK, RELEASE, REJECT, 0], self.deeds)
            if verb:
                settlements.append((verb, delivery))
            else:
                keep.append(delivery)
        self.held = keep
        if settlements or credit:
            self._settle(settlements, credit)

    def _settle(self, settlements, credit):
        wire = []
        for verb, delivery in settlements:
            known = self.ledger.of(self.queue, name_of(delivery.payload))
            options = {}
            if verb == ACK:
                known.ack_sent = True
            elif verb == NACK:
                known.nacks_sent += 1
                options = self.chance.choice([{}, {"delay_ms": 0}, {"delay_ms": 30, "reason": "odd"}])
            wire.append([verb, delivery.lease, delivery.lease, options])
        number = next(self.client.requests)
        self.asked[number] = settlements
        self.client.send(raw.SETTLE, number, wire, [[self.consumer, credit, 1 << 16]] if credit else [])

    def _settled(self, frame):
        assert frame[2] == [], f"nobody else ends these leases: {frame}"
        for verb, delivery in self.asked.pop(frame[1]):
            known = self.ledger.of(self.queue, name_of(delivery.payload))
            if verb == ACK:
                known.acked = True
            elif verb == NACK:
                known.nacks += 1
                known.dead = known.nacks >= WORK["max_attempts"]
            elif verb == REJECT:
                known.dead = True


class Operator(Role):
    """Replays dead letters, and purges a queue that nobody consumes."""

    def connect(self, broker):
        super().connect(broker)
        self.purged, self.turns = {}, itertools.count()

    def turn(self):
        for frame in self.frames():
            assert frame[0] == raw.REPLY and (len(frame) < 4 or frame[3] is None or frame[3][1] == "unknown_queue"), frame
            for known in self.purged.pop(frame[1], []):
                known.purged = True
        if next(self.turns) % 50:
            return
        if self.chance.random() < 0.5:
            for (queue, _), known in self.ledger.known.items():
                known.replay_sent |= queue == "work"
            self.client.send(raw.REQUEST, next(self.client.requests), "dlq.replay", {"name": "work.dlq", "limit": 20})
        else:
            number = next(self.client.requests)
            keyed = [known for (queue, _), known in self.ledger.known.items() if queue == "keyed"]
            self.purged[number] = [known for known in keyed if known.confirmed]
            for known in keyed:
                known.may_be_gone = True
            self.client.send(raw.REQUEST, number, "queue.purge", {"name": "keyed"})


def prepare(client):
    client.declare("work", **WORK)
    client.declare("lane", lease_ms=60_000)
    client.declare("keyed", dedup_window_ms=3_600_000)
    for queue, pattern in zip(TOPIC_QUEUES, ("t.*", "t.a", "#")):
        client.declare(queue, lease_ms=60_000)
        client.bind(queue, pattern)


def roles(ledger, chance):
    acks = [1, 0, 0, 0, 0.3]
    return [
        Producer(ledger, chance, "work", "work", ["work"], identity=b"producer of work"),
        Producer(ledger, chance, "lane", "lane", ["lane"]),
        Producer(ledger, chance, "keyed", "keyed", ["keyed"], keys=True),
        Producer(ledger, chance, "topic", "t.a", TOPIC_QUEUES, kind=1, identity=b"producer of t.a."),
        Consumer(ledger, chance, "work", [10, 3, 1, 0.5, 10]),
        Consumer(ledger, chance, "work", [10, 3, 1, 0.5, 10]),
        Consumer(ledger, chance, "lane", [1, 0, 0, 0, 0], in_order=True),
        *[Consumer(ledger, chance, queue, acks) for queue in TOPIC_QUEUES],
        Operator(ledger, chance),
    ]
