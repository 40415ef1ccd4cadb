"""Journals that earlier versions wrote are opened, and show exactly what they showed then."""
import json

import pytest

import golden
from conftest import ROOT
from durable import ENDINGS

pytestmark = pytest.mark.quick
ARCHIVES = sorted((ROOT / "tests/golden").glob("*.tar.xz"))


def test_there_are_golden_journals_and_they_are_small():
    assert ARCHIVES and all(path.stat().st_size < 200 << 10 for path in ARCHIVES)


@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def test_a_golden_journal_is_read_and_shows_what_it_showed(store, tmp_path, archive, how):
    expected = json.loads(archive.with_name(archive.name.replace(".tar.xz", ".json")).read_text())
    copy = golden.copy_of(archive, store, tmp_path / "copy")
    code, report = copy.verify()
    assert (code, report["records"]) == (0, expected["records"])
    assert set(report["records"]) >= golden.RECORDS
    golden.check(golden.shown(copy, how), expected)
    # What it has written since, and made of the old segments, says the same.
    golden.check(golden.shown(copy), expected)
    assert copy.verify()[0] == 0
