"""The content of an output as a tree, which is rendered for a terminal, as HTML, as Markdown or as JUnit XML.

A `Document` has a verdict and blocks. Blocks are paragraphs, bullets, facts, tables, charts, curves, statements (of
insights, with a chart) and sections, which contain blocks. Text is a string, or a tuple of strings, of strings with a
role and of links; it may come from outside, and renderers escape it. A `Suite` of `DocumentCheck`s is the form for
build servers.

The renderers are in `plimsoll.report.render`: `terminal.render_lines`, `markdown.render_markdown`, `html.render_page`
(the macro `blocks` of `html/page/document.html.j2` for a part of a page), and `junit.render_junit`.
"""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.samples import Samples
from plimsoll.model.value_text import format_limit


@dataclass(frozen=True)
class ChartSeries:
    """One line to draw, in the style of its `kind`: `samples`, `judged`, `other`, or `line-1` to `line-8`.

    `line-3 dash-1` is dashed in the colour of line 3. `strong` marks a line whose limit is crossed now. `caption`
    replaces the number of samples in the chart's caption. Rows without a value are gaps in the line; unless samples are
    `marked`, the pauses of the recording are gaps as well.
    """

    label: str
    kind: str
    samples: Samples
    caption: str = ""
    marked: bool = False
    strong: bool = False


@dataclass(frozen=True)
class Span:
    """A range of time (UTC ns) to shade in the colour of its severity, or of the chart if it has no severity."""

    start: int
    end: int
    severity: str | None = None

    @property
    def severity_list(self) -> list[str]:
        """The severity of the span in a list; empty if it has none."""
        return [self.severity] if self.severity else []


@dataclass(frozen=True)
class ChartLimit:
    """A threshold, drawn as a labelled line in the colour of its severity; without a severity, of the chart."""

    level: float
    text: str
    severity: str = ""

    @classmethod
    def of(cls, level: float, unit: str, severity: str = "") -> "ChartLimit":
        """Return the limit at a level in `unit`, labelled `threshold 80 %`."""
        return cls(level, f"threshold {format_limit(level, unit)}", severity)


@dataclass(frozen=True, eq=False)
class ChartSpec:
    """A chart before it is encoded: all lines are in `unit`; `label` is the description of the chart."""

    lines: tuple[ChartSeries, ...]
    unit: str
    label: str
    limits: tuple[ChartLimit, ...] = ()
    spans: tuple[Span, ...] = ()


Role = Literal["strong", "quiet", "small", "code", "quote", "critical", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Link:
    """A text that links to an anchor on the same page; only HTML renders the link."""

    text: str
    anchor: str


Inline: TypeAlias = str | tuple[str, Role] | Link
Text: TypeAlias = str | tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; `role` is `sentence` for a section's answer, `summary` for its explanation, `note` for a remark."""

    text: Text
    role: Literal["", "sentence", "summary", "note"] = ""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of short texts."""

    items: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class FactList:
    """Names with values, such as `Threshold` and `> 3,600 s`."""

    rows: tuple[tuple[str, Text], ...]


@dataclass(frozen=True, slots=True)
class FigureList:
    """The values on a report's first screen, as texts: each value, its limit and its name."""

    rows: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; numbers are aligned to the right.

    If a terminal is narrow, columns with an `optional` rank are left out, the lowest rank first. `style` is the CSS
    class of its cells.
    """

    title: str
    numeric: bool = False
    optional: int = 0
    style: str = ""


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """Rows of cells, one cell for each column. `label` names the table for screen readers.

    `highlighted` are the indices of rows that stand out; `style` is a CSS class; `hidden` is the number of rows left
    out; `brief` is how many rows a terminal shows.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Text, ...], ...]
    label: str = ""
    highlighted: frozenset[int] = frozenset()
    style: str = ""
    hidden: int = 0
    brief: int = 24


@dataclass(frozen=True, slots=True)
class ChartBlock:
    """A chart over time, for HTML only: `chart` is a specification, or a chart that `Charts.add` has encoded."""

    chart: ChartSpec | Any
    size: Literal["full", "small", "strip"] = "small"
    title: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """A measured value of a curve, with the text that a pointer on it shows."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Curve:
    """Values over the load, drawn as SVG from zero to `x_end` and `y_end`; only HTML shows the curve.

    Attributes:
        label: A description for readers who cannot see the curve.
        title: The heading of the curve.
        x_title: The quantity of the horizontal axis, with its unit.
        x_end: The end of the horizontal axis.
        y_end: The end of the vertical axis.
        y_unit: The unit of the vertical axis.
        points: The measured values.
        shares: Values of a second axis from 0 to 100 %, drawn as squares.
        fit: The model within the measured range.
        beyond: The model beyond the measured range, drawn dashed.
        band: The interval of the model: x, lowest and highest value.
        limit: A horizontal line, and its text.
        marks: Vertical lines up to a value, with their texts.
        legend: The kind of each mark (`samples`, `other`), and its text.
    """

    label: str
    x_title: str
    x_end: float
    y_end: float
    y_unit: str
    points: tuple[Point, ...] = ()
    title: str = ""
    shares: tuple[Point, ...] = ()
    fit: tuple[tuple[float, float], ...] = ()
    beyond: tuple[tuple[float, float], ...] = ()
    band: tuple[tuple[float, float, float], ...] = ()
    limit: tuple[float, str] | None = None
    marks: tuple[Point, ...] = ()
    legend: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """Sentences on one topic: the first is the answer, the other sentences explain it. A chart may be added.

    A terminal indents the explanation below the answer, unless it is `flush`.
    """

    sentences: tuple[str, ...]
    chart: ChartBlock | None = None
    flush: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading.

    Attributes:
        title: The heading; empty for a group of blocks without one.
        blocks: The blocks under the heading.
        level: The level of the heading, 2 or 3; a terminal shows headings of level 2 only.
        anchor: The id of the section in HTML.
        menu: The entry of the section in the menu of the page; empty if there is none.
        note: A remark on the whole section.
        summary: A text after the title on the same line, such as a count.
        fold: Whether a page folds the section; other outputs leave folded sections out.
        style: The CSS class of the section in HTML.
        brief: How many of the blocks a terminal shows; 0 for all.
        hidden: The number of entries that are left out of `blocks`.
        noun: A word for the hidden entries: `steps`.
    """

    title: Text
    blocks: tuple["Block", ...]
    level: Literal[2, 3] = 2
    anchor: str = ""
    menu: str = ""
    note: Text = ""
    summary: Text = ""
    fold: Literal["", "open", "closed"] = ""
    style: str = ""
    brief: int = 0
    hidden: int = 0
    noun: str = ""


Block: TypeAlias = (
    Paragraph | Bullets | FactList | FigureList | DocumentTable | ChartBlock | Curve | Statement | Section
)
VerdictKind = Literal["healthy", "warning", "critical", "unknown", ""]


@dataclass(frozen=True)
class VerdictBlock:
    """The answer: a word, the sentence after it, and paragraphs below. `kind` decides its colour."""

    word: str
    sentence: str
    kind: VerdictKind = ""
    paragraphs: tuple[Text, ...] = ()


@dataclass(frozen=True)
class Document:
    """The whole content of one output.

    Attributes:
        kind: `review`, `comparison` or `capacity`.
        title: The title of the page, without the name of the program.
        name: The name of the run or file, or of the compared runs.
        blocks: The blocks, the verdict first; a document on several runs has several verdicts.
        simulated: Whether the data are simulated.
    """

    kind: Literal["review", "comparison", "capacity"]
    title: str
    name: str
    blocks: tuple[Block | VerdictBlock, ...]
    simulated: bool = False


@dataclass(frozen=True)
class DocumentCheck:
    """A check for a build server: it passes, fails with a severity, has an error, or is skipped.

    `type` is the severity or the type of the error. `message` is the reason for a check that did not pass, `details`
    are further lines on the reason. `output` are lines that build servers show apart from the reason.
    """

    group: str
    name: str
    state: Literal["passed", "failed", "error", "skipped"] = "passed"
    type: str = ""
    message: str = ""
    details: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    duration_s: float = 0.0


@dataclass(frozen=True)
class Suite:
    """Checks under one name; `start` is the start of the run (UTC ns), None if unknown."""

    name: str
    checks: Sequence[DocumentCheck]
    start: int | None = None


def join_plain_text(text: Text) -> str:
    """Return a text without roles and links."""
    if isinstance(text, str):
        return text
    return "".join(part if isinstance(part, str) else part.text if isinstance(part, Link) else part[0] for part in text)
