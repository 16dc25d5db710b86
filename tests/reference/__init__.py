"""The slow, obvious twins that judge every kernel: plain Python, one case at a time.

Nothing here imports the package. Numbers are Python floats, sums are `math.fsum`, trees are nested nodes.

Conventions: ``rows`` is a list of cases, a case is a list of raw values (numeric: float, nan when missing;
categorical: category code, None when missing or unknown); ``y`` holds class indices; ``costs`` is a
`PlainCosts` or anything `plain_costs` understands; ``weights`` and ``example_cost`` may be None. *Support*
counts cases of weight > 0. Sections and equations are those of the formulas in `docs/`.
"""

from .costs import *  # noqa: F403
from .criteria import *  # noqa: F403
from .exact import *  # noqa: F403
from .grower import *  # noqa: F403
from .pareto import *  # noqa: F403
from .pruning import *  # noqa: F403
from .sampling import *  # noqa: F403
from .tree import *  # noqa: F403
