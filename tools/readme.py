"""Make the relative links of README.md absolute, for an index that shows the README alone.

    python -m tools.readme https://HOST/OWNER/NAME/blob/v1.2.0

It changes README.md, so run it in a copy from which a release is built. An image gets the address of the file itself: `raw` in place of
`blob`.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from urllib.parse import urlsplit

__all__ = ["main", "rewrite"]

_README = Path(__file__).parents[1] / "README.md"
#: A fenced block, or inline code, which stays; or the target of a link or an image.
_PART = re.compile(
    r"(?P<code>^```.*?^```$|`[^`\n]+`(?!\]))|(?P<start>(?P<image>!?)\[[^\[\]]*\]\(|\]\()(?P<target>[^)\s]+)\)", re.DOTALL | re.MULTILINE
)


def rewrite(text: str, base: str) -> str:
    """Return a document in Markdown with absolute links.

    Links to a heading of the document itself, and those that are absolute already, stay.

    Args:
        text: The document.
        base: The address of its folder, as a Git host shows files.

    Raises:
        ValueError: The base is not an https address without query and fragment.
    """
    parts = urlsplit(base)
    if parts.scheme != "https" or not parts.netloc or parts.query or parts.fragment:
        raise ValueError(f"base must be an https address without query and fragment, got {base!r}")
    folder = base.rstrip("/")

    def replace(match: re.Match[str]) -> str:
        target = match["target"]
        if match["code"] or target.startswith("#") or urlsplit(target).scheme:
            return match[0]
        address = folder.replace("/blob/", "/raw/", 1) if match["image"] else folder
        return f"{match['start']}{address}/{target})"

    return _PART.sub(replace, text)


def main() -> None:
    """Rewrite README.md."""
    parser = argparse.ArgumentParser(description="Make the relative links of README.md absolute.")
    parser.add_argument("base", metavar="BASE", help="the address of the repository's files, such as https://HOST/OWNER/NAME/blob/v1.2.0")
    arguments = parser.parse_args()
    try:
        text = rewrite(_README.read_text(encoding="utf-8"), arguments.base)
    except ValueError as error:
        parser.error(str(error))
    _README.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
