"""The first screen of a report in Chromium: the verdict, the cause and the evidence are seen without scrolling."""

from base64 import b64encode
from contextlib import closing
from pathlib import Path

import pytest

from plimsoll.api.inputs import Inputs
from plimsoll.api.review import Options, review_inputs
from plimsoll.demo.runs import write_runs
from plimsoll.insights.insights import Insights
from plimsoll.report.html.render import render

EXAMPLES = Path(__file__).parents[2] / "examples"
# Examples whose headlines, causes and next steps are the longest, one that is not known, and one that is well.
IN_TROUBLE = ("active-directory", "membership-directory", "skype-for-business", "web-server")
SEEN = [*(EXAMPLES / one / "trouble" for one in IN_TROUBLE), EXAMPLES / "exchange" / "healthy"]
SCREENS = [(1440, 900, "light"), (390, 844, "dark")]

# How many pixels within each box of a picture differ from the one at the box's corner.
INK = """async ([picture, boxes]) => {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const drawn = canvas.getContext("2d", { willReadFrequently: true });
  drawn.drawImage(image, 0, 0);
  return boxes.map(({ x, y, width, height }) => {
    const { data } = drawn.getImageData(...[x, y, width, height].map(Math.floor));
    let found = 0;
    for (let at = 0; at < data.length; at += 4)
      if (Math.abs(data[at] - data[0]) + Math.abs(data[at + 1] - data[1]) + Math.abs(data[at + 2] - data[2]) > 120) found++;
    return found;
  });
}"""
# Where the elements of each part stand.
BOXES = """parts => parts.map(part => [...document.querySelectorAll(part)].map(one => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return { x, y, width, height };
}))"""


def twenty_hosts(folder: Path) -> Path:
    """Logs of twenty hosts in trouble."""
    folder.mkdir()
    text = (EXAMPLES / "windows-today" / "trouble" / "APPSRV01.csv").read_text(encoding="utf-8")
    for number in range(20):
        (folder / f"{number}.csv").write_text(text.replace("APPSRV01", f"APPSRV{number:02}"), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The reports of the demo, of examples and of twenty hosts, with their insights."""
    folder = tmp_path_factory.mktemp("first")
    runs = [*write_runs(folder / "demo"), *SEEN]
    made = []
    for number, run in enumerate([*runs, twenty_hosts(folder / "many")]):
        insights = Insights(review_inputs(Inputs((str(run),)), Options()))
        path = folder / f"{number}.html"
        path.write_text(render(insights), encoding="utf-8")
        made.append((f"{run.parent.name}/{run.name}", path.as_uri(), insights.review))
    return made


@pytest.fixture(scope="module")
def reader(chromium):
    """A page that reads the pixels of pictures."""
    page = chromium.new_page()
    yield page
    page.close()


def refuse_unseen(page, reader, parts, height):
    """Each of the parts is there, within the first screen, with ink where it stands."""
    found = page.evaluate(BOXES, parts)
    assert all(found), (parts, found)
    boxes = [box for some in found for box in some]
    assert max(box["y"] + box["height"] for box in boxes) <= height, (parts, found)
    picture = b64encode(page.screenshot()).decode()
    ink = reader.evaluate(INK, [picture, boxes])
    assert min(ink) > 60, (parts, found, ink)


def test_the_answer_is_on_the_first_screen(chromium, reader, reports):
    with closing(chromium.new_page()) as page:
        for name, address, review in reports:
            page.goto(address)
            for width, height, scheme in SCREENS:
                page.set_viewport_size({"width": width, "height": height})
                page.emulate_media(color_scheme=scheme)
                parts = [".verdict h1"]
                if page.locator(".figures").count() or review.verdict != "unknown":  # a doubt need not name a value
                    parts.append(".figures div" if width > 1000 else ".figures div:first-child")
                if review.verdict == "not-healthy":
                    parts += [".verdict .cause", ".verdict .next"]
                refuse_unseen(page, reader, parts, height)
                assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_the_reports_are_of_every_verdict(reports):
    assert {review.verdict for _, _, review in reports} == {"healthy", "not-healthy", "unknown"}
