from __future__ import annotations

import pytest

from experiments.records import Records, pack

CELL = {"set": "heart", "repeat": 0, "fold": 3, "method": "PM", "leaves": 4}


def test_lines_come_back(tmp_path):
    path = tmp_path / "new folder" / "x.jsonl"
    records = Records(path)
    records.open_for({"seed": 1})
    records.append([{"set": "heart", "rows": 9}, CELL])
    for read in (records, Records(path), Records(pack(path))):
        assert read.settings == {"seed": 1}
        assert read.sets["heart"]["rows"] == 9
        assert read.cells == [CELL]
        assert read.done == {("heart", 0, 3, "PM")}


def test_packing_is_reproducible(tmp_path):
    path = tmp_path / "x.jsonl"
    Records(path).open_for({})
    assert pack(path).read_bytes() == pack(path).read_bytes()


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_line_cut_short_by_a_crash_is_dropped(tmp_path, cut):
    path = tmp_path / "x.jsonl"
    records = Records(path)
    records.open_for({"seed": 1})
    records.append([CELL])
    whole = path.read_bytes()
    records.append([CELL | {"fold": 4}])
    path.write_bytes(path.read_bytes()[:-cut])
    again = Records(path)
    assert again.done == {("heart", 0, 3, "PM")}
    again.open_for({"seed": 1})
    assert path.read_bytes() == whole
    again.append([CELL | {"fold": 5}])
    assert len(Records(path).cells) == 2


def test_results_of_other_settings_are_not_mixed(tmp_path):
    path = tmp_path / "x.jsonl"
    Records(path).open_for({"seed": 1, "folds": 10})
    with pytest.raises(ValueError, match="holds results for another seed; give another --out"):
        Records(path).open_for({"seed": 2, "folds": 10})


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"settings":{}}\n{"set": "hea\n{}\n')
    with pytest.raises(ValueError, match=r"x\.jsonl, line 2, is damaged"):
        Records(path)
    path.write_text("[1]\n")
    with pytest.raises(ValueError, match=r"line 1, is no result"):
        Records(path)


def test_a_packed_file_is_for_reading(tmp_path):
    path = tmp_path / "x.jsonl"
    Records(path).open_for({})
    with pytest.raises(ValueError, match="unpack it"):
        Records(pack(path)).open_for({})
