"""A browser driven over chromedriver's own HTTP interface; nothing needs to be installed in Python."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# Headless, and silent towards the network.
ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1400,1000"
).split()


def find_browser() -> tuple[str, str]:
    """The browser and its driver; skips the test where they are missing."""
    chrome = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
    )
    driver = shutil.which("chromedriver")
    if chrome is None or driver is None:
        pytest.skip("needs chromium and chromedriver on the PATH")
    return chrome, driver


class Browser:
    """One window."""

    def __init__(self, address: str, chrome: str, profile: Path) -> None:
        self.address = address
        options = {"binary": chrome, "args": [*ARGUMENTS, f"--user-data-dir={profile}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = self._send("POST", "session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.address}/{path}", data, method=method)
        # No proxy: the driver is on this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=60) as reply:
            return json.load(reply)["value"]

    def _do(self, command: str, body: dict[str, Any]) -> Any:
        return self._send("POST", f"session/{self.session}/{command}", body)

    def open(self, url: str) -> None:
        self._do("url", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        """Run the body of a JavaScript function."""
        return self._do("execute/sync", {"script": script, "args": list(arguments)})

    def move_to(self, x: float, y: float) -> None:
        """Move the mouse to a place in the window."""
        self._mouse({"type": "pointerMove", "duration": 50, "x": round(x), "y": round(y)})

    def click(self) -> None:
        """Click where the mouse is, as a hand would."""
        self._mouse(
            {"type": "pointerDown", "button": 0},
            {"type": "pause", "duration": 30},
            {"type": "pointerUp", "button": 0},
        )

    def _mouse(self, *actions: dict[str, Any]) -> None:
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}}
        self._do("actions", {"actions": [{**pointer, "actions": list(actions)}]})

    def press(self, key: str) -> None:
        """Press a key on whatever has the focus; WebDriver's code points for keys that are no signs."""
        strokes = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._do("actions", {"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})

    def messages(self) -> list[str]:
        """What the console says since the last call."""
        return [entry["message"] for entry in self._do("se/log", {"type": "browser"})]

    def wait_for(self, script: str, seconds: float = 30.0) -> Any:
        """Run a script until it returns something true."""
        return wait_for(lambda: self.run(script), script, seconds)

    def close(self) -> None:
        self._send("DELETE", f"session/{self.session}")


def wait_for(ask: Callable[[], Any], what: str, seconds: float) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := ask():
            return value
        time.sleep(0.05)
    pytest.fail(f"never came true: {what}")


@contextlib.contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Start driver and browser, end both."""
    chrome, driver = find_browser()
    log = folder / "driver.txt"
    with open(log, "wb") as out:
        process = subprocess.Popen([driver, "--port=0"], stdout=out, stderr=subprocess.STDOUT)
    try:
        started = wait_for(
            lambda: re.search(r"started successfully on port (\d+)", log.read_text(errors="replace")),
            "the driver",
            30,
        )
        window = Browser(f"http://127.0.0.1:{started[1]}", chrome, folder / "profile")
        try:
            yield window
        finally:
            window.close()
    finally:
        process.terminate()
        process.wait(timeout=30)
