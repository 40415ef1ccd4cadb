"""Starts the broker under test as a real process, one for each test, and looks at how it ended.

SLUICE_BIN_DIR is the folder that holds sluiced and sluice (default: build/release/bin of this checkout).
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from broker_process import BrokerProcess  # noqa: E402
from raw import DEADLINE, RawClient

BIN = pathlib.Path(os.environ.get("SLUICE_BIN_DIR") or ROOT / "build/release/bin").resolve()
SANITIZER_REPORT = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:|CHECK failed")
figures = []


def wait_until(condition, timeout=DEADLINE, what="condition"):
    """Polls until `condition` returns something true, and returns it."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= end:
            raise AssertionError(f"{what} did not come true within {timeout} s")
        time.sleep(0.003)


class Broker(BrokerProcess):
    """The broker under test, with the clients that talk to it."""

    def __init__(self, folder, *arguments, environment=None):
        super().__init__(BIN / "sluiced", folder / f"sluiced-{time.monotonic_ns()}.log", "--drain-timeout", "2s", *arguments,
                         cwd=folder, env={**os.environ, **(environment or {})})
        self.clients = []
        self.port = int(self.url.rsplit(":", 1)[1])

    def client(self, **options):
        client = RawClient(self.url, **options)
        self.clients.append(client)
        return client

    def rss_kib(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        raise AssertionError("no VmRSS: the broker is gone")

    def end(self):
        """Every test ends with a clean drain: exit 0, no sanitizer report."""
        for client in self.clients:
            client.close()
        self.process.send_signal(signal.SIGCONT)
        code = self.stop(DEADLINE)
        assert code == 0 and not SANITIZER_REPORT.search(self.log()), f"sluiced ended with {code}\n{self.log()[-20000:]}"


@pytest.fixture
def start_broker(tmp_path):
    """A function that starts brokers with further flags; all of them are stopped, and must end well."""
    brokers = []

    def start(*arguments, **options):
        brokers.append(Broker(tmp_path, *arguments, **options))
        return brokers[-1]

    start.brokers = brokers
    yield start
    for broker in brokers:
        broker.end()


@pytest.fixture
def broker(start_broker):
    return start_broker()


@pytest.fixture
def store(tmp_path, start_broker):
    """A data directory that brokers live in one after the other."""
    from durable import Store  # which needs this file
    return Store(tmp_path / "data", start_broker)


@pytest.fixture
def disk(tmp_path):
    """What a broker that is started with its `environment` finds its disk to be."""
    from durable import Disk
    return Disk(tmp_path / "disk-faults")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.when == "call" and report.failed:
        for broker in getattr(item.funcargs.get("start_broker"), "brokers", []):
            report.sections.append((f"log of the broker at {broker.url}", broker.log()[-20000:]))


@pytest.fixture
def figure():
    """Records a measured figure; all of them are printed at the end."""
    return lambda name, value: figures.append((name, value))


def pytest_terminal_summary(terminalreporter):
    if figures:
        terminalreporter.section("measured")
        for name, value in figures:
            terminalreporter.write_line(f"{name}: {value}")


class Finished:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


@pytest.fixture
def sluice(broker):
    """Runs the command line against the broker: sluice("pub", "q", "text") -> Finished."""

    def run(*arguments, stdin="", url=None, timeout=60, environment=None):
        env = {key: value for key, value in os.environ.items() if not key.startswith("SLUICE_")}
        env.update({"SLUICE_URL": url or broker.url, **(environment or {})})
        done = subprocess.run([BIN / "sluice", *map(str, arguments)], input=stdin.encode() if isinstance(stdin, str) else stdin,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, env=env)
        return Finished(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    run.broker = broker
    return run


@pytest.fixture
def start_sluice(broker):
    """Starts the command line and returns the running process."""
    running = []

    def start(*arguments, **options):
        env = {**os.environ, "SLUICE_URL": broker.url}
        process = subprocess.Popen([BIN / "sluice", *map(str, arguments)], env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


def pytest_configure(config):
    if not (BIN / "sluiced").exists():
        pytest.exit(f"there is no sluiced in {BIN}: run ./dev build, or set SLUICE_BIN_DIR", returncode=4)
    config.addinivalue_line("markers", "quick: part of the subset that runs under a sanitizer build")
    config.addinivalue_line("markers", "release: judges memory or pauses, which a sanitizer build multiplies")
