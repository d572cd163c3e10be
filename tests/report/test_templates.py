"""Templates are compiled once, and again where their text has changed."""

import pytest
from jinja2 import Environment

from plimsoll.report.html.templates import make_environment


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """The names of the templates that Jinja compiles."""
    names, compile_ = [], Environment.compile

    def noted(self, source, name=None, *rest):
        names.append(name)
        return compile_(self, source, name, *rest)

    monkeypatch.setattr(Environment, "compile", noted)
    monkeypatch.setenv("PLIMSOLL_CACHE", str(tmp_path))
    return names


def shown(text):
    return make_environment(lambda name: text, {}).get_template("parts/a.html.j2").render(of="<b>")


def test_a_template_is_compiled_once_until_its_text_changes(compiled):
    assert [shown("{{ of }}"), shown("{{ of }}"), shown("more {{ of }}")] == [
        "&lt;b&gt;",
        "&lt;b&gt;",
        "more &lt;b&gt;",
    ]
    assert compiled == ["parts/a.html.j2"] * 2


def test_what_cannot_be_kept_is_compiled_each_time(compiled, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PLIMSOLL_CACHE", str(tmp_path / "file"))
    assert [shown("{{ of }}"), shown("{{ of }}")] == ["&lt;b&gt;"] * 2
    assert compiled == ["parts/a.html.j2"] * 2


def test_commands_in_sentences_are_code_and_all_else_is_text():
    template = make_environment({"a": "{{ text|code }}"}.__getitem__, {}).get_template("a")
    assert template.render(text="see in `top` which <b> grows; ` alone") == (
        "see in <code>top</code> which &lt;b&gt; grows; ` alone"
    )
