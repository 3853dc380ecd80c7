"""The adapter in Python that `pg rehearse init` writes, as a running shop: each job is a POST."""
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
        self.reply(b"ready")

    def do_POST(self):
        job = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.reply(json.dumps(pay.charge(job)).encode())

    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", int(os.environ["SHOP_PORT"])), Shop).serve_forever()
