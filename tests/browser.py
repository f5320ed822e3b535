"""A real browser for tests of pages: Chromium, without a window."""

import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
from base64 import b64decode
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
)
MEASURE = """<script>
addEventListener("load", () => {
  const root = document.documentElement, seen = e => e.checkVisibility() && !e.closest("details:not([open])");
  const flat = [...document.querySelectorAll("svg")].filter(seen).filter(e => {
    const box = e.getBoundingClientRect();
    return box.width < 1 || box.height < 1;
  });
  const found = [innerWidth, root.scrollWidth, document.querySelectorAll("table").length, flat.length];
  parent.document.documentElement.dataset.measured = found.join(" ");
});
</script>"""


# The browser listens at file 3 and answers at 4; both may be taken, so they are copied away from there first.
CONNECT = """
import os, sys
from fcntl import F_DUPFD, fcntl
away = [fcntl(int(end), F_DUPFD, 10) for end in sys.argv[1:3]]
for end, number in zip(away, (3, 4)):
    os.dup2(end, number)
os.execvp(sys.argv[3], sys.argv[3:])
"""


@dataclass(frozen=True)
class Layout:
    """What the browser measured: pixels across, as wide as the page is, tables, and charts that take no room."""

    window: int
    page: int
    tables: int
    flat_charts: int


def chromium() -> str:
    """The browser's path; without one the test does not run."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        pytest.skip(f"no browser: set CHROMIUM, or install one of {', '.join(NAMES)}")
    return found


def run(page: Path, folder: Path, *flags: str, timeout: float = 120) -> str:
    """Open a page with a profile of its own; what the browser printed.

    Raises:
        AssertionError: It failed, or the page's scripts did.
    """
    profile = folder / "profile"
    command = [
        chromium(),
        *FLAGS,
        f"--user-data-dir={profile}",
        "--enable-logging=stderr",
        "--v=0",
        *flags,
        page.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr
    assert "Uncaught" not in done.stderr, done.stderr
    return done.stdout


def layout(page: Path, folder: Path, width: int, height: int = 900) -> Layout:
    """Measure a page in a frame of a width; no window of the browser can be as narrow as a phone."""
    inner = page.read_text(encoding="utf-8").replace("</body>", f"{MEASURE}</body>")
    frame = f'<iframe srcdoc="{escape(inner)}" style="width:{width}px;height:{height}px;border:0"></iframe>'
    outer = folder / f"measured-{width}.html"
    outer.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{frame}</body>", encoding="utf-8")
    dom = run(outer, folder, "--window-size=1400,1000", "--dump-dom")
    found = re.search(r'data-measured="([^"]*)"', dom)
    assert found, "the page was not measured"
    return Layout(*map(int, found[1].split()))


def screenshot(page: Path, folder: Path, width: int, height: int = 900, *flags: str) -> Path:
    """A picture of a page in a window."""
    picture = folder / f"{width}.png"
    run(page, folder, f"--window-size={width},{height}", f"--screenshot={picture}", *flags)
    return picture


def pdf(page: Path, folder: Path) -> Path:
    """A page as printed."""
    paper = folder / "page.pdf"
    run(page, folder, "--no-pdf-header-footer", f"--print-to-pdf={paper}")
    return paper


class Tab:
    """A page that is clicked, typed into and looked at: Chromium over the pipe of its debugging protocol, and nothing else.

    Attributes:
        complaints: What its scripts threw and what it wrote to the console as an error.
    """

    def __init__(self, folder: Path, width: int = 1280, height: int = 900) -> None:
        self.complaints: list[str] = []
        self._number = 0
        self._buffer = b""
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        command = [
            chromium(),
            *FLAGS,
            f"--user-data-dir={folder / 'profile'}",
            "--remote-debugging-pipe",
            "about:blank",
        ]
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", CONNECT, str(theirs_in), str(theirs_out), *command],
            pass_fds=(theirs_in, theirs_out),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._session: str | None = None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self) -> "Tab":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def call(self, method: str, **parameters: Any) -> Any:
        """One call of the protocol; what happens meanwhile is looked at for complaints."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _read(self) -> Any:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], 60)
            assert ready, "the browser does not answer"
            piece = os.read(self._in, 1 << 20)
            assert piece, "the browser is gone"
            self._buffer += piece
        message, _, self._buffer = self._buffer.partition(b"\0")
        event = json.loads(message)
        told = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(told["exceptionDetails"].get("exception", told["exceptionDetails"]))[:500])
        elif event.get("method") == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.complaints.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")
        elif event.get("method") == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
            self.complaints.append(str(told["args"])[:500])
        return event

    def goto(self, url: str) -> None:
        """Open a page and wait until it is there, unpacked if it is packed."""
        self.call("Page.navigate", url=url)
        self.until(
            "document.readyState === 'complete' && location.href !== 'about:blank' && !document.querySelector('main:empty')"
        )

    def js(self, expression: str) -> Any:
        """The value of an expression, a promise awaited."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def js_in_frame(self, expression: str) -> Any:
        """The same in the page's frame, which has a process of its own if it is sandboxed."""
        own, self._session = self._session, None
        targets = self.call("Target.getTargets")["targetInfos"]
        frame = next(target["targetId"] for target in targets if target["type"] == "iframe")
        self._session = self.call("Target.attachToTarget", targetId=frame, flatten=True)["sessionId"]
        try:
            self.until("document.readyState === 'complete' && !document.querySelector('main:empty')")
            return self.js(expression)
        finally:
            self._session = own

    def until(self, expression: str, seconds: float = 60) -> None:
        """Wait for an expression to be true."""
        end = time.monotonic() + seconds
        while not self.js(expression):
            assert time.monotonic() < end, f"never true: {expression}; the page says {self.text('body')[:600]!r}"
            time.sleep(0.02)

    def text(self, selector: str) -> str:
        """What an element says."""
        return str(self.js(f"document.querySelector({json.dumps(selector)})?.textContent ?? 'no such element'"))

    def number(self, selector: str) -> int:
        """How many elements there are."""
        return int(self.js(f"document.querySelectorAll({json.dumps(selector)}).length"))

    def place(self, selector: str) -> tuple[float, float]:
        """The middle of an element, in view."""
        found = self.js(
            f"(e => {{ e.scrollIntoView({{block: 'center', behavior: 'instant'}}); const b = e.getBoundingClientRect();"
            f"return [b.x + b.width / 2, b.y + b.height / 2] }})(document.querySelector({json.dumps(selector)}))"
        )
        return found[0], found[1]

    def hover(self, selector: str) -> None:
        """Move the mouse there."""
        x, y = self.place(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        """Click there, as a mouse does."""
        x, y = self.place(selector)
        self.click_at(x, y)

    def click_at(self, x: float, y: float) -> None:
        """Click at a point of the window."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, name: str, times: int = 1) -> None:
        """Press a key such as Enter, Tab or ArrowRight."""
        code = {"Enter": 13, "Tab": 9, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        code |= {"Delete": 46, "Home": 36, "End": 35}
        text = {"Enter": "\r", " ": " "}.get(name)
        for _ in range(times):
            down = {"key": name, "code": name, "windowsVirtualKeyCode": code[name]}
            self.call("Input.dispatchKeyEvent", type="keyDown", **down, **({"text": text} if text else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **down)

    def type(self, selector: str, text: str) -> None:
        """Put the text into a field, in place of what is there."""
        self.js(f"(e => {{ e.focus(); e.select() }})(document.querySelector({json.dumps(selector)}))")
        self.call("Input.insertText", text=text)

    def resize(self, width: int, height: int = 900) -> None:
        """Lay the page out for a window of another size."""
        sizes = {"width": width, "height": height, "deviceScaleFactor": 1}
        self.call("Emulation.setDeviceMetricsOverride", mobile=width < 600, **sizes)

    def screenshot(self, path: Path) -> None:
        """A picture of the window."""
        path.write_bytes(b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def pdf(self) -> bytes:
        """The page as printed."""
        return b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
