"""The hooks of MkDocs: they add the pages that are generated, and links to names."""

from __future__ import annotations

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# MkDocs loads this file by its path.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from tools.site import drawing
from tools.site.files import relink
from tools.site.generate import fill_navigation, linked_pages, reference
from tools.site.html import boost, finish, is_data, name_dialog

__all__ = ["on_config", "on_files", "on_page_content", "on_page_markdown", "on_post_page"]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the generated pages into the navigation, and let flowcharts be drawn."""
    config.nav = fill_navigation(config.nav)
    fences = [{"name": "mermaid", "class": "drawing", "format": drawing.fence}]
    config.mdx_configs.setdefault("pymdownx.superfences", {})["custom_fences"] = fences
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the generated pages, and the files of the site's own."""
    documents = [f"docs/{file.src_uri}" for file in files.documentation_pages()]
    for name, text in {**linked_pages(documents), **reference()}.items():
        files.append(File.generated(config, name, content=text))
    for asset in (Path(__file__).parent / "assets").iterdir():
        files.append(File.generated(config, f"assets/{asset.name}", abs_src_path=str(asset)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Change the links of a document in docs/ that lead out of the folder, and say how far in front the search shows a page."""
    del config, files
    page.meta["search"] = {"exclude": True} if is_data(page.file.src_uri) else {"boost": boost(page.file.src_uri)}
    if page.file.generated_by is not None:
        return markdown
    return relink(markdown, f"docs/{page.file.src_uri}", page.file.src_uri)[0]


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Link names, and anchors of the specification, to where they are explained."""
    del config
    return finish(html, page.file, files)


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> str:
    """Change the parts of a page that the theme makes."""
    del page, config
    return name_dialog(output)
