"""What the paper leaves open, by name: how ``mode="paper"`` settles it, and what else it may be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class PaperSettings:
    """Settings of ``mode="paper"``; the defaults come closest to the numbers that the paper prints.

    Parameters
    ----------
    refit : {"false", "true"}
        Whether a model is fitted again to all training rows once its hyper-parameters are chosen
        on a third of them.
    ls_thresholds : {"fixed", "learned"}
        With LS: thresholds at i + 1/2 and an intercept that starts at zero; or a first threshold
        that is learnt and starts where it fits the mean class.
    threshold_start : {"classes", "shares"}
        With AT and IT: thresholds start at i + 1/2, halfway between classes, where LS has them; or
        where they fit the class shares, with gaps of two at least.
    start : {"lecun", "default"}
        Coefficients drawn from a normal distribution of variance one over their number, and
        weights of networks likewise; or coefficients of zero, and networks as PyTorch draws them.
    columns : {"printed", "all"}
        fireman-example and kinematics without their last column, which gives the number of inputs
        that the paper prints; or with it.
    removed_class : {"set", "labels"}
        In the tables with 500 labelled rows: the rarest and most frequent class of the whole set,
        or of the labelled rows. With 20 labelled rows it is always the latter.

    Examples
    --------
    >>> PaperSettings.parse(["refit=true"]).switched
    {'refit': 'true'}
    """

    refit: str = "false"
    ls_thresholds: str = "fixed"
    threshold_start: str = "classes"
    start: str = "lecun"
    columns: str = "printed"
    removed_class: str = "set"

    @classmethod
    def parse(cls, words: Iterable[str]) -> PaperSettings:
        """From words such as "refit=true"; an error names what is not known."""
        given: dict[str, str] = {}
        for word in words:
            name, _, value = word.partition("=")
            if name not in CHOICES:
                raise ValueError(f"there is no setting {name!r}; choose from {list(CHOICES)}")
            if value not in CHOICES[name]:
                raise ValueError(f"{name} is one of {list(CHOICES[name])}, not {value!r}")
            if given.get(name, value) != value:
                raise ValueError(f"{name} is given twice, as {given[name]!r} and {value!r}")
            given[name] = value
        return cls(**given)

    @property
    def switched(self) -> dict[str, str]:
        """Those that are not as by default."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }


CHOICES = {
    "refit": ("false", "true"),
    "ls_thresholds": ("fixed", "learned"),
    "threshold_start": ("classes", "shares"),
    "start": ("lecun", "default"),
    "columns": ("printed", "all"),
    "removed_class": ("set", "labels"),
}
