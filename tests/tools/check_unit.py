#!/usr/bin/python3
"""Runs the daemon with the system calls that deploy/hamel.service permits. The daemon must serve an analysis, which runs
in a separate process, and a run in machine code.

Like systemd, the test installs SystemCallFilter= and MemoryDenyWriteExecute= as two filters of libseccomp. The groups
of system calls come from systemd-analyze. TAP.
"""
import ctypes
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "deploy/hamel.service"
HAMELD = os.environ.get("HAMELD", str(ROOT / "build/hameld"))
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
WRITE, EXECUTE, MASKED_EQUAL = 2, 4, 7
SYSTEM = {
    "hamel": 1,
    "coordinates": [{"name": "x", "initial": 1}],
    "kinetic_energy": "x'^2/2",
    "potential_energy": "x^2/2",
    "simulation": {"stop": 1, "samples": 3},
}


class Comparison(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def library():
    lib = ctypes.CDLL("libseccomp.so.2")
    lib.seccomp_init.restype = ctypes.c_void_p
    lib.seccomp_init.argtypes = [ctypes.c_uint32]
    lib.seccomp_load.argtypes = [ctypes.c_void_p]
    lib.seccomp_rule_add_array.argtypes = [
        ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(Comparison)]
    return lib


def groups():
    """Returns the groups of system calls that systemd defines. A group contains names of calls and of other groups."""
    found, group = {}, None
    text = subprocess.run(["systemd-analyze", "syscall-filter"], capture_output=True, text=True).stdout
    for line in text.splitlines():
        if line.startswith("@"):
            group = found.setdefault(line.strip(), [])
        elif group is not None and line.startswith("    ") and not line.strip().startswith("#"):
            group.append(line.strip())
    return found


def expand(name, known):
    if not name.startswith("@"):
        return {name}
    return set().union(*(expand(member, known) for member in known[name]))


def calls_of_unit():
    known = groups()
    left = expand("@default", known)
    for line in UNIT.read_text().splitlines():
        if not line.startswith("SystemCallFilter="):
            continue
        value = line.split("=", 1)[1]
        named = set().union(*(expand(name, known) for name in value.lstrip("~").split()))
        left = left - named if value.startswith("~") else left | named
    return left


def confine(names):
    lib = library()
    only = lib.seccomp_init(REFUSE)
    for name in names:
        number = lib.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            lib.seccomp_rule_add_array(only, ALLOW, number, 0, None)
    memory = lib.seccomp_init(ALLOW)
    for name, bits in (("mmap", WRITE | EXECUTE), ("mprotect", EXECUTE), ("pkey_mprotect", EXECUTE)):
        argument = Comparison(2, MASKED_EQUAL, bits, bits)
        lib.seccomp_rule_add_array(memory, REFUSE, lib.seccomp_syscall_resolve_name(name.encode()), 1, argument)
    return lib.seccomp_load(memory) == 0 and lib.seccomp_load(only) == 0


def start(names, data):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 2)
        if confine(names):
            os.execv(HAMELD, [HAMELD, "--listen", "127.0.0.1:0", "--data", data, "--seccomp", "on", "--jit", "on"])
        os._exit(99)
    os.close(write)
    return pid, os.fdopen(read)


def ask(url, body, preferences):
    asked = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **preferences})
    with urllib.request.urlopen(asked, timeout=120) as answer:
        return json.load(answer)


def run(log, said):
    """Requests an analysis and a run. Returns the evaluation in the summary of the run, or None if this fails."""
    for line in log:
        said.append(line.rstrip())
        entry = json.loads(line)
        if entry["event"] != "listening":
            continue
        if ask(entry["url"] + "/v1/analyses", {"system": SYSTEM}, {})["degrees_of_freedom"] != 1:
            return None
        return ask(entry["url"] + "/v1/jobs", SYSTEM, {"Prefer": "wait=100"})["summary"]["evaluation"]
    return None


def main():
    name = "the daemon serves requests with the system calls that its unit permits"
    print("1..1")
    if not shutil.which("systemd-analyze"):
        print(f"ok 1 - {name} # SKIP systemd-analyze is not installed")
        return 0
    said = []
    with tempfile.TemporaryDirectory() as data:
        pid, log = start(calls_of_unit(), data)
        evaluation = run(log, said)
        time.sleep(0.1)
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        said += [line.rstrip() for line in log]
        status = os.waitpid(pid, 0)[1]
    avx2 = "avx2" in Path("/proc/cpuinfo").read_text()
    good = status == 0 and evaluation == ("machine code" if avx2 else "interpreter")
    print(f"{'ok' if good else 'not ok'} 1 - {name}")
    if not good:
        print(f"# status {status}, evaluation {evaluation}")
        for line in said:
            print(f"# {line}")
    return not good


if __name__ == "__main__":
    sys.exit(main())
