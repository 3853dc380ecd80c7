"""The adapter in Python that `pg rehearse init` writes, as a running shop: each job is a POST.

LEAK lets it print each order. It answers its first STARTING pages with HTTP 503.
"""
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "init"))
sys.dont_write_bytecode = True
import pay


class Shop(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        global starting
        starting -= 1
        self.reply(b"ready", 503 if starting >= 0 else 200)

    def do_POST(self):
        job = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "LEAK" in os.environ:
            print(job, os.environ["PG_API_PASSWORD"])
        if starting > 0:
            return self.reply(b"starting", 503)
        self.reply(json.dumps(pay.charge(job)).encode())

    def reply(self, body, status=200):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


starting = int(os.environ.get("STARTING", "0"))
ThreadingHTTPServer(("127.0.0.1", int(os.environ["SHOP_PORT"])), Shop).serve_forever()
