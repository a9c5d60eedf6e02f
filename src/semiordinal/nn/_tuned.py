"""The neural classifier that chooses its weight decay and epochs."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from .._decide import BaseProbabilisticClassifier
from .._rows.class_shares import resolve_prior
from .._rows.training import fit_context, training_rows
from .._score.tuning import check_cv, training_folds
from .._utils.checks import check_flag, check_list, check_number
from .._utils.progress import progress
from .._utils.seeds import draw_seed
from .._utils.typing import Array, Loss, Margin
from ._classifier import NeuralOrdinalClassifier
from ._parameters import check_parameters
from ._search import NetworkSearch, settings_of
from ._training import find_device


class NeuralOrdinalClassifierCV(BaseProbabilisticClassifier):
    """Neural ordinal classifier that chooses its weight decay and how long it is trained.

    For each weight decay, a network is trained on the labelled rows of each fold's training part,
    all folds together, until the mean loss of the held-out rows has not fallen for ``patience``
    epochs. The weight decay and the number of epochs of the least such loss are then those of a
    network that is trained on all rows.

    Parameters
    ----------
    module
        As of `NeuralOrdinalClassifier`.
    module_params : dict or list of dict, optional
        Arguments of ``module``, or several to choose from, such as
        ``[{"n_hidden": 32}, {"n_hidden": 256}]``.
    loss
        As of `NeuralOrdinalClassifier`.
    l2s : sequence of float, default=(0.1, 0.03, 0.01, 0.001)
        Weight decays to choose from.
    max_epochs : int, default=500
        Most epochs.
    patience : int, default=50
        Epochs without a lower held-out loss before a setting is left.
    cv : "auto", int, splitter or splits, default="auto"
        Which labelled rows are held out when; "auto" for five folds.
    unlabeled_weight : float in [0, 1], default=0.0
        γ of the risk, as of `NeuralOrdinalClassifier`; zero to learn from labelled rows alone.
    class_prior, standardize, classes, missing_label
        As of `NeuralOrdinalClassifier`.
    optimizer, optimizer_params, lr, batch_size, device
        As of `NeuralOrdinalClassifier`.
    margin
        As of `NeuralOrdinalClassifier`.
    verbose : bool, default=False
        Show a progress bar.
    random_state : int, RandomState or None, default=None
        For folds, starting weights, batches and dropout.

    Attributes
    ----------
    estimator_ : NeuralOrdinalClassifier
        Trained on all rows by the setting chosen.
    l2_ : float
        Its weight decay.
    n_iter_ : int
        Its number of epochs.
    module_params_ : dict or None
    cv_results_ : dict of lists
        For each setting ``l2``, ``module_params``, the least mean held-out loss (``risk``) and
        ``epochs`` at which it was found; an infinite loss where training failed.
    thresholds_, class_order_, classes_, class_prior_, n_labeled_, n_unlabeled_
        As of `NeuralOrdinalClassifier`.
    n_features_in_, feature_names_in_
        As of `NeuralOrdinalClassifier`.

    See Also
    --------
    CalibratedOrdinalClassifier : Thresholds at known class shares, around this or any model.

    Examples
    --------
    >>> import numpy as np
    >>> from semiordinal import NeuralOrdinalClassifierCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.digitize(np.hypot(*X.T), [0.8, 1.5]).astype(float)
    >>> y[100:] = np.nan
    >>> model = NeuralOrdinalClassifierCV(l2s=(0.1, 0.01), max_epochs=60, cv=3, random_state=0)
    >>> model.fit(X, y).l2_
    0.01
    >>> model.predict([[0.0, 0.1], [0.8, 0.8], [-2.0, 2.0]])
    array([0., 1., 2.])
    """

    class_prior_: Array
    cv_results_: dict[str, list[Any]]
    estimator_: NeuralOrdinalClassifier
    l2_: float
    module_params_: Any
    n_iter_: int
    n_labeled_: int
    n_unlabeled_: int

    def __init__(
        self,
        *,
        module: Any = None,
        module_params: Any = None,
        loss: Loss = "at",
        l2s: Any = (0.1, 0.03, 0.01, 0.001),
        max_epochs: int = 500,
        patience: int = 50,
        cv: Any = "auto",
        unlabeled_weight: float = 0.0,
        class_prior: Any = "labels",
        standardize: bool = True,
        classes: Any = None,
        missing_label: Any = math.nan,
        optimizer: Any = "Adam",
        optimizer_params: Any = None,
        lr: float = 0.005,
        batch_size: int | str = "auto",
        device: str = "cpu",
        margin: Margin = "logistic",
        verbose: bool = False,
        random_state: Any = None,
    ):
        self.module = module
        self.module_params = module_params
        self.loss = loss
        self.l2s = l2s
        self.max_epochs = max_epochs
        self.patience = patience
        self.cv = cv
        self.unlabeled_weight = unlabeled_weight
        self.class_prior = class_prior
        self.standardize = standardize
        self.classes = classes
        self.missing_label = missing_label
        self.optimizer = optimizer
        self.optimizer_params = optimizer_params
        self.lr = lr
        self.batch_size = batch_size
        self.device = device
        self.margin = margin
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_unlabeled: Any = None) -> Self:
        """Choose a setting, and train on labelled and unlabelled rows.

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
        self._check_parameters()
        device = find_device(self.device)
        settings = settings_of(self.l2s, self.module_params)
        with fit_context(self):
            rows = training_rows(
                self, X, y, sample_weight, X_unlabeled, self.classes, self.missing_label
            )
            prior = resolve_prior(self.class_prior, rows.totals[0], rows.classes)
            random = check_random_state(self.random_state)
            seed, fold_seed = draw_seed(random), draw_seed(random)
            folds = training_folds(rows.labels.codes, self.cv, 1, fold_seed, sample_weight)
            if not folds:
                raise ValueError(
                    "No class has two labelled rows, so nothing can be held out to choose by. "
                    "Label more rows, or use NeuralOrdinalClassifier."
                )
            models = [self._network(seed, **each) for each in settings]
            risk = models[0]._risk(rows, prior)
            search = NetworkSearch(rows, folds, risk, prior, device, seed)
            trials = []
            with progress("Searching", len(models), bool(self.verbose)) as advance:
                for model in models:
                    trials.append(search.run(model))
                    advance(1)
            self.cv_results_ = {
                "l2": [each["l2"] for each in settings],
                "module_params": [each["module_params"] for each in settings],
                "risk": [each.risk for each in trials],
                "epochs": [each.epochs for each in trials],
            }
            best = int(np.argmin(self.cv_results_["risk"]))
            if not trials[best].epochs:
                raise ValueError(
                    f"The loss was not finite with any of l2s. Lower lr (now {self.lr}), raise "
                    "l2s, or set standardize=True where columns are large."
                )
            model = models[best].set_params(max_epochs=trials[best].epochs)
            self._store(model.fit(X, y, sample_weight, X_unlabeled))
            self.l2_, self.module_params_ = settings[best]["l2"], settings[best]["module_params"]
        return self

    def _check_parameters(self) -> None:
        check_list("l2s", self.l2s)
        for l2 in self.l2s:
            check_number("each of l2s: l2s", l2, 0.0)
        check_cv(self.cv)
        if isinstance(self.module_params, list | tuple):
            check_list("module_params", self.module_params, "dicts")
        for setting in settings_of(self.l2s, self.module_params):
            check_parameters(self._network(0, **setting))
        check_flag("verbose", self.verbose)

    def _network(self, seed: int, l2: float, module_params: Any) -> NeuralOrdinalClassifier:
        names = (
            *("module", "loss", "margin", "unlabeled_weight", "class_prior", "standardize"),
            *("classes", "missing_label", "optimizer", "optimizer_params", "lr", "max_epochs"),
            *("batch_size", "device", "patience"),
        )
        shared = {name: getattr(self, name) for name in names}
        return NeuralOrdinalClassifier(
            l2=l2, module_params=module_params, random_state=seed, **shared
        )

    def _store(self, model: NeuralOrdinalClassifier) -> None:
        """Set the fitted attributes."""
        self.estimator_ = model
        for name in ("class_order_", "class_prior_", "thresholds_", "n_iter_"):
            setattr(self, name, getattr(model, name))
        self.n_labeled_, self.n_unlabeled_ = model.n_labeled_, model.n_unlabeled_

    def _latent(self, rows: Any) -> Array:
        return self.estimator_._latent(rows)
