#!/usr/bin/python3
"""The demo: every line of a file goes through a broker, three workers, failures, dead letters and a replay, and comes out exact.

Usage: demo.py BIN_DIR [FILE] [--word W] [--lines-max N]      Exit code: 0 only if every sum agrees.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path.insert(0, str(ROOT / "tests"))
sys.dont_write_bytecode = True
from broker_process import BrokerFailed, BrokerProcess  # noqa: E402

QUEUE = "demo"
WORKERS = 3
MAX_ATTEMPTS = 3
DEADLINE_SECONDS = 300


class DemoError(Exception):
    pass


def say(text=""):
    print(text, flush=True)


def colour(code, text):
    return f"\033[{code}m{text}\033[0m" if sys.stdout.isatty() and "NO_COLOR" not in os.environ else text


def step(number, text):
    say(colour("1", f"{number}. {text}"))


def plural(count, noun):
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def default_file():
    log = pathlib.Path("/var/log/dpkg.log")
    return log if os.access(log, os.R_OK) and log.stat().st_size else ROOT / "README.md"


def read_lines(path, lines_max):
    """The lines as they will be published, and how many the file has."""
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    if not lines:
        raise DemoError(f"{path} holds no line")
    return lines[:lines_max], len(lines)


def choose_word(lines):
    """`half-installed` if it is there, else the word whose share of the lines is nearest to three in a hundred."""
    if any(b"half-installed" in line for line in lines):
        return "half-installed"
    counts = collections.Counter(word for line in lines for word in set(re.findall(rb"[A-Za-z][a-z-]{3,}", line)))
    if not counts:
        raise DemoError("the file holds no word that could fail; name one with --word")
    wanted = max(1, len(lines) * 0.03)
    return min(counts, key=lambda word: (abs(counts[word] - wanted), word)).decode()


class Demo:
    def __init__(self, bin_dir, folder, lines, word):
        self.sluiced, self.sluice = bin_dir / "sluiced", bin_dir / "sluice"
        self.folder, self.lines, self.word = folder, lines, word
        self.marker = folder / "mended"
        self.failing = sum(word.encode() in line for line in lines)
        self.processes = []

    # --- processes

    def start_broker(self):
        self.broker = BrokerProcess(self.sluiced, self.folder / "sluiced.log")
        self.url = self.broker.url
        self.processes.append(self.broker.process)

    def start_worker(self, number):
        environment = {**os.environ, "SLUICE_URL": self.url, "DEMO_WORD": self.word, "DEMO_MARKER": str(self.marker),
                       "DEMO_RECORD": str(self.record(number)), "DEMO_WORKER": str(FOLDER / "worker.sh")}
        log = open(self.folder / f"worker-{number}.log", "wb")
        self.processes.append(subprocess.Popen([self.sluice, "sub", QUEUE, "--exec", 'exec "$DEMO_WORKER"'], env=environment,
                                               stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def stop(self):
        """Workers first, the broker last. The code of the first one that ended otherwise than with 0, else 0."""
        codes = []
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                codes.append(process.wait(15))
            except subprocess.TimeoutExpired:
                process.kill()
                codes.append(process.wait())
        return next((code for code in codes if code), 0)

    def run(self, *arguments):
        done = subprocess.run([self.sluice, *arguments], env={**os.environ, "SLUICE_URL": self.url}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        if done.returncode != 0:
            raise DemoError(f"sluice {' '.join(arguments)}: exit {done.returncode}\n{done.stderr.decode(errors='replace')}")
        return done.stdout

    # --- what is seen from outside

    def info(self):
        return json.loads(self.run("queue", "info", QUEUE, "--json"))

    def record(self, number):
        return self.folder / f"worker-{number}.lines"

    def processed(self):
        """(id, line) of everything that the workers wrote down."""
        found = []
        for number in range(1, WORKERS + 1):
            if self.record(number).exists():
                rows = self.record(number).read_bytes().split(b"\n")[:-1]
                found += [tuple(row.split(b" ", 1)) for row in rows]
        return found

    def wait_until_idle(self, dead):
        """Nothing ready, delayed or leased, and that many dead letters."""
        end = time.monotonic() + DEADLINE_SECONDS
        while True:
            info = self.info()
            waiting = info["ready"] + info["delayed"] + info["leased"]
            if sys.stdout.isatty():
                print(f"\r   {waiting:>7,} to go, {info['dead']:,} dead letters ", end="", flush=True)
            if waiting == 0 and info["dead"] == dead:
                if sys.stdout.isatty():
                    print("\r" + " " * 50 + "\r", end="")
                return info
            for process in self.processes:
                if process.poll() is not None:
                    raise DemoError(f"{process.args[0]} ended with {process.returncode}\n" + self.logs())
            if time.monotonic() > end:
                raise DemoError(f"not finished within {DEADLINE_SECONDS} s: {info}\n" + self.logs())
            time.sleep(0.2)

    def logs(self):
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-2000:]}" for path in sorted(self.folder.glob("*.log")))

    # --- the story

    def publish(self):
        path = self.folder / "lines"
        path.write_bytes(b"".join(line + b"\n" for line in self.lines))
        start = time.monotonic()
        self.run("pub", QUEUE, "--lines", "--file", str(path))
        return time.monotonic() - start

    def show_dead_letters(self):
        if not self.failing:
            return
        messages = [json.loads(row) for row in self.run("dlq", "peek", QUEUE, "-n", "3", "--json").splitlines()]
        for message in messages:
            text = message.get("payload", "(not text)")
            say(f"     {message['id']:>6}  {text[:60]:<60}  {colour('31', message['dead']['error'])}")
        if self.failing > len(messages):
            say(f"     ... and {self.failing - len(messages):,} more")

    def play(self):
        began = time.monotonic()
        self.start_broker()
        step(1, f"sluiced listens on {self.url}, sync mode memory")
        self.run("queue", "add", QUEUE, "--max-attempts", str(MAX_ATTEMPTS), "--backoff-initial", "100ms", "--dlq-max",
                 str(max(10_000, len(self.lines))))
        seconds = self.publish()
        step(2, f"{plural(len(self.lines), 'line')} published and confirmed in {seconds:.2f} s")
        start = time.monotonic()
        for number in range(1, WORKERS + 1):
            self.start_worker(number)
        step(3, f"{WORKERS} workers (sluice sub {QUEUE} --exec ...): lines with {colour('31', self.word)} fail")
        first_pass = self.wait_until_idle(dead=self.failing)
        first_lines = len(self.processed())
        say(f"   done in {time.monotonic() - start:.1f} s, one process a line")
        step(4, f"{plural(self.failing, 'dead letter')} after {MAX_ATTEMPTS} attempts each, kept with the error text:")
        self.show_dead_letters()
        self.marker.touch()
        replayed = json.loads(self.run("dlq", "replay", QUEUE, "--json"))["replayed"] if self.failing else 0
        step(5, f"the cause is mended; {replayed:,} replayed with sluice dlq replay {QUEUE}")
        last = self.wait_until_idle(dead=0)
        say()
        return self.settle_accounts(first_pass, first_lines, replayed, last, time.monotonic() - began)

    def settle_accounts(self, first_pass, first_lines, replayed, last, seconds):
        processed = self.processed()
        ids = [message_id for message_id, _ in processed]
        counters = last["counters"]
        total, failing = len(self.lines), self.failing
        rows = [
            ("published and confirmed", total, counters["enqueued"] - replayed),
            ("done in the first pass", total - failing, first_lines),
            ("failed attempts", failing * MAX_ATTEMPTS, first_pass["counters"]["nacked"]),
            ("dead letters", failing, counters["dead_lettered"]),
            ("replayed", failing, replayed),
            ("acked in the end", total, counters["acked"]),
            ("lines in the workers' records", total, len(processed)),
            ("different message ids in them", total, len(set(ids))),
            ("lines equal to the file's", total, sum((collections.Counter(line for _, line in processed)
                                                     & collections.Counter(self.lines)).values())),
            ("left: ready, delayed, leased, dead", 0, sum(last[key] for key in ("ready", "delayed", "leased", "dead"))),
        ]
        agreed = True
        say(f"   {'':<36}{'expected':>10}{'counted':>10}")
        for name, expected, counted in rows:
            agreed &= expected == counted
            mark = colour("32", "ok") if expected == counted else colour("31", "DIFFERS")
            say(f"   {name:<36}{expected:>10,}{counted:>10,}  {mark}")
        say()
        say(f"   {'Every sum agrees' if agreed else 'The sums do not agree'}; {seconds:.1f} s in all.")
        return agreed


def main():
    parser = argparse.ArgumentParser(prog="dev demo", description=__doc__.splitlines()[0])
    parser.add_argument("bin_dir", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("file", nargs="?", type=pathlib.Path, help="text file; default /var/log/dpkg.log, else the README")
    parser.add_argument("--word", help="lines that contain it fail at first (default: half-installed, or a rare word of the file)")
    parser.add_argument("--lines-max", type=int, default=8_000, help="use at most this many lines (default %(default)s)")
    options = parser.parse_args()
    path = options.file or default_file()
    if options.lines_max < 1 or options.word == "":
        parser.error("--lines-max takes a number above 0, --word a text that is not empty")
    try:
        lines, available = read_lines(path, options.lines_max)
        word = options.word or choose_word(lines)
        used = f"all {plural(available, 'line')}" if available == len(lines) else f"the first {len(lines):,} of {available:,} lines"
        say(f"Sluice demo with {used} of {path}\n")
        with tempfile.TemporaryDirectory(prefix="sluice-demo-") as folder:
            demo = Demo(options.bin_dir.resolve(), pathlib.Path(folder), lines, word)
            try:
                agreed = demo.play()
            finally:
                code = demo.stop()
            if code:
                raise DemoError(f"a worker or the broker ended with {code}\n" + demo.logs())
            return 0 if agreed else 1
    except (DemoError, BrokerFailed, OSError, subprocess.TimeoutExpired) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
