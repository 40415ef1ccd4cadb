"""What a data directory may be, and what a broker says when it is not: exit 1, one line that names the file, and nothing changed."""
import json
import os
import re
import shutil
import struct

import pytest

import raw
from durable import Store, peek_all
from journal_files import SEGMENT_BYTES, crc32c

BATCH_MAGIC = struct.pack("<I", 0x31424C53)


def content(store):
    return {path.name: path.read_bytes() for path in store.path.iterdir() if path.name != "lock"}


@pytest.fixture
def many(store):
    """A store whose broker has stopped: a thousand confirmed messages in a dozen segments, each as its payload says."""
    client = store.start().client()
    store.ids = [id for first in range(0, 1_000, 20) for id in client.publish("q", *[b"%04d" % i + b"x" * 600 for i in range(first, first + 20)])]
    store.stop()
    assert len(store.segments()) >= 5
    return store


def first_batch(segment, begin=64):
    """Offset and length of the body of the first batch with records at or behind `begin`."""
    data = segment.read_bytes()
    at = data.index(BATCH_MAGIC, begin)
    length = struct.unpack_from("<I", data, at + 28)[0]
    return at, length


def change(path, offset, make):
    data = bytearray(path.read_bytes())
    data[offset] = make(data[offset])
    path.write_bytes(data)


def test_a_missing_directory_is_made(store):
    store.path = store.path / "sub"
    store.path.parent.mkdir()
    store.start()
    assert [path.name for path in store.segments()] == ["0000000001.segment", "0000000002.segment"]
    assert (store.path / "lock").read_text() == f"{store.broker.process.pid}\n"
    assert store.path.stat().st_mode & 0o007 == 0 and store.segments()[0].stat().st_mode & 0o007 == 0


def test_a_missing_parent_is_refused_by_name(store):
    store.path = store.path / "a" / "b"
    line = store.refused()
    assert str(store.path) in line and "No such file or directory" in line


def test_a_file_in_its_place_is_refused(store):
    store.path.write_text("mine")
    line = store.refused()
    assert str(store.path) in line and "Not a directory" in line
    assert store.path.read_text() == "mine"


def test_a_second_broker_is_refused_and_told_who_is_there(store):
    client = store.start().client()
    client.publish("q", b"x")
    for _ in range(2):
        line = store.refused()
        assert f"process {store.broker.process.pid}" in line and str(store.path / "lock") in line
    assert client.publish("q", b"the first one goes on")
    store.kill()
    assert peek_all(store.start().client(), "q")[1]["payload"] == b"the first one goes on"


def test_a_foreign_directory_is_not_touched(store):
    store.path.mkdir()
    (store.path / "letter.txt").write_text("mine")
    assert "letter.txt" in store.refused()
    assert [path.name for path in store.path.iterdir()] == ["letter.txt"]


def test_lost_and_found_is_not_foreign(store):
    (store.path / "lost+found").mkdir(parents=True)
    store.start()


@pytest.mark.skipif(os.geteuid() != 0, reason="root may write everywhere, so this needs another user to become")
def test_a_directory_that_may_not_be_written_is_refused(many):
    for path in [many.path, *many.path.parents]:
        if path.owner() == "root" and path != many.path.parents[-1]:
            path.chmod(path.stat().st_mode | 0o055)
    for path in many.path.iterdir():
        path.chmod(0o444)
    before = content(many)
    try:
        line = many.refused(user="nobody")
    except PermissionError:
        pytest.skip("the program itself may not be run by another user")
    assert "Permission denied" in line and str(many.path) in line
    assert content(many) == before


def test_a_newer_format_is_refused_by_its_number(many):
    segment = many.segments()[0]
    data = bytearray(segment.read_bytes())
    data[7] = 2
    data[60:64] = struct.pack("<I", crc32c(bytes(data[:60])))
    segment.write_bytes(data)
    before = content(many)
    line = many.refused()
    assert str(segment) in line and "2" in line and "newer" in line
    assert content(many) == before


@pytest.mark.parametrize("place", ["payload", "length", "body checksum", "header checksum", "segment header", "chain", "first sequence"])
def test_C15_one_flipped_bit_in_a_middle_segment_is_refused_by_file_and_offset(many, place):
    segment = many.segments()[2]
    at, length = first_batch(segment)
    offset = {"payload": at + 56 + length // 2, "length": at + 28, "body checksum": at + 32, "header checksum": at + 4,
              "segment header": 12, "chain": at + 36, "first sequence": at + 8}[place]
    change(segment, offset, lambda byte: byte ^ 0x10)
    before = content(many)
    line = many.refused()
    said = 0 if place == "segment header" else at
    assert f"{segment}, offset {said}: " in line and "sluice journal verify" in line
    assert content(many) == before
    code, report = many.verify()
    assert (code, report["end"], report["damage"]["file"], report["damage"]["offset"]) == (1, "damaged", str(segment), said)


def test_C15_what_an_operator_does_about_damage(many):
    segment = many.segments()[3]
    at, length = first_batch(segment)
    change(segment, at + 56 + length // 2, lambda byte: byte ^ 1)
    many.refused()
    # Look, copy, look at what is lost, do it, start.
    code, report = many.verify()
    assert code == 1 and report["damage"]["offset"] == at and "repair" in report["advice"]
    shutil.copytree(many.path, many.path.parent / "kept")
    code, out, err = many.journal("repair", "--json")
    plan = json.loads(out)
    assert code == 1 and not plan["repaired"] and plan["cut_offset"] == at
    many.refused()
    code, out, err = many.journal("repair", "--force", "--json")
    assert code == 0 and json.loads(out)["repaired"], err
    assert many.verify()[0] == 0
    client = many.start().client()
    messages = peek_all(client, "q")
    assert 20 <= len(messages) < 1_000
    assert [m["payload"] for m in messages] == [b"%04d" % i + b"x" * 600 for i in range(len(messages))]
    assert client.info("q")["ready"] == len(messages)
    client.publish("q", b"goes on")
    many.restart("kill")
    assert many.broker.client().info("q")["ready"] == len(messages) + 1


def test_a_missing_middle_segment_is_refused(many):
    gone = many.segments()[2]
    gone.unlink()
    assert str(gone) in many.refused()


def test_a_missing_first_segment_is_refused(many):
    gone = many.segments()[0]
    gone.unlink()
    assert str(gone) in many.refused()


def test_a_segment_of_another_journal_is_refused(many, tmp_path, start_broker):
    other = Store(tmp_path / "other", start_broker)
    client = other.start().client()
    for _ in range(50):
        client.publish("q", *[b"y" * 620] * 20)
    other.stop()
    shutil.copy(other.segments()[2], many.segments()[2])
    assert str(many.segments()[2]) in many.refused()


def test_a_shortened_segment_is_refused(many):
    segment = many.segments()[1]
    os.truncate(segment, SEGMENT_BYTES - 512)
    assert str(segment) in many.refused()


@pytest.mark.parametrize("lost", ["the end", "a sector"])
def test_a_torn_tail_is_cut_and_reported(store, lost):
    client = store.start().client()
    client.publish("q", *[b"%d" % i for i in range(10)])
    client.close()
    store.kill()  # so that nothing behind the last batch calls it safe
    segment = store.segments()[0]
    data = bytearray(segment.read_bytes())
    last = data.rindex(BATCH_MAGIC)
    # As if the power had gone while one more was written: its bytes, but for a sector.
    body = bytes([1]) * 4000
    header = struct.pack("<QQIIIIIIII", struct.unpack_from("<Q", data, last + 8)[0] + 1, 0, 1, len(body), crc32c(body),
                         struct.unpack_from("<I", data, last + 4)[0], 1, 0, 1, 0)
    batch = BATCH_MAGIC + struct.pack("<I", crc32c(bytes(data[8:16]) + header)) + header + body
    at = last + 56 + (struct.unpack_from("<I", data, last + 28)[0] + 7) // 8 * 8
    keep = (at + 2048) // 512 * 512
    data[at:at + len(batch)] = batch
    if lost == "the end":
        data[keep:at + len(batch)] = bytes(at + len(batch) - keep)
    else:
        data[keep:keep + 512] = bytes(512)
    segment.write_bytes(data)
    code, report = store.verify()
    assert (code, report["end"], report["torn"]["offset"]) == (0, "torn", at)
    broker = store.start()
    [cut] = broker.events("torn_tail_cut")
    assert (cut["file"], cut["offset"], cut["level"]) == (str(segment), at, "warn") and cut["bytes"] >= keep - at
    client = broker.client()
    assert [m["payload"] for m in peek_all(client, "q")] == [b"%d" % i for i in range(10)]
    client.publish("q", b"where the cut is")
    broker = store.restart("kill")
    assert not broker.events("torn_tail_cut")
    assert peek_all(broker.client(), "q")[10]["payload"] == b"where the cut is"


def test_every_bit_of_the_last_batches_of_a_killed_broker_is_noticed_or_means_nothing(store):
    """Some hundred bits chosen evenly over all that was written: the same state, or a refusal that names the file. Never another state."""
    client = store.start().client()
    client.publish("q", *[b"%d" % i for i in range(30)], headers=raw.encode({"k": "v"}))
    client.close()
    store.kill()
    segment = store.segments()[0]
    good = segment.read_bytes()
    code, out, _ = store.journal("dump")
    end = max(at.start() for at in re.finditer(re.escape(BATCH_MAGIC), good)) + 56 + 40
    refused = same = 0
    for bit in range(0, end * 8, end * 8 // 150):
        data = bytearray(good)
        data[bit // 8] ^= 1 << bit % 8
        segment.write_bytes(data)
        code, changed, _ = store.journal("dump")
        if code == 1:
            report = store.verify()[1]
            assert report["damage"]["file"] == str(segment) and report["damage"]["offset"] <= bit // 8
            refused += 1
        else:
            # What is not looked at (padding, reserved bytes), or a tail that would be cut and that nothing calls safe.
            assert (code, changed) == (0, out) or store.verify()[1]["end"] == "torn", bit
            same += 1
    assert refused > 100
