#!/usr/bin/env python3
"""How fast `oci-drain probe` asks on one processor, as one JSON object.

The program itself, without a rate, against HAProxy on the loopback interface that answers
by itself with one thread. The two have a processor each where there are two. Exit status 2
without HAProxy, 1 if the probe failed.
"""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

PROBE = "cmd/oci-drain"
CLIENTS = 64
SECONDS = 10
CONFIGURATION = """\
global
  nbthread 1
  maxconn 1000
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 5s
frontend all
  bind fd@{descriptor}
  http-request return status 200 content-type text/plain string ok
"""


def haproxy(program, folder, listener, processor):
    """HAProxy on a socket that listens already: who connects now is answered later."""
    path = pathlib.Path(folder) / "haproxy.cfg"
    path.write_text(CONFIGURATION.format(descriptor=listener.fileno()), encoding="utf-8")
    return subprocess.Popen(  # pylint: disable=consider-using-with
        ["taskset", "--cpu-list", str(processor), program, "-q", "-db", "-f", str(path)],
        pass_fds=[listener.fileno()])


def run_probe(port, processor):
    """Its report, and the seconds of a processor that it took."""
    with subprocess.Popen(
            ["taskset", "--cpu-list", str(processor), PROBE, "probe", f"http://127.0.0.1:{port}/",
             "--control=0", f"--clients={CLIENTS}", f"--duration={SECONDS}s", "--output=json"],
            stdout=subprocess.PIPE, text=True) as probe:
        output = probe.stdout.read()
        _, status, usage = os.wait4(probe.pid, 0)
        probe.returncode = os.waitstatus_to_exitcode(status)
    if probe.returncode != 0:
        raise SystemExit(f"probe_rate: {PROBE} ended with {probe.returncode}")
    return json.loads(output.splitlines()[-1])["run"], usage.ru_utime + usage.ru_stime


def main():
    """Exit status as above."""
    program = shutil.which("haproxy", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if program is None:
        print("probe_rate: HAProxy is needed; tools/install_packages.sh brings it",
              file=sys.stderr)
        return 2
    processors = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder, socket.create_server(
            ("127.0.0.1", 0), backlog=CLIENTS) as listener:
        server = haproxy(program, folder, listener, processors[-1])
        try:
            run, seconds = run_probe(listener.getsockname()[1], processors[0])
        finally:
            server.terminate()
            server.wait()
    numbers = {key: run[key] for key in ("requests", "per_second", "failed", "own_failures",
                                         "p50_ms", "p99_ms")}
    numbers["cpu_seconds"] = round(seconds, 2)
    numbers["per_cpu_second"] = round(run["requests"] / seconds)
    print(json.dumps(numbers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
