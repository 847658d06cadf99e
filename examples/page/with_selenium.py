"""The page in a browser that Selenium drives, with the emulator as its ``navigator.ml`` and the limits of Core ML.

python -m pip install '.[serve]' selenium
python examples/page/with_selenium.py

Selenium finds Chrome or Chromium and its driver. Arguments of this program are passed to the browser.
"""

from __future__ import annotations

import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from webnn.serve.options import Options
from webnn.serve.playwright import Emulator


def use_page(address: str, browser: webdriver.ChromeOptions) -> None:
    with Emulator(Options(profile="coreml")) as emulator, webdriver.Chrome(options=browser) as driver:
        driver.execute_cdp_cmd("Page.enable", {})
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": emulator.script})
        driver.get(address)
        status = driver.find_element(By.ID, "status")
        WebDriverWait(driver, 30).until(lambda _: "pixels" in status.text)
        print(status.text)
        print(f"{emulator.counts.builds} build, {emulator.counts.refused} call refused, faults of the emulator: {emulator.faults}")


def main() -> None:
    browser = webdriver.ChromeOptions()
    for argument in sys.argv[1:]:
        browser.add_argument(argument)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=Path(__file__).parent)) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        use_page(f"http://127.0.0.1:{site.server_port}/", browser)
        site.shutdown()


if __name__ == "__main__":
    main()
