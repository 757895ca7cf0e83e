"""Whatever a server answers, a person gets one sentence and never a traceback."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

pytestmark = pytest.mark.acceptance


class FakeServer(HTTPServer):
    """Answers everything with one status and one body."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), FakeAnswer)
        self.status, self.body = 200, b""


class FakeAnswer(BaseHTTPRequestHandler):
    server: FakeServer

    def do_GET(self) -> None:
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def fake() -> Iterator[FakeServer]:
    with FakeServer() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _show(run, fake, *flags):
    return run("clock", "show", "--portal", f"http://127.0.0.1:{fake.server_port}", *flags)


@pytest.mark.parametrize("body", [b"[]", b"{}", b"no JSON", b'{"now": 1}'])
def test_an_answer_that_makes_no_sense_is_one_sentence(run, fake, body):
    fake.body = body
    done = _show(run, fake)
    assert done.code == 1
    assert len(done.err.splitlines()) == 1
    assert "--verbose" in done.err
    assert "Traceback (most recent call last)" in _show(run, fake, "--verbose").err


@pytest.mark.parametrize(
    ("status", "body", "code", "sentence"),
    [
        (500, b"oops", 1, "error: the server answered 500 Internal Server Error.\n"),
        (404, b"", 3, "error: the server answered 404 Not Found.\n"),
        (409, b'{"error": "busy"}', 1, "error: the server answered 409 Conflict.\n"),
        (409, b'{"error": {"code": "Busy", "message": "Wait."}}', 1, "error: Wait. (Busy)\n"),
    ],
)
def test_a_refusal_is_passed_on(run, fake, status, body, code, sentence):
    fake.status, fake.body = status, body
    done = _show(run, fake)
    assert (done.code, done.err) == (code, sentence)
