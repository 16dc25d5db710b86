"""Why a case gets its answer: the tests it took, what they cost, and what training cases say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from cstree.costs.bound import BoundCosts
from cstree.tree.describe import Condition
from cstree.tree.tree import Tree
from cstree.tree.words import shown_cost, shown_label, shown_name

__all__ = ["Explanation", "NextTest", "Recommendation", "Step", "evidence"]


@dataclass(frozen=True, eq=False)
class NextTest:
    """The test that a tree asks for next.

    Attributes
    ----------
    feature : str
        Name of the feature whose value is wanted.
    test : str
        Name of the test that reveals it; "" when it is free.
    needs : tuple of str
        Operations that the test needs.
    paid : tuple of (str, float)
        Steps that have to be paid now, the test's own and operations, and their prices.
    already_paid : tuple of str
        Steps that the test needs and that were paid before.
    categories : tuple or None
        Values that a categorical feature had in training; None for numbers.
    branches : tuple of str
        What the tree asks of the value, a condition for each branch.
    """

    feature: str
    test: str
    needs: tuple[str, ...]
    paid: tuple[tuple[str, float], ...]
    already_paid: tuple[str, ...]
    categories: tuple[Any, ...] | None
    branches: tuple[str, ...]

    @property
    def price(self) -> float:
        """What the test costs now."""
        return sum((price for _, price in self.paid), 0.0)

    def text(self, decimals: int = 2) -> str:
        """Say what is tested and what has to be paid for it."""
        name = f"test {shown_name(self.feature)}"
        if not self.paid:
            return f"{name}, {'already paid' if self.test else 'free'}"
        text = f"{name}, pay {shown_cost(self.price, decimals)}"
        if [step for step, _ in self.paid] != [self.feature]:
            parts = [f"{shown_name(step)} {shown_cost(price, decimals)}" for step, price in self.paid]
            text += f" ({' + '.join(parts)})"
        done = " and ".join(shown_name(step) for step in self.already_paid)
        return f"{text}, {done} already paid" if done else text


@dataclass(frozen=True, eq=False)
class Step:
    """A test that was taken.

    Attributes
    ----------
    node : int
        Node of the tree.
    asked : NextTest
        What was asked, and what it cost.
    value : object
        The answer; None when it is missing.
    unknown : bool
        The value is a category that training had not seen at this node: it travels as missing.
    branch : int
        Branch that was taken.
    condition : Condition
        What this branch asks of the value.
    known : bool
        The value was known before and not paid for.
    """

    node: int
    asked: NextTest
    value: Any
    unknown: bool
    branch: int
    condition: Condition
    known: bool = False

    @property
    def price(self) -> float:
        """What was paid."""
        return 0.0 if self.known else self.asked.price

    def text(self, decimals: int = 2) -> str:
        """Say what was tested and paid, what came out, and which branch that takes."""
        begin = f"{shown_name(self.asked.feature)} is known" if self.known else self.asked.text(decimals)
        value = "missing" if self.value is None else _shown_value(self.value)
        if self.unknown:
            value += ", not seen here in training"
        return f"{begin}: {value} ({self.condition.text(8)})"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "node": self.node,
            "feature": self.asked.feature,
            "test": self.asked.test or None,
            "value": _json_value(self.value),
            "unknown": self.unknown,
            "known": self.known,
            "branch": self.branch,
            "condition": self.condition.text(),
            "pays": {} if self.known else dict(self.asked.paid),
            "already_paid": list(self.asked.already_paid),
            "price": self.price,
        }


@dataclass(frozen=True, eq=False)
class Recommendation:
    """What to answer at a node.

    Attributes
    ----------
    node : int
        Node of the tree.
    answer : label
        The class of least expected cost.
    shares : dict of label to float
        Share of each class among the training cases, by weight.
    expected_costs : dict of label to float
        Average misclassification cost of giving each answer to these cases.
    support : int
        How many training cases these are. Where none came to the node they are those of the nearest node
        above it that some came to.
    """

    node: int
    answer: Any
    shares: dict[Any, float]
    expected_costs: dict[Any, float]
    support: int

    @classmethod
    def at(cls, tree: Tree, costs: BoundCosts, node: int) -> Recommendation:
        """Read what a node of a tree says."""
        parents, known = tree.parents(), node
        while known > 0 and not tree.class_weight[known].any():
            known = int(parents[known])
        weight = tree.class_weight[known]
        total = float(weight.sum())
        return cls(
            node,
            costs.classes[tree.answer[node]],
            dict(zip(costs.classes, (weight / total).tolist(), strict=True)),
            dict(zip(costs.classes, (tree.label_cost[known] / total).tolist(), strict=True)),
            int(tree.support[known]),
        )

    @property
    def expected_cost(self) -> float:
        """Average misclassification cost of the answer."""
        return self.expected_costs[self.answer]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "node": self.node,
            "answer": self.answer,
            "expected_cost": self.expected_cost,
            "support": self.support,
            "answers": [
                {"label": label, "share": share, "expected_cost": self.expected_costs[label]}
                for label, share in self.shares.items()
            ],
        }


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a case gets its answer; its text is for people.

    Attributes
    ----------
    steps : tuple of Step
        The tests in order.
    recommendation : Recommendation
        The answer and what it rests on.
    test_cost : float
        What was paid for tests.
    paid_before : float
        What values that were known from the start had cost.
    unit : str
        Unit of the costs.
    decimals : int
        Decimals of costs in the text.
    """

    steps: tuple[Step, ...]
    recommendation: Recommendation
    test_cost: float
    paid_before: float = 0.0
    unit: str = ""
    decimals: int = 2

    @property
    def answer(self) -> Any:
        """The class that is answered."""
        return self.recommendation.answer

    def __str__(self) -> str:
        lines = [f"{i}. {step.text(self.decimals)}" for i, step in enumerate(self.steps, start=1)]
        found, unit = self.recommendation, f" {shown_name(self.unit)}" if self.unit else ""
        tests = shown_cost(self.test_cost, self.decimals) + unit
        if self.paid_before:
            tests += f" and {shown_cost(self.paid_before, self.decimals)}{unit} before"
        mistakes = shown_cost(found.expected_cost, self.decimals) + unit
        answer = shown_label(found.answer)
        lines.append(f"answer {answer}: tests {tests}, expected misclassification cost {mistakes}")
        lines += evidence(found, self.decimals)
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "steps": [step.to_dict() for step in self.steps],
            "test_cost": self.test_cost,
            "paid_before": self.paid_before,
            "unit": self.unit,
            **self.recommendation.to_dict(),
        }


def evidence(found: Recommendation, decimals: int) -> list[str]:
    """Say what training cases tell about the answers."""
    count = "1 training case" if found.support == 1 else f"{found.support} training cases"
    shares = ", ".join(f"{shown_label(label)} {100 * share:.1f} %" for label, share in found.shares.items())
    costs = ", ".join(
        f"{shown_label(label)} {shown_cost(cost, decimals)}" for label, cost in found.expected_costs.items()
    )
    return [f"of {count} like this: {shares}", f"expected cost of each answer: {costs}"]


def _shown_value(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else shown_label(value)


def _json_value(value: Any) -> Any:
    """Return a value that strict JSON can hold; anything else as text."""
    if (
        value is None
        or isinstance(value, (str, bool, int))
        or (isinstance(value, float) and math.isfinite(value))
    ):
        return value
    return str(value)
