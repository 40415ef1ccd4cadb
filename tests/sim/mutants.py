#!/usr/bin/env python3
"""Breaks the broker on purpose, one deliberate fault after the other, and demands that the simulator finds each.

    mutants.py SLUICE_SIM [NAME...]

SLUICE_SIM is built with -DSLUICE_MUTANTS=ON. Fails when one survives its seeds, when one has no row here, or when the broker without
any fails: then what was found says nothing.
"""

import re
import subprocess
import sys
import time

SEEDS = 400  # in which a mutant is to be found, unless it has a row below
SEEDS_OF = {}
CLEAN_SEEDS = 100
FOUND = re.compile(r"^seed (\d+): (.*)$|^(sluice_sim: the broker ended the process)", re.MULTILINE)


def run(binary, *arguments):
    done = subprocess.run([binary, *arguments], capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout + done.stderr


def look(binary, name):
    """The line of a table, and whether it was found."""
    began = time.monotonic()
    code, output = run(binary, "--mutant", name, "--seeds", str(SEEDS_OF.get(name, SEEDS)))
    took = f"{time.monotonic() - began:6.1f} s"
    if code == 0:
        return f"{name:28} SURVIVED {SEEDS_OF.get(name, SEEDS)} seeds {took}", False
    if code == 2:
        return f"{name:28} could not be run: {output.strip()}", False
    again = re.search(r"^Again: .*--seed (\d+)|Again: .*--seed (\d+)$", output, re.MULTILINE)
    seed = (again[1] or again[2]) if again else "?"
    what = FOUND.search(output)
    text = (what[2] or "a check of the broker itself") if what else output.strip().splitlines()[-1]
    return f"{name:28} seed {seed:>4} {took}  {text[:100]}", True


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    binary, names = arguments[0], arguments[1:]
    code, output = run(binary, "--seeds", str(CLEAN_SEEDS))
    if code != 0:
        print(output[-2000:], "\nmutants: the broker fails without any mutant", file=sys.stderr)
        return 1
    names = names or run(binary, "--list-mutants")[1].split()
    survived = 0
    for name in names:
        line, found = look(binary, name)
        print(line, flush=True)
        survived += not found
    print(f"mutants: {len(names) - survived} of {len(names)} found")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
