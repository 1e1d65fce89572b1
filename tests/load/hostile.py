#!/usr/bin/env python3
"""One token attacks while another token sends small runs. Attackers and measurement are separate processes, so that
attackers do not slow the measurement down:

    hostile.py attack URL TOKEN SECONDS KIND...    attacks until the time is over; always exits with 0
    hostile.py measure URL TOKEN SECONDS           prints: requests errors p50 p99 (ms)
    hostile.py dummy                               prints its port; accepts connections and never responds

URL is http:// or https:// (certificates are not checked). The kinds of attack, each found by an external review, are:
hello (TLS handshakes with a share of a large finite field), equilibrium (analyses with 10,000 starts), batch (thousands of
costly descriptions), derive (one costly description after another), list (unread pages with large summaries),
follow (idle followers of a job), store (jobs with many rows)."""
import http.client
import json
import os
import socket
import ssl
import struct
import sys
import threading
import time
from urllib.parse import urlsplit

CLEAR = ssl.create_default_context()
CLEAR.check_hostname = False
CLEAR.verify_mode = ssl.CERT_NONE

SMALL = {
    "hamel": 1, "coordinates": [{"name": "a", "initial": 1}], "kinetic_energy": "a'^2/2",
    "potential_energy": "-9.81*cos(a)", "simulation": {"stop": 1, "samples": 3},
}
# A potential with many wells in six coordinates, so that a search from any initial point converges to some equilibrium.
WELLS = {
    "hamel": 1, "coordinates": [{"name": f"x{i}", "initial": 0.1 * i} for i in range(6)],
    "kinetic_energy": " + ".join(f"x{i}'^2" for i in range(6)),
    "potential_energy": " + ".join(f"sin(7*x{i} + cos(3*x{(i + 1) % 6}))" for i in range(6)),
    "simulation": {"stop": 1},
}


def costly(number):
    """Returns a chain in angles that takes a tenth of a second to derive. Chains of different numbers share no cached model."""
    angles = [{"name": f"a{i}", "initial": 0.1 * i} for i in range(24)]
    x = [" + ".join(f"{1 + number * 1e-9}*sin(a{i})" for i in range(k + 1)) for k in range(24)]
    y = [" + ".join(f"cos(a{i})" for i in range(k + 1)) for k in range(24)]
    particles = [{"name": f"p{k}", "mass": 1, "position": [x[k], f"-({y[k]})"]} for k in range(24)]
    return {"hamel": 1, "coordinates": angles, "particles": particles, "gravity": [0, -9.81],
            "simulation": {"stop": 0.01, "samples": 2}}


class Target:
    def __init__(self, url, token, source="127.0.0.1"):
        parts = urlsplit(url)
        self.source = (source, 0)
        self.secure, self.host, self.port, self.token = parts.scheme == "https", parts.hostname, parts.port, token

    def connect(self, timeout=30):
        if self.secure:
            return http.client.HTTPSConnection(
                self.host, self.port, timeout=timeout, context=CLEAR, source_address=self.source)
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout, source_address=self.source)

    def headers(self, more=None):
        return {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **(more or {})}

    def post(self, path, body, connection=None, timeout=30):
        c = connection or self.connect(timeout)
        c.request("POST", path, json.dumps(body), self.headers())
        r = c.getresponse()
        data = r.read()
        return r.status, data


def forever(action, end):
    """Calls action() repeatedly until the time `end`, even if calls fail."""
    while time.monotonic() < end:
        try:
            action()
        except (OSError, http.client.HTTPException, ValueError):
            time.sleep(0.01)


# --- attackers ------------------------------------------------------------------------------------------------------------


def client_hello():
    """Returns a TLS 1.3 ClientHello whose only key share consists of random bytes for the group ffdhe8192."""
    def block(kind, data):
        return struct.pack(">HH", kind, len(data)) + data
    share = os.urandom(1024)
    extensions = (
        block(43, b"\x02\x03\x04") + block(10, b"\x00\x02\x01\x04") + block(13, b"\x00\x06\x04\x03\x08\x04\x08\x05")
        + block(51, struct.pack(">H", len(share) + 4) + struct.pack(">HH", 0x0104, len(share)) + share))
    body = b"\x03\x03" + os.urandom(32) + b"\x00" + b"\x00\x06\x13\x01\x13\x02\x13\x03" + b"\x01\x00"
    body += struct.pack(">H", len(extensions)) + extensions
    message = b"\x01" + struct.pack(">I", len(body))[1:] + body
    return b"\x16\x03\x01" + struct.pack(">H", len(message)) + message


def hello(target, _):
    time.sleep(0.05)
    with socket.create_connection((target.host, target.port), timeout=5) as s:
        s.sendall(client_hello())
        s.settimeout(0.5)
        s.recv(4096)


def equilibrium(target, _):
    body = {"system": WELLS, "analyses": ["equilibrium"], "options": {"equilibrium": {"starts": 10000}}}
    target.post("/v1/analyses", body, timeout=300)


def batch(target, number):
    target.post("/v1/batches", [costly(3000 * number + i) for i in range(40)], timeout=300)


def derive(target, number):
    target.post("/v1/simulations", costly(number), timeout=300)


def list_unread(target, number):
    if number == 0:
        checked = [{"name": f"c{i}", "expression": f"a + {i}"} for i in range(200)]
        sweep = {"over": {"k": [1 + 0.001 * i for i in range(250)]}}
        target.post("/v1/batches", {**SMALL, "parameters": {"k": 1}, "invariants": checked, "sweep": sweep}, timeout=60)
    connections = []
    for _ in range(14):
        c = target.connect()
        c.request("GET", "/v1/jobs?limit=500", headers=target.headers())
        connections.append(c)
    time.sleep(2)
    for c in connections:
        c.close()


def follow(target, number):
    _, answer = target.post("/v1/jobs", {**SMALL, "simulation": {"stop": 1e9, "samples": 2, "max_steps": 1e9}})
    job = json.loads(answer).get("id", "none")
    connections = []
    for _ in range(64):
        c = target.connect()
        c.request("GET", f"/v1/jobs/{job}/events", headers=target.headers({"Accept": "text/event-stream"}))
        connections.append(c)
    time.sleep(3)
    for c in connections:
        c.close()


def store(target, number):
    target.post("/v1/jobs", {**SMALL, "simulation": {"stop": 100, "samples": 200000}})


KINDS = {"hello": (1, hello), "equilibrium": (3, equilibrium), "batch": (2, batch), "derive": (4, derive),
         "list": (1, list_unread), "follow": (5, follow), "store": (1, store)}


def attack(url, token, seconds, kinds):
    end = time.monotonic() + seconds

    def run(action, number):
        def once():
            nonlocal number
            action(Target(url, token), number)
            number += 1
        forever(once, end)

    for kind in kinds:
        threads, action = KINDS[kind]
        for k in range(threads):
            threading.Thread(target=run, args=(action, 100000 * k), daemon=True).start()
    time.sleep(seconds)


# --- small runs of the other token --------------------------------------------------------------------------------------


def measure(url, token, seconds):
    target, times, errors, kinds = Target(url, token, "127.0.0.2"), [], 0, {}  # a separate address, because this test is not about limits per address
    connection, end, count = target.connect(), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        count += 1
        began = time.monotonic()
        try:
            status, data = target.post("/v1/simulations", SMALL, connection)
            good = status == 200 and b'"completed"' in data
            kind = f"{status} {data[:200]!r}"
        except (OSError, http.client.HTTPException) as error:
            good, kind = False, repr(error)
        times.append(1000 * (time.monotonic() - began))
        if not good:
            errors += 1
            kinds[kind] = kinds.get(kind, 0) + 1
        if not good or count % 50 == 0:  # sometimes, open a new connection with a new handshake
            connection.close()
            connection = target.connect()
        time.sleep(0.02)
    for kind, number in kinds.items():
        print(f"{number} times {kind}", file=sys.stderr)
    times.sort()
    print(count, errors, f"{times[len(times) // 2]:.2f}", f"{times[int(0.99 * (len(times) - 1))]:.2f}")


def dummy():
    server = socket.create_server(("127.0.0.1", 0), backlog=1024)
    print(server.getsockname()[1], flush=True)
    kept = []
    while True:
        kept.append(server.accept()[0])
        if len(kept) > 500:
            kept.pop(0).close()


if __name__ == "__main__":
    if sys.argv[1] == "dummy":
        dummy()
    elif sys.argv[1] == "measure":
        measure(sys.argv[2], sys.argv[3], float(sys.argv[4]))
    else:
        attack(sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5:])
        os._exit(0)  # threads may still be waiting for an answer
