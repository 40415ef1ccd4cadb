"""A consumer process of its own, to be killed and stopped: consumer.py URL QUEUE MESSAGES [HEARTBEAT_MS [PATTERN MAX_MESSAGES]]

With a PATTERN (QUEUE is empty then) it has an unnamed subscription, whose queue drops the oldest beyond MAX_MESSAGES. Says `ready` when
it consumes, then one line `id count payload` a delivery, and never settles.
"""
import sys

from raw import RawClient

url, queue, messages = sys.argv[1], sys.argv[2], int(sys.argv[3])
client = RawClient(url, name="consumer process", **({"heartbeat_ms": int(sys.argv[4])} if len(sys.argv) > 4 else {}))
topic = {"topic": sys.argv[5], "policy": {"max_messages": int(sys.argv[6]), "overflow": "drop_oldest"}} if len(sys.argv) > 5 else {}
client.consume(queue, messages=messages, size=64 << 20, **topic)
print("ready", flush=True)
while True:
    delivery = client.delivery(timeout=3600)
    print(delivery.id, delivery.count, delivery.payload.decode(), flush=True)
