"""A real Chromium without a window, and what the tests of pages ask of it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import pytest
from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.bounds import PATIENCE

OPTIONS: Final = (
    "--headless=new",
    "--no-sandbox",  # which needs rights that a container doesn't have
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
)

SCHEMES: Final = ("light", pytest.param("dark", marks=pytest.mark.slow))
"""The colours in which pages are checked; in dark ones with `--slow`."""

T = TypeVar("T")


def absent() -> str | None:
    """Why there is no browser here; None if there is one."""
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"needs {' and '.join(missing)} (Debian: chromium-driver)" if missing else None


class Browser:
    """A window of a browser."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, url: str, *, width: int = 1440, height: int = 900) -> None:
        """Open a page anew, also if the address differs in its fragment only."""
        self.driver.get("about:blank")
        self.driver.get_log("browser")  # what earlier pages have left
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.driver.set_window_size(width, height)
        self.driver.get(url)

    def forget(self, url: str) -> None:
        """Remove what pages of a server have kept in this browser. `url`: without a path."""
        self.driver.get(f"{url}/pages/playground/icon.svg")
        self.run("sessionStorage.clear(); localStorage.clear()")

    def viewport(self, width: int, height: int) -> None:
        """Have the page laid out for a screen of so many pixels; a narrow one is a phone's."""
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)

    def find(self, selector: str) -> WebElement:
        """The first element that a CSS selector finds."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        """The text of an element, also where it is not seen; empty if there is none."""
        script = "return document.querySelector(arguments[0])?.textContent ?? ''"
        return str(self.run(script, selector))

    def run(self, script: str, *given: Any) -> Any:
        """What a script returns, or the promise that it returns resolves to."""
        return self.driver.execute_script(script, *given)

    def until(self, found: Callable[[], T]) -> T:
        """What `found` returns as soon as that is true. Where it never is, the error has what the
        page says at the end."""
        wait = WebDriverWait(self.driver, PATIENCE, poll_frequency=0.03)
        try:
            return wait.until(lambda _: found())
        except TimeoutException:
            said = self.run("return document.body.innerText")
        raise AssertionError(f"waited in vain; the page says: {said}")

    def colours(self, scheme: str) -> None:
        """Have the system prefer `light` or `dark`."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    def complaints(self) -> list[str]:
        """What stands in the console, and what the page has asked other servers for."""
        logged = [str(entry["message"]) for entry in self.driver.get_log("browser")]
        own = urlsplit(self.driver.current_url).netloc
        script = "return performance.getEntriesByType('resource').map((each) => each.name)"
        asked = [name for name in self.run(script) if urlsplit(name).scheme in ("http", "https")]
        return logged + [name for name in asked if urlsplit(name).netloc != own]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser with a profile of its own, which ends with the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = Options()
        for option in (*OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(option)
        options.binary_location = str(shutil.which("chromium"))
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
        try:
            yield Browser(driver)
        finally:
            driver.quit()
