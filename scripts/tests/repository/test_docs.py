"""The documents of the repository: links and anchors resolve, commands and rules exist, and no page
is too long to be read."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from restbench import ROOT, cli
from restbench.experiment.cell import FRAMEWORKS, STRATEGIES, ServiceName

README_MOST_LINES = 120
PAGE_MOST_LINES = 150
#: Words, of a sentence in prose.
SENTENCE_MOST_WORDS = 35
#: The tables of kept runs are made by a program.
KEPT = ROOT / "results"
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"!?\[[^\]\n]*\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)*)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
MAKE = re.compile(r"^(?:\$ )?make ([a-z][a-z0-9-]*)", re.MULTILINE)
RESTBENCH = re.compile(r"\brestbench ([a-z]+)\b([^\n#`]*)")
OPTION = re.compile(r"(?<!\S)--[a-z][a-z-]*")
FILE = re.compile(r"[\w./-]*\w\.(?:py|java|toml|xml|in|md)")
TABLE = re.compile(r"[A-Z_]{3,}")
CITED_RULES = re.compile(r"\brules? (\d+(?:(?:, | and | to |-)\d+)*)")
CITED_SECTION = re.compile(r'\(method, "([^"]+)"\)')


def listed(*patterns: str) -> list[Path]:
    """The files of the repository, new ones among them, that match; none that are ignored."""
    shown = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return sorted(ROOT / name for name in shown.split("\0") if name and (ROOT / name).exists())


DOCUMENTS = [each for each in listed("*.md") if KEPT not in each.parent.parents]
PAGES = [each for each in DOCUMENTS if each.parent == ROOT / "docs"]
#: Names commands that are gone.
CHANGELOG = ROOT / "CHANGELOG.md"
OF_TODAY = [each for each in DOCUMENTS if each != CHANGELOG]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def prose_of(text: str) -> str:
    """Without blocks of code."""
    return FENCE.sub("", text)


def anchors_of(text: str) -> set[str]:
    """As GitHub makes them of the headings: small letters, no punctuation, spaces as hyphens; a
    second one of the same name gets a number."""
    found: Counter[str] = Counter()
    anchors = set()
    for heading in HEADING.findall(prose_of(text)):
        shown = LINK.sub(lambda link: link[0].partition("](")[0].lstrip("!["), heading)
        anchor = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        anchors.add(f"{anchor}-{found[anchor]}" if found[anchor] else anchor)
        found[anchor] += 1
    return anchors


def broken_links(path: Path) -> Iterator[str]:
    """Each link of a document that leads nowhere within the repository."""
    for target in LINK.findall(CODE.sub("", prose_of(text_of(path)))):
        if OUTSIDE.match(target):
            continue
        place, _, anchor = unquote(target).partition("#")
        found = (path.parent / place).resolve() if place else path
        if not found.exists():
            yield f"{target}: there is no {place}"
        elif anchor and anchor not in anchors_of(text_of(found)):
            yield f"{target}: {found.name} has no heading #{anchor}"


def commands_in(path: Path) -> str:
    """What a document shows as code, a line each: blocks, and words within sentences."""
    text = text_of(path)
    return "\n".join([*FENCE.findall(text), *CODE.findall(prose_of(text))])


def sentences_of(text: str) -> list[str]:
    """Of prose: no code, no tables, no headings; a list's item begins a sentence."""
    lines = [
        re.sub(r"^\s*(?:[-*]|\d+\.) +", "\n", line)
        for line in prose_of(text).splitlines()
        if not line.lstrip().startswith(("|", "#"))
    ]
    joined = re.sub(r"(?<!\n)\n(?!\n)", " ", "\n".join(lines))
    return [each for each in re.split(r"(?<=[.!?:;])\s+|\n+", joined) if each.strip()]


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_link_and_anchor_resolves(path: Path) -> None:
    assert not list(broken_links(path))


def test_a_java_service_on_another_machine_is_started_as_the_container_is() -> None:
    image, page = text_of(ROOT / "java-service" / "Dockerfile"), text_of(ROOT / "docs" / "scale.md")
    flags = re.findall(r'^ENV (JDK_JAVA_OPTIONS=".+")$', image, re.MULTILINE)
    started = re.findall(r"^(.*)RESTBENCH_HOST=.* java -jar ", page, re.MULTILINE)
    assert [each.strip() for each in started] == flags


@pytest.mark.parametrize("path", OF_TODAY, ids=name_of)
def test_a_command_that_starts_jmeter_names_its_log(path: Path) -> None:
    """Without -j an engine leaves jmeter.log in the checkout, where git shows it as a new file."""
    started = re.findall(r"jmeter\.sh (?:-n|-s) .*", commands_in(path))
    assert [each for each in started if " -j " not in each] == []


@pytest.mark.parametrize("path", OF_TODAY, ids=name_of)
def test_every_make_target_exists(path: Path) -> None:
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):", text_of(ROOT / "Makefile"), re.MULTILINE))
    named = set(MAKE.findall(commands_in(path)))
    assert not named - targets


@pytest.mark.parametrize("path", OF_TODAY, ids=name_of)
def test_every_command_of_restbench_exists_with_its_options(path: Path) -> None:
    group = get_command(cli.app)
    assert isinstance(group, TyperGroup)
    unknown = []
    for name, rest in RESTBENCH.findall(commands_in(path)):
        if name not in cli.COMMANDS:
            unknown.append(name)
            continue
        known = {option for each in group.get_command(None, name).params for option in each.opts}
        unknown += [f"{name} {each}" for each in OPTION.findall(rest) if each not in known]
    assert not unknown


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES], ids=name_of
)
def test_a_sentence_can_be_read_in_one_breath(path: Path) -> None:
    found = sentences_of(text_of(path))
    assert not [each for each in found if len(each.split()) > SENTENCE_MOST_WORDS]


def test_the_readme_and_the_pages_are_short() -> None:
    lengths = {name_of(each): len(text_of(each).splitlines()) for each in PAGES}
    assert len(lengths) >= 9
    assert not {name: lines for name, lines in lengths.items() if lines > PAGE_MOST_LINES}
    assert len(text_of(ROOT / "README.md").splitlines()) <= README_MOST_LINES


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen, waiting = set(), [ROOT / "README.md"]
    while waiting:
        path = waiting.pop()
        if path in seen or path.suffix != ".md" or not path.exists():
            continue
        seen.add(path)
        targets = (each.partition("#")[0] for each in LINK.findall(prose_of(text_of(path))))
        waiting += [(path.parent / each).resolve() for each in targets if not OUTSIDE.match(each)]
    assert not {name_of(each) for each in PAGES} - {name_of(each) for each in seen}


def test_every_rule_and_section_of_the_method_that_code_cites_exists() -> None:
    headings = HEADING.findall(text_of(ROOT / "docs" / "method.md"))
    rules = {int(found[1]) for each in headings if (found := re.match(r"(\d+)\. ", each))}
    assert rules == set(range(1, 15))
    cited: dict[int, str] = {}
    sections: dict[str, str] = {}
    for path in listed("*.py", "*.java", "*.toml", "*.jinja", "Makefile"):
        text = re.sub(r"\n\s*(?:#:?|//|\*)?\s*", " ", text_of(path))
        for numbers in CITED_RULES.findall(text):
            cited |= dict.fromkeys(map(int, re.findall(r"\d+", numbers)), name_of(path))
        sections |= dict.fromkeys(CITED_SECTION.findall(text), name_of(path))
    assert len(cited) >= 10
    assert not {rule: path for rule, path in cited.items() if rule not in rules}
    assert not {name: path for name, path in sections.items() if name not in headings}


@pytest.mark.parametrize("path", OF_TODAY, ids=name_of)
def test_every_file_that_a_document_names_by_its_path_is_there(path: Path) -> None:
    known = {name_of(each) for each in listed("*")}
    folders = {each.partition("/")[0] for each in known if "/" in each}
    named = [each for each in CODE.findall(prose_of(text_of(path))) if FILE.fullmatch(each)]
    paths = {each for each in named if each.partition("/")[0] in folders}
    assert not paths - known


def test_every_file_and_table_that_contributing_names_is_there() -> None:
    """Whoever adds something finds each place that it must be told of."""
    named = CODE.findall(prose_of(text_of(ROOT / "CONTRIBUTING.md")))
    known = [name_of(each) for each in listed("*")]
    files = {each for each in named if FILE.fullmatch(each)}
    assert len(files) >= 20
    assert not {each for each in files if not any(one.endswith(each) for one in known)}
    tables = {each for each in named if TABLE.fullmatch(each)}
    assert len(tables) >= 10
    code = "\n".join(map(text_of, listed("*.py")))
    assert not {each for each in tables if not re.search(rf"^{each}\b.*=", code, re.MULTILINE)}


@pytest.mark.parametrize("service", STRATEGIES)
def test_every_strategy_and_framework_is_named_where_people_choose_one(
    service: ServiceName,
) -> None:
    frameworks = {*FRAMEWORKS[service]}
    named = dict.fromkeys(
        ("README.md", f"{service}-service/README.md"), frameworks | {*STRATEGIES[service]}
    ) | dict.fromkeys(("docker-compose.yml", "Makefile"), frameworks)
    lacking = {
        (path, each)
        for path, names in named.items()
        for each in names
        if not re.search(rf"(?<![\w-]){each}(?![\w-])", text_of(ROOT / path))
    }
    assert not lacking


def test_a_link_that_leads_nowhere_is_seen(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# A `b`, c!\n\n# A b c\n\n```\n# no heading\n```\n")
    page = tmp_path / "page.md"
    right = "[x](other.md#a-b-c) [y](other.md#a-b-c-1) [z](http://there.example/none)"
    page.write_text(f"{right} `[code](none.md)` [a](none.md) [b](other.md#no-heading) [c](#d)")
    assert [each.partition(":")[0] for each in broken_links(page)] == [
        "none.md",
        "other.md#no-heading",
        "#d",
    ]


def test_a_long_sentence_is_seen() -> None:
    long = " ".join(["word"] * (SENTENCE_MOST_WORDS + 1))
    text = f"# {long}\n\nShort one.\n\n| {long} |\n\n```\n{long}\n```\n\n- Item\n  {long}."
    assert [len(each.split()) for each in sentences_of(text)] == [2, SENTENCE_MOST_WORDS + 2]
