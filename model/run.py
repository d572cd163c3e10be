"""A run: a test or a stretch of operation that is judged as one."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Phase:
    """A named part of a run (`ramp-up`, `steady`). Both ends belong to it; UTC ns."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Run:
    """What is known of a run beside its logs.

    `phases` is empty where they are not known; rules that want one are then judged throughout
    and marked so. `simulated` runs say so wherever they are shown.
    """

    name: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    phases: tuple[Phase, ...] = ()
    simulated: bool = False
