"""A receiver written without a line of this project, to check what it sends by somebody else's HTTP and HMAC.

Listens on a free loopback port and prints it first: {"port": 40123}. Then one JSON line per POST:
{"type", "verdict": "valid|invalid|unsigned|unchecked", "path", "signature", "bodyBase64"}.
The secret is in RECEIVER_SECRET; without it nothing is checked. Responds with 200, or 401 to what does not verify.
"""

import base64
import hashlib
import hmac
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("RECEIVER_SECRET")
PRINTING = threading.Lock()


def verdict_on(body, signatures):
    if SECRET is None:
        return "unchecked"
    if not signatures:
        return "unsigned"
    expected = hmac.new(SECRET.encode(), body, hashlib.sha1).hexdigest()
    matches = len(signatures) == 1 and hmac.compare_digest(expected.encode(), signatures[0].encode())
    return "valid" if matches else "invalid"


def type_of(body):
    try:
        return json.loads(body).get("type")
    except (ValueError, AttributeError):
        return None


def show(line):
    with PRINTING:
        print(json.dumps(line), flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        signatures = self.headers.get_all("X-Signature", [])
        verdict = verdict_on(body, signatures)
        show(
            {
                "type": type_of(body),
                "verdict": verdict,
                "path": self.path,
                "signature": signatures[0] if signatures else None,
                "bodyBase64": base64.b64encode(body).decode(),
            }
        )
        self.send_response(200 if verdict in ("valid", "unchecked") else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Standard error is for what goes wrong."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    show({"port": server.server_port})
    server.serve_forever()
