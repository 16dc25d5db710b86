"""Tables and figures of the boosting studies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cstree.metrics import LowerEnvelope, lower_envelope
from cstree.metrics.curve import CostCurve
from experiments.figures import Panel, draw
from experiments.kinds import Pages
from experiments.records import Records
from experiments.report import finished_repeats, markdown_table, publish
from experiments.study import Study

__all__ = ["Series", "largest_gap", "read_series", "report"]

Floats = NDArray[np.float64]
MEASURES = ("FN", "FP", "CE", "NEC")
BAYES = "Bayes rule"


@dataclass(frozen=True)
class Series:
    """What a method does on a set; arrays of shape (repeats, asymmetries), folds of a repeat together.

    Attributes
    ----------
    fn, fp : ndarray
        Rates of missed positive cases and of false alarms.
    prior : float
        Share of the positive test cases.
    asymmetries : ndarray
    """

    fn: Floats
    fp: Floats
    prior: float
    asymmetries: Floats

    @property
    def operating_points(self) -> Floats:
        """PCF of each asymmetry, at the share of positive cases in the test part."""
        dear = self.prior * self.asymmetries
        return np.asarray(dear / (dear + (1 - self.prior) * (1 - self.asymmetries)))

    @property
    def measures(self) -> dict[str, Floats]:
        """FN, FP, CE and NEC."""
        at = self.operating_points
        error = self.prior * self.fn + (1 - self.prior) * self.fp
        return {"FN": self.fn, "FP": self.fp, "CE": error, "NEC": at * self.fn + (1 - at) * self.fp}

    def envelopes(self) -> Iterator[LowerEnvelope]:
        """Yield the envelope of the classifiers of all asymmetries and the constant answers, by repeat."""
        for fn, fp in zip(self.fn, self.fp, strict=True):
            yield lower_envelope([CostCurve(*map(float, rates)) for rates in zip(fn, fp, strict=True)])


def read_series(study: Study, records: Records) -> dict[tuple[str, str], Series]:
    """Collect the finished repeats by set and method."""
    cells = finished_repeats(study, records)
    asymmetries = np.array(study.settings.asymmetries)
    found = {}
    for (name, method), own in cells.groupby(["set", "method"], observed=True):
        missed, alarms = (_sums(own, key) for key in ("missed", "alarms"))
        positive, negative = (own.groupby("repeat")[key].sum().to_numpy() for key in ("positive", "negative"))
        prior = positive.sum() / (positive.sum() + negative.sum())
        rates = missed / positive[:, None], alarms / negative[:, None]
        found[str(name), str(method)] = Series(*rates, float(prior), asymmetries)
    return found


def _sums(cells: pd.DataFrame, key: str) -> Floats:
    return np.array([np.sum(own.tolist(), axis=0) for _, own in cells.groupby("repeat")[key]], dtype=float)


def largest_gap(one: LowerEnvelope, other: LowerEnvelope) -> float:
    """Greatest distance of two envelopes: it lies where a piece of either begins."""
    at = np.union1d(one.probability_cost, other.probability_cost)
    return float(np.abs(one(at) - other(at)).max())


def report(study: Study, records: Records, pages: Pages) -> str:
    """Write the tables, and draw the figures if there is a folder for them."""
    series = read_series(study, records)
    sets = list(dict.fromkeys(name for name, _ in series))
    parts = [_about(study, series, sets), "### NEC by asymmetry, in %", _by_asymmetry(study, series, sets)]
    parts += ["### FN / FP / CE, in %", _mistakes(study, series, sets)]
    parts += ["### Envelopes, and how mistakes move with the asymmetry", _envelope_table(study, series, sets)]
    if pages.figures is not None:
        _draw_curves(study, series, sets, pages)
        _draw_envelopes(study, series, sets, pages)
    return publish(study, "\n\n".join(parts) + "\n", _frame(series), pages)


def _about(study: Study, series: dict[tuple[str, str], Series], sets: Sequence[str]) -> str:
    settings = study.settings
    repeats = len(next(iter(series.values())).fn)
    folds = f"{repeats} x {settings.folds} folds" if settings.folds > 1 else f"{repeats} drawings"
    shares = ", ".join(
        f"{100 * one.prior:.0f} % ({name})" for name in sets for one in [_of_set(series, name)[0]]
    )
    return f"{folds}, {settings.rounds} rounds, at most {settings.max_bins} bins; positive cases: {shares}."


def _of_set(series: dict[tuple[str, str], Series], name: str) -> list[Series]:
    return [one for (owner, _), one in series.items() if owner == name]


def _methods(study: Study, series: dict[tuple[str, str], Series], name: str) -> list[str]:
    return [method.name for method in study.methods if (name, method.name) in series]


def _by_asymmetry(study: Study, series: dict[tuple[str, str], Series], sets: Sequence[str]) -> str:
    rows = []
    for name in sets:
        for method in _methods(study, series, name):
            nec = 100 * series[name, method].measures["NEC"].mean(axis=0)
            rows.append([method, name, *(f"{value:.1f}" for value in nec), f"**{nec.mean():.2f}**"])
    if len(sets) > 1:
        for method in _methods(study, series, sets[0]):
            if any((name, method) not in series for name in sets):
                continue
            every = [series[name, method].measures["NEC"].mean(axis=0) for name in sets]
            nec = 100 * np.mean(every, axis=0)
            rows.append([method, "mean", *(f"{value:.1f}" for value in nec), f"**{nec.mean():.2f}**"])
    return markdown_table(["method", "set", *_shown(study.settings.asymmetries), "mean"], rows)


def _shown(asymmetries: Sequence[float]) -> list[str]:
    return [f"{asymmetry:.3g}" for asymmetry in asymmetries]


def _mistakes(study: Study, series: dict[tuple[str, str], Series], sets: Sequence[str]) -> str:
    """FN / FP / CE in one cell; of many asymmetries about five."""
    every = np.array(study.settings.asymmetries)
    count = min(len(every), 5)
    shown = np.unique(np.linspace(0, len(every) - 1, count).round().astype(int))
    rows = []
    for name in sets:
        for method in _methods(study, series, name):
            means = [100 * series[name, method].measures[m].mean(axis=0) for m in ("FN", "FP", "CE")]
            rows.append([method, name, *(" / ".join(f"{mean[i]:.1f}" for mean in means) for i in shown)])
    return markdown_table(["method", "set", *_shown(every[shown])], rows)


def _envelope_table(study: Study, series: dict[tuple[str, str], Series], sets: Sequence[str]) -> str:
    reference = study.reference
    rows = []
    for name in sets:
        known = {other: list(series[name, other].envelopes()) for other in _methods(study, series, name)}
        for method, envelopes in known.items():
            one = series[name, method]
            area = np.mean([envelope.area for envelope in envelopes])
            gaps = [
                f"{np.mean([largest_gap(a, b) for a, b in zip(envelopes, known[other], strict=True)]):.4f}"
                if other in known and other != method
                else "-"
                for other in (reference, BAYES)
            ]
            nearness = [
                f"{_largest_difference(one, series[name, other]):.4f}"
                if other in known and other != method
                else "-"
                for other in (reference, BAYES)
            ]
            steps = len(one.asymmetries) - 1
            moves = [f"{_steps(rates):.1f} of {steps}" for rates in (-one.fn, one.fp)]
            rows.append([method, name, f"{area:.4f}", *gaps, *nearness, *moves])
    head = [
        f"{what} {other}"
        for what in ("envelope: largest gap to", "NEC: largest difference to")
        for other in (reference, BAYES)
    ]
    return markdown_table(["method", "set", "area of the envelope", *head, "FN falls", "FP rises"], rows)


def _largest_difference(one: Series, other: Series) -> float:
    """Greatest difference over the asymmetries, of the means over the repeats."""
    means = [series.measures["NEC"].mean(axis=0) for series in (one, other)]
    return float(np.abs(means[0] - means[1]).max())


def _steps(values: Floats) -> float:
    """How many steps from an asymmetry to the next do not fall, in the mean over the repeats."""
    return float((np.diff(values, axis=1) >= 0).sum(axis=1).mean())


def _frame(series: dict[tuple[str, str], Series]) -> pd.DataFrame:
    lines = []
    for (name, method), one in series.items():
        for i, asymmetry in enumerate(one.asymmetries):
            means = {key: value[:, i].mean() for key, value in one.measures.items()}
            spread = one.measures["NEC"][:, i].std()
            at = one.operating_points[i]
            lines.append(
                {"set": name, "method": method, "asymmetry": asymmetry, "PCF": at, **means, "NEC_sd": spread}
            )
    return pd.DataFrame(lines).set_index(["set", "method", "asymmetry"]).round(6)


def _draw_curves(
    study: Study, series: dict[tuple[str, str], Series], sets: Sequence[str], pages: Pages
) -> None:
    """Four curves against the asymmetry; of several sets two."""
    panels = []
    for name in sets:
        for measure in MEASURES if len(sets) == 1 else ("FN", "NEC"):
            lines = {
                method: (study.settings.asymmetries, series[name, method].measures[measure].mean(axis=0))
                for method in _methods(study, series, name)
            }
            title = measure if len(sets) == 1 else f"{name}: {measure}"
            panels.append(Panel(title, "asymmetry $C_P / (C_P + C_N)$", measure, lines))
    draw(pages, f"{study.name}_curves", panels, columns=2 if len(sets) == 1 else 4)


def _draw_envelopes(
    study: Study, series: dict[tuple[str, str], Series], sets: Sequence[str], pages: Pages
) -> None:
    """Envelopes of the first repeat, above the lines of the first method's classifiers."""
    panels = []
    for name in sets:
        methods = _methods(study, series, name)
        lines = {}
        for method in methods:
            envelope = next(series[name, method].envelopes())
            lines[method] = (envelope.probability_cost, envelope.normalized_expected_cost)
        first = series[name, methods[0]]
        thin = [((0.0, 1.0), (fp, fn)) for fn, fp in zip(first.fn[0], first.fp[0], strict=True)]
        panels.append(Panel(name, "probability cost PCF", "NEC", lines, thin, top=0.5))
    draw(pages, f"{study.name}_envelopes", panels, columns=2)
