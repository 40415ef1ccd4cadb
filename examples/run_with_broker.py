#!/usr/bin/python3
"""Runs a program with the address of a fresh broker as its last argument: run_with_broker.py SLUICED PROGRAM [ARGUMENT...]"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
sys.dont_write_bytecode = True
from broker_process import BrokerProcess  # noqa: E402


def main():
    with tempfile.TemporaryDirectory() as folder:
        broker = BrokerProcess(sys.argv[1], pathlib.Path(folder) / "sluiced.log")
        try:
            return subprocess.run([*sys.argv[2:], broker.url], timeout=50).returncode
        finally:
            if broker.stop() != 0:
                sys.exit(f"sluiced ended badly:\n{broker.log()}")


if __name__ == "__main__":
    sys.exit(main())
