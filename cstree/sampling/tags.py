"""What imbalanced-learn asks of a sampler, without importing it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from sklearn.utils import InputTags, Tags

__all__ = ["SamplerTags", "sampler_tags"]


@dataclass
class SamplerTags:
    """Tells that ``sample_indices_`` holds what was taken."""

    sample_indices: bool = True


@dataclass
class _SamplerInput(InputTags):
    """Input tags with imbalanced-learn's own: frames come out as frames."""

    dataframe: bool = True


@dataclass
class _SamplerTags(Tags):
    """Tags of scikit-learn with those of a sampler."""

    sampler_tags: SamplerTags = field(default_factory=SamplerTags)


def sampler_tags(tags: Tags) -> Any:
    """Extend scikit-learn's tags by those of a sampler that takes rows as they are.

    Parameters
    ----------
    tags : Tags
        Of the estimator.

    Returns
    -------
    Tags
        With ``sampler_tags`` and ``input_tags.dataframe``; numbers, texts, categories, missing values and
        sparse tables are welcome.
    """
    given = {f.name: getattr(tags, f.name) for f in fields(tags)}
    given["estimator_type"] = "sampler"
    given["input_tags"] = _SamplerInput(
        sparse=True, categorical=True, string=True, allow_nan=True, two_d_array=True
    )
    extended = _SamplerTags(**given)
    extended.target_tags.required = True
    return extended
