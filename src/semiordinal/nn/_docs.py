"""The classifier's parameters: those that all classifiers share, and those of training."""

from __future__ import annotations

from typing import TypeVar

from ..estimators import _docs as shared

_TRAINING = """\
module : torch.nn.Module class, function or instance, optional
    The network: its class, or a function that returns one, is called with ``module_params``,
    and with ``n_features`` where it takes such an argument; an instance is copied, weights
    included. It maps (n, n_features) to one score for each row. By default one hidden layer
    of 256 rectified linear units (`HiddenLayerNetwork`).
module_params : dict, optional
    Arguments of ``module``, such as ``{"n_hidden": 64}``.
correction_step : {"gradient", "descent_ascent"}, default="gradient"
    The step where the unlabelled part is negative: along the gradient of the corrected
    risk, or along minus that of the negative part alone (Kiryo et al., 2017).
optimizer : str or torch.optim.Optimizer class, default="Adam"
optimizer_params : dict, optional
    More of its arguments.
lr : float, default=0.005
    Learning rate.
max_epochs : int, default=1000
batch_size : int, "full" or "auto", default="auto"
    Most rows of a mini-batch, each of which holds labelled rows of every class and unlabelled
    rows; "full" for all rows at once, as in the paper; "auto" for this up to 10,000 rows,
    and 1,024 above.
early_stopping : bool, default=False
    Hold out rows, labelled and unlabelled, and stop when the unbiased risk on them has not
    fallen for ``patience`` epochs; the state of the best epoch is kept.
validation_fraction : float, default=0.2
    Share of the rows to hold out.
patience : int, default=50
device : str, default="cpu"
    A torch device, or "auto" for an accelerator where there is one.
checkpoint_dir : str or path, optional
    Folder to write checkpoints to.
checkpoint_every : int, default=10
    Epochs between checkpoints.
resume : bool, default=False
    Go on from the checkpoint in ``checkpoint_dir``, if there is one; the result is that of
    a run that was not interrupted.
progress : bool, default=False
    Show a progress bar.
random_state : int, RandomState or None, default=None
    For starting weights, batches, dropout and held-out rows. The same number gives the
    same result on the same machine."""

_NETWORK_ATTRIBUTES = """\
module_ : torch.nn.Module
    The trained network and its thresholds.
history_ : list of dict
    Epoch, seconds, training loss and held-out risk of each epoch.
column_mean_, column_scale_ : arrays of shape (n_features,)
    What columns were standardised by.
"""

_REPLACED = {
    '"leaky", "absolute"}, default="none"': '"leaky", "absolute"}, default="leaky"',
    "l2 : float, default=0.01\n    Weight of half the squared norm of the coefficients": (
        "l2 : float, default=0.0001\n    Weight of half the squared norm of the network's weights"
    ),
}

T = TypeVar("T", bound=type)


def document(cls: T) -> T:
    """Fill the descriptions into the class's docstring."""
    parameters = shared._PARAMETERS
    for old, new in _REPLACED.items():
        parameters = parameters.replace(old, new)
    described = "\n".join([parameters, _TRAINING])
    return shared.fill(cls, described, _NETWORK_ATTRIBUTES + shared._ATTRIBUTES)
