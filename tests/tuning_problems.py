"""One problem, as the search sees it."""

from __future__ import annotations

import numpy as np

from problems import make_problem
from semiordinal._risk.losses import get_loss
from semiordinal._risk.objective import Coordinates, threshold_map
from semiordinal._risk.risks import Risk
from semiordinal._rows import MatrixRows, RowLabels
from semiordinal._rows.labels import encode_labels
from semiordinal._score.tuning import TuningRows

PROBLEM = make_problem(n_labeled=40, n_unlabeled=120)
CODES = encode_labels(PROBLEM.y).codes
COUNTS = np.bincount(CODES[CODES >= 0]).astype(float)


def tuning_rows(loss="at", prior=PROBLEM.prior, weighting="rows", codes=CODES):
    chosen = get_loss(loss)
    coordinates = Coordinates(3, np.array([1.0, 2.0, 0.5]), None, threshold_map(chosen, 4))
    risk = Risk(weighting=weighting)
    design = MatrixRows([PROBLEM.X])
    return TuningRows(design, RowLabels(codes), chosen, coordinates, prior, risk)
