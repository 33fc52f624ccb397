"""The built pages work in a browser, in a wide window and on a phone.

Run by `.ci/run --full`; needs Debian's Chromium, and `pip install -e '.[browser]'`.
"""

import functools
import http.server
import shutil
import threading
from pathlib import Path

import pytest
from api_pages import class_pages

from tests.test_docs import ROOT, build

pytestmark = [pytest.mark.browser, pytest.mark.backend("tensorflow")]

WINDOWS = {"wide": (1280, 900), "phone": (390, 844)}
# The tabs of a wide window, the sections in the menu of a phone, and by how much a page
# is wider than its window.
TABS = ".md-tabs__link"
SECTIONS = ".md-nav--primary > .md-nav__list > .md-nav__item"
OVERHANG = "() => document.documentElement.scrollWidth - window.innerWidth"
SCHEME = "name => document.body.setAttribute('data-md-color-scheme', name)"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and prints nothing."""

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder of the built pages."""
    return build(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def address(folder):
    """Address of the built pages, served on this machine."""
    handler = functools.partial(Quiet, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def chromium():
    """The browser of this machine."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.fail("Expected Chromium: apt-get install -y chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.fixture(params=WINDOWS)
def page(request, chromium, address):
    """A window that shows the first page, and lets no error pass."""
    width, height = WINDOWS[request.param]
    window = chromium.new_page(viewport={"width": width, "height": height})
    window.set_default_timeout(30_000)
    window.problems = []
    window.wide = request.param == "wide"
    window.on("console", lambda line: note(window, line.type == "error", line.text))
    window.on("pageerror", lambda error: note(window, True, str(error)))
    window.on("requestfailed", lambda asked: note(window, is_broken(asked), asked.url))
    window.on(
        "request",
        lambda asked: note(window, not is_local(asked.url, address), asked.url),
    )
    window.goto(address)
    yield window
    window.close()
    assert window.problems == []


def note(window, wrong, text):
    if wrong:
        window.problems.append(f"{window.url}: {text}")


def is_local(url, address):
    return url.startswith((address, "data:", "blob:"))


def is_broken(asked):
    """Whether a request failed, and not because another page was opened meanwhile."""
    return asked.failure != "net::ERR_ABORTED"


def test_every_page_is_reached_by_the_link_to_the_next_and_fits(page):
    seen = [page.url]
    while page.locator("a.md-footer__link--next").count():
        page.locator("a.md-footer__link--next").click()
        page.wait_for_url(lambda url: url not in seen)
        page.locator("h1").first.wait_for()
        assert page.evaluate(OVERHANG) <= 0, page.url
        seen.append(page.url)
    source = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = source.partition("\nnav:\n")[2].count(".md\n")
    assert len(seen) == pages + len(class_pages(""))


def test_no_page_scrolls_sideways_breaks_code_or_has_weak_contrast(
    page, address, folder
):
    checks = (Path(__file__).parent / "page_checks.js").read_text(encoding="utf-8")
    found = {}
    for path in sorted(folder.rglob("index.html")):
        place = path.parent.relative_to(folder).as_posix()
        page.goto(address + place)
        for scheme in ("default", "slate"):
            page.evaluate(SCHEME, scheme)
            found[place, scheme] = page.evaluate(checks)
    assert {where: what for where, what in found.items() if what} == {}
    assert len(found) > 200


@pytest.mark.parametrize("word", ["conv2d", "csv", "overfit", "gelu", "transformer"])
def test_the_search_box_finds_what_a_user_looks_for(page, word):
    results = search(page, word)
    results.first.click()
    page.wait_for_url("**/?h=*")
    assert word in page.locator("article").inner_text().lower()


def test_every_section_of_the_navigation_opens_a_page(page, address):
    for place in range(6):
        page.goto(address)
        if page.wide:
            assert page.locator(TABS).count() == 6
            page.locator(TABS).nth(place).click()
        else:
            page.locator("label.md-header__button[for=__drawer]").click()
            assert page.locator(SECTIONS).count() == 6
            back = f"{SECTIONS}--active label.md-nav__title"
            page.locator(back).first.click()
            section = page.locator(SECTIONS).nth(place)
            section.locator("a.md-nav__link, label.md-nav__link").first.click()
        page.locator("h1").first.wait_for()


def search(page, words):
    """Type words into the search box, and return the links that it offers."""
    if not page.wide:
        page.locator("label.md-header__button[for=__search]").click()
    page.locator(".md-search__input").click()
    page.locator(".md-search__input").fill(words)
    return page.locator(".md-search-result__link")


def test_the_search_box_finds_a_name(page):
    search(page, "SlopeVariation").first.click()
    page.wait_for_url("**/?h=*")
    assert "SlopeVariation" in page.locator("article").inner_text()


def test_every_picture_is_shown(page, address):
    page.goto(address + "gallery/")
    broken = page.evaluate(
        """async () => {
            const pictures = [...document.querySelectorAll("article img")];
            pictures.forEach(picture => picture.loading = "eager");
            await Promise.allSettled(pictures.map(picture => picture.decode()));
            return pictures.filter(picture => !picture.naturalWidth).length;
        }"""
    )
    assert broken == 0
    assert page.locator("article img").count() >= 10
