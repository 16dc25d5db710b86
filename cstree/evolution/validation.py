"""Choose a tree of a front by what such a choice costs on cases that the search did not see."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cstree.costs.bound import BoundCosts
from cstree.pareto.front import Front
from cstree.pareto.selection import MISCLASSIFICATION_COST, TEST_COST, SelectionRule, resolve_rule, select
from cstree.tree.caution import cautious_front
from cstree.tree.front_evaluator import Cases, Payments
from cstree.tree.tree import Tree

__all__ = ["PRIOR_CASES", "Choice", "Selection", "Trial"]

# Degrees of caution that are compared by default: docs/decisions/0009 says why these.
PRIOR_CASES = (0.0, 2.0, 8.0, 32.0)

_BOUNDED = {"max_test_cost": TEST_COST, "max_misclassification_cost": MISCLASSIFICATION_COST}
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Choice:
    """A tree, and how it was chosen.

    Attributes
    ----------
    front, index : int
        Which of the fronts holds it, and where.
    prior_cases : float
        The caution with which it was chosen.
    table : DataFrame or None
        The candidates, and what they cost on held-out cases.
    """

    front: int
    index: int
    prior_cases: float
    table: pd.DataFrame | None = None


@dataclass(frozen=True, eq=False)
class Trial:
    """Fronts of a part of the cases, and those that judge them.

    Attributes
    ----------
    fronts : sequence of Front
    held : ndarray of shape (n_held,)
        Which cases judge.
    cases : callable
        Prepares them to be walked down trees of the fronts.
    """

    fronts: Sequence[Front[Tree]]
    held: NDArray[np.intp]
    cases: Callable[[Sequence[Tree]], Cases]


class Selection:
    """A rule, with the degrees of caution in which it may be applied.

    Where there is one degree only, and fronts of several depths, the depths are what is compared.

    Parameters
    ----------
    rule : str, mapping or callable
    objective_names : sequence of str
        Those of the fronts.
    prior_cases : float, sequence of float or None
        Degrees of caution; None: 0, or `PRIOR_CASES` where they are compared.
    standard_errors : float
        So many standard errors above the least held-out cost are as good as the least; errors are those of
        the difference, on the same cases.
    compared : bool
        Whether they will be compared on held-out cases.

    Raises
    ------
    TypeError, ValueError
        A parameter is wrong; the error names it.
    """

    def __init__(
        self,
        rule: SelectionRule,
        objective_names: Sequence[str],
        prior_cases: Any = None,
        standard_errors: Any = 1.0,
        *,
        compared: bool = False,
    ) -> None:
        resolve_rule(rule, objective_names)
        self.rule = rule
        self.prior_cases = _read_prior_cases(prior_cases, compared)
        if not _is_number(standard_errors):
            raise ValueError(f"standard_errors must be a number from 0 on, got {standard_errors!r}.")
        self.standard_errors = float(standard_errors)

    def choose(self, fronts: Sequence[Front[Tree]], prior_cases: float | None = None) -> Choice:
        """Apply the rule to some fronts, seen with caution.

        Parameters
        ----------
        fronts : sequence of Front
        prior_cases : float, optional
            By default the first of the degrees.

        Returns
        -------
        Choice

        Raises
        ------
        ValueError
            No tree satisfies the rule's bound.
        """
        prior = self.prior_cases[0] if prior_cases is None else prior_cases
        together = cautious_front(fronts, prior)
        tree = together[select(together, self.rule)]
        for k, front in enumerate(fronts):
            for index, other in enumerate(front):
                if other is tree:
                    return Choice(k, index, prior)
        raise AssertionError("the chosen tree is on none of the fronts")

    def compare(
        self,
        fronts: Sequence[Front[Tree]],
        trials: Iterable[Trial],
        costs: BoundCosts,
        n_samples: int,
        depths: Sequence[int] = (),
    ) -> Choice:
        """Take the degree of caution, or the depth, whose choices cost least on held-out cases.

        Parameters
        ----------
        fronts : sequence of Front
            Searched on all cases: the tree comes from them.
        trials : iterable of Trial
        costs : BoundCosts
        n_samples : int
            All cases.
        depths : sequence of int
            Limits with which the fronts were searched, ascending: the table names those that are compared.

        Returns
        -------
        Choice

        Raises
        ------
        ValueError
            No tree of the fronts, or no candidate on the held-out cases, satisfies the rule's bound.
        """
        parts, candidates = self._candidates(fronts)
        paid: list[list[Payments]] = [[] for _ in candidates]
        judged = np.zeros(n_samples, dtype=np.int64)
        for trial in trials:
            judged[trial.held] += 1
            trees = [
                self._choose_nearest(trial.fronts[part], each.prior_cases)
                for part, each in zip(parts, candidates, strict=True)
            ]
            cases = trial.cases(trees)
            known = {id(tree): Payments.by_case(tree, cases, costs) for tree in trees}
            for payments, tree in zip(paid, trees, strict=True):
                payments.append(known[id(tree)])
        # A case that is held out several times is still one case.
        repeats = math.sqrt(judged.sum() / np.count_nonzero(judged))
        together = [Payments.together(parts) for parts in paid]
        table, column, rate = self._judge(candidates, together, repeats)
        best = self._best(table, together, column, rate, repeats)
        if len(depths) > 1 and len(self.prior_cases) == 1:
            table.insert(0, "max_depth", [depths[each.front] for each in candidates])
        table["selected"] = np.arange(len(table)) == best
        return replace(candidates[best], table=table)

    def _candidates(self, fronts: Sequence[Front[Tree]]) -> tuple[list[slice], list[Choice]]:
        """List what each degree of caution, or depth, chooses from which fronts, where a tree meets the rule.

        The more cautious come later: among depths the smaller ones.
        """
        if len(self.prior_cases) == 1:
            ways = [(slice(k, k + 1), self.prior_cases[0]) for k in reversed(range(len(fronts)))]
        else:
            ways = [(slice(0, len(fronts)), prior) for prior in self.prior_cases]
        parts, found, refused = [], [], None
        for part, prior in ways:
            try:
                choice = self.choose(fronts[part], prior)
            except ValueError as error:
                refused = refused or error
                continue
            parts.append(part)
            found.append(replace(choice, front=part.start + choice.front))
        if refused is not None and not found:
            raise refused
        return parts, found

    def _choose_nearest(self, fronts: Sequence[Front[Tree]], prior_cases: float) -> Tree:
        """Apply the rule; where no tree satisfies its bound, take the one that comes nearest."""
        try:
            choice = self.choose(fronts, prior_cases)
            return fronts[choice.front][choice.index]
        except ValueError:
            if not isinstance(self.rule, Mapping):
                raise
            (name,) = self.rule
            front = cautious_front(fronts, prior_cases)
            return front[int(np.argmin(front.objectives[:, front.objective_names.index(_BOUNDED[name])]))]

    def _judge(
        self, candidates: Sequence[Choice], paid: Sequence[Payments], repeats: float
    ) -> tuple[pd.DataFrame, int, float]:
        """Held-out costs of the candidates; which of them the rule wants least, and what it counts tests."""
        ((name, number),) = self.rule.items() if isinstance(self.rule, Mapping) else (("", 1.0),)
        rate = {"exchange_rate": float(number), "max_test_cost": 0.0}.get(name, 1.0)
        table = pd.DataFrame({"prior_cases": [each.prior_cases for each in candidates]})
        sums = [payments.means() for payments in paid]
        for column, what in enumerate((MISCLASSIFICATION_COST, TEST_COST, "total_cost")):
            table[what] = [mean[column] for mean, _ in sums]
            table[f"{what}_se"] = [error[column] * repeats for _, error in sums]
        if name == "exchange_rate":
            weighted = [payments.means(rate) for payments in paid]
            table["weighted_cost"] = [mean[2] for mean, _ in weighted]
            table["weighted_cost_se"] = [error[2] * repeats for _, error in weighted]
        return table, 1 if name == "max_misclassification_cost" else 2, rate

    def _best(
        self, table: pd.DataFrame, paid: Sequence[Payments], column: int, rate: float, repeats: float
    ) -> int:
        """Position of the most cautious candidate that is as good as the best one."""
        allowed = np.arange(len(table))
        if isinstance(self.rule, Mapping) and "max_misclassification_cost" in self.rule:
            bound, found = self.rule["max_misclassification_cost"], table[MISCLASSIFICATION_COST].to_numpy()
            allowed = np.flatnonzero(found <= bound + _ROUNDING * np.abs(found))
            if not len(allowed):
                raise ValueError(
                    f"on held-out cases no choice has a misclassification_cost of at most {bound:g}: the "
                    f"least is {found.min():g}; raise max_misclassification_cost to that or more, or choose "
                    "without validation."
                )
        values = np.array([payments.means(rate)[0][column] for payments in paid])
        least = int(allowed[np.argmin(values[allowed])])
        errors = np.array([payments.minus(paid[least]).means(rate)[1][column] for payments in paid])
        slack = self.standard_errors * repeats * np.nan_to_num(errors) + _ROUNDING * abs(values[least])
        return int(allowed[values[allowed] <= values[least] + slack[allowed]].max())


def _read_prior_cases(prior_cases: Any, compared: bool) -> tuple[float, ...]:
    """Degrees of caution, ascending."""
    if prior_cases is None:
        return PRIOR_CASES if compared else (0.0,)
    given = [prior_cases] if isinstance(prior_cases, Real | str) else list(prior_cases)
    if not given or not all(_is_number(value) for value in given):
        raise ValueError(
            f"prior_cases must be a number from 0 on, a sequence of such, or None; got {prior_cases!r}."
        )
    if len(given) > 1 and not compared:
        raise ValueError(
            f"prior_cases={prior_cases!r} are several, to be compared on held-out cases: give validation too."
        )
    return tuple(sorted({float(value) for value in given}))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) < math.inf
