"""The server: it answers its own page, in plain words, whatever it is sent."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from threading import Thread

import networkx
import pytest

from escgnn import graphs
from escgnn.encoding import RootedEncoding
from escgnn.explorer import Server, read
from escgnn.explorer.server import MOST_BYTES, MOST_SCENES
from tests.pages import unpacked
from tests.training.test_old_runs import RUNS


@pytest.fixture(scope="module")
def server():
    made = Server(read("0-1 1-2 2-0 2-3"), RootedEncoding(1))
    thread = Thread(target=made.serve)
    thread.start()
    yield made
    made.stop()
    thread.join()


def ask(server, path, body=None, **headers):
    """Status, headers and what was said, as JSON if it is."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    given = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    connection.request("GET" if body is None else "POST", path, content, given)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, json.loads(text) if "json" in answer.getheader("Content-Type", "") else text


def complaint(server, path, body, status=400, **headers):
    answer, said = ask(server, path, body, **headers)
    assert answer.status == status, said
    return said["error"]


def test_the_page_and_its_headers(server):
    answer, text = ask(server, "/")
    assert answer.status == 200
    assert text.startswith("<!DOCTYPE html>")
    assert answer.getheader("X-Frame-Options") == "DENY"
    assert answer.getheader("X-Content-Type-Options") == "nosniff"
    assert "connect-src 'self'" in text
    assert answer.getheader("Access-Control-Allow-Origin") is None


def test_a_graph_and_its_roots(server):
    answer, scene = ask(server, "/scene", {"text": "0-1 1-2 2-3 3-0", "hops": [1], "parts": ["edge"]})
    assert answer.status == 200
    assert scene["edges"] == [[0, 1], [0, 3], [1, 2], [2, 3]]
    _, found = ask(server, "/root", {"id": scene["id"], "u": 0, "v": 1})
    row = {found["bins"][number][1]: count for number, count, _ in found["roots"][0]["bins"]}
    assert row["(1,2)-(2,1)"] == 1
    placed = ask(server, "/scene", {"text": "0-1", "points": [[0.25, 0.5], [0.75, 0.5]]})[1]
    assert placed["points"] == [[0.25, 0.5], [0.75, 0.5]]


def test_two_graphs(server):
    _, found = ask(server, "/compare", {"preset": "rook", "hops": [1], "depth": 2})
    told = {test["name"]: test["told"] is not None for test in found["tests"]}
    assert told == {"1-WL": False, "3-WL": False, "ESC-WL, h = 1": True, "1-WL with 2 nodes singled out": True}
    _, found = ask(
        server, "/compare", {"a": {"text": "0-1 1-2"}, "b": {"text": "0-1 1-2"}, "hops": [1, 2], "parts": ["cycle"]}
    )
    assert not any(test["told"] for test in found["tests"])


def test_other_hosts_and_origins_are_refused(server):
    for path, body in (("/", None), ("/scene", {"text": "0-1"})):
        for headers in (
            {"Host": "evil.example"},
            {"Host": f"evil.example:{server.port}"},
            {"Host": "127.0.0.1:1"},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
        ):
            answer, said = ask(server, path, body, **headers)
            assert answer.status == 403
            assert said["error"] == f"this explorer answers at {server.url} only"
    for host in ("localhost", "127.0.0.1"):
        same = f"{host}:{server.port}"
        assert ask(server, "/scene", {"text": "0-1"}, Host=same, Origin=f"http://{same}")[0].status == 200


def test_huge_bodies_are_answered(server):
    edges = " ".join(f"{i}-{i + 1}" for i in range(100_000))
    said = complaint(server, "/scene", {"text": edges}, 413)
    assert "bytes were sent; at most 262,144 are read" in said
    assert complaint(server, "/scene", b"x" * (MOST_BYTES + 1), 413)
    assert "99,999,999,999 bytes" in _raw(server, "Content-Length: 99999999999")
    assert "Content-Length" in _raw(server, "Transfer-Encoding: chunked")
    assert "Content-Length" in _raw(server, "Content-Length: -5")


def _raw(server, header):
    """What is said to a request of which only the head comes; the rest is never sent."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        head = f"POST /scene HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\n{header}\r\n\r\n"
        connection.sendall(head.encode())
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(4096):
            answer += piece
    return json.loads(answer.partition(b"\r\n\r\n")[2])["error"]


def test_a_hundred_thousand_nodes_are_answered(server):
    nothing = networkx.to_sparse6_bytes(networkx.empty_graph(100_000)).decode()
    said = complaint(server, "/scene", {"text": nothing, "kind": "graph6"})
    assert said.startswith("graph: 100,000 nodes and 0 edges; the explorer draws at most 400")


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/scene", b"{", "Expecting property name"),
        ("/scene", [1], "body: expected values by name"),
        ("/scene", b"[" * 100_000, "nested too deep"),
        ("/scene", {}, "text: None; expected a text"),
        ("/scene", {"text": 3}, "text: 3; expected a text"),
        ("/scene", {"text": "C1CC"}, "not a SMILES string"),
        ("/scene", {"text": "0-1", "kind": []}, "kind: []; expected a text"),
        ("/scene", {"text": "0-1", "hops": "2"}, "hops: '2'; expected one radius or more"),
        ("/scene", {"text": "0-1", "hops": [7]}, "hops: [7]; the explorer takes 1 to 6"),
        ("/scene", {"text": "0-1", "hops": [None]}, "hops: [None]"),
        ("/scene", {"text": "0-1", "parts": ["__import__"]}, "parts: unknown part '__import__'"),
        ("/scene", {"text": "0-1", "parts": []}, "expected one or more different parts"),
        ("/scene", {"text": "0-1", "parts": 1}, "parts: 1; expected names of parts"),
        ("/scene", {"text": "0-1", "points": [["a", 0], [0, 0]]}, "could not convert"),
        ("/root", {"id": "none", "u": 0, "v": 1}, "this graph is no longer kept; press Show again"),
        ("/root", {"id": "1", "u": "0", "v": 1}, "u: '0'; expected an integer"),
        ("/compare", {"preset": "rooks"}, "preset: 'rooks'; expected one of rook, c15, csl"),
        ("/compare", {"a": {"text": "0-1"}}, "graph: expected a text and its kind"),
        ("/compare", {"preset": "rook", "depth": 9}, "depth: 9; expected 1 to 4"),
    ],
)
def test_bad_requests_are_told_in_plain_words(server, path, body, said):
    if path == "/root":
        ask(server, "/scene", {"text": "0-1"})
    assert said in complaint(server, path, body)


def test_a_root_that_does_not_exist(server):
    _, scene = ask(server, "/scene", {"text": "0-1"})
    assert "node ids run from 0 to 1" in complaint(server, "/root", {"id": scene["id"], "u": 0, "v": 7})
    assert "node ids run from 0 to 1" in complaint(server, "/root", {"id": scene["id"], "u": -1, "v": 0})


def test_nothing_else_is_there(server):
    for path in ("/etc/passwd", "/../pyproject.toml", "/static/view.js", "/?x"):
        answer, said = ask(server, path)
        assert answer.status == 404 and "there is nothing at" in said["error"]
    assert complaint(server, "/scenes", {}, 404)
    assert complaint(server, "/scene", {"text": "0-1"}, 415, Content_Type="text/plain")


def test_names_come_back_as_they_are(server):
    _, scene = ask(server, "/scene", {"text": "<script>alert(1)</script> <b>", "kind": "edges"})
    assert scene["names"] == ["<script>alert(1)</scrip…", "<b>"]


def test_few_graphs_are_kept(server):
    first = ask(server, "/scene", {"text": "0-1"})[1]["id"]
    for _ in range(MOST_SCENES):
        ask(server, "/scene", {"text": "0-1"})
    assert "no longer kept" in complaint(server, "/root", {"id": first, "u": 0, "v": 1})


def test_a_fault_of_ours_is_told_and_the_server_lives(server, monkeypatch, capsys):
    monkeypatch.setitem(server.actions, "/scene", lambda body: 1 // 0)
    assert "a fault of the explorer" in complaint(server, "/scene", {"text": "0-1"}, 500)
    assert "ZeroDivisionError" in capsys.readouterr().err
    monkeypatch.undo()
    assert ask(server, "/scene", {"text": "0-1"})[0].status == 200


def test_a_port_that_is_taken(server):
    with pytest.raises(ValueError, match=f"port: {server.port}; Address already in use; choose another"):
        Server(read("0-1"), port=server.port)


def test_it_listens_on_this_machine_only(server):
    assert server._listener.server_address[0] == "127.0.0.1"


def test_a_run_is_asked_for_every_graph():
    from escgnn.training import load_run

    made = Server(read(graphs.cycle(5)), RootedEncoding(1), run=load_run(RUNS / "pna"))
    made._listener.server_close()
    scene = made.answer("/scene", b'{"text": "0-1"}')
    assert scene["prediction"]["run"].startswith("pna (")


def test_the_command_says_when_it_is_ready(tmp_path):
    command = [
        sys.executable,
        "-m",
        "escgnn",
        "explore",
        "0-1 1-2 2-0",
        "--no-browser",
        "--hops",
        "1",
        "--parts",
        "edge",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        line = process.stdout.readline()
        assert line.startswith("ready at http://127.0.0.1:"), process.stderr.read()
        port = int(line.split(":")[2].split("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/")
        html = connection.getresponse().read().decode()
        connection.close()
        assert json.loads(unpacked(html).data)["scene"]["title"] == "0-1 1-2 2-0"
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(timeout=60) == 0
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.communicate()
