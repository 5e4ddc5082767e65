"""A headless Chromium that records what a page logs and asks for; skipped where there is none."""

from __future__ import annotations

import json
import os
import shutil
import time

import pytest

FLAGS = (
    "--headless=new",
    "--no-sandbox",  # root may not have one
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


class Page:
    """One window: open a file, ask the page, move the pointer."""

    def __init__(self, driver):
        self.driver = driver

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def open(self, path, *, width=1200, height=900, scheme="light"):
        """Load a file in a window of some size, and wait until its script is through."""
        self.driver.get("about:blank")
        self.driver.get_log("browser"), self.driver.get_log("performance")
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.driver.get(path.as_uri())
        for _ in range(100):  # the load event need not wait for the script on a busy machine
            if self.ask("return document.documentElement.dataset.ready") == "true":
                return
            time.sleep(0.1)
        raise AssertionError(f"{path.name} is not ready after ten seconds.")

    def ask(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def point_at(self, sample, *, click=False):
        """Move the pointer to a sample in the large map."""
        self.ask("document.getElementById('map').scrollIntoView({block: 'center'})")
        place = self.ask("return latefusionReport.onScreen(arguments[0])", sample)
        for kind in ("mouseMoved", *(("mousePressed", "mouseReleased") if click else ())):
            button = {"button": "left", "clickCount": 1} if click and kind != "mouseMoved" else {}
            self.command("Input.dispatchMouseEvent", type=kind, x=place["x"], y=place["y"], **button)

    def text(self, name):
        return self.ask("return document.getElementById(arguments[0]).innerText", name)

    def painted(self, name):
        """Number of pixels of a canvas that are not empty."""
        return self.ask(
            """const canvas = document.getElementById(arguments[0]);
            const copy = document.createElement("canvas"); // Chromium warns of canvases that are read often
            copy.width = canvas.width;
            copy.height = canvas.height;
            const context = copy.getContext("2d");
            context.drawImage(canvas, 0, 0);
            const pixels = context.getImageData(0, 0, copy.width, copy.height).data;
            let painted = 0;
            for (let i = 3; i < pixels.length; i += 4) painted += pixels[i] > 0;
            return painted;""",
            name,
        )

    def colour(self, name, what="backgroundColor"):
        return self.ask("return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]", name, what)

    def complaints(self):
        """What stands in the console."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that were asked for."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [one["params"]["request"]["url"] for one in events if one["method"] == "Network.requestWillBeSent"]


@pytest.fixture(scope="session")
def page(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: make test-browser")
    programs = [
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome"),
        os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver"),
    ]
    if not all(programs):
        pytest.skip("Chromium or its driver is not installed (Debian: apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(programs[1]))
    yield Page(driver)
    driver.quit()
