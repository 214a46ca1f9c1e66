#!/usr/bin/env python3
"""Makes a site with search of docs/, without a network.

The navigation is that of docs/README.md: a section for each of its headings, a page for
each of its links. Links to files outside of docs/ become plain text, since the site does
not have them. Prints where the first page is.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[([^]]*)\]\(([^)#\s]+\.md)\)")
OUTSIDE = re.compile(r"\[([^]]*)\]\(((?:\.\./)+[^)]*)\)")


def navigation(index):
    """Sections of the index with their pages, as MkDocs reads them."""
    sections = [{"Documentation": "README.md"}]
    for part in re.split(r"^## ", index, flags=re.M)[1:]:
        title, _, body = part.partition("\n")
        pages = [{re.sub("`", "", name): page} for name, page in LINK.findall(body)]
        sections.append({title.strip(): pages})
    return sections


def copy_pages(source, target):
    """The pages and their figures; links that lead out of `source` become text."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    for page in target.rglob("*.md"):
        above = len(page.relative_to(target).parts) - 1

        def resolved(link):
            ups = link.group(2).count("../")
            return link.group(0) if ups <= above else link.group(1)

        page.write_text(OUTSIDE.sub(resolved, page.read_text(encoding="utf-8")), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    args = parser.parse_args()
    pages, site = args.build.resolve() / "site-pages", args.build.resolve() / "site"
    copy_pages(ROOT / "docs", pages)
    config = args.build.resolve() / "mkdocs.yml"
    settings = {
        "site_name": "shardopt",
        "docs_dir": str(pages),
        "site_dir": str(site),
        "use_directory_urls": False,  # works from a folder, too
        "theme": {"name": "material", "font": False},
        "plugins": ["search"],
        "markdown_extensions": ["tables", "fenced_code", "toc"],
        "nav": navigation((ROOT / "docs/README.md").read_text(encoding="utf-8")),
    }
    config.write_text(json.dumps(settings, indent=1), encoding="utf-8")
    done = subprocess.run(
        ["mkdocs", "build", "--strict", "--quiet", "--config-file", str(config)],
        capture_output=True, text=True,
    )
    sys.stderr.write(done.stdout + done.stderr)
    if done.returncode == 0:
        print(site / "index.html")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
