"""What a tuned classifier chose, as the commands tell it."""

from __future__ import annotations

from typing import Any

from . import _face as face


def chosen(estimator: Any) -> dict[str, Any] | None:
    """What a fitted classifier chose and why; None where it chooses nothing."""
    if not hasattr(estimator, "reason_"):
        return None
    from ._scores import metric_of

    weight = estimator.unlabeled_weight_
    return {
        "l2": estimator.l2_,
        "unlabeled_weight": weight,
        # Of no account where unlabelled rows have no weight.
        "removed_class": estimator.removed_class_ if weight else None,
        "prior_share": estimator.prior_share_,
        "bandwidth": getattr(estimator, "bandwidth_", None),
        "gain": {
            "metric": metric_of(estimator.loss),
            "mean": estimator.gain_,
            "standard_error": estimator.gain_se_,
        },
        "reason": estimator.reason_,
    }


def say_chosen(found: dict[str, Any]) -> None:
    """Print it: a table, and the reason below."""
    rows = [
        ["penalty, l2", f"{found['l2']:g}"],
        ["weight of unlabelled rows in the risk", f"{found['unlabeled_weight']:g}"],
        ["share of the thresholds that class priors set", f"{found['prior_share']:.2f}"],
    ]
    if found["removed_class"] is not None:
        rows.insert(2, ["class that they stand in for", str(found["removed_class"])])
    if found["bandwidth"] is not None:
        rows.append(["width of the kernel", f"{found['bandwidth']:.4g}"])
    gain = found["gain"]
    rows.append(
        [
            f"gain (fall of the {gain['metric']}) over labelled rows alone",
            f"{gain['mean']:.3f} ±{face.number(gain['standard_error'])}",
        ]
    )
    face.say_table("Chosen from the data", ["", "value"], rows)
    face.say(f"Why: {found['reason']}")
