"""A merchant's server for callbacks: keeps what is posted to it."""

import http.server
import queue
import threading


class Listener:
    """Listens on a free port of the loopback interface while the `with` block runs, and answers with `status`."""

    def __init__(self, status=200):
        self._got = queue.Queue()
        got = self._got

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                got.put((self.path, self.headers, body))
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def url(self, path="/"):
        return f"http://127.0.0.1:{self._server.server_port}{path}"

    def take(self):
        """The next callback as path, headers and body. The time limit only keeps a failed walk from hanging."""
        return self._got.get(timeout=60)

    def is_empty(self):
        return self._got.empty()
