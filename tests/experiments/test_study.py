from __future__ import annotations

from pathlib import Path

import pytest

from cstree.greedy.criteria import CRITERIA
from experiments.cell import _OWN_CRITERIA
from experiments.study import read_study

STUDIES = Path(__file__).resolve().parents[2] / "experiments" / "studies"
SMALL = """
sets_file = "sets.toml"
sets = ["heart"]
reference = "a"
[[methods]]
name = "a"
"""


@pytest.mark.parametrize(
    "path", sorted(set(STUDIES.glob("*.toml")) - set(STUDIES.glob("*_sets.toml"))), ids=lambda path: path.stem
)
def test_studies_of_the_project_are_sound(path):
    study = read_study(path)
    assert study.sets_file.is_file()
    if study.kind != "trees":
        return
    assert len(study.sets) >= 10 and study.repeats == 10 and study.settings.folds == 10
    for method in study.methods:
        if method.grower == "cstree":
            assert callable(_OWN_CRITERIA.get(method.criterion) or CRITERIA.resolve(method.criterion))


def test_a_study_may_be_based_on_another(tmp_path):
    (tmp_path / "base.toml").write_text("seed = 5\nrepeats = 4\n" + SMALL)
    (tmp_path / "high.toml").write_text('based_on = "base.toml"\nlevel = "high"\n')
    study = read_study(tmp_path / "high.toml")
    assert (study.name, study.repeats, study.settings.seed, study.settings.level) == ("high", 4, 5, "high")
    (tmp_path / "third.toml").write_text('based_on = "high.toml"\n')
    with pytest.raises(ValueError, match="based on another file"):
        read_study(tmp_path / "third.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("repeats = 0" + SMALL, "repeats must be a whole number from 1 on; got 0"),
        ("folds = true" + SMALL, "folds must be a whole number"),
        ("depths = []" + SMALL, "depths must be"),
        ('level = "huge"' + SMALL, "level 'huge' is none of"),
        ('prunings = ["hard"]' + SMALL, "pruning 'hard' is none of"),
        ("fold = 3" + SMALL, "unknown key 'fold'"),
        (SMALL + "depth = 3", "method 'a' has the unknown key 'depth'"),
        (SMALL + 'answers = "weighted"', "answer at least cost"),
        (SMALL + '[[methods]]\nname = "a"', "method 'a' is listed twice"),
        (SMALL.replace('reference = "a"', 'reference = "b"'), "reference 'b' is none of the methods a"),
        (SMALL.replace('sets = ["heart"]', "sets = []"), "has no sets"),
        ("x = = 1", "is not TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, message):
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_study(path)
