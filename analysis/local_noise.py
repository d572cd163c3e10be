"""The noise of a series, seen in the differences of neighbours: a slow change of the level hardly affects those."""

from dataclasses import dataclass

import numpy as np

from analysis.ramps import Floats

_OUTLIER = 12.0  # medians of the squared differences: larger ones count as this
_LONGEST = 0.02  # of the series: what is correlated for longer is a change of the level and no noise
_AT_LEAST = 6.0  # samples


@dataclass(frozen=True)
class Noise:
    """AR(1) noise: its standard deviation and coefficient; `persistence` is the coefficient before it was limited."""

    deviation: float
    phi: float
    persistence: float

    @classmethod
    def of(cls, series: Floats) -> "Noise":
        """The noise of a series, from the variance of its differences over one step and over two."""
        squares = [(series[step:] - series[:-step]) ** 2 for step in (1, 2, 8)]
        one, two, eight = (float(np.minimum(s, _OUTLIER * float(np.median(s)) + 1e-300).mean()) for s in squares)
        persistence = eight / one if one > 0 else 0.0
        most = np.exp(-1 / max(_LONGEST * len(series), _AT_LEAST))
        phi = float(np.clip(two / one - 1 if one > 0 else 0.0, 0.0, most))
        return cls(float(np.sqrt(one / (2 * (1 - phi)))), phi, persistence)

    def error_of_mean(self, samples: int) -> float:
        """The standard error of the mean of so many samples in a row (Bartlett, 1946)."""
        phi = self.phi
        excess = (1 + phi) / (1 - phi) - 2 * phi * (1 - phi**samples) / (samples * (1 - phi) ** 2)
        return self.deviation * float(np.sqrt(excess / samples))
