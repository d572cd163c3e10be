"""The cells of one line of a log, where that is certain."""

import re

from plimsoll.ingest.shared.cells import split

# Cells of which some are quoted and some are not.
_MIXED = r'(?:"[^"]*"|[^"{0}]*)(?:{0}(?:"[^"]*"|[^"{0}]*))*'


class Cells:
    """Splits lines at a separator."""

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._mixed = re.compile(_MIXED.format(re.escape(separator)))

    def split(self, line: str) -> list[str] | None:
        """The cells of a line; None if its quotes are damaged."""
        if '"' not in line:
            return line.split(self._separator)
        if line[0] == '"' and line[-1] == '"':
            cells = line[1:-1].split(f'"{self._separator}"')
            if line.count('"') == 2 * len(cells):
                return cells
        return split(line, self._separator) if self._mixed.fullmatch(line) else None

    def whole(self, line: str, *, is_open: bool) -> list[str] | None:
        """The cells of the file's last row that are not cut; None if the row was not cut short, or is damaged.

        A row that has its line end was cut only if it ends within quotes.
        """
        if line[0] == '"':
            *whole, rest = line[1:].split(f'"{self._separator}"')
            closed = rest.removesuffix(self._separator)
            if closed.endswith('"'):
                if not is_open:
                    return None
                whole.append(closed[:-1])
            return None if any('"' in cell for cell in (*whole, rest.rstrip(f'"{self._separator}'))) else whole
        cells = self.split(line)
        if not is_open or cells is None:
            return None
        return cells if line[-1] == '"' else cells[:-1]
