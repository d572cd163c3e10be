"""The noise of a series, seen in the differences of neighbours: a slow change of the level hardly affects those."""

from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.dependence import effective_in_window
from plimsoll.analysis.levels.ramps import Floats
from plimsoll.analysis.median import median

_STEPS = (1, 2, 8, 16)
_OUTLIER = 12.0  # medians of the squared differences: larger ones count as this
_LONGEST = 0.02  # of the series: what is correlated for longer is a change of the level and no noise
_AT_LEAST = 6.0  # samples


@dataclass(frozen=True)
class Noise:
    """AR(1) noise: its standard deviation and coefficient.

    `growth` is by how much the variance of differences grows from one step to eight: by 8 in a random walk, by 3 in
    AR(1) noise of coefficient 0.7. `later_growth` is the same from eight steps to sixteen: 2 and 1.06.
    """

    deviation: float = 0.0
    phi: float = 0.5
    growth: float = 1.0
    later_growth: float = 1.0

    @classmethod
    def of(cls, series: Floats) -> "Noise":
        """The noise of a series, from the variance of its differences over one step and over more."""
        squares = [(series[step:] - series[:-step]) ** 2 for step in _STEPS]
        one, two, eight, later = (
            float(np.minimum(s, _OUTLIER * median(s) + 1e-300).mean()) if len(s) else np.nan for s in squares
        )
        if not one or not eight:
            return cls(phi=0.0)
        most = np.exp(-1 / max(_LONGEST * len(series), _AT_LEAST))
        phi = float(np.clip(two / one - 1, 0.0, most))
        return cls(float(np.sqrt(one / (2 * (1 - phi)))), phi, eight / one, later / eight)

    def error_of_mean(self, samples: int) -> float:
        """The standard error of the mean of so many samples in a row."""
        return self.deviation / float(np.sqrt(effective_in_window(samples, self.phi)))
