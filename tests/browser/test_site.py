"""The built pages work in a browser, in a wide window and on a phone.

Run by `.ci/run --full`; needs Debian's Chromium, and `pip install -e '.[browser]'`.
"""

import functools
import http.server
import json
import shutil
import threading
import urllib.parse
from pathlib import Path

import pytest

from tests.test_docs import build

pytestmark = [pytest.mark.browser, pytest.mark.backend("tensorflow")]

WINDOWS = {"wide": (1280, 900), "phone": (390, 844)}
SCHEMES = ["default", "slate"]  # light and dark
CHECKS = (Path(__file__).parent / "page_checks.js").read_text(encoding="utf-8")
# The tabs of a wide window, and the sections in the menu of a phone.
TABS = ".md-tabs__link"
SECTIONS = ".md-nav--primary > .md-nav__list > .md-nav__item"
# Targets of the links of a page, and names of its anchors.
LINKS = "[...document.querySelectorAll('a[href]')].map(link => link.href)"
ANCHORS = "[...document.querySelectorAll('[id]')].map(element => element.id)"
# The line below the search box, with the number of pages found, and the links to them.
FOUND = ".md-search-result__meta"
RESULT = ".md-search-result__link"
# What users search for.
WORDS = ["conv2d", "csv", "overfit", "gelu", "transformer", "SlopeVariation"]
# Text of the article of another page.
ARTICLE = """async path => {
    const text = await (await fetch(path)).text();
    const page = new DOMParser().parseFromString(text, "text/html");
    return page.querySelector("article").textContent;
}"""
# Colours change at once, so that no test measures a colour between two schemes.
AT_ONCE = """document.addEventListener("DOMContentLoaded", () => {
    const style = document.createElement("style");
    style.textContent = "*, *::before, *::after { transition: none !important; }";
    document.head.append(style);
});"""


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


@pytest.fixture
def open_window(chromium, address, folder):
    """Return a function that opens a window on the first page. No error passes."""
    windows = []

    def open_window(width, height, searches=True):
        window = chromium.new_page(viewport={"width": width, "height": height})
        windows.append(window)
        window.set_default_timeout(60_000)
        window.problems = []
        watch = functools.partial(note, window)
        window.on("console", lambda line: watch(line.type == "error", line.text))
        window.on("pageerror", lambda error: watch(True, str(error)))
        # A request also fails if another page is opened meanwhile.
        window.on(
            "requestfailed",
            lambda each: watch(each.failure != "net::ERR_ABORTED", each.url),
        )
        window.on("request", lambda e: watch(not is_local(e.url, address), e.url))
        window.add_init_script(AT_ONCE)
        if not searches:
            answer = {"body": without_pages(folder), "content_type": "application/json"}
            window.route("**/search_index.json", lambda each: each.fulfill(**answer))
        window.goto(address)
        return window

    yield open_window
    for window in windows:
        window.close()
        assert window.problems == []


@pytest.fixture(params=WINDOWS)
def page(request, open_window):
    """A window of each size on the first page."""
    window = open_window(*WINDOWS[request.param])
    window.wide = request.param == "wide"
    return window


def without_pages(folder):
    """Return an empty search index, for a test that opens many pages."""
    index = json.loads((folder / "search" / "search_index.json").read_text("utf-8"))
    return json.dumps(index | {"docs": []})


def note(window, wrong, text):
    if wrong:
        window.problems.append(f"{window.url}: {text}")


def is_local(url, address):
    return url.startswith((address, "data:", "blob:"))


def test_every_page_fits_shows_code_and_formulas_and_links_to_existing_places(
    open_window, address, folder
):
    window = open_window(*WINDOWS["wide"], searches=False)
    problems, links, anchors = {}, {}, set()
    for path in sorted(folder.rglob("index.html")):
        place = path.parent.relative_to(folder).as_posix().removeprefix(".")
        page = f"{address}{place}/" if place else address
        window.goto(page)
        for size, (width, height) in WINDOWS.items():
            window.set_viewport_size({"width": width, "height": height})
            problems[place, size] = window.evaluate(CHECKS, SCHEMES)
        links |= dict.fromkeys(window.evaluate(LINKS), place)
        anchors |= {f"{page}#{name}" for name in window.evaluate(ANCHORS)}
    assert {where: what for where, what in problems.items() if what} == {}
    assert len(problems) > 80
    local = {link: page for link, page in links.items() if is_local(link, address)}
    assert {
        link: page
        for link, page in local.items()
        if not is_there(link.removeprefix(address), folder)
        or ("#" in link and link not in anchors)
    } == {}


def is_there(link, folder):
    """Return whether a link leads to a file of the site."""
    path = folder / urllib.parse.unquote(link.partition("#")[0].partition("?")[0])
    return (path / "index.html" if path.is_dir() else path).is_file()


def test_the_search_box_finds_what_a_user_looks_for(page):
    for word in WORDS:
        link = search(page, word).first
        path = urllib.parse.urlsplit(link.get_attribute("href")).path
        text = page.evaluate(ARTICLE, path)
        assert word.lower() in text.lower(), path
    link.click()
    page.wait_for_url("**/?h=*")


def test_every_section_of_the_navigation_opens_a_page(page, address):
    for place in range(5):
        page.goto(address)
        if page.wide:
            assert page.locator(TABS).count() == 5
            page.locator(TABS).nth(place).click()
        else:
            page.locator("label.md-header__button[for=__drawer]").click()
            assert page.locator(SECTIONS).count() == 5
            back = f"{SECTIONS}--active label.md-nav__title"
            page.locator(back).first.click()
            section = page.locator(SECTIONS).nth(place)
            section.locator("a.md-nav__link, label.md-nav__link").first.click()
        page.locator("h1").first.wait_for()


def search(page, words):
    """Type words into the search box, and return the links that it offers."""
    box, line = page.locator(".md-search__input"), page.locator(FOUND)
    if not page.wide and not box.is_visible():
        page.locator("label.md-header__button[for=__search]").click()
    box.fill("")
    box.press("Backspace")  # the page looks at the box when a key is released
    line.filter(has_text="Type to start searching").wait_for()
    box.press_sequentially(words)
    # Earlier results are those of the first letters.
    page.locator(f"{RESULT}[href*='?h={words.lower()}']").first.wait_for(
        state="attached"
    )
    return page.locator(RESULT)
