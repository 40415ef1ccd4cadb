"""The demo and the README: what a newcomer tries first."""
import pathlib
import re
import subprocess
import sys

import pytest

from conftest import BIN, ROOT

DEMO = [sys.executable, ROOT / "tests/demo/demo.py", BIN]


def demo(*arguments):
    done = subprocess.run([*DEMO, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=120)
    return done


@pytest.mark.quick
def test_the_demo_comes_out_exact_on_a_small_file(tmp_path):
    file = tmp_path / "a file with spaces.txt"
    file.write_bytes(b"".join(b"line %d is %s\n" % (i, b"broken" if i % 20 == 0 else b"good") for i in range(100))
                     + b"\n" + b"back\\slash \t \xff\xfe $HOME `x` 'y' \"z\"\n" + b"line 1 is good\n" + b"no newline at the end")
    done = demo(file, "--word", "broken")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Every sum agrees" in done.stdout
    assert 'cannot handle "broken" (attempt 3)' in done.stdout
    assert re.search(r"acked in the end\s+104\s+104\s+ok", done.stdout), done.stdout


def test_the_demo_says_when_it_uses_a_part_only(tmp_path):
    file = tmp_path / "lines"
    file.write_text("some words here\n" * 50)
    done = demo(file, "--lines-max", "10", "--word", "absent")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the first 10 of 50 lines" in done.stdout


@pytest.mark.parametrize("arguments", [("/no/such/file",), ("/",), ("/dev/null",)])
def test_the_demo_names_a_file_that_it_cannot_use(arguments):
    done = demo(*arguments)
    assert done.returncode == 1
    assert arguments[0] in done.stderr and "Traceback" not in done.stderr


def code_blocks(language):
    readme = (ROOT / "README.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", readme, re.S)


def test_the_python_program_of_the_readme_works(broker, tmp_path):
    [program] = code_blocks("python")
    assert len(program.splitlines()) <= 30
    path = tmp_path / "program.py"
    path.write_text(program.replace("tcp://127.0.0.1:5570", broker.url))
    done = subprocess.run([sys.executable, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "hello from Python" in done.stdout
    assert broker.client().depth("hello") == (0, 0, 0, 0)


def test_the_first_steps_of_the_readme_work(broker, tmp_path):
    [steps] = [block for block in code_blocks("sh") if "sluice pub" in block]
    lines = [line for line in steps.splitlines() if "sluiced" not in line]
    script = "set -e\n" + "\n".join(lines)
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60, env={"PATH": f"{BIN}:/usr/bin:/bin", "SLUICE_URL": broker.url})
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_cpp_program_of_the_readme_is_example_01():
    [program] = code_blocks("cpp")
    wanted = [line.strip() for line in program.splitlines() if line.strip()]
    example = [line.strip() for line in (ROOT / "examples/01_hello.cpp").read_text().splitlines()]
    assert [line for line in wanted if line not in example] == []


def test_every_path_of_the_readme_exists():
    readme = (ROOT / "README.md").read_text()
    for target in re.findall(r"\]\(([^)#:]+)\)", readme):
        assert (pathlib.Path(ROOT) / target).exists(), target
