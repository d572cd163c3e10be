"""Claims on runs in InfluxDB: see `store.lease`. Their times are the server's, so that no other clock counts."""

from collections.abc import Mapping

from plimsoll.store.influx.quoting import identifier, time_range
from plimsoll.store.influx.server import EVER, Server, Table
from plimsoll.store.line_protocol import point, value
from plimsoll.store.run_states import Claim, Work

CLAIM = "plimsoll_claim"


class InfluxClaims:
    """The claims in a bucket. A claim is one point, and each sign of life is another one with the same tags."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def claim(self, claim: Claim) -> None:
        """Write a claim."""
        self._write(claim, {"work": value(str(claim.work), "string"), "who": value(claim.who, "string")})

    def beat(self, claim: Claim) -> None:
        """Write a sign of life. It does not bring back a claim that has ended."""
        self._write(claim, {})

    def claims(self, life_s: float) -> list[Claim]:
        """All claims; those whose holder was not heard of for `life_s` are not alive."""
        by = 'GROUP BY "run", "holder"'
        written = [*self._server.query(f'SELECT "work", "who" FROM "{CLAIM}" WHERE {time_range(*EVER)} {by}')]
        heard = {
            table.tags["holder"]: int(table.rows[-1][0])
            for table in self._server.query(
                f'SELECT last("beat") FROM "{CLAIM}" WHERE time > now() - {round(life_s * 1e9)} {by}'
            )
        }
        return [_claim(table, heard) for table in written]

    def withdraw(self, holder: str) -> None:
        """End a claim."""
        self._server.delete(*EVER, f"_measurement={identifier(CLAIM)} AND holder={identifier(holder)}")

    def _write(self, claim: Claim, fields: dict[str, str]) -> None:
        tags = {"run": claim.run, "holder": claim.holder}
        self._server.post(point(CLAIM, tags, {"beat": value(1, "integer"), **fields}).encode())


def _claim(table: Table, heard: Mapping[str, int]) -> Claim:
    since, work, who = table.rows[0]
    holder = table.tags["holder"]
    return Claim(table.tags["run"], holder, Work(work), who, since, heard.get(holder, since), holder in heard)
