"""Testing a case step by step: which test next, what it costs, what to answer if one stopped."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cstree.costs.bound import BoundCosts
from cstree.encoding.schema import FeatureSchema
from cstree.tree.case import branch_of, case_values, plain_value
from cstree.tree.describe import Condition
from cstree.tree.explain import Explanation, NextTest, Recommendation, Step, evidence
from cstree.tree.tree import Tree
from cstree.tree.words import shown_cost, shown_label, shown_name

__all__ = ["Consultation", "consult", "explain"]


@dataclass(frozen=True, eq=False)
class Consultation:
    """A case that is tested step by step; it does not change, `answer` gives the state that follows.

    Attributes
    ----------
    tree, schema, costs : Tree, FeatureSchema, BoundCosts
        What is consulted.
    node : int
        Where the case is.
    steps : tuple of Step
        Tests that were taken so far, those with known values included.
    spent : float
        What was paid for them.
    paid_before : float
        What values that were known from the start had cost.
    paid : frozenset of int
        Steps of the costs that are paid.
    values : mapping of int to value
        What is known, by feature; None for what is missing.
    free : frozenset of int
        Features whose values were known for nothing.
    decimals : int
        Decimals of costs in texts.
    """

    tree: Tree
    schema: FeatureSchema
    costs: BoundCosts
    node: int = 0
    steps: tuple[Step, ...] = ()
    spent: float = 0.0
    paid_before: float = 0.0
    paid: frozenset[int] = frozenset()
    values: Mapping[int, Any] = field(default_factory=dict)
    free: frozenset[int] = frozenset()
    decimals: int = 2

    def __repr__(self) -> str:
        asked = "done" if self.done else f"next test {self._asked().feature!r}"
        return f"<Consultation: {len(self.steps)} tests taken, spent {self.spent:g}, {asked}>"

    @property
    def done(self) -> bool:
        """Whether no test is left: the case is at a leaf."""
        return bool(self.tree.feature[self.node] < 0)

    @property
    def next_test(self) -> NextTest | None:
        """The test that is asked for next; None when done."""
        return None if self.done else self._asked()

    @property
    def recommendation(self) -> Recommendation:
        """What to answer if one stopped now."""
        return Recommendation.at(self.tree, self.costs, self.node)

    def answer(self, value: Any = None) -> Consultation:
        """Give the outcome of the next test.

        Parameters
        ----------
        value : number, text or boolean, optional
            Value of the feature. None or NaN: the test came to nothing, and is paid all the same.

        Returns
        -------
        Consultation
            The state that follows: at the next test whose value is not known yet, or done.

        Raises
        ------
        ValueError
            No test is asked for; or the value is no number where the feature is numeric.
        """
        if self.done:
            raise ValueError("no test is left: the answer is in recommendation")
        j = int(self.tree.feature[self.node])
        return self._step(plain_value(self.schema[j], value))._follow()

    def explanation(self) -> Explanation:
        """Explain the answer that one would give now."""
        return Explanation(
            self.steps, self.recommendation, self.spent, self.paid_before, self.costs.unit, self.decimals
        )

    def __str__(self) -> str:
        if self.done:
            return str(self.explanation())
        asked, found = self._asked(), self.recommendation
        unit = f" {shown_name(self.costs.unit)}" if self.costs.unit else ""
        lines = [f"{i}. {step.text(self.decimals)}" for i, step in enumerate(self.steps, start=1)]
        lines += [
            f"next: {asked.text(self.decimals)}; spent so far {shown_cost(self.spent, self.decimals)}{unit}",
            f"if you stop now: {shown_label(found.answer)}, expected misclassification cost "
            f"{shown_cost(found.expected_cost, self.decimals)}{unit}",
            *evidence(found, self.decimals),
        ]
        return "\n".join(lines)

    def _asked(self) -> NextTest:
        j = int(self.tree.feature[self.node])
        feature, costs = self.schema[j], self.costs
        needed = costs.steps[costs.step_start[j] : costs.step_start[j + 1]].tolist()
        names = [costs.step_names[step] for step in needed]
        return NextTest(
            feature=feature.name,
            test=costs.test_names[j],
            needs=tuple(name for name in names if name != costs.test_names[j]),
            paid=tuple((costs.step_names[s], price) for s, price in costs.newly_paid(j, self.paid)),
            already_paid=tuple(costs.step_names[step] for step in needed if step in self.paid),
            categories=feature.categories if feature.kind == "categorical" else None,
            branches=tuple(
                self._condition(branch, False).text()
                for branch in range(int(self.tree.n_branches[self.node]))
            ),
        )

    def _step(self, value: Any) -> Consultation:
        """Take the branch of a value; pay for the test, unless the value was known for nothing."""
        tree, j = self.tree, int(self.tree.feature[self.node])
        branch, unknown = branch_of(tree, self.schema[j], self.node, value)
        known, asked = j in self.free, self._asked()
        condition = self._condition(branch, value is None or unknown)
        taken = Step(self.node, asked, value, unknown, branch, condition, known)
        bought = [] if known else self.costs.newly_paid(j, self.paid)
        return replace(
            self,
            node=tree.children(self.node)[branch],
            steps=(*self.steps, taken),
            spent=self.spent + taken.price,
            paid=self.paid.union(step for step, _ in bought),
            values={**self.values, j: value},
        )

    def _follow(self) -> Consultation:
        """Walk on while values are known."""
        state = self
        while not state.done and int(state.tree.feature[state.node]) in state.values:
            state = state._step(state.values[int(state.tree.feature[state.node])])
        return state

    def _condition(self, branch: int, shows_missing: bool) -> Condition:
        tree, node = self.tree, self.node
        feature = self.schema[int(tree.feature[node])]
        missing = bool(tree.missing_branch[node] == branch)
        shows = shows_missing or feature.has_missing
        if tree.table_start[node] < 0:
            cut = float(tree.threshold[node])
            bounds = (-math.inf, cut) if branch == 0 else (cut, math.inf)
            return Condition(feature, *bounds, None, missing, shows, self.decimals)
        codes = tuple(tree.categories_of_branch(node, branch, len(feature.categories)))
        return Condition(feature, codes=codes, missing=missing, shows_missing=shows, decimals=self.decimals)


def consult(
    tree: Tree,
    schema: FeatureSchema,
    costs: BoundCosts,
    known: Mapping[str, Any] | None = None,
    *,
    known_paid: bool = False,
    decimals: int = 2,
) -> Consultation:
    """Begin to test a case step by step.

    Parameters
    ----------
    tree : Tree
    schema : FeatureSchema
    costs : BoundCosts
    known : mapping of feature name to value, optional
        What is known of the case already, and is not asked for; None for what is known to be missing.
    known_paid : bool, default=False
        False: known values are from the record and cost nothing; operations that their tests need have not
        been done now, so the next test that needs one pays for it. True: their tests were taken on this
        very occasion; they and the operations that they needed are paid, and no later test pays them again.
    decimals : int, default=2
        Decimals of costs in texts.

    Returns
    -------
    Consultation
        At the first test whose value is not known, or done.

    Raises
    ------
    ValueError
        A name is no feature, or a value is no number where the feature is numeric.
    """
    values = case_values(schema, known or {})
    paid: set[int] = set()
    before = 0.0
    if known_paid:
        for j in values:
            for step, price in costs.newly_paid(j, paid):
                paid.add(step)
                before += price
    start = Consultation(
        tree,
        schema,
        costs,
        paid_before=before,
        paid=frozenset(paid),
        values=values,
        free=frozenset() if known_paid else frozenset(values),
        decimals=decimals,
    )
    return start._follow()


def explain(
    tree: Tree, schema: FeatureSchema, costs: BoundCosts, case: Mapping[str, Any], *, decimals: int = 2
) -> Explanation:
    """Explain the answer to one case.

    Parameters
    ----------
    tree : Tree
    schema : FeatureSchema
    costs : BoundCosts
    case : mapping of feature name to value
        Features that it lacks are missing.
    decimals : int, default=2
        Decimals of costs in the text.

    Returns
    -------
    Explanation

    Raises
    ------
    ValueError
        A name is no feature, or a value is no number where the feature is numeric.
    """
    values = case_values(schema, case)
    state = Consultation(tree, schema, costs, decimals=decimals)
    while not state.done:
        state = state._step(values.get(int(tree.feature[state.node])))
    return state.explanation()
