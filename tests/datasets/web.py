"""A web server on this machine that serves files well, badly and slowly."""

from __future__ import annotations

import contextlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """The content at one path, and the requests for it.

    Attributes
    ----------
    content : bytes
    plan : list of int or tuple
        What to do with the next requests, one each; later ones are answered well. A number is a status to answer with,
        ("cut", n) sends n bytes and closes the connection, ("stall", s) waits s seconds in the middle.
    requests : list of dict
        Headers of the requests so far.
    """

    def __init__(self, content, plan=()):
        self.content, self.plan = content, list(plan)
        self.requests = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        site = self.server.sites.get(self.path)
        if site is None:
            self.send_error(404)
            return
        site.requests.append(dict(self.headers))
        step = site.plan.pop(0) if site.plan else ("cut", len(site.content))
        if isinstance(step, int):
            self.send_response(step)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        kind, amount = step
        self.send_response(200)
        self.send_header("Content-Length", str(len(site.content)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(site.content[: amount if kind == "cut" else len(site.content) // 2])
            self.wfile.flush()
            if kind == "stall":
                time.sleep(amount)
        self.close_connection = True


@contextlib.contextmanager
def serving(sites):
    """A server for some paths; gives the address to put before them."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.sites = sites
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
