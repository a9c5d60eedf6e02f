"""Trees of scikit-learn as plain arrays for model files, checked before they become trees again.

The compiled code of scikit-learn follows the numbers in its arrays wherever they point. So no
object of its own is ever in a model file: what is there are the parameters of the estimator and
arrays of nodes, and a new estimator is built from them once all of them fit together.
"""
