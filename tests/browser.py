"""A real browser without a screen, as people see pages: Chromium, driven by selenium."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1400,1200",
)


def program(name: str) -> str:
    """Where a program is; its absence fails the test."""
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed: tests/install_programs installs it"
    return found


@contextmanager
def browser(profile: Path) -> Iterator[webdriver.Chrome]:
    """A browser with a new profile in this directory, closed at the end; its console is kept for `get_log`."""
    options = webdriver.ChromeOptions()
    options.binary_location = program("chromium")
    for switch in (*SWITCHES, f"--user-data-dir={profile}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, Service(program("chromedriver")))
    try:
        driver.set_script_timeout(60)
        yield driver
    finally:
        driver.quit()
