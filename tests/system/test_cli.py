"""The contract of the command line: exit codes, what goes to stdout and what to stderr, --json, and one clear line for each mistake."""
import json
import re
import signal
import socket
import subprocess
from collections import Counter

import pytest

from conftest import BIN, wait_until

NOWHERE = "tcp://127.0.0.1:1"


def one_error(done, code):
    """An error is one line on stderr (a hint may follow), and nothing on stdout."""
    assert done.code == code, done
    assert done.out == "", done
    lines = done.err.strip().splitlines()
    assert lines[0].startswith("sluice: "), done
    assert len(lines) == 1 or len(lines) == 2 and lines[1].startswith("  hint: "), done
    return lines[0]


@pytest.mark.quick
def test_pub_prints_the_id_and_get_prints_the_payload(sluice):
    published = sluice("pub", "jobs", "hello")
    assert (published.code, published.err) == (0, "") and re.fullmatch(r"\d+\n", published.out)
    got = sluice("get", "jobs")
    assert (got.code, got.out) == (0, "hello\n"), got
    assert sluice("get", "jobs").code == 7


def test_get_json_has_everything_about_the_delivery(sluice):
    sluice("pub", "jobs", "hello", "-H", "source:test", "--priority", "7")
    message = sluice("get", "jobs", "--json").json()
    assert message["payload"] == "hello" and message["queue"] == "jobs"
    assert (message["delivery_count"], message["attempts"], message["priority"]) == (1, 0, 7)
    assert message["headers"] == {"source": "test"}


def test_raw_is_the_bytes_and_nothing_else(sluice):
    payload = bytes(range(256))
    assert sluice("pub", "jobs", "-", stdin=payload).code == 0
    done = subprocess.run([BIN / "sluice", "get", "jobs", "--raw"], stdout=subprocess.PIPE,
                          env={"SLUICE_URL": sluice.broker.url}, timeout=30)
    assert done.stdout == payload


def test_bytes_that_are_no_text_are_base64_in_json(sluice):
    sluice("pub", "jobs", "-", stdin=b"\xff\xfe")
    assert sluice("get", "jobs", "--json").json()["payload_base64"] == "//4="


@pytest.mark.quick
def test_lines_publishes_each_line(sluice, tmp_path):
    done = sluice("pub", "jobs", "--lines", stdin="one\n\ntwo\r\nlast")
    assert done.code == 0 and done.out == ""
    got = [sluice("get", "jobs", "--json").json()["payload"] for _ in range(4)]
    assert got == ["one", "", "two\r", "last"]
    file = tmp_path / "lines of a file"
    file.write_text("a\nb\n")
    assert sluice("pub", "jobs", "--lines", "--file", file, "--json").json()["published"] == 2


def test_peek_takes_nothing(sluice):
    assert sluice("pub", "jobs", "x", "--count", "3").code == 0
    for _ in range(2):
        done = sluice("peek", "jobs", "-n", "2")
        assert done.code == 0 and len(done.out.splitlines()) == 2
        assert all(line.count("\t") == 5 for line in done.out.splitlines())
    assert sluice("queue", "info", "jobs", "--json").json()["ready"] == 3
    assert sluice("peek", "nowhere").code == 4


@pytest.mark.quick
def test_queue_commands(sluice):
    assert sluice("queue", "add", "a", "--lease", "5s", "--max-attempts", "3", "--json").json()["created"] is True
    assert sluice("queue", "add", "a", "--lease", "5s", "--max-attempts", "3", "--json").json()["created"] is False
    one_error(sluice("queue", "add", "a", "--lease", "6s"), 1)
    info = sluice("queue", "info", "a", "--json").json()
    assert {"name", "ready", "delayed", "leased", "dead", "consumers", "oldest_age_ms", "policy", "counters"} <= set(info)
    assert (info["policy"]["lease_ms"], info["policy"]["max_attempts"]) == (5000, 3)
    sluice("queue", "add", "b")
    listed = sluice("queue", "ls")
    assert [line.split("\t")[0] for line in listed.out.splitlines()] == ["a", "b"]
    assert [json.loads(line)["name"] for line in sluice("queue", "ls", "--json").out.splitlines()] == ["a", "b"]
    sluice("pub", "a", "x")
    assert sluice("queue", "purge", "a", "--force", "--json").json()["purged"] == 1
    assert sluice("queue", "purge", "a", "--force", "--json").json()["purged"] == 0
    assert sluice("queue", "rm", "a", "--force").code == 0
    one_error(sluice("queue", "info", "a"), 4)


@pytest.mark.parametrize("command", [("queue", "purge", "a"), ("queue", "rm", "a"), ("dlq", "purge", "a"), ("dlq", "rm", "a")])
def test_what_destroys_refuses_without_a_terminal(sluice, command):
    sluice("pub", "a", "x")
    line = one_error(sluice(*command, stdin="y\n"), 2)
    assert "terminal" in line
    assert sluice("queue", "info", "a", "--json").json()["ready"] == 1


@pytest.mark.quick
def test_dead_letters_are_listed_replayed_and_purged(sluice):
    sluice("queue", "add", "a", "--max-attempts", "1")
    sluice("pub", "a", "one")
    sluice("pub", "a", "two")
    done = sluice("sub", "a", "-n", "2", "--exec", "echo trouble with $(cat) >&2; exit 3")
    assert done.code == 0 and done.out == "", done
    rows = [json.loads(line) for line in sluice("dlq", "peek", "a", "--json").out.splitlines()]
    assert [(row["payload"], row["dead"]["reason"], row["dead"]["error"]) for row in rows] == [
        ("one", "attempts", "trouble with one"), ("two", "attempts", "trouble with two")]
    assert sluice("dlq", "ls").out.split("\t")[:3] == ["a.dlq", "a", "2"]
    assert sluice("dlq", "replay", "a", "--id", rows[0]["id"], "--json").json()["replayed"] == 1
    assert sluice("queue", "info", "a", "--json").json()["ready"] == 1
    assert sluice("dlq", "purge", "a", "--force", "--json").json()["purged"] == 1
    assert sluice("dlq", "peek", "a").code == 7
    one_error(sluice("dlq", "replay", "nowhere"), 4)


# --- sub

@pytest.mark.quick
def test_sub_prints_and_acks_until_nothing_comes(sluice):
    sluice("pub", "a", "--lines", stdin="1\n2\n3\n")
    done = sluice("sub", "a", "--wait", "100ms")
    assert (done.code, done.out) == (0, "1\n2\n3\n"), done
    assert sluice("queue", "info", "a", "--json").json()["counters"]["acked"] == 3
    assert sluice("sub", "a", "--wait", "50ms").code == 7


def test_sub_json_is_one_object_a_line(sluice):
    sluice("pub", "a", "--lines", stdin="1\n2\n")
    rows = [json.loads(line) for line in sluice("sub", "a", "-n", "2", "--json").out.splitlines()]
    assert [row["payload"] for row in rows] == ["1", "2"]


@pytest.mark.parametrize("flag, state", [("--no-ack", "ready"), ("--reject", "dead"), ("--nack", "delayed")])
def test_sub_settles_as_it_is_told(sluice, flag, state):
    sluice("pub", "a", "x")
    assert sluice("sub", "a", "-n", "1", flag).out == "x\n"
    assert sluice("queue", "info", "a", "--json").json()[state] == 1


@pytest.mark.quick
def test_exec_gets_the_payload_and_the_environment(sluice):
    sluice("pub", "a", "the payload")
    done = sluice("sub", "a", "-n", "1", "--exec", 'printf "%s|" "$(cat)" "$SLUICE_QUEUE" $SLUICE_DELIVERY_COUNT $SLUICE_ATTEMPTS '
                                                   '$SLUICE_MESSAGE_ID')
    assert re.fullmatch(r"the payload\|a\|1\|0\|\d+\|", done.out), done
    assert sluice("queue", "info", "a", "--json").json()["counters"]["acked"] == 1


@pytest.mark.parametrize("command, error", [("exit 1", "1"), ("kill -9 $$", "signal 9"), ("echo a >&2; echo last >&2; exit 2", "last"),
                                            ("no-such-command-here", "no-such-command-here")])
def test_exec_nacks_with_the_reason(sluice, command, error):
    sluice("queue", "add", "a", "--max-attempts", "1")
    sluice("pub", "a", "x")
    assert sluice("sub", "a", "-n", "1", "--exec", command).code == 0
    assert error in json.loads(sluice("dlq", "peek", "a", "--json").out)["dead"]["error"]


def test_exec_needs_not_read_its_input(sluice):
    sluice("pub", "a", "-", stdin=b"x" * 1_000_000)
    assert sluice("sub", "a", "-n", "1", "--exec", "true").code == 0
    assert sluice("queue", "info", "a", "--json").json()["counters"]["acked"] == 1


def test_the_lease_is_extended_while_exec_runs(sluice, tmp_path):
    sluice("queue", "add", "a", "--lease", "200ms")
    sluice("pub", "a", "x")
    assert sluice("sub", "a", "-n", "1", "--exec", "sleep 0.7").code == 0
    counters = sluice("queue", "info", "a", "--json").json()["counters"]
    assert (counters["acked"], counters["expired_leases"]) == (1, 0)


@pytest.mark.quick
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_sub_after_what_has_begun_and_gives_back_the_rest(broker, sluice, start_sluice, tmp_path, number):
    client = broker.client()
    client.declare("a")
    client.publish("a", *[b"x"] * 5)
    begun, go = tmp_path / "begun", tmp_path / "go"
    worker = start_sluice("sub", "a", "--prefetch", "5", "--exec", f"touch {begun}; until [ -e {go} ]; do sleep 0.01; done")
    wait_until(begun.exists, what="the start of the work")
    worker.send_signal(number)
    wait_until(lambda: client.depth("a") == (4, 0, 1, 0), what="the release of the unstarted messages")
    go.touch()
    assert worker.wait(20) == 0
    assert client.depth("a") == (4, 0, 0, 0)
    counters = client.info("a")["counters"]
    assert (counters["acked"], counters["released"], counters["returned_by_disconnect"]) == (1, 4, 0)


def test_sub_outlives_a_restart_of_the_broker(start_broker, sluice, start_sluice):
    first = start_broker()
    worker = subprocess.Popen([BIN / "sluice", "sub", "a", "-n", "1", "--url", first.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, text=True)
    admin = first.client()
    wait_until(lambda: admin.request("server.info")["consumers"] == 1, what="the consumer")
    first.end()
    start_broker("--listen", first.url)
    assert sluice("pub", "a", "after the restart", url=first.url).code == 0
    out, err = worker.communicate(timeout=30)
    assert (worker.returncode, out) == (0, "after the restart\n"), err


# --- mistakes

@pytest.mark.quick
@pytest.mark.parametrize("arguments", [
    (), ("frobnicate",), ("pub",), ("pub", "q"), ("pub", "q", "a", "b"), ("pub", "q", "x", "--prio", "3"), ("pub", "q", "x", "--priority", "10"),
    ("pub", "q", "x", "--priority", "-1"), ("pub", "q", "x", "--delay", "soon"), ("pub", "q", "x", "--delay", "-1s"),
    ("pub", "q", "x", "--count", "0"), ("pub", "q", "x", "-H", "nocolon"), ("pub", "", "x"), ("pub", "a/b", "x"), ("pub", "x" * 256, "x"),
    ("sub", "q", "--prefetch", "0"), ("sub", "q", "--prefetch", "-1"), ("sub", "q", "--prefetch", "65536"), ("sub", "q", "--prefetch", "1.5"),
    ("sub", "q", "-n", "-1"), ("sub", "q", "--nack", "--no-ack"), ("queue",), ("queue", "add", "q", "--lease", "10"),
    ("queue", "add", "q", "--max-attempts", "0"), ("queue", "add", "q", "--lease", "1ms"), ("queue", "info"), ("queue", "ls", "--limit"),
    ("pub", "q", "x", "--timeout", "never"), ("server", "info", "--url", "not an address"), ("server", "info", "--url", ""),
    ("server", "info", "--url", "tcp://127.0.0.1"), ("server", "info", "--url", "tcp://127.0.0.1:99999"), ("bench", "--msgs", "-1"),
    ("pub", "q", "--file", "x", "y"), ("top",), ("health",)], ids=" ".join)
def test_a_mistake_is_one_clear_line_and_exit_2(sluice, arguments):
    one_error(sluice(*arguments), 2)
    assert sluice("queue", "ls").out == ""


def test_a_misspelt_word_gets_a_suggestion(sluice):
    assert "queue" in one_error(sluice("queu"), 2)
    assert "--priority" in one_error(sluice("pub", "q", "x", "--priorty", "3"), 2)


@pytest.mark.parametrize("file, code", [("/no/such/file", 1), ("/", 1), ("/etc", 1)])
def test_a_file_that_cannot_be_read_is_named(sluice, file, code):
    done = sluice("pub", "q", "--lines", "--file", file)
    assert done.code in (code, 2), done
    assert file in one_error(done, done.code)


@pytest.mark.quick
@pytest.mark.parametrize("command", [("pub", "q", "x"), ("get", "q"), ("sub", "q", "-n", "1"), ("queue", "ls"), ("server", "info"),
                                     ("dlq", "ls")])
def test_no_broker_is_exit_5_and_names_the_address(sluice, command):
    line = one_error(sluice(*command, "--url", NOWHERE, "--timeout", "300ms"), 5)
    assert NOWHERE in line


def test_a_port_that_speaks_no_sluice_is_exit_5(sluice):
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"tcp://127.0.0.1:{mute.getsockname()[1]}"
        one_error(sluice("server", "info", "--url", url, "--timeout", "300ms"), 5)


@pytest.mark.quick
@pytest.mark.parametrize("arguments, code", [(("queue", "info", "nowhere"), 4), (("frobnicate",), 2), (("get", "q", "--url", NOWHERE,
                                             "--timeout", "200ms"), 5), (("queue", "purge", "x"), 2)])
def test_json_errors_are_objects(sluice, arguments, code):
    done = sluice(*arguments, "--json")
    assert done.code == code, done
    error = done.json()["error"]
    assert {"code", "message", "hint"} <= set(error) and isinstance(error["code"], int) and error["message"]


def test_globals_come_before_or_after_the_verb(sluice, broker):
    for arguments in (("--json", "--url", broker.url, "server", "info"), ("server", "info", "--json", "--url", broker.url)):
        assert sluice(*arguments, url=NOWHERE).json()["protocol"] == 1


def test_help_is_on_stdout(sluice):
    for arguments in (("--help",), ("pub", "--help"), ("queue", "add", "--help"), ("bench", "--help")):
        done = sluice(*arguments)
        assert done.code == 0 and done.err == "" and "Usage" in done.out, done
    assert re.match(r"sluice \d+\.\d+\.\d+", sluice("--version").out)


def test_a_full_queue_is_told(sluice):
    sluice("queue", "add", "a", "--max-messages", "2")
    done = sluice("pub", "a", "x", "--count", "5")
    assert done.code == 3 and "limit" in done.err, done
    assert sluice("queue", "info", "a", "--json").json()["ready"] == 2


def test_a_reader_that_goes_away_loses_no_message(broker, sluice):
    sluice("pub", "a", "--lines", stdin="".join(f"{i}\n" for i in range(1000)))
    subprocess.run(["bash", "-c", f"'{BIN}/sluice' sub a --url {broker.url} --wait 200ms | head -n 3"], stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE, timeout=60, check=True)
    client = broker.client()
    wait_until(lambda: client.request("server.info")["consumers"] == 0, what="the end of sub")
    info = client.info("a")
    assert info["counters"]["acked"] + info["ready"] + info["delayed"] + info["dead"] == 1000


# --- bench

@pytest.mark.quick
def test_bench_verifies_a_small_run(sluice):
    done = sluice("bench", "--msgs", "2000", "--producers", "2", "--consumers", "3", "--prefetch", "7", "--size", "64", "--verify", "--json",
                  timeout=120)
    assert done.code == 0, done
    result = done.json()
    assert result["messages"] == 2000 and result["rate"] > 0 and result["seconds"] > 0
    assert {"p50", "p90", "p99", "p999", "max"} <= set(result["latency_us"])
    assert sluice("queue", "ls").out == ""


@pytest.mark.quick
@pytest.mark.parametrize("form", [(), ("--separate",)], ids=["here", "separate"])
@pytest.mark.parametrize("flags, connections", [((), 5), (("--connections", "2"), 2), (("--connections", "1"), 1)], ids=["own", "two", "one"])
def test_bench_consumers_share_as_many_connections_as_they_are_told(broker, sluice, start_sluice, form, flags, connections):
    client = broker.client()
    bench = start_sluice("bench", "q", "--consumers", "5", "--prefetch", "5", "--msgs", "3000", "--rate", "2000", "--verify", "--json", *form,
                         *flags)

    def consumers():
        return client.request("consumer.list")["consumers"]

    wait_until(lambda: len(consumers()) == 5, what="the consumers")
    sizes = Counter(consumer["session"] for consumer in consumers()).values()
    assert len(sizes) == connections and max(sizes) - min(sizes) <= 1, sizes
    out, err = bench.communicate(timeout=120)
    assert bench.returncode == 0, err
    result = json.loads(out)
    assert (result["messages"], result["acked"], result["left"]) == (3000, 3000, 0)
    assert result["verify"] == {"lost": 0, "doubled": 0, "altered": 0}
    assert result["parameters"]["connections"] == connections


@pytest.mark.quick
def test_bench_refuses_connections_that_no_consumer_would_have(sluice):
    for flags in (("--connections", "0"), ("--connections", "2"), ("--consumers", "3", "--connections", "4"),
                  ("--preset", "small", "--connections", "4")):
        assert "--connections" in one_error(sluice("bench", *flags), 2)
    assert sluice("queue", "ls").out == ""


# --- sluiced

@pytest.mark.quick
@pytest.mark.parametrize("arguments", [("--listen", "nonsense"), ("--listen", "tcp://0.0.0.0:0"), ("--lease", "soon"), ("--lease", "1ms"),
                                       ("--max-attempts", "0"), ("--no-such-flag",), ("extra",),
                                       ("--sync", "never"), ("--prefetch", "16"), ("--http", "127.0.0.1:0")])
def test_sluiced_refuses_a_wrong_flag_with_exit_2(arguments):
    done = subprocess.run([BIN / "sluiced", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20,
                          text=True)
    assert done.returncode == 2, done
    assert arguments[0].lstrip("-") in done.stderr


def test_sluiced_names_a_file_that_it_cannot_read():
    done = subprocess.run([BIN / "sluiced", "--config", "/no/such/file"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=20, text=True)
    assert done.returncode == 2 and "/no/such/file" in done.stderr and len(done.stderr.splitlines()) == 1, done


def test_sluiced_reports_every_mistake_of_its_file_with_its_line(tmp_path):
    file = tmp_path / "sluiced.toml"
    file.write_text('lease = "5s"\nunknown_key = 3\nmax-attempts = 0\n')
    done = subprocess.run([BIN / "sluiced", "--config", file], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=20, text=True)
    assert done.returncode == 2
    assert f"{file}:2" in done.stderr and f"{file}:3" in done.stderr, done.stderr


def test_flag_beats_environment_beats_file(start_broker, tmp_path):
    file = tmp_path / "sluiced.toml"
    file.write_text('lease = "1s"\n')
    assert start_broker("--config", file).client().declare("q")["queue"]["policy"]["lease_ms"] == 1000
    by_environment = start_broker("--config", file, environment={"SLUICE_LEASE": "2s"})
    assert by_environment.client().declare("q")["queue"]["policy"]["lease_ms"] == 2000
    by_flag = start_broker("--config", file, "--lease", "3s", environment={"SLUICE_LEASE": "2s"})
    assert by_flag.client().declare("q")["queue"]["policy"]["lease_ms"] == 3000


def test_a_taken_address_is_an_error(broker):
    done = subprocess.run([BIN / "sluiced", "--listen", broker.url], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=20, text=True)
    assert done.returncode != 0 and broker.url in done.stderr + done.stdout


@pytest.mark.quick
def test_sigterm_drains_accepting_acks_and_refusing_publishes(broker):
    client = broker.client()
    client.publish("q", b"1", b"2")
    client.consume("q", messages=1)
    held = client.delivery()
    broker.process.send_signal(signal.SIGTERM)
    wait_until(lambda: broker.events("draining"), what="the drain")
    [outcome] = client.wait_confirms(client.publish_nowait("q", [b"late"]))
    assert outcome.name == "draining"
    assert client.ack(held) == 0
    assert broker.process.wait(10) == 0


@pytest.mark.quick
def test_a_second_signal_stops_at_once(broker):
    client = broker.client()
    client.publish("q", b"1")
    client.consume("q")
    client.delivery()
    broker.process.send_signal(signal.SIGTERM)
    wait_until(lambda: broker.events("draining"), what="the drain")
    broker.process.send_signal(signal.SIGTERM)
    assert broker.process.wait(1.5) is not None  # the drain would take 2 s
