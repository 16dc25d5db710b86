from __future__ import annotations

import numpy as np

from experiments.folds import fold_numbers, generator, stratified_sample


def test_folds_are_stratified_and_even():
    y = np.repeat([0, 1, 2], [37, 8, 60])
    number = fold_numbers(y, 10, generator(1, "heart", 0))
    sizes = np.bincount(number, minlength=10)
    assert sizes.max() - sizes.min() <= 1 and sizes.sum() == len(y)
    for label in range(3):
        counts = np.bincount(number[y == label], minlength=10)
        assert counts.max() - counts.min() <= 1


def test_seeds_depend_on_set_repeat_and_fold():
    def draw(*key):
        return generator(*key).integers(2**60)

    keys = [
        (1, "heart", 0),
        (2, "heart", 0),
        (1, "pima", 0),
        (1, "heart", 1),
        (1, "heart", 0, 1),
        (1, "heart", 1, 1),
    ]
    assert len({int(draw(*key)) for key in keys}) == len(keys)
    assert draw(1, "heart", 0) == draw(1, "heart", 0)


def test_a_sample_keeps_shares_and_every_class():
    y = np.repeat([0, 1, 2], [9000, 998, 2])
    rows = stratified_sample(y, 1000, generator(0, "x"))
    assert np.bincount(y[rows]).tolist() == [900, 100, 1]
    assert (np.diff(rows) > 0).all()
    assert stratified_sample(y, None, generator(0, "x")).tolist() == list(range(len(y)))
    assert len(stratified_sample(y, 20_000, generator(0, "x"))) == len(y)
