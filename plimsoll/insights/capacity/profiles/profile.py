"""The content of a profile's YAML file. Field names here are the names in the files (docs/capacity.md)."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

from plimsoll.model.errors import Unusable, suggest
from plimsoll.model.file_models import FieldBounds, FieldParser, entry, file_model
from plimsoll.model.strict_yaml import read, validate
from plimsoll.model.times import SECOND, parse_duration
from plimsoll.model.user_files import read as read_file

FOLDER = Path(__file__).parent
_STEPS = 50  # points of a range at which a curve is checked


def _parse_seconds(value: object) -> object:
    return parse_duration(value) / SECOND if isinstance(value, str) else value


Seconds = Annotated[float, FieldBounds(gt=0), FieldParser(_parse_seconds)]
Amount = Annotated[float, FieldBounds(ge=0)]


@file_model
class Cost:
    """The demand of one operation: `constant + per_user * users + per_rate * rate + per_rate_squared * rate²`.

    `rate` is the number of these operations in a second. A single number is a constant.
    """

    constant: float = 0.0
    per_user: float = 0.0
    per_rate: float = 0.0
    per_rate_squared: float = 0.0

    def of(self, users: float, rate: float) -> float:
        """Return the demand of one operation."""
        return self.constant + self.per_user * users + self.per_rate * rate + self.per_rate_squared * rate**2


def _parse_cost(value: object) -> object:
    return {"constant": value} if isinstance(value, int | float) else value


@file_model
class DocumentedResource:
    """The use of a resource: `idle + per_user * users`, plus the rate of each operation times its cost.

    `total` is the capacity of the resource, and `limit` the part of the capacity that may be used.
    """

    title: str
    unit: str
    idle: Amount = 0.0
    per_user: Amount = 0.0
    total: float | None = None
    limit: float | None = None
    limit_from: str = ""
    demands: Mapping[str, Annotated[Cost, FieldParser(_parse_cost)]] = entry(default_factory=dict)

    def use(self, users: float, rates: Mapping[str, float]) -> float:
        """Return the use by a number of users whose operations have these rates (a second, by name)."""
        demands = (rates[name] * cost.of(users, rates[name]) for name, cost in self.demands.items())
        return self.idle + self.per_user * users + sum(demands)


@file_model
class MeasuredLoad:
    """The highest measured rate of an operation at several numbers of users: (users, operations a second)."""

    operation: str
    at: tuple[tuple[float, float], ...] = entry(min_length=2)


@file_model
class Documented:
    """The costs that a document gives for one kind of server.

    `most` is the highest rate (a second) at which an operation was measured or possible, and `most_because` the reason.
    """

    resources: dict[str, DocumentedResource] = entry(min_length=1)
    most: Mapping[str, float] = entry(default_factory=dict)
    most_because: Mapping[str, str] = entry(default_factory=dict)
    throughput: MeasuredLoad | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if use falls as a rate rises, as by some printed curves: a limit would be reached twice."""
        for resource in self.resources.values():
            for name, cost in resource.demands.items():
                most = self.most.get(name, 0.0)
                uses = [at / _STEPS * most * cost.of(0, at / _STEPS * most) for at in range(_STEPS + 1)]
                if any(after < before for before, after in pairwise(uses)):
                    raise ValueError(f'the cost of "{name}" falls while its rate rises to {most:g} a second')


@file_model
class Profile:
    """The operations of users: a number of each in a session, or shares with a think time before each operation.

    `costs` are for systems that a document measured; otherwise demands are taken from a run.
    """

    title: str
    document: str = ""
    users: Annotated[float, FieldBounds(gt=0)] | None = None
    session: Seconds | None = None
    think_time: Seconds | None = None
    operations: dict[str, Amount] = entry(min_length=1)
    costs: Mapping[str, Documented] = entry(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that the fields fit each other. Raise ValueError, saying what is wrong, if the fields do not."""
        if (self.session is None) == (self.think_time is None):
            raise ValueError("give session (operations are counts in it) or think_time (operations are shares)")
        if not sum(self.operations.values()):
            raise ValueError("operations are all 0")
        for variant in self.costs.values():
            named = {name for resource in variant.resources.values() for name in resource.demands} | set(variant.most)
            named |= {variant.throughput.operation} if variant.throughput else set()
            if strange := named - set(self.operations):
                raise ValueError(f'costs name "{min(strange)}", which is none of the operations')
        if self.costs and self.session is None:
            raise ValueError("costs need session")

    @property
    def kind(self) -> Literal["session", "think time"]:
        """Whether operations are counts in a session, or shares with a think time before each operation."""
        return "session" if self.session is not None else "think time"

    @property
    def shares(self) -> dict[str, float]:
        """The share of each operation among all operations."""
        total = sum(self.operations.values())
        return {name: count / total for name, count in self.operations.items()}

    @property
    def each_second(self) -> dict[str, float]:
        """The rate of each operation by one user (a second); empty for a profile with a think time."""
        return {name: count / self.session for name, count in self.operations.items()} if self.session else {}


def list_shipped() -> dict[str, Path]:
    """Return the paths of the shipped profiles by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.yaml"))}


def load_profile(named: str) -> tuple[Profile, str]:
    """Return a profile and the variant of its costs, for `profile.yaml` or the shipped `membership-directory/4`.

    The variant is the first of the profile if none is named, and empty if the profile has no costs.

    Raises:
        Unusable: The file does not exist or is invalid, or has no such variant.
    """
    paths = list_shipped()
    name, _, variant = named.partition("/")
    path = Path(named)
    if name in paths and not path.is_file():
        path = paths[name]
    else:
        variant = ""
        if not path.is_file() and not path.exists() and path.suffix not in (".yaml", ".yml"):
            raise Unusable(
                f"{named}: is neither a file nor a shipped profile ({', '.join(paths)}){suggest(name, list(paths))}"
            )
    profile = validate(read(str(path), read_file(path)), Profile)
    if variant and variant not in profile.costs:
        raise Unusable(
            f"{named}: {name} has no such variant; it has {', '.join(f'{name}/{cost}' for cost in profile.costs)}"
        )
    return profile, variant or next(iter(profile.costs), "")
