"""The vectors of the journal's records are what an encoder writes that was made from spec/journal.md alone."""
import json

import journal_records
import pytest


@pytest.mark.parametrize("file_name", journal_records.FILES)
def test_each_vector_has_the_bytes_of_its_meaning(file_name):
    vectors = json.loads((journal_records.VECTORS / file_name).read_text(encoding="utf-8"))
    assert vectors
    for vector in vectors:
        assert journal_records.encode(vector["record"]).hex() == vector["hex"], vector["name"]


@pytest.mark.parametrize("file_name", journal_records.FILES)
def test_vectors_are_only_ever_added(file_name):
    """What the program would write is in the file, in its order; the file may hold more."""
    kept = json.loads((journal_records.VECTORS / file_name).read_text(encoding="utf-8"))
    made = json.loads(journal_records.file_text(journal_records.FILES[file_name]))
    names = [vector["name"] for vector in kept]
    assert len(set(names)) == len(names)
    assert [vector for vector in kept if vector["name"] in {each["name"] for each in made}] == made


def test_every_type_has_a_vector():
    types = {record["type"] for make in journal_records.FILES.values() for _, record in make()}
    assert types == set(journal_records.TYPES)
