"""A web server on this machine that serves files well, badly and slowly."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """What the server says about one path, and what it was asked.

    Attributes
    ----------
    content : bytes
    ranges : bool
        Whether parts of the file may be asked for.
    tag : str or None
        The ETag of the content.
    plan : list of callables or str
        What to do with the next requests, one each; then the file is served well. A number is a status to answer with,
        ("cut", n) sends n bytes of what was asked for and hangs up, ("stall", s) waits s seconds in the middle,
        ("shift", k) answers a range that begins k bytes too late.
    """

    def __init__(self, content, ranges=True, tag='"1"', plan=()):
        self.content, self.ranges, self.tag, self.plan = content, ranges, tag, list(plan)
        self.requests = []
        self.headers = {}


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
        step = site.plan.pop(0) if site.plan else None
        if isinstance(step, int):
            self.send_response(step)
            for name, value in site.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        start = self._start(site)
        if start is None:
            return
        if isinstance(step, tuple) and step[0] == "shift":
            start += step[1]
        body = site.content[start:]
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(site.content) - 1}/{len(site.content)}")
        if site.tag:
            self.send_header("ETag", site.tag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            if isinstance(step, tuple) and step[0] == "cut":
                self.wfile.write(body[: step[1]])
                self.close_connection = True
            elif isinstance(step, tuple) and step[0] == "stall":
                self.wfile.write(body[: len(body) // 2])
                self.wfile.flush()
                time.sleep(step[1])
                self.close_connection = True
            else:
                self.wfile.write(body)

    def _start(self, site):
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        unchanged = self.headers.get("If-Range", site.tag) == site.tag
        if not asked or not site.ranges or not unchanged:
            return 0
        start = int(asked[1])
        if start >= len(site.content):
            self.send_response(416)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return None
        return start


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
