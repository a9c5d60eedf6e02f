"""The mathematics: margins, losses, risks, their sums over rows, objectives, solvers."""
