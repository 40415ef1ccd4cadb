"""A sluiced of its own on a free loopback port, for tests, examples and the demo. Needs nothing but Python."""
import json
import pathlib
import signal
import subprocess
import time

START_SECONDS = 20


class BrokerFailed(Exception):
    pass


class BrokerProcess:
    """Starts it and waits until its log says where it listens; the log holds both streams."""

    def __init__(self, sluiced, log_path, *arguments, start_seconds=START_SECONDS, **popen_options):
        self.start_seconds = start_seconds
        self.log_path = pathlib.Path(log_path)
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([sluiced, "--listen", "tcp://127.0.0.1:0", "--log-format", "json", *arguments],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, **popen_options)
        try:
            self.url = self._wait_for_address()
        except BrokerFailed:
            self.process.kill()
            self.process.wait()
            raise

    def log(self):
        return self.log_path.read_text(errors="replace")

    def events(self, name):
        """The finished lines of the log whose `msg` is this."""
        complete = self.log().rpartition("\n")[0]
        lines = [json.loads(line) for line in complete.splitlines() if line.startswith("{")]
        return [line for line in lines if line.get("msg") == name]

    def _wait_for_address(self):
        end = time.monotonic() + self.start_seconds
        while time.monotonic() < end and self.process.poll() is None:
            found = self.events("listening")
            if found:
                return found[0]["address"]
            time.sleep(0.003)
        raise BrokerFailed(f"sluiced did not start (exit code {self.process.poll()}):\n{self.log()}")

    def stop(self, seconds=20):
        """Drains it; the exit code, or None if it had to be killed."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
