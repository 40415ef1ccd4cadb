"""A client of protocol 1 in as few lines as it takes: pyzmq and msgpack, from spec/protocol.md alone.

Tests use it because it says exactly what they tell it to say, also what a well-behaved client never would.
One RawClient is one connection; `hello=False` leaves the session unopened.
"""
import collections
import itertools
import time

import msgpack
import zmq

HEARTBEAT, BYE, HELLO, PUBLISH, CONSUME, CANCEL, SETTLE, REQUEST = 1, 2, 3, 4, 5, 6, 7, 8
ERROR, WELCOME, CONFIRM, REPLY, DELIVER, LEASE_LOST, CONSUMER_CLOSED, SETTLED, DRAINING = range(32, 41)
ACK, NACK, RELEASE, REJECT, EXTEND = 1, 2, 3, 4, 5

# Long enough for a sanitizer build on a busy machine; nothing waits this long when all is well.
DEADLINE = 20.0

Delivery = collections.namedtuple("Delivery", "consumer lease lease_ms id count payload options")


class BrokerError(Exception):
    """An `error` array of the spec."""

    def __init__(self, error):
        self.code, self.name, self.text, self.retry = error[:4]
        super().__init__(f"{self.code} {self.name}: {self.text}")


class Timeout(AssertionError):
    pass


def encode(frame):
    return msgpack.packb(frame, use_bin_type=True)


def decode(data):
    return msgpack.unpackb(data, raw=False, strict_map_key=False)


class RawClient:
    def __init__(self, url, hello=True, name="raw", **options):
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.sndhwm = self.socket.rcvhwm = 0
        self.socket.connect(url)
        self.kept = collections.deque()  # frames that came while another one was waited for
        self.requests = itertools.count(10_001)  # tests use small numbers themselves
        self.consumers = itertools.count(1)
        self.sequence = 0
        self.decided = {}  # sequence -> message id or BrokerError
        self.lost = []     # (consumer, first_lease, last_lease, code)
        self.heartbeat_seconds = None
        self.last_sent = time.monotonic()
        if hello:
            self.hello(client=name, **options)

    # --- frames

    def send_bytes(self, data):
        self.last_sent = time.monotonic()
        self.socket.send(data)

    def send(self, *frame):
        self.send_bytes(encode(list(frame)))

    def receive(self, want=None, timeout=DEADLINE):
        """The next frame, or the next one for which `want` (a frame type or a predicate) holds; others are kept."""
        matches = want if callable(want) else (lambda frame: want is None or frame[0] == want)
        for index, frame in enumerate(self.kept):
            if matches(frame):
                del self.kept[index]
                return frame
        end = time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            if not self.socket.poll(max(0, min(left, self._beat()) * 1000)):
                if time.monotonic() >= end:
                    raise Timeout(f"no such frame within {timeout} s; kept: {[f[0] for f in self.kept]}")
                continue
            frame = decode(self.socket.recv())
            if matches(frame):
                return frame
            if frame[0] != HEARTBEAT:
                self.kept.append(frame)

    def _beat(self):
        """Says HEARTBEAT when it is due; the seconds until the next one."""
        if self.heartbeat_seconds is None:
            return DEADLINE
        due = self.last_sent + self.heartbeat_seconds - time.monotonic()
        if due > 0:
            return due
        self.send(HEARTBEAT)
        return self.heartbeat_seconds

    def nothing(self, want=None):
        """No frame of that kind is here, nor caused by anything that was sent before (two round trips later)."""
        self.barrier()
        matches = want if callable(want) else (lambda frame: want is None or frame[0] == want)
        return [frame for frame in self.kept if matches(frame)] == []

    def barrier(self):
        # The second request is sent in a later turn of the broker than the first: what the first turn caused is out by then.
        self.request("server.info")
        return self.request("server.info")

    def drain(self):
        """Everything that the broker sent up to now."""
        self.barrier()
        frames, self.kept = list(self.kept), collections.deque()
        return frames

    # --- session

    def hello(self, protocol=1, **options):
        self.send(HELLO, protocol, options)
        frame = self.receive(lambda f: f[0] in (WELCOME, ERROR))
        if frame[0] == ERROR:
            raise BrokerError(frame[1])
        self.welcome = frame[3]
        self.session = frame[2]
        self.heartbeat_seconds = self.welcome["heartbeat_ms"] / 1000
        self.sequence = self.welcome.get("producer_sequence", 0)
        return frame

    def bye(self):
        self.send(BYE)
        self.socket.close(linger=1000)

    def close(self):
        if not self.socket.closed:
            self.socket.close(linger=0)

    # --- requests

    def wait_reply(self, number):
        frame = self.receive(lambda f: f[0] == REPLY and f[1] == number)
        if len(frame) > 3 and frame[3] is not None:
            raise BrokerError(frame[3])
        return frame[2]

    def request(self, verb, **arguments):
        number = next(self.requests)
        self.send(REQUEST, number, verb, arguments)
        return self.wait_reply(number)

    def declare(self, queue, **policy):
        return self.request("queue.declare", name=queue, policy=policy)

    def info(self, queue):
        return self.request("queue.info", name=queue)

    def depth(self, queue):
        info = self.info(queue)
        return tuple(info[key] for key in ("ready", "delayed", "leased", "dead"))

    # --- publishing

    def publish_nowait(self, target, messages, kind=0):
        first = self.sequence + 1
        self.sequence += len(messages)
        self.send(PUBLISH, target, first, list(messages), *([kind] if kind else []))
        return range(first, self.sequence + 1)

    def wait_confirms(self, sequences):
        while not all(sequence in self.decided for sequence in sequences):
            self.note_confirm(self.receive(CONFIRM))
        return [self.decided[sequence] for sequence in sequences]

    def note_confirm(self, frame):
        for first, first_id, count in frame[2]:
            for i in range(count):
                self._decide(first + i, first_id + i)
        for first, count, error in (frame[3] if len(frame) > 3 else None) or []:
            for i in range(count):
                self._decide(first + i, BrokerError(error))

    def _decide(self, sequence, outcome):
        assert sequence not in self.decided, f"sequence {sequence} was decided twice"
        self.decided[sequence] = outcome

    def publish(self, queue, *payloads, kind=0, **options):
        """Publishes and waits; the ids. Raises the first refusal."""
        messages = [[payload, options] if options else payload for payload in payloads]
        outcomes = self.wait_confirms(self.publish_nowait(queue, messages, kind))
        for outcome in outcomes:
            if isinstance(outcome, BrokerError):
                raise outcome
        return outcomes

    def publish_topic(self, topic, *payloads, **options):
        return self.publish(topic, *payloads, kind=1, **options)

    def bind(self, queue, pattern):
        return self.request("bind.add", queue=queue, pattern=pattern)["added"]

    # --- consuming

    def consume(self, queue, messages=100, size=1 << 20, **options):
        consumer, number = next(self.consumers), next(self.requests)
        self.send(CONSUME, number, consumer, queue, messages, size, *([options] if options else []))
        assert self.wait_reply(number) == {}
        return consumer

    def cancel(self, consumer):
        number = next(self.requests)
        self.send(CANCEL, number, consumer)
        self.wait_reply(number)

    def deliveries(self, count, timeout=DEADLINE):
        """Exactly this many deliveries; a frame that holds more keeps its rest for the next call."""
        found = []
        end = time.monotonic() + timeout
        while len(found) < count:
            frame = self.receive(DELIVER, timeout=max(0, end - time.monotonic()))
            consumer, lease, lease_ms, entries = frame[1:5]
            for index, entry in enumerate(entries):
                if len(found) == count:
                    self.kept.appendleft([DELIVER, consumer, lease + index, lease_ms, entries[index:]])
                    break
                options = entry[3] if len(entry) > 3 and entry[3] is not None else {}
                found.append(Delivery(consumer, lease + index, lease_ms, entry[0], entry[1], entry[2], options))
        return found

    def delivery(self, timeout=DEADLINE):
        return self.deliveries(1, timeout)[0]

    def settle(self, settlements=(), grants=()):
        """Carries them out, waits for SETTLED; its exceptions as {lease: code}."""
        number = next(self.requests)
        self.send(SETTLE, number, [list(s) for s in settlements], [list(g) for g in grants])
        frame = self.receive(lambda f: f[0] == SETTLED and f[1] == number
                             or f[0] in (REPLY, ERROR) and number in (f[1], f[2] if len(f) > 2 else None))
        if frame[0] != SETTLED:
            raise BrokerError(frame[1] if frame[0] == ERROR else frame[3])
        return {lease: code for first, last, code in frame[2] for lease in range(first, last + 1)}

    def settle_one(self, verb, delivery, **options):
        lease = getattr(delivery, "lease", delivery)
        return self.settle([[verb, lease, lease, options]]).get(lease, 0)

    def ack(self, delivery):
        return self.settle_one(ACK, delivery)

    def nack(self, delivery, **options):
        return self.settle_one(NACK, delivery, **options)

    def release(self, delivery):
        return self.settle_one(RELEASE, delivery)

    def reject(self, delivery, **options):
        return self.settle_one(REJECT, delivery, **options)

    def extend(self, delivery, **options):
        return self.settle_one(EXTEND, delivery, **options)

    def grant(self, consumer, messages=1, size=1 << 20):
        return self.settle(grants=[[consumer, messages, size]])

    def wait_lost(self, lease, timeout=DEADLINE):
        """Waits until LEASE_LOST told of this lease; the code."""
        end = time.monotonic() + timeout
        while True:
            for _, first, last, code in self.lost:
                if first <= lease <= last:
                    return code
            frame = self.receive(LEASE_LOST, timeout=max(0, end - time.monotonic()))
            self.lost += [(frame[1], first, last, frame[3]) for first, last in frame[2]]
