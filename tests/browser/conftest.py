"""A headless Chromium that records what a page logs and asks for; skipped where there is none."""

from __future__ import annotations

import base64
import json
import os
import shutil
import time

import numpy as np
import pytest

import latefusion as lf
from latefusion.report import write_report
from tests.browser.pages import write_forty, write_patients, write_strange_ids, write_two

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

    def open(self, path, *, address="", width=1200, height=900, scheme="light"):
        """Load a file in a window of some size, at a part of it, and wait until its script is through."""
        self.driver.get("about:blank")
        self.driver.get_log("browser"), self.driver.get_log("performance")
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.driver.get(path.as_uri() + address)
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

    def printed(self):
        """The page as PDF."""
        return base64.b64decode(self.command("Page.printToPDF", printBackground=True)["data"])

    def text(self, name):
        return self.ask("return document.getElementById(arguments[0]).innerText", name)

    def choose(self, name, value):
        """Choose an option of a select element."""
        self.ask(
            """const select = document.getElementById(arguments[0]);
            select.value = arguments[1];
            select.dispatchEvent(new Event("change"));""",
            name,
            value,
        )

    def downloaded(self, selector, folder, name):
        """Click on a link or button, and return the file that the browser saves."""
        self.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        self.ask("document.querySelector(arguments[0]).click()", selector)
        for _ in range(100):
            if (folder / name).exists():
                return folder / name
            time.sleep(0.1)
        raise AssertionError(f"{name} was not saved within ten seconds.")

    def picture(self, name):
        """What a canvas shows."""
        return self.ask("return document.getElementById(arguments[0]).toDataURL()", name)

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


@pytest.fixture(scope="session")
def patients_page(tmp_path_factory):
    path = tmp_path_factory.mktemp("patients") / "report.html"
    return path, write_patients(path)


@pytest.fixture
def patients(patients_page):
    """Five views, twelve clusters, 2000 samples, annotation and survival."""
    return patients_page[0]


@pytest.fixture
def patients_data(patients_page):
    return patients_page[1]


@pytest.fixture(scope="session")
def forty(tmp_path_factory):
    return write_forty(tmp_path_factory.mktemp("forty") / "report.html")


@pytest.fixture(scope="session")
def two_page(tmp_path_factory):
    return write_two(tmp_path_factory.mktemp("two") / "report.html")


@pytest.fixture
def two(two_page):
    """Two clusters, hints, memberships."""
    return two_page[0]


@pytest.fixture(scope="session")
def strange_ids(tmp_path_factory):
    return write_strange_ids(tmp_path_factory.mktemp("strange") / "report.html")


@pytest.fixture(scope="session")
def full(tmp_path_factory):
    """All sections and columns: a model that selects its settings, missing views, novelty, a command."""
    data = lf.datasets.make_views(90, 3, n_views=4, n_features=5, separation=6.0, random_state=0)
    mask = np.random.default_rng(0).random((90, 4)) > 0.15
    mask[~mask.any(axis=1)] = True
    names = ["transcriptomics", "proteomics", "methylation", "metabolomics"]
    views = lf.Views(data.views.arrays, names=names, mask=mask)
    model = lf.LateFusionClustering(range(2, 6), random_state=0).fit(views)
    model.novelty_ = np.linspace(0.2, 1.8, 90)
    path = tmp_path_factory.mktemp("full") / "report.html"
    command = f"latefusion cluster {' '.join(f'{name}.csv' for name in names)} -k 2-5 --report report.html"
    return write_report(
        model, views, path, sample_ids=[f"patient {i}" for i in range(90)], embedding="pca", command=command
    )
