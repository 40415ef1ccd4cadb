"""The script `dev` itself, as far as it can be asked without building anything."""
import os
import subprocess

import pytest

from conftest import ROOT


def dev(*arguments, path="/usr/bin:/bin", cwd="/"):
    return subprocess.run([ROOT / "dev", *arguments], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60, env={**os.environ, "PATH": path})


@pytest.fixture
def package_manager(tmp_path):
    """Stands in for dpkg-query and apt-get: `missing` names packages that are not installed; `calls` is what apt-get was asked."""

    def make(*missing):
        folder = tmp_path / "bin"
        folder.mkdir()
        calls = tmp_path / "calls"
        calls.touch()
        query = "\n".join(f'[ "$last" = {name} ] && [ ! -s "{calls}" ] && exit 1' for name in missing)
        (folder / "dpkg-query").write_text(f'#!/bin/bash\nlast="${{@: -1}}"\n{query}\nprintf installed\n')
        (folder / "apt-get").write_text(f'#!/bin/bash\necho "$@" >>"{calls}"\n')
        (folder / "sudo").write_text('#!/bin/bash\nexec "$@"\n')
        for program in folder.iterdir():
            program.chmod(0o755)
        return f"{folder}:/usr/bin:/bin", calls

    return make


def test_setup_touches_nothing_when_nothing_is_missing(package_manager):
    path, calls = package_manager()
    done = dev("setup", path=path)
    assert done.returncode == 0 and "nothing to do" in done.stdout
    assert calls.read_text() == ""


def test_setup_installs_what_is_missing_and_a_second_run_does_nothing(package_manager):
    path, calls = package_manager("ccache", "python3-zmq")
    done = dev("setup", path=path)
    assert done.returncode == 0, done.stderr
    assert "ccache python3-zmq" in done.stdout
    update, install = calls.read_text().splitlines()
    assert update.endswith("update") and install.endswith("install ccache python3-zmq")
    assert "nothing to do" in dev("setup", path=path).stdout


@pytest.mark.parametrize("arguments, text", [(("frobnicate",), "frobnicate"), (("build", "fast"), "fast"), (("sim", "--seeds", "soon"), "soon"),
                                             (("fuzz", "no_such_target"), "no_such_target"), (("fuzz", "", "soon"), "soon")])
def test_a_wrong_word_is_named_with_exit_2(arguments, text):
    done = dev(*arguments)
    assert done.returncode == 2
    assert text in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_help_names_every_verb(tmp_path):
    done = dev(cwd=tmp_path)
    assert done.returncode == 0
    for verb in ("setup", "build", "run", "demo", "test", "check", "check-all", "bench", "fuzz", "sim"):
        assert f"\n  {verb}" in done.stdout, verb
