"""The study of a gallery and its impostors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments import recognition
from experiments.cli import DATA
from experiments.records import Records


def test_costs_are_those_of_the_three_mistakes() -> None:
    costs = recognition.recognition_costs([3, 8, 99], 20, 2, 1)
    assert costs.misclassification.tolist() == [[0, 1, 2], [1, 0, 2], [20, 20, 0]]


def test_splits_are_the_same_again_and_apart() -> None:
    one, again, other = (recognition.split_digits(0.3, repeat) for repeat in (0, 0, 1))
    assert (one.X == again.X).all() and not (one.X == other.X).all()
    assert len(one.y) == 450 and len(one.truth) == 900
    assert np.unique(one.y).tolist() == np.unique(one.truth).tolist() == [0, 1, 2, 3, 4, recognition.IMPOSTOR]


def test_strangers_among_the_faces_were_never_seen(shared_faces: Path) -> None:
    split = recognition.split_faces(shared_faces, 0)
    assert (np.bincount(split.y)[-1], np.bincount(split.truth)[-1]) == (150, 150)
    known = np.unique(split.y[split.y != recognition.IMPOSTOR])
    assert len(known) == 10
    assert all((split.y == k).sum() == (split.truth == k).sum() == 5 for k in known)
    assert not (split.X[:, None, :8] == split.new[None, :, :8]).all(axis=2).any()


@pytest.fixture
def shared_faces() -> Path:
    if not (DATA / "olivetti_faces.csv.gz").exists():
        pytest.skip(f"no faces in {DATA}")
    return DATA


@pytest.mark.slow
def test_runs_goes_on_and_reports(tmp_path: Path) -> None:
    out = tmp_path / "recognition.jsonl"
    recognition.run(out, tmp_path, ["digits, noise 0.6", "faces"], repeats=1)  # no faces in this folder
    lines = out.read_bytes()
    recognition.run(out, tmp_path, ["digits, noise 0.6"], repeats=1)
    assert out.read_bytes() == lines
    records = Records(out)
    assert {cell["method"] for cell in records.cells} == set(recognition.METHODS)
    text = recognition.report(records)
    assert "### Cost" in text and "| mcKLR |" in text
