"""The hub's own package against a server on this machine that answers as the hub does; without the package nothing is run."""

import hashlib
import json
import os
import subprocess
import sys
from base64 import b64decode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

pytest.importorskip("huggingface_hub", reason="extra hub: pip install 'escgnn[hub]'")
COMMIT = "a" * 40
ROOT = Path(__file__).parents[2]
THERE_AND_BACK = """
import json, sys
from escgnn import hub
folder, name = sys.argv[1:]
print(hub.push(folder, name, "---\\nlicense: mit\\n---\\n# A run", private=True))
found = hub.located(f"hf://{name}")
print(json.dumps({path.relative_to(found).as_posix(): path.read_text() for path in found.rglob("*") if path.is_file()}))
print(hub.name_of(found))
"""
WORDS = """
import sys
from escgnn import hub
for ask in (lambda: hub.located(sys.argv[2]), lambda: hub.push(sys.argv[1], "me/logp", "")):
    try:
        print(ask())
    except ValueError as error:
        print("refused:", error)
"""


class Answer(BaseHTTPRequestHandler):
    """The few paths that are asked for when a model is pushed or fetched."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        files = self.server.files
        if self.headers.get("Authorization") != "Bearer hf_a_token":
            self.say(401, {"error": "Invalid username or password."})
        elif self.path.startswith("/api/repos/create"):
            asked = json.loads(body)
            self.server.asked.append(asked)
            self.say(200, {"url": f"http://{self.headers['Host']}/{asked['organization']}/{asked['name']}"})
        elif "/preupload/" in self.path:
            kept = [{"path": file["path"], "uploadMode": "regular"} for file in json.loads(body)["files"]]
            self.say(200, {"files": [{**file, "shouldIgnore": False} for file in kept]})
        elif "/commit/" in self.path:
            lines = [json.loads(line) for line in body.splitlines()]
            files.update({line["value"]["path"]: line["value"]["content"] for line in lines if line["key"] == "file"})
            self.say(
                200,
                {
                    "success": True,
                    "commitOid": COMMIT,
                    "commitUrl": f"http://{self.headers['Host']}/me/logp/commit/{COMMIT}",
                },
            )
        else:  # is the head of the card well written?
            self.say(200, {"errors": [], "warnings": []})

    def do_GET(self) -> None:
        files = self.server.files
        _, _, place = self.path.partition(f"/resolve/{COMMIT}/")
        if not self.path.startswith(("/api/models/me/logp", "/me/logp")):
            self.say(404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})
        elif place:
            content = b64decode(files[place])
            own = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": COMMIT}
            self.say(200, content, own)
        elif "/tree/" in self.path:
            found = [{"type": "file", "path": file, "size": 1, "oid": COMMIT} for file in files]
            self.say(200, found)
        else:
            siblings = [{"rfilename": file} for file in files]
            self.say(
                200, {"_id": "1", "id": "me/logp", "sha": COMMIT, "private": True, "tags": [], "siblings": siblings}
            )

    def do_HEAD(self) -> None:
        self.do_GET()

    def say(self, status, content, headers=None) -> None:
        text = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": len(text), **(headers or {})}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)


@pytest.fixture
def hub():
    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        server.files = {}
        server.asked = []
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def folder(tmp_path):
    """What a run folder holds, but for what it says."""
    for name in ("model.json", "model.safetensors", "result.json", "last.ckpt", "known.npy", "member0/model.json"):
        path = tmp_path / "logp" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"this is {name}")
    return tmp_path / "logp"


def ask(script, port, home, *arguments, token="hf_a_token"):
    """Run a script for which that server is the hub."""
    places = {"HF_ENDPOINT": f"http://127.0.0.1:{port}", "HF_HOME": str(home), "HF_TOKEN": token}
    quiet = {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, env={**os.environ, **places, **quiet}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_run_goes_there_and_back(hub, folder, tmp_path):
    hub.files["evil.pkl"] = "Y29kZQ=="
    address, files, name = ask(THERE_AND_BACK, hub.server_port, tmp_path, folder, "me/logp")
    assert address == "hf://me/logp" and name == "logp"
    assert hub.asked[0]["visibility" if "visibility" in hub.asked[0] else "private"] in ("private", True)
    shared = ["model.json", "model.safetensors", "result.json", "member0/model.json"]
    assert json.loads(files) == {place: f"this is {place}" for place in shared}
    assert b64decode(hub.files["README.md"]).startswith(b"---\nlicense: mit")
    assert {*hub.files} == {*shared, "README.md", "evil.pkl"}


def test_what_goes_wrong_is_said_in_words(hub, folder, tmp_path):
    missing, unknown = ask(WORDS, hub.server_port, tmp_path, folder, "hf://me/other", token="hf_of_nobody")
    assert missing.startswith("refused: hf://me/other: 404 Client Error. Repository Not Found")
    assert unknown.startswith("refused: me/logp: ") and "401" in unknown
    nowhere, silent = ask(WORDS, 9, tmp_path, folder, "hf://me/logp")
    assert nowhere.startswith("refused: hf://me/logp: ")
    assert silent.startswith("refused: me/logp: ")
