"""sluice journal: verify, dump and repair on directories that no broker wrote, so that they are held against the text and not the code."""
import fcntl
import json
import pathlib
import subprocess

import pytest

from conftest import BIN
from journal_files import crc32c, write_journal
from journal_records import FILES, encode

OPENED = {"type": "opened", "at_ms": 1_800_000_000_000}
CLOSED = {"type": "closed", "at_ms": 1_800_000_009_000}
VECTORS = [record for make in FILES.values() for _, record in make()]


class Journal:
    def __init__(self, path):
        self.path = path
        self.segment = path / "0000000001.segment"
        self.turns = [[OPENED], VECTORS, [CLOSED]]
        self.offsets = write_journal(path, [b"".join(map(encode, turn)) for turn in self.turns])

    def run(self, verb, *arguments):
        done = subprocess.run([BIN / "sluice", "journal", verb, self.path, *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def verify(self):
        code, out, err = self.run("verify", "--json")
        assert err == ""
        return code, json.loads(out)

    def flip(self, offset):
        content = bytearray(self.segment.read_bytes())
        content[offset] ^= 0x40
        self.segment.write_bytes(content)

    def content(self):
        return {path.name: path.read_bytes() for path in self.path.iterdir()}


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "data")


def test_the_checksum_is_the_one_of_the_spec():
    assert crc32c(b"123456789") == 0xE3069283


def test_a_good_journal_is_counted_and_not_changed(journal):
    before = journal.content()
    code, report = journal.verify()
    assert code == 0
    assert (report["end"], report["live"], report["journal"]) == ("clean", False, "1122334455667788")
    assert (report["segments"], report["batches"], report["first_sequence"], report["last_sequence"]) == (1, 3, 1, 3)
    assert report["record_count"] == len(VECTORS) + 2
    assert report["records"]["dead_lettered"] == sum(record["type"] == "dead_lettered" for record in VECTORS)
    assert "damage" not in report and "torn" not in report
    assert journal.content() == before


def test_dump_prints_the_meaning_of_each_record_and_where_it_stands(journal):
    code, out, err = journal.run("dump")
    assert (code, err) == (0, "")
    lines = [json.loads(line) for line in out.splitlines()]
    places = [[line.pop(key) for key in ("segment", "offset", "batch", "turns", "epoch")] for line in lines]
    assert lines == [record for turn in journal.turns for record in turn]
    content = journal.segment.read_bytes()
    for (segment, offset, _, turns, epoch), record in zip(places, lines):
        assert (segment, turns, epoch) == (1, 1, 1)
        assert content[offset:].startswith(encode(record))
    assert [place[2] for place in places] == [1] + [2] * len(VECTORS) + [3]


def test_dump_by_sequence_and_by_type(journal):
    assert [json.loads(line)["type"] for line in journal.run("dump", "--from", "3")[1].splitlines()] == ["closed"]
    types = [json.loads(line)["type"] for line in journal.run("dump", "--type", "ended")[1].splitlines()]
    assert types and set(types) == {"ended"}
    assert journal.run("dump", "--type", "nothing")[0] == 2


def test_a_confirmed_batch_that_does_not_fit_is_damage_and_repair_cuts_there(journal):
    journal.flip(journal.offsets[1] + 100)
    before = journal.content()
    code, report = journal.verify()
    assert (code, report["end"], report["last_sequence"]) == (1, "damaged", 1)
    assert report["damage"]["file"] == str(journal.segment) and report["damage"]["offset"] == journal.offsets[1]
    assert report["damage"]["reason"] and "repair" in report["advice"]
    code, out, err = journal.run("verify")
    assert code == 1 and f"damage_offset\t{journal.offsets[1]}\n" in out and "damaged: " in err
    code, out, err = journal.run("dump", "--json")
    assert code == 1 and json.loads(out.splitlines()[-1])["error"]["name"] == "journal_damaged"

    code, out, err = journal.run("repair", "--json")
    plan = json.loads(out)
    assert code == 1 and "nothing was changed" in err
    assert (plan["repaired"], plan["cut_offset"], plan["kept_last_sequence"]) == (False, journal.offsets[1], 1)
    assert journal.content() == before

    code, out, err = journal.run("repair", "--force", "--json")
    assert (code, json.loads(out)["repaired"]) == (0, True), err
    code, report = journal.verify()
    assert (code, report["end"], report["last_sequence"], report["record_count"]) == (0, "open", 1, 1)


def test_records_that_cannot_be_read_are_damage_though_their_checksum_fits(tmp_path):
    path = tmp_path / "data"
    offsets = write_journal(path, [encode(OPENED), encode(OPENED) + b"\x77\x00\x00\x00\x00"])
    done = subprocess.run([BIN / "sluice", "journal", "verify", path, "--json"], capture_output=True, timeout=60)
    report = json.loads(done.stdout)
    assert (done.returncode, report["end"], report["damage"]["offset"]) == (1, "damaged", offsets[1])
    assert "type 119 is not known" in report["damage"]["reason"]


def test_a_write_that_was_cut_off_is_no_damage(journal):
    content = journal.segment.read_bytes()
    cut = journal.offsets[1] + 1024
    journal.segment.write_bytes(content[:cut] + bytes(len(content) - cut))
    code, report = journal.verify()
    assert (code, report["end"], report["last_sequence"]) == (0, "torn", 1)
    assert report["torn"]["offset"] == journal.offsets[1]
    code, out, err = journal.run("repair")
    assert (code, out) == (0, "") and "nothing to repair" in err


def test_while_a_broker_holds_the_lock_reading_says_so_and_repair_refuses(journal):
    with (journal.path / "lock").open("w+") as lock:
        lock.write("4242\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, report = journal.verify()
        assert (code, report["live"]) == (0, True)
        code, out, err = journal.run("dump")
        assert code == 0 and "process 4242" in err and out
        code, out, err = journal.run("repair", "--force")
        assert (code, out) == (1, "") and "process 4242" in err and "stop the broker" in err
    assert journal.verify()[1]["live"] is False


@pytest.mark.parametrize("verb", ["verify", "dump", "repair"])
def test_where_there_is_no_journal_the_exit_code_is_4_and_nothing_is_made(verb, tmp_path):
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "letter.txt").write_text("mine")
    for path in (tmp_path / "missing", pathlib.Path(tmp_path / "empty"), foreign):
        if path.name == "empty":
            path.mkdir()
        before = sorted(tmp_path.rglob("*"))
        options = ["--force"] if verb == "repair" else []
        done = subprocess.run([BIN / "sluice", "journal", verb, path, *options, "--json"], capture_output=True, timeout=60)
        assert (done.returncode, json.loads(done.stdout)["error"]["name"]) == (4, "no_journal")
        assert sorted(tmp_path.rglob("*")) == before
