"""The neural classifier."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from skorch.helper import predefined_split
from torch import nn

from .._decide import BaseProbabilisticClassifier
from .._risk.risks import Risk
from .._rows import MatrixRows, RowLabels, column_moments
from .._rows.class_shares import resolve_prior
from .._rows.training import TrainingRows, fit_context, training_rows
from .._score.base import RiskParameters
from .._utils.seeds import draw_seed
from .._utils.typing import Array, Correction, Loss, Margin
from ._callbacks import (
    EpochProgress,
    EpochSeed,
    LastGoodState,
    NonFiniteLossError,
    ResumableEarlyStopping,
    State,
)
from ._checkpoint import Checkpoint, plain_history, read_checkpoint
from ._files import export_onnx, read_model, write_model
from ._loss import SemiOrdinalLoss
from ._networks import OrdinalNetwork, build_network, load_weights
from ._parameters import check_parameters, describe_run
from ._training import (
    OrdinalNet,
    RowTensors,
    batch_sampler,
    check_scores,
    find_device,
    find_optimizer,
    hold_out,
    isolated_random_state,
    optimizer_groups,
    penalized_risk,
    standardized_tensor,
)

# Seeds of epochs are this one plus the epoch, and must stay in 63 bits.


class NeuralOrdinalClassifier(RiskParameters, BaseProbabilisticClassifier):
    """Neural ordinal classifier that learns from labelled and unlabelled rows.

    A network gives the latent score, thresholds divide it into classes, and both are trained on
    the risk that the linear and the kernel classifier minimise. The defaults are the paper's for
    networks: one hidden layer of 256 rectified linear units, and 1000 full-batch epochs of Adam
    with a learning rate of 0.005 and a weight decay of 1e-4. In the paper, furthermore,
    ``unlabeled_weight=0.5, removed_class="smallest", order_penalty=10.0``.

    Unlike the other classifiers, it corrects the risk by default: a network is flexible enough to
    drive the unlabelled part far below zero, where it no longer estimates anything.

    Parameters
    ----------
    module : torch.nn.Module class, function or instance, optional
        The network, which maps (n, n_features) to one score for each row. A class, or a function
        that returns a module, is called with ``module_params``, and with ``n_features`` if it
        takes such an argument; an instance is copied with its weights. By default one hidden
        layer of 256 rectified linear units (`HiddenLayerNetwork`).
    module_params : dict, optional
        Arguments of ``module``, such as ``{"n_hidden": 64}``.
    loss, margin, unlabeled_weight, removed_class
        The risk, as of `LinearOrdinalClassifier`.
    correction : {"none", "non_negative", "leaky", "absolute"}, default="leaky"
        What to do where the unlabelled part of the risk, an estimate of something that is at
        least zero, is negative: nothing; set it to zero; multiply by ``leak``; change its sign.
    leak : float, at most 0, default=-0.2
        λ of the leaky correction.
    correction_step : {"gradient", "descent_ascent"}, default="gradient"
        The step where the unlabelled part is negative: along the gradient of the corrected
        risk, or along minus that of the negative part alone (Kiryo et al., 2017).
    order_penalty : float, default=0.0
        μ in ``μ Σ max(0, −log gap)`` over the gaps between thresholds. Thresholds are ordered
        without it; it pushes gaps towards one.
    l2 : float, default=0.0001
        Weight of half the squared norm of the network's weights; thresholds are not penalised.
    standardize, class_prior, classes, missing_label
        As of `LinearOrdinalClassifier`.
    optimizer : str or torch.optim.Optimizer class, default="Adam"
        A name in ``torch.optim``, or a class.
    optimizer_params : dict, optional
        More arguments of the optimiser.
    lr : float, default=0.005
        Learning rate.
    max_epochs : int, default=1000
        Number of passes over the rows.
    batch_size : int, "full" or "auto", default="auto"
        Most rows of a mini-batch, each of which holds labelled rows of every class and unlabelled
        rows; "full" for all rows at once, as in the paper; "auto" for "full" up to 10,000 rows,
        and 1,024 above.
    early_stopping : bool, default=False
        Hold out rows, labelled and unlabelled, and stop when the unbiased risk on them has not
        fallen for ``patience`` epochs; the model is that of the best epoch.
    validation_fraction : float, default=0.2
        Share of the rows to hold out.
    patience : int, default=50
        Epochs without improvement before stopping.
    device : str, default="cpu"
        A torch device, or "auto" for an accelerator if there is one.
    checkpoint_dir : str or path, optional
        Folder for checkpoints.
    checkpoint_every : int, default=10
        Epochs between checkpoints.
    resume : bool, default=False
        Continue from the checkpoint in ``checkpoint_dir``, if there is one; the result is that
        of a run without interruption.
    callbacks : list of skorch callbacks, optional
        Called in training after those of the classifier, such as
        ``skorch.callbacks.LRScheduler`` for a schedule of learning rates. What they remember is in
        no checkpoint, so they go without ``resume``.
    verbose : bool, default=False
        Show a progress bar.
    random_state : int, RandomState or None, default=None
        For starting weights, batches, dropout and held-out rows. The same number gives the
        same result on the same machine.

    Attributes
    ----------
    module_ : torch.nn.Module
        The trained network and its thresholds.
    history_ : list of dict
        Epoch, seconds, training loss and held-out risk of each epoch.
    objective_value_ : float
        Value of the objective at the end.
    n_iter_ : int
        Number of epochs.
    is_convex_ : bool
        Always False: the objective of a network is not convex.
    column_mean_, column_scale_ : arrays of shape (n_features_in_,)
        Mean and deviation that standardise the columns.
    thresholds_, class_order_, classes_, class_prior_, removed_class_, n_labeled_, n_unlabeled_
        As of `LinearOrdinalClassifier`.
    n_features_in_, feature_names_in_
        As of `LinearOrdinalClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import NeuralOrdinalClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.digitize(np.hypot(*X.T), [0.8, 1.5]).astype(float)
    >>> y[100:] = np.nan
    >>> model = NeuralOrdinalClassifier(max_epochs=100, random_state=0).fit(X, y)
    >>> model.predict([[0.0, 0.1], [0.8, 0.8], [-2.0, 2.0]])
    array([0., 1., 2.])
    """

    class_prior_: Array
    column_mean_: Array
    column_scale_: Array
    history_: list[dict[str, Any]]
    is_convex_: bool
    module_: OrdinalNetwork
    n_iter_: int
    n_labeled_: int
    n_unlabeled_: int
    objective_value_: float
    removed_class_: Any

    def __init__(
        self,
        *,
        module: Any = None,
        module_params: Any = None,
        loss: Loss = "at",
        margin: Margin = "logistic",
        unlabeled_weight: float = 0.25,
        removed_class: Any = "median",
        correction: Correction = "leaky",
        leak: float = -0.2,
        correction_step: str = "gradient",
        order_penalty: float = 0.0,
        l2: float = 1e-4,
        standardize: bool = True,
        class_prior: Any = "labels",
        classes: Any = None,
        missing_label: Any = math.nan,
        optimizer: Any = "Adam",
        optimizer_params: Any = None,
        lr: float = 0.005,
        max_epochs: int = 1000,
        batch_size: int | str = "auto",
        early_stopping: bool = False,
        validation_fraction: float = 0.2,
        patience: int = 50,
        device: str = "cpu",
        checkpoint_dir: Any = None,
        checkpoint_every: int = 10,
        resume: bool = False,
        callbacks: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ):
        self.module = module
        self.module_params = module_params
        self.loss = loss
        self.margin = margin
        self.unlabeled_weight = unlabeled_weight
        self.removed_class = removed_class
        self.correction = correction
        self.leak = leak
        self.correction_step = correction_step
        self.order_penalty = order_penalty
        self.l2 = l2
        self.standardize = standardize
        self.class_prior = class_prior
        self.classes = classes
        self.missing_label = missing_label
        self.optimizer = optimizer
        self.optimizer_params = optimizer_params
        self.lr = lr
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.device = device
        self.checkpoint_dir = checkpoint_dir
        self.checkpoint_every = checkpoint_every
        self.resume = resume
        self.callbacks = callbacks
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_unlabeled: Any = None) -> Self:
        """Train on labelled and unlabelled rows.

        Interrupting it (Ctrl-C) ends the training early and keeps what was learnt.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Sparse rows are made dense.
        y : array-like of shape (n_samples,)
            Labels; NaN, None, pd.NA or ``missing_label`` where a row has none.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight two counts as two such rows, labelled or not.
        X_unlabeled : array, sparse matrix or data frame, optional
            More rows without labels, each of weight one.

        Returns
        -------
        self
        """
        check_parameters(self)
        device = find_device(self.device)
        with fit_context(self):
            rows = training_rows(
                self, X, y, sample_weight, X_unlabeled, self.classes, self.missing_label
            )
            prior = resolve_prior(self.class_prior, rows.totals[0], rows.classes)
            risk = self._risk(rows, prior)
            run = describe_run(self, rows)
            seed = draw_seed(self.random_state)
            if self.random_state is not None:
                run["seed"] = seed
            checkpoint = None
            if self.resume:
                checkpoint = read_checkpoint(Path(self.checkpoint_dir), run, device)
            run["seed"] = seed if checkpoint is None else checkpoint["run"]["seed"]
            with isolated_random_state(device, run["seed"]):
                fitted, error = self._train(rows, prior, risk, device, run, checkpoint)
            for name, value in fitted.items():
                setattr(self, name, value)
        if error is not None:
            began = f"with which epoch {self.n_iter_} began"
            raise self._loss_error(error, f"The model is left in its last good state, {began}.")
        return self

    def _train(
        self,
        rows: TrainingRows,
        prior: Array,
        risk: Risk,
        device: torch.device,
        run: State,
        checkpoint: State | None,
    ) -> tuple[dict[str, Any], NonFiniteLossError | None]:
        """All fitted attributes; with the error if these are of the state before it."""
        mean, scale = self._standardization(rows)
        network, data = self._network_and_data(rows, risk, device, mean, scale)
        train, valid = data, None
        if self.early_stopping:
            train, valid = hold_out(data, self.validation_fraction, rows.classes, run["seed"])
        net = self._net(network, train, valid, risk, prior, device, run, checkpoint)
        module = net.module_
        stopped_by = None
        try:
            net.partial_fit(train)
        except NonFiniteLossError as error:
            if not error.restored:
                raise self._loss_error(error, "There is no good state to keep.") from None
            stopped_by = error
        module.eval()
        history = plain_history(net.history)
        fitted = {
            "module_": module,
            "class_order_": rows.classes,
            "class_prior_": prior,
            "removed_class_": rows.classes[risk.removed],
            "n_labeled_": rows.n_labeled,
            "n_unlabeled_": rows.n_unlabeled,
            "column_mean_": mean,
            "column_scale_": scale,
            "history_": history,
            "n_iter_": len(history),
            "is_convex_": False,
        }
        with torch.no_grad():
            fitted["thresholds_"] = _thresholds(module)
            if stopped_by is None:
                value = penalized_risk(module, module(train.rows), train.batch[1], float(self.l2))
                fitted["objective_value_"] = value.item()
            else:
                fitted["objective_value_"] = history[-1]["train_loss"]
        return fitted, stopped_by

    def _network_and_data(
        self, rows: TrainingRows, risk: Risk, device: torch.device, mean: Array, scale: Array
    ) -> tuple[nn.Module, RowTensors]:
        """The network as it starts, and the rows that it is to learn from."""
        network = build_network(self.module, self.module_params, rows.matrix.n_columns)
        dtype = next(network.parameters()).dtype
        data = RowTensors(
            standardized_tensor(rows.in_memory, mean, scale, dtype, device),
            rows.labels.codes,
            rows.labels.weights,
        )
        check_scores(network.to(device), data.rows[:4])
        if not risk.unlabeled_weight and rows.n_unlabeled:
            data = data.take(np.flatnonzero(data.codes >= 0))
        return network, data

    def _loss_error(self, error: NonFiniteLossError, state: str) -> ValueError:
        return ValueError(
            f"The loss became {error.loss} in epoch {error.epoch}. {state} Lower lr (now "
            f"{self.lr}), raise l2 (now {self.l2}), set standardize=True where columns are large, "
            "or use margin='logistic'."
        )

    def _standardization(self, rows: TrainingRows) -> tuple[Array, Array]:
        n_features = rows.matrix.n_columns
        if not self.standardize:
            return np.zeros(n_features), np.ones(n_features)
        moments = column_moments(rows.matrix, rows.labels.weights)
        return moments.mean, moments.scale

    def _make_loss(self, risk: Risk, prior: Array, class_counts: Array) -> SemiOrdinalLoss:
        return SemiOrdinalLoss(
            len(prior),
            loss=self.loss,
            margin=self.margin,
            unlabeled_weight=risk.unlabeled_weight,
            removed_class=risk.removed,
            correction=self.correction,
            leak=self.leak,
            correction_step=self.correction_step,
            order_penalty=self.order_penalty,
            class_prior=prior,
            class_counts=class_counts,
        )

    def _net(
        self,
        network: nn.Module,
        train: RowTensors,
        valid: RowTensors | None,
        risk: Risk,
        prior: Array,
        device: torch.device,
        run: State,
        checkpoint: State | None = None,
    ) -> OrdinalNet:
        """What trains the network on some rows, ready to start."""
        sampler = batch_sampler(train, self.batch_size, run["seed"])
        counts = RowLabels(train.codes, train.weights).totals(len(prior))[:-1]
        loss = self._make_loss(risk, prior, counts)
        module = OrdinalNetwork(network, loss.to(device, train.rows.dtype))
        memory = None if checkpoint is None else checkpoint["early_stopping"]
        stopping = ResumableEarlyStopping(self.patience, memory) if self.early_stopping else None
        done = 0 if checkpoint is None else len(checkpoint["history"])
        last = max(int(self.max_epochs), done)
        callbacks: list[Any] = [EpochSeed(run["seed"], sampler), LastGoodState()]
        if self.verbose:
            callbacks.append(EpochProgress(last, done))
        if stopping is not None:
            callbacks.append(stopping)
        if self.checkpoint_dir is not None:
            every = int(self.checkpoint_every)
            folder = Path(self.checkpoint_dir)
            callbacks.append(Checkpoint(folder, every, last, run, stopping))
        callbacks += copy.deepcopy(list(self.callbacks or ()))
        optimizer = find_optimizer(self.optimizer)
        net = OrdinalNet(
            module,
            l2=float(self.l2),
            sampler=sampler,
            optimizer=optimizer,
            lr=float(self.lr),
            max_epochs=last - done,
            train_split=None if valid is None else predefined_split(valid),
            callbacks=callbacks,
            callbacks__print_log=None,
            device=str(device),
            **optimizer_groups(optimizer),
            **{f"optimizer__{name}": v for name, v in (self.optimizer_params or {}).items()},
        )
        try:
            net.initialize()
        except TypeError as error:
            raise ValueError(
                f"optimizer={self.optimizer!r} cannot be made with optimizer_params="
                f"{self.optimizer_params!r}: {error}."
            ) from error
        if checkpoint is not None:
            load_weights(net.module_, checkpoint["state"], str(self.checkpoint_dir))
            net.optimizer_.load_state_dict(checkpoint["optimizer"])
            net.history.extend({**row, "batches": []} for row in checkpoint["history"])
        return net

    def _latent(self, rows: Any) -> Array:
        module = self.module_
        parameter = next(module.network.parameters())
        latent = np.empty(rows.shape[0])
        with torch.no_grad():
            for at, block in MatrixRows([rows]).blocks():
                tensor = standardized_tensor(
                    MatrixRows([block]),
                    self.column_mean_,
                    self.column_scale_,
                    parameter.dtype,
                    parameter.device,
                )
                latent[at] = module(tensor).cpu().numpy()
        return latent

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write the fitted model to a file of tensors and plain values, whole or not at all.

        Parameters
        ----------
        path : str or path
        force : bool, default=False
            Overwrite a file that is there.
        """
        write_model(self, path, force)

    @classmethod
    def load(
        cls, path: Any, *, module: Any = None, module_params: Any = None, device: str = "cpu"
    ) -> Self:
        """Read a model that `save` wrote; nothing in the file is run as code.

        Parameters
        ----------
        path : str or path
        module, module_params
            Those of the model, where it was not the default network: a file holds weights,
            not classes.
        device : str, default="cpu"

        Returns
        -------
        NeuralOrdinalClassifier
        """
        return read_model(cls, path, module, module_params, device)

    def to_onnx(self, path: str | Path, force: bool = False) -> None:
        """Write network and thresholds as an ONNX graph; needs the extra ``onnx``.

        Its input is ``rows``, 64-bit floats of shape (n, n_features) on the scale of X; its
        outputs are ``latent`` (n,), ``position`` (n,), which indexes ``class_order_``, and
        ``thresholds``.

        Parameters
        ----------
        path : str or path
        force : bool, default=False
            Overwrite a file that is there.
        """
        export_onnx(self, path, force)


def _thresholds(module: OrdinalNetwork) -> Array:
    return module.loss.thresholds().detach().cpu().numpy().astype(np.float64)
