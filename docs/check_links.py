"""Check the links inside the built site and inside the Markdown of the repository; those to other hosts are only counted.

python docs/check_links.py docs/_build/html
"""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors |= {found[name] or "" for name in ("id", "name") if name in found}
        self.links += [found[name] or "" for name in ("href", "src") if name in found]


def check_site(folder: Path) -> tuple[int, int, list[str]]:
    """Return how many links stay inside, how many leave, and which lead nowhere."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    inside, outside, broken = 0, 0, []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                outside += parts.scheme in ("http", "https")
                continue
            inside += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                broken.append(f"{path.relative_to(folder)}: {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                broken.append(f"{path.relative_to(folder)}: {link} (no such place)")
    return inside, outside, broken


def check_markdown() -> tuple[int, list[str]]:
    """Return how many links to files the repository's own Markdown has, and which lead nowhere."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    count, broken = 0, []
    for name in listed.split():
        text = re.sub(r"```.*?```", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            parts = urlsplit(link)
            if parts.scheme or not parts.path or parts.path.startswith("gallery/") or "/gallery/" in parts.path:
                continue  # the gallery is made by the build, and checked in the site
            count += 1
            if not ((ROOT / name).parent / unquote(parts.path)).exists():
                broken.append(f"{name}: {link}")
    return count, broken


def main(folder: str) -> int:
    inside, outside, broken = check_site(Path(folder).resolve())
    count, more = check_markdown()
    for line in [*broken, *more]:
        print(line)
    print(
        f"{inside} links inside the site, {count} in Markdown, {len(broken) + len(more)} broken; {outside} lead to other hosts"
    )
    return 1 if broken or more else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
