"""Connections that are no ZeroMQ: closed by the transport, noticed by nobody else (C35)."""
import os
import socket
import time

import pytest

from conftest import wait_until

GREETING = b"\xff" + b"\x00" * 8 + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\x00") + b"\x00" + b"\x00" * 31
FIRST_WORDS = {
    "http_get": b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "http2_preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "tls_hello": bytes.fromhex("16030100a5010000a10303") + b"\x5a" * 160,
    "ssh": b"SSH-2.0-OpenSSH_9.2\r\n",
    "telnet": b"\xff\xfb\x1f\xff\xfb\x20help\r\n",
    "zeros": b"\x00" * 1024,
    "a_command_that_claims_2^63_bytes": GREETING + b"\x06" + b"\x7f" + b"\xff" * 7,
    "a_ready_with_forged_properties": GREETING + b"\x04\x19\x05READY\x08Identity\x7f\xff\xff\xffabcd",
    "a_message_instead_of_ready": GREETING + b"\x00\x01x",
    "zmtp_1": b"\x01\x00",
    "zmtp_9_99": b"\xff" + b"\x00" * 8 + b"\x7f\x63\x63" + b"NOPE".ljust(20, b"\x00"),
}


def connect(broker):
    connection = socket.create_connection(("127.0.0.1", broker.port), timeout=10)
    connection.settimeout(10)
    return connection


def closed(connection):
    """The peer ended it, whatever it said before."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.mark.parametrize("name", FIRST_WORDS)
@pytest.mark.release
def test_foreign_first_words_are_closed_and_hurt_nobody(broker, name):
    watcher = broker.client()
    before = broker.rss_kib()
    connection = connect(broker)
    connection.sendall(FIRST_WORDS[name])
    assert closed(connection)  # at once, or when the handshake took longer than 3 s; the socket's timeout is longer
    assert watcher.barrier()["sessions"] == 1
    assert broker.rss_kib() - before < 10 * 1024


@pytest.mark.quick
@pytest.mark.release
@pytest.mark.release
def test_random_bytes_on_two_hundred_connections(broker):
    watcher = broker.client()
    before = broker.rss_kib()
    connections = [connect(broker) for _ in range(200)]
    for connection in connections:
        connection.sendall(os.urandom(1024))
    watcher.barrier()
    for connection in connections:
        connection.close()
    assert watcher.barrier()["sessions"] == 1
    assert broker.rss_kib() - before < 10 * 1024


@pytest.mark.release
def test_two_hundred_silent_and_half_greeted_connections_are_closed_and_cause_no_pause(broker, figure):
    watcher = broker.client()
    descriptors = lambda: len(os.listdir(f"/proc/{broker.process.pid}/fd"))
    base, before = descriptors(), broker.rss_kib()
    connections = [connect(broker) for _ in range(200)]
    for index, connection in enumerate(connections):
        connection.sendall(GREETING[:[0, 1, 10, 11, 32, 63, 64][index % 7]])
    wait_until(lambda: descriptors() >= base + 200, what="200 accepted connections")
    slowest = 0
    for _ in range(200):
        start = time.monotonic()
        watcher.request("server.info")
        slowest = max(slowest, time.monotonic() - start)
    figure("slowest round trip beside 200 half-open connections, ms", f"{slowest * 1000:.1f}")
    assert slowest < 1
    wait_until(lambda: descriptors() <= base + 2, timeout=15, what="the end of the silent connections")
    assert watcher.barrier()["sessions"] == 1
    assert broker.rss_kib() - before < 20 * 1024
    for connection in connections:
        connection.close()


def test_connections_that_come_and_go_without_a_word(broker):
    watcher = broker.client()
    for _ in range(2000):
        connect(broker).close()
    assert watcher.barrier()["sessions"] == 1
