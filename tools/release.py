"""One version in a tag and in three files, and its notes; the workflow ``release`` asks for both.

::

    python tools/release.py check v0.1.0
    python tools/release.py notes 0.1.0

It runs before anything is installed: standard library only.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def sections(root: Path = ROOT) -> dict[str, str]:
    """What stands below each heading of the changelog, the newest first."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    _, *parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    return {heading.strip(): body for heading, body in zip(parts[::2], parts[1::2], strict=True)}


def faults(tag: str, root: Path = ROOT) -> list[str]:
    """Why this commit may not be released under the tag, a sentence each with its file."""
    if not re.fullmatch(r"v\d+\.\d+\.\d+((a|b|rc)\d+)?", tag):
        return [f"The tag {tag} is not v and a version, such as v0.1.0."]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    changes = sections(root)
    says = {
        "pyproject.toml": [project["version"]],
        "CITATION.cff": re.findall(r"^version: *['\"]?([^'\"\s]+)", citation, re.MULTILINE),
        "CHANGELOG.md": [heading for heading in changes if heading != "Unreleased"],
    }
    wrong = [
        f"{file} says {(*versions, 'no version')[0]}, the tag {tag}."
        for file, versions in says.items()
        if versions[:1] != [tag[1:]]
    ]
    if changes.get("Unreleased", "").strip():
        wrong.append(f"CHANGELOG.md has changes under Unreleased: move them below {tag[1:]}.")
    return wrong


def notes(version: str, root: Path = ROOT) -> str:
    """The changelog's section on a version, a line each change: GitHub keeps line ends."""
    if version not in (changes := sections(root)):
        raise SystemExit(f"CHANGELOG.md has no heading {version}, but: {', '.join(changes)}.")
    return re.sub(r"\n +(?![-*] )(?=\S)", " ", changes[version]).strip()


def main(*words: str) -> None:
    """Check a tag, or print the notes of a version."""
    match words:
        case ["check", tag]:
            if wrong := faults(tag):
                raise SystemExit("\n".join(wrong))
            print(f"{tag}: one version in all places")
        case ["notes", version]:
            print(notes(version))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
