"""Random costs, told twice: as a `CostModel`, and as plain sets that an oracle reads."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from cstree.costs.model import CostModel, FeatureTest

# Sums of quarters are exact, in whatever order they are taken.
PRICES = st.integers(0, 40).map(lambda quarters: quarters / 4)
AWKWARD = [
    "a",
    "b c",
    'say "hi"',
    "{x} & <y>",
    "back\\slash",
    "line\nbreak",
    "tab\t",
    "价格",
    "💉",
    "é",
    "a.b",
    "'",
    "1",
]


@dataclass
class Told:
    """A cost model, its table's columns, and for each column its test as plain values."""

    model: CostModel
    columns: list[str]
    test_of: dict[str, tuple[str, float, dict[str, float | None]]]
    operations: dict[str, tuple[float, tuple[str, ...]]]

    def steps(self, column: str) -> dict[str, float]:
        """All steps of a column's test with prices, closed under "needs" by repetition."""
        if column not in self.test_of:
            return {}
        name, price, needs = self.test_of[column]
        closed = set(needs)
        while True:
            more = {other for op in closed if op in self.operations for other in self.operations[op][1]}
            if more <= closed:
                break
            closed |= more
        own = {op: figure for op, figure in needs.items() if figure is not None}
        return {name: price} | {op: own[op] if op in own else self.operations[op][0] for op in closed}

    def price(self, column: str, paid: set[str]) -> float:
        """Section 1 of the specification: T_a [a not in D] + sum of T_o [o not in D]."""
        return sum(price for step, price in self.steps(column).items() if step not in paid)


@st.composite
def told_costs(draw: st.DrawFn, all_priced: bool = False) -> Told:
    names = draw(st.permutations([f"op {i}" for i in range(draw(st.integers(0, 5)))]))
    operations: dict[str, tuple[float, tuple[str, ...]]] = {}
    for name in names:  # needs only what is there already: no circle
        needed = draw(st.lists(st.sampled_from(sorted(operations)), unique=True)) if operations else []
        operations[name] = (draw(PRICES), tuple(needed))
    columns, tests, test_of = [], {}, {}
    for t in range(draw(st.integers(1, 5))):
        panel = draw(st.integers(0, 3))  # 0: the column bears the test's name
        name = f"test {t}"
        revealed = [f"column {t}.{i}" for i in range(panel)] or [name]
        direct = draw(st.lists(st.sampled_from(sorted(operations)), unique=True)) if operations else []
        price = draw(PRICES)
        if draw(st.booleans()):
            own = [*direct, *draw(st.sets(st.sampled_from(["only here", "only there"])))]
            figures: dict[str, float | None] = {op: draw(PRICES) for op in own}
            needs: object = dict(figures)
        else:
            figures, needs = dict.fromkeys(direct), tuple(direct)
        tests[name] = FeatureTest(price, needs, tuple(revealed) if panel else ())
        columns += revealed
        test_of |= dict.fromkeys(revealed, (name, price, figures))
    if not all_priced:
        columns += [f"free {i}" for i in range(draw(st.integers(0, 2)))]
    model = CostModel(tests=tests, operations=operations)
    return Told(model, draw(st.permutations(columns)), test_of, operations)


LABELS = st.one_of(
    st.lists(st.sampled_from(AWKWARD), min_size=1, max_size=4, unique=True),
    st.lists(st.integers(-5, 10**12), min_size=1, max_size=4, unique=True),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4, unique=True),
    st.permutations([False, True]),
    st.permutations(["1", 1, 2.5]),
)


@st.composite
def any_models(draw: st.DrawFn) -> CostModel:
    """Everything a model can say, with names that need escaping."""
    names = draw(st.permutations(AWKWARD))
    n_operations = draw(st.integers(0, 3))
    operations = {}
    for i in range(n_operations):
        needed = draw(st.lists(st.sampled_from(names[:i]), unique=True)) if i else []
        operations[names[i]] = (draw(PRICES), tuple(needed)) if needed else draw(PRICES)
    free_names = names[n_operations:]
    kinds = st.sampled_from(["price", "needs", "figures"])

    def test(columns: tuple[str, ...]) -> object:
        kind, price = draw(kinds), draw(st.floats(0, 1e9))
        if kind == "price" and not columns:
            return price
        if kind == "figures":
            return FeatureTest(price, {op: draw(PRICES) for op in operations} | {"elsewhere": 1.5}, columns)
        return FeatureTest(price, tuple(operations), columns)

    shape = draw(st.sampled_from(["none", "by name", "by position"]))
    tests: object = None
    if shape == "by position":
        tests = [test(()) for _ in range(draw(st.integers(1, 4)))]
    elif shape == "by name":
        chosen = free_names[: draw(st.integers(1, 4))]
        tests = {name: test((f"{name}: 1", f"{name}: 2") if draw(st.booleans()) else ()) for name in chosen}
    classes = draw(st.none() | LABELS)
    matrix = None
    if draw(st.booleans()):
        k = draw(st.integers(1, 4)) if classes is None else len(classes)
        costs = st.floats(1e-9, 1e300)  # a mistake costs something: no warnings here
        matrix = [[0.0 if t == p else draw(costs) for p in range(k)] for t in range(k)]
    unit = draw(st.sampled_from(["", "EUR", "€ / 价", 'a "b"']))
    return CostModel(matrix, tests=tests, operations=operations, classes=classes, unit=unit)
