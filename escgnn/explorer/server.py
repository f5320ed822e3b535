"""The explorer for what people type, paste or draw: a small server for this machine alone.

It answers on the loopback address, to its own page only (other Host or Origin headers are refused), reads little, keeps little,
and executes nothing that it is sent.
"""

import json
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import TYPE_CHECKING, Any

from escgnn import wl
from escgnn.encoding import PARTS, RootedEncoding
from escgnn.explorer import presets
from escgnn.explorer.comparison import MOST_DEPTH, compared
from escgnn.explorer.page import Page
from escgnn.explorer.prediction import predicted
from escgnn.explorer.reading import KINDS, Subject, moved, read
from escgnn.explorer.scene import Scene
from escgnn.hub import name_of

if TYPE_CHECKING:
    from escgnn.training import Ensemble, Run

ADDRESS = "127.0.0.1"
MOST_BYTES = 256 * 1024  # of what a page sends
MOST_DRAINED = 64 * MOST_BYTES
MOST_HOPS = 6
MOST_SCENES = 32  # graphs that are kept, the latest
SECONDS = 20  # after which a connection that says nothing is closed
EXAMPLES = {
    "caffeine": "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
    "naphthalene": "c1ccc2ccccc2c1",
    "Petersen graph": ">>graph6<<IheA@GUAo",
    "two triangles and a bridge": "0-1 1-2 2-0 2-3 3-4 4-5 5-3",
}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}

Body = dict[str, Any]


class RefusedError(Exception):
    """A request that is not answered, and why."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Server:
    """The explorer as a server; `serve` runs it until somebody stops it.

    Args:
        subject: The graph to begin with.
        encoding: What to count to begin with.
        run: A trained run, whose predictions are shown.
        port: Where to listen; 0 for any that is free.

    Attributes:
        url: Where it is found.

    Raises:
        ValueError: Somebody else listens there, or nobody may.
    """

    def __init__(
        self,
        subject: Subject | None = None,
        encoding: RootedEncoding | None = None,
        *,
        run: "Run | Ensemble | None" = None,
        port: int = 0,
    ) -> None:
        self.run = run
        self.subject = read(
            EXAMPLES["caffeine"] if subject is None and _has_chemistry() else subject or "0-1 1-2 2-0 2-3"
        )
        self.encoding = encoding or RootedEncoding()
        self._scenes: OrderedDict[str, Scene] = OrderedDict()
        self._made = 0
        self._lock = Lock()  # one computation at a time
        try:
            self._listener = ThreadingHTTPServer((ADDRESS, port), _handler(self))
        except OSError as error:
            raise ValueError(f"port: {port}; {error.strerror}; choose another, or 0 for any that is free") from error
        self._listener.daemon_threads = True
        self.port: int = self._listener.server_address[1]
        self.url = f"http://{ADDRESS}:{self.port}/"
        self.actions: dict[str, Callable[[Body], Body]] = {
            "/scene": self._scene,
            "/root": self._root,
            "/compare": self._compare,
        }

    def warm_up(self) -> None:
        """Compile or load all kernels that a click may need, so that none waits for them."""
        small = read("0-1 1-2 2-0 2-3", "edges")
        Scene(small, RootedEncoding(2, tuple(PARTS))).roots([(0, 1), (0, 0)])
        compared(small, small, [test(RootedEncoding(1), 2) for test in TESTS.values()])
        compared(small, small, [wl.ESCWL(RootedEncoding(1, tuple(PARTS)))])
        if self.run is not None:
            predicted(self.run, self.subject)

    def serve(self) -> None:
        """Answer until `stop` is called, or Ctrl-C is pressed."""
        try:
            self._listener.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            pass
        finally:
            self._listener.server_close()

    def stop(self) -> None:
        """End `serve`, which another thread runs."""
        self._listener.shutdown()

    def page(self) -> str:
        """The page that shows it all."""
        with self._lock:
            scene = self._keep(Scene(self.subject, self.encoding))
        hops = self.encoding.hops
        data = {
            "scene": scene,
            "hops": [hops] if isinstance(hops, int) else [*hops],
            "parts": [*self.encoding.parts],
            "all_parts": {name: part.counts for name, part in PARTS.items()},
            "kinds": KINDS,
            "examples": EXAMPLES,
            "presets": presets.names(),
            "tests": [*TESTS],
            "run": None if self.run is None else name_of(self.run.folder),
        }
        return Page("live", "ESC-GNN explorer", data).html

    def answer(self, path: str, content: bytes) -> Body:
        """What a request comes to.

        Raises:
            RefusedError: It makes no sense.
        """
        if path not in self.actions:
            raise RefusedError(HTTPStatus.NOT_FOUND, f"there is nothing at {path:.60}")
        try:
            body = json.loads(content)
            if not isinstance(body, dict):
                raise ValueError("body: expected values by name")
            with self._lock:
                return self.actions[path](body)
        except (ValueError, OverflowError, ImportError, RecursionError) as error:
            words = str(error) if not isinstance(error, RecursionError) else "body: nested too deep"
            raise RefusedError(HTTPStatus.BAD_REQUEST, words) from error
        except MemoryError as error:
            raise RefusedError(HTTPStatus.BAD_REQUEST, "graph: there is not enough memory for it") from error

    def _keep(self, scene: Scene) -> Body:
        self._made += 1
        key = str(self._made)
        self._scenes[key] = scene
        while len(self._scenes) > MOST_SCENES:
            self._scenes.popitem(last=False)
        about = {"id": key, **scene.about()}
        if self.run is not None:
            about["prediction"] = predicted(self.run, scene.subject).plain()
        return about

    def _scene(self, body: Body) -> Body:
        subject = _subject(body)
        if body.get("points"):
            subject = moved(subject, body["points"])
        return self._keep(Scene(subject, _encoding(body)))

    def _root(self, body: Body) -> Body:
        scene = self._scenes.get(_text(body, "id"))
        if scene is None:
            raise ValueError("id: this graph is no longer kept; press Show again")
        self._scenes.move_to_end(body["id"])
        return scene.roots([(_whole(body, "u"), _whole(body, "v"))])

    def _compare(self, body: Body) -> Body:
        if body.get("preset"):
            first, second, initial = presets.pair(_text(body, "preset"))
        else:
            first, second = (_subject(body.get(side)) for side in ("a", "b"))
            initial = None
        depth = _whole(body, "depth", 2)
        if not 1 <= depth <= MOST_DEPTH:
            raise ValueError(f"depth: {depth}; expected 1 to {MOST_DEPTH}")
        encoding = _encoding(body)
        return compared(first, second, [test(encoding, depth) for test in TESTS.values()], initial)


TESTS: dict[str, Callable[[RootedEncoding, int], wl.WLTest]] = {
    "1-WL": lambda encoding, depth: wl.OneWL(),
    "3-WL": lambda encoding, depth: wl.ObliviousWL(3),
    "ESC-WL": lambda encoding, depth: wl.ESCWL(encoding),
    "search": lambda encoding, depth: wl.SearchWL(depth),
}


def _has_chemistry() -> bool:
    try:
        read("C", "smiles")
    except ImportError:
        return False
    return True


def _text(body: Body, name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name}: {value!r:.60}; expected a text")
    return value


def _whole(body: Body, name: str, default: int | None = None) -> int:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name}: {value!r:.60}; expected an integer")
    return value


def _subject(body: Any) -> Subject:
    if not isinstance(body, dict):
        raise ValueError("graph: expected a text and its kind")
    return read(_text(body, "text"), _text({"kind": "auto", **body}, "kind"))


def _encoding(body: Body) -> RootedEncoding:
    hops = body.get("hops", [2])
    if not isinstance(hops, list) or not hops or not all(isinstance(radius, int) for radius in hops):
        raise ValueError(f"hops: {hops!r:.60}; expected one radius or more")
    if not 1 <= min(hops) <= max(hops) <= MOST_HOPS:
        raise ValueError(f"hops: {hops!r:.60}; the explorer takes 1 to {MOST_HOPS}")
    parts = body.get("parts", [*RootedEncoding().parts])
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"parts: {parts!r:.60}; expected names of parts")
    chosen: int | Sequence[int] = hops[0] if len(hops) == 1 else hops
    return RootedEncoding(chosen, parts)


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Checks who asks, and how much; the rest is the server's."""

        server_version = "escgnn"
        sys_version = ""
        protocol_version = "HTTP/1.1"
        timeout = SECONDS

        def do_GET(self) -> None:
            self._answered(lambda: self._get())

        def do_POST(self) -> None:
            self._answered(lambda: self._post())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def _get(self) -> tuple[str, bytes]:
            if self.path != "/":
                raise RefusedError(HTTPStatus.NOT_FOUND, f"there is nothing at {self.path:.60}")
            return "text/html; charset=utf-8", server.page().encode()

        def _post(self) -> tuple[str, bytes]:
            if self.headers.get("Content-Type", "").partition(";")[0].strip() != "application/json":
                raise RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "expected Content-Type: application/json")
            length = self.headers.get("Content-Length", "")
            if not (length.isascii() and length.isdigit()):
                raise RefusedError(HTTPStatus.LENGTH_REQUIRED, "expected Content-Length: the number of bytes sent")
            if len(length) > 12 or int(length) > MOST_BYTES:
                self._drain(int(length[:13]))
                reason = f"{int(length[:13]):,} bytes were sent; at most {MOST_BYTES:,} are read. Give a smaller graph"
                raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
            answer = server.answer(self.path, self.rfile.read(int(length)))
            return "application/json", json.dumps(answer, allow_nan=False).encode()

        def _drain(self, length: int) -> None:
            """Take some of what is too much, or whoever sends it would not listen to the answer."""
            left = min(length, MOST_DRAINED)
            while left > 0 and (piece := self.rfile.read(min(left, 1 << 16))):
                left -= len(piece)

        def _answered(self, make: Callable[[], tuple[str, bytes]]) -> None:
            status = HTTPStatus.OK
            try:
                self._check_origin()
                kind, content = make()
            except RefusedError as error:
                status = error.status
                kind, content = "application/json", json.dumps({"error": str(error)}).encode()
                self.close_connection = True  # what was sent and not read must not be taken for another request
            except (BrokenPipeError, ConnectionResetError, TimeoutError):
                return
            except Exception as error:
                traceback.print_exc(file=sys.stderr)
                status = HTTPStatus.INTERNAL_SERVER_ERROR
                kind, content = "application/json", json.dumps({"error": f"a fault of the explorer: {error}"}).encode()
            self.send_response(status)
            for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(content)

        def _check_origin(self) -> None:
            hosts = {f"{name}:{server.port}" for name in (ADDRESS, "localhost")}
            host = self.headers.get("Host", "")
            origin = self.headers.get("Origin")
            if host not in hosts or (origin is not None and origin.removeprefix("http://") not in hosts):
                raise RefusedError(HTTPStatus.FORBIDDEN, f"this explorer answers at {server.url} only")

    return Handler
