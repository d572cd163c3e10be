"""The mix of operations that capacity is asked for: as it was measured, or that of a profile of users."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.capacity.collinearity import together
from plimsoll.analysis.capacity.demand import Demand
from plimsoll.insights.capacity.observed import Observed
from plimsoll.insights.capacity.profiles.profile import Profile
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Values

_SAME = 0.1  # our choice: shares that differ by less, of all operations, are the same mix
_HARDLY = 2.0  # %: what was used less is known too badly to compare mixes by


@dataclass(frozen=True, eq=False)
class Mix:
    """Shares of the groups of operations, and the highest load of such a mix that was measured (a second).

    `as_measured`: the shares are about those of the run, so response times and the highest throughput hold for it.
    `left_out` are operations of the run that the profile does not have.
    """

    shares: Values
    highest: float
    as_measured: bool = True
    left_out: tuple[str, ...] = ()


def mix_of(
    seen: Observed, groups: Sequence[tuple[int, ...]], profile: Profile | None, demands: Sequence[Demand]
) -> Mix:
    """The measured mix, or that of a profile.

    The highest measured load of another mix is the one that uses no resource more than it was used in the run.

    Raises:
        Unusable: The profile has an operation that the run does not, or shares that the run cannot tell apart.
    """
    measured = together(seen.mix[None, :], tuple(groups))[0]
    if profile is None:
        return Mix(measured, seen.highest)
    shares = np.zeros(len(seen.names))
    # A driver's file of a single operation is read as all requests, without its name.
    only = seen.of_driver and len(seen.names) == len(profile.shares) == 1
    for name, share in profile.shares.items():
        shares[0 if only else _place(seen, name)] += share
    for group in groups:
        _refuse_other_shares(seen, group, shares)
    wanted = together(shares[None, :], tuple(groups))[0]
    left_out = tuple(name for at, name in enumerate(seen.names) if shares[at] == 0)
    alike = float(np.abs(wanted - measured).max()) <= _SAME
    if alike:
        return Mix(wanted, seen.highest, as_measured=True, left_out=left_out)
    each = [(one.highest, float(wanted @ one.linear)) for one in demands]
    most = min((highest / use for highest, use in each if use > 0 and highest > _HARDLY), default=seen.highest)
    return Mix(wanted, most, as_measured=False, left_out=left_out)


def _place(seen: Observed, name: str) -> int:
    plain = [_plain(one) for one in seen.names]
    wanted = _plain(name)
    if wanted in plain:
        return plain.index(wanted)
    alike = [at for at, one in enumerate(plain) if one.endswith(wanted) or wanted.endswith(one)]
    if len(alike) == 1:
        return alike[0]
    raise Unusable(
        f'not known: the profile has the operation "{name}", which was not recorded; recorded were '
        f"{', '.join(seen.names)}"
    )


def _plain(name: str) -> str:
    return name.casefold().replace("_", " ").strip()


def _refuse_other_shares(seen: Observed, group: Sequence[int], shares: Values) -> None:
    """Unusable if operations that only were measured together have other shares of each other in the profile."""
    of = list(group)
    total, measured = float(shares[of].sum()), float(seen.mix[of].sum())
    if len(of) > 1 and total and float(np.abs(shares[of] / total - seen.mix[of] / measured).max()) > _SAME:
        names = ", ".join(seen.names[at] for at in of)
        raise Unusable(
            f"not known: {names} rise and fall together in the run, so what each demands cannot be told, and "
            "the profile has another mix of them; record a run in which their shares vary"
        )
