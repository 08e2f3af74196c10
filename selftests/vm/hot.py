#!/usr/bin/python3 -EsS
# SPDX-License-Identifier: GPL-2.0-only
"""Lists files that a VM should have in memory from the start.

Each open of a file in the VM asks the host, and there are dozens in each start
of a program: on a busy machine they take longer than the program. So what tests
use all the time goes into the initramfs. Nothing depends on it but speed.
"""

# The modules that the programs of the tests use, and this one.
import collections          # noqa: F401
import ctypes               # noqa: F401
import json                 # noqa: F401
import os
import selectors            # noqa: F401
import shutil
import socket               # noqa: F401
import struct               # noqa: F401
import subprocess
import sys

PROGRAMS = """
awk bash basename bridge busybox cat chmod cmp comm conntrack cp curl cut date
diff dirname dmesg env expr find gojq grep head id insmod ip iperf3 jq kmod ln ls
mkdir mkfifo mktemp modinfo modprobe mount mv nc nft nsenter ping ps python3
readlink rm rmmod sed seq setsid sh sleep socat sort ss stat stty sync sysctl
tail tc tcpdump tee test timeout touch tr true uname uniq wc xargs
""".split()

FILES = """
/etc/iproute2 /etc/ld.so.cache /etc/nsswitch.conf /etc/passwd /etc/protocols
/etc/services /usr/lib/locale/C.utf8
""".split()

LIMIT = 1 << 23     # larger files are not worth it


def with_links(path):
    """The file and each symbolic link on the way to it."""
    found = []
    done = "/"
    todo = path.strip("/").split("/")
    while todo:
        part = os.path.normpath(os.path.join(done, todo.pop(0)))
        if os.path.islink(part) and len(found) < 40:
            found.append(part)
            target = os.path.join(done, os.readlink(part))
            todo = os.path.normpath(target).strip("/").split("/") + todo
            done = "/"
        else:
            done = part
    if os.path.isfile(done) and os.path.getsize(done) <= LIMIT:
        found.append(done)
    return found


def libraries(programs):
    out = subprocess.run(["ldd", *programs], capture_output=True, text=True,
                         check=False).stdout
    return {word for word in out.split()
            if word.startswith("/") and not word.endswith(":")}


def main():
    search = os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin:/sbin:/bin"
    programs = [p for p in (shutil.which(n, path=search) for n in PROGRAMS) if p]
    wanted = set(programs) | libraries(programs)
    for module in list(sys.modules.values()):
        wanted |= {getattr(module, "__file__", None),
                   getattr(module, "__cached__", None)} - {None}
    for name in FILES:
        if os.path.isdir(name):
            wanted |= {os.path.join(name, f) for f in os.listdir(name)}
        else:
            wanted.add(name)
    paths = set()
    for path in wanted:
        if path.startswith("/"):
            paths.update(with_links(path))
    for path in sorted(paths):
        print(path)


if __name__ == "__main__":
    main()
