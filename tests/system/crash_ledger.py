"""What the clients of a broker that is killed again and again know, and what must therefore be true of it.

A message is known by its *name*, which is the beginning of its payload and says who published it. What was answered is certain; what was
only sent may have happened or not.
"""
import dataclasses
import random

from durable import check_conservation, peek_all, queue_list

TOPIC_QUEUES = ("fan.1", "fan.2", "fan.3")


def payload_of(name):
    """The same for the same name, so that any other byte is noticed; some larger than others."""
    chance = random.Random(name)
    return b"%s|" % name.encode() + b"." * chance.choice([0, 10, 100, 500, 3000])


def name_of(payload):
    return payload.split(b"|", 1)[0].decode()


@dataclasses.dataclass
class Known:
    """One message in one queue (dead letters count as in the queue that they come from)."""
    id: int = 0               # 0: not confirmed, and not seen
    confirmed: bool = False
    acked: bool = False       # the ack was answered
    ack_sent: bool = False
    seen: bool = False
    counted: int = 0          # the highest delivery count that was told
    nacks: int = 0            # answered, in this life
    nacks_sent: int = 0
    dead: bool = False        # that it went to the dead letters was answered
    may_be_gone: bool = False   # a purge was sent
    purged: bool = False        # ... and answered
    replay_sent: bool = False


class Ledger:
    def __init__(self):
        self.known = {}         # (queue, name) -> Known
        self.names = {}         # name -> id, of confirmed ones
        self.lease_floor = 0    # the highest lease of the lives before
        self.lease_highest = 0
        self.deliveries = self.crashes = 0

    def of(self, queue, name):
        return self.known.setdefault((queue, name), Known())

    # --- what clients are told

    def sent(self, queues, name):
        for queue in queues:
            self.of(queue, name)

    def confirmed(self, queues, name, id):
        assert self.names.setdefault(name, id) == id, f"S13: {name} was confirmed as {self.names[name]}, now as {id}"
        for queue in queues:
            known = self.of(queue, name)
            assert known.id in (0, id), f"S13: {name} was seen as {known.id} and is confirmed as {id}"
            known.id, known.confirmed = id, True

    def note_there(self, queue, id, payload):
        """A message that was delivered, or stands in a queue, must be one that was published, byte for byte, and not yet settled."""
        name = name_of(payload)
        assert (queue, name) in self.known, f"S5: {name} in {queue} was never published there"
        assert payload == payload_of(name), f"S5: other bytes: {name}"
        known = self.of(queue, name)
        assert known.id in (0, id), f"S13: {name} is there as {id} and as {known.id}"
        assert not known.acked, f"S4: {name} of {queue} was acked, and is there again"
        assert not known.purged, f"{name} of {queue} was purged, and is there again"
        known.id, known.seen = id, True
        return known

    def delivered(self, queue, delivery):
        known = self.note_there(queue, delivery.id, delivery.payload)
        assert not known.dead or known.replay_sent, f"S11: {delivery.id} is a dead letter and was delivered from {queue}"
        assert delivery.lease > self.lease_floor, f"S6: lease {delivery.lease} after {self.lease_floor} in an earlier life"
        assert delivery.count > known.counted or known.replay_sent, f"S10: delivery {delivery.count} of {delivery.id} after {known.counted}"
        assert delivery.options.get("attempts", 0) >= known.nacks or known.replay_sent
        self.lease_highest = max(self.lease_highest, delivery.lease)
        known.counted = delivery.count
        self.deliveries += 1
        return known

    # --- after a crash

    def crashed(self):
        self.lease_floor = self.lease_highest
        self.crashes += 1

    def check(self, client):
        """Looks at every message that the broker has. With nothing under way."""
        queues = queue_list(client)
        check_conservation(queues)
        there = {}
        for queue in queues:
            messages = peek_all(client, queue["name"])
            assert [m["position"] for m in messages] == sorted({m["position"] for m in messages})
            assert len(messages) == queue["ready"] + queue["delayed"] + queue["leased"]
            for message in messages:
                self._found(there, queue["name"], message)
        for (queue, name), known in self.known.items():
            if known.confirmed and not known.acked and not known.ack_sent and not known.may_be_gone:
                assert (queue, name) in there, f"S1: {name} of {queue}, id {known.id}, is missing"
            if known.may_be_gone and (known.confirmed or known.seen) and (queue, name) not in there:
                known.purged = True
            if known.ack_sent and (queue, name) not in there:
                known.acked = True
            if known.ack_sent and (queue, name) in there:
                known.ack_sent = False  # it was not carried out
        self._check_topics(there)
        return there

    def _found(self, there, queue, message):
        dead_letter = queue.endswith(".dlq")
        home = message["dead"]["origin"] if dead_letter else queue
        known = self.note_there(home, message["id"], message["payload"])
        place = (home, name_of(message["payload"]))
        assert place not in there, f"S11, S13: {place} is in {there[place]} and in {queue}"
        there[place] = queue
        counts = message["dead"] if dead_letter else message
        if not known.replay_sent:
            assert counts["deliveries"] >= known.counted, f"S10: {counts} of {place}, {known}"
            assert known.nacks <= counts["nacks"] <= known.nacks_sent, f"S10: {counts} of {place}, {known}"
            assert dead_letter or not known.dead, f"S11: {place} was dead-lettered and is in {queue}"
        known.nacks = known.nacks_sent = counts["nacks"]
        known.counted = counts["deliveries"]
        known.dead, known.replay_sent, known.may_be_gone = dead_letter, False, False

    def _check_topics(self, there):
        """S14. What is not there any more was delivered before, so it was seen."""
        for name in {name for queue, name in self.known if queue in TOPIC_QUEUES}:
            copies = {(queue, name) in there or self.of(queue, name).seen for queue in TOPIC_QUEUES}
            assert len(copies) == 1, f"S14: {name} is in some of its queues only"
