#!/usr/bin/python3
"""Our own rules, those that no compiler knows. One line a finding, exit code 1 if there is one."""
import ast
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CODE = {".cpp", ".h", ".inc", ".py", ".sh"}

# What each folder of broker/ may include, beside itself: the list of broker/README.md. The linker knows it too; this names the line.
ARROWS = {
    "base": set(),
    "wire": {"base"},
    "journal": {"base", "io"},
    "record": {"base"},
    "io": {"base", "wire"},
    "config": {"base"},
    "log": {"base"},
    "engine": {"base", "wire"},
    "session": {"base", "wire", "io"},
    "durability": {"base", "wire", "journal", "record", "engine"},
    "outbox": {"base", "wire", "io", "engine"},
    "server": {"base", "wire", "journal", "io", "log", "session", "engine", "durability", "outbox"},
}
EVERYTHING = set(ARROWS) | {"server"}
PUBLIC_HEADER_BANS = re.compile(r'#include\s*[<"](zmq|msgpack|boost|spdlog|nlohmann|absl|tl/|toml|CLI|base/|wire/)')
ENGINE_BANS = re.compile(r"std::chrono::\w+_clock|\brand\(|std::random_device|std::thread|std::unordered_|getenv\(|#include <(thread|random|fstream|iostream)>")
BANNED_WORDS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
OUTPUT = re.compile(r"std::(cout|cerr|clog)\b|\b(printf|puts|putchar)\s*\(|#include <iostream>")
INCLUDE = re.compile(r'^\s*#include\s*"([^"]+)"', re.M)


def files():
    done = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], stdout=subprocess.PIPE, text=True)
    names = done.stdout.splitlines() if done.returncode == 0 else [
        str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file() and "build" not in path.relative_to(ROOT).parts[:1]]
    return sorted(ROOT / name for name in names if (ROOT / name).is_file())


def lines_with(pattern, text):
    return [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if pattern.search(line)]


def check_text(path, name, text):
    for number, line in lines_with(BANNED_WORDS, text):
        yield f"{name}:{number}: unfinished work: {line}"
    for number, line in lines_with(re.compile(r"[ \t]+$"), text):
        yield f"{name}:{number}: white space at the end of the line"
    if text and not text.endswith("\n"):
        yield f"{name}: no newline at the end"


def check_cpp(name, text):
    parts = pathlib.PurePath(name).parts
    if name.endswith(".h"):
        if not text.startswith("#pragma once\n"):
            yield f"{name}:1: a header begins with #pragma once"
        if not re.match(rf"#pragma once\n// ([\w/]+/)?{re.escape(parts[-1])}: ", text):
            yield f"{name}:2: a header says what it is: // {parts[-2]}/{parts[-1]}: ..."
    library = parts[:2] == ("clients", "cpp") or parts[0] == "broker" and name != "broker/main.cpp"
    if library:
        for number, line in lines_with(OUTPUT, text):
            yield f"{name}:{number}: a library does not print: {line}"
    if parts[:4] == ("clients", "cpp", "include", "sluice"):
        for number, line in lines_with(PUBLIC_HEADER_BANS, text):
            yield f"{name}:{number}: a public header shows no foreign type: {line}"
    if parts[:2] == ("broker", "engine"):
        for number, line in lines_with(ENGINE_BANS, text):
            yield f"{name}:{number}: the engine is deterministic: {line}"


def check_arrows(name, text):
    parts = pathlib.PurePath(name).parts
    allowed = None
    if parts[0] == "broker" and len(parts) > 2:
        allowed = ARROWS.get(parts[1], set()) | {parts[1]}
        if parts[1] not in ARROWS:
            yield f"{name}: folder broker/{parts[1]} has no row in the table of tests/lint.py"
    elif parts[0] == "clients":
        allowed = {"base", "wire"} | ({"io", "journal", "record"} if parts[1] == "cli" else set())  # sluice journal: offline
    elif parts[0] == "examples":
        allowed = set()
    if allowed is None:
        return
    for include in INCLUDE.findall(text):
        folder = include.split("/")[0]
        if folder in EVERYTHING and "/" in include and folder not in allowed:
            yield f'{name}: includes "{include}": {parts[0]}/{parts[1]} may not know {folder}'


def check_errors():
    """spec/errors.json and broker/base/errors.inc say the same."""
    spec = [(row["code"], row["name"], row["retry"], row["exit"], row["text"], row["hint"])
            for row in json.loads((ROOT / "spec/errors.json").read_text())["errors"]]
    text = (ROOT / "broker/base/errors.inc").read_text()
    code = []
    for row in re.findall(r"^SLUICE_ERROR\((.*?)\)$", text, re.M | re.S):
        match = re.match(r'(\d+), (\w+), (true|false), (\d+),\s*("(?:[^"\\]|\\.)*"),\s*("(?:[^"\\]|\\.)*")$', row, re.S)
        if not match:
            yield f"broker/base/errors.inc: not understood: {row}"
            continue
        number, name, retry, exit_code, words, hint = match.groups()
        code.append((int(number), name, retry == "true", int(exit_code), ast.literal_eval(words), ast.literal_eval(hint)))
    for row in spec:
        if row not in code:
            yield f"spec/errors.json: {row[0]} {row[1]} is not the same in broker/base/errors.inc"
    for row in code:
        if row not in spec:
            yield f"broker/base/errors.inc: {row[0]} {row[1]} is not the same in spec/errors.json"
    numbers = [row[0] for row in spec]
    if numbers != sorted(set(numbers)):
        yield "spec/errors.json: numbers must rise, each used once"


def check_syntax(path, name, text):
    if path.suffix == ".py":
        try:
            compile(text, name, "exec")
        except SyntaxError as error:
            yield f"{name}:{error.lineno}: {error.msg}"
    elif text.startswith(("#!/usr/bin/env bash", "#!/bin/bash", "#!/bin/sh")):
        done = subprocess.run(["bash", "-n", path], stderr=subprocess.PIPE, text=True)
        if done.returncode:
            yield f"{name}: {done.stderr.strip()}"


def findings():
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        if path.suffix not in CODE and name not in ("dev", ".ci/run") and path.name != "CMakeLists.txt":
            continue
        text = path.read_text(encoding="utf-8")
        yield from check_text(path, name, text)
        yield from check_syntax(path, name, text)
        if path.suffix in (".cpp", ".h"):
            yield from check_cpp(name, text)
            yield from check_arrows(name, text)
    yield from check_errors()


def main():
    found = list(findings())
    for finding in found:
        print(finding)
    print(f"lint: {len(found)} findings" if found else "lint: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
