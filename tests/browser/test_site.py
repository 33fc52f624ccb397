"""The built pages work in a browser, in a wide window and on a phone.

Run by `.ci/run --full`; needs Debian's Chromium, and `pip install -e '.[browser]'`.
"""

import functools
import http.server
import shutil
import threading

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


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and prints nothing."""

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Address of the built pages, served on this machine."""
    folder = build(tmp_path_factory.mktemp("site"))
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


def test_no_word_of_code_is_broken(page, address):
    for path in ("cli/", "convert/", "api/layers/VAFActivation/", "formats/"):
        page.goto(address + path)
        broken = page.evaluate(
            """() => [...document.querySelectorAll("article td code")]
                .filter(code => code.getClientRects().length > 1)
                .map(code => code.textContent)"""
        )
        assert broken == [], path


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


def test_the_search_box_finds_a_name(page):
    if not page.wide:
        page.locator("label.md-header__button[for=__search]").click()
    page.locator(".md-search__input").click()
    page.locator(".md-search__input").fill("SlopeVariation")
    page.locator(".md-search-result__link").first.click()
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
