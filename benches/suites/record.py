"""Launch files of a program's own host code: it is built with a CUDA runtime that
executes nothing and writes what it was asked to launch (host/record.cpp)."""

import hashlib
import os
import re
import subprocess
import threading

import build
from launch import Inexpressible, entries, split

HOST = os.path.join(build.HERE, "host")
SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}
SECONDS = 20  # of the host code
LOCKS, LOCK = {}, threading.Lock()  # of the folders: programs may share one


def launches(ptx, entry, program, work, limit):
    """Paths of the launch files of one entry, and what each is called."""
    folder, said = recorded(ptx, program, work)
    found = []
    for file in sorted(os.listdir(folder), key=lambda f: int(f.split(".")[0]) if f[0].isdigit() else -1):
        if not re.fullmatch(r"\d+\.toml", file):
            continue
        text = open(os.path.join(folder, file)).read()
        if f'entry = "{entry}"' not in text:
            continue
        if "# pointers in" in text:
            raise Inexpressible("structs with pointers in memory")
        path = os.path.join(folder, f"run{file}")
        with open(path, "w") as out:
            out.write(text.replace("PTX", ptx, 1).replace("LIMIT", str(limit), 1))
        found.append((path, f"launch {file[:-5]} of the host"))
    if not found:
        raise Inexpressible(f"the host code does not launch it {said}".strip())
    # The same launch again tells nothing new.
    known = {}
    for path, name in found:
        known.setdefault(contents(folder, path), (path, name))
    yield from known.values()


def contents(folder, path):
    """A launch file with what its arrays have."""
    text = open(path).read()
    for name in re.findall(r'init = "(.+\.raw)"', text):
        raw = open(os.path.join(folder, name), "rb").read()
        text = text.replace(name, hashlib.sha256(raw).hexdigest())
    return text


def recorded(ptx, program, work):
    """The folder with what the host code launches, run once per PTX."""
    folder = os.path.join(work, "record", os.path.basename(ptx)[:-4])
    with LOCK:
        lock = LOCKS.setdefault(folder, threading.Lock())
    with lock:
        return folder, record(ptx, program, folder)


def record(ptx, program, folder):
    said = os.path.join(folder, "said")
    if os.path.exists(said):
        return open(said).read()
    os.makedirs(folder, exist_ok=True)
    text = open(ptx).read()
    with open(os.path.join(folder, "entries"), "w") as out:
        for entry in entries(ptx):
            print(entry, *parameter_sizes(text, entry), file=out)
    told = built(program, folder) or ran(folder, program.more.get("args", []))
    with open(said, "w") as out:
        out.write(told)
    return told


def parameter_sizes(text, entry):
    found = re.search(rf"\.entry\s+{re.escape(entry)}\s*\((.*?)\)\s", text, re.S)
    for parameter in split(found[1]) if found else []:
        kind = re.search(r"\.param\s+(?:\.align\s+\d+\s+)?\.[a-z]+(\d+)", parameter)
        count = re.search(r"\[(\d+)\]\s*$", parameter.strip())
        yield SIZES[kind[1]] * int(count[1] if count else 1)


def built(program, folder):
    """Builds the program; what the compilers said, if they failed."""
    nvcc = build.toolkit()
    include = os.path.join(os.path.dirname(os.path.dirname(nvcc)), "include")
    runtime = os.path.join(os.path.dirname(folder), "runtime.o")
    source = os.path.join(HOST, "record.cpp")
    with LOCK:  # once for all programs
        if not os.path.exists(runtime) or os.path.getmtime(runtime) < os.path.getmtime(source):
            command = ["g++", "-std=c++17", "-c", "-I", include, source, "-o", runtime]
            subprocess.run(command, check=True)
    command = [nvcc, "-c", "-w", "-gencode", "arch=compute_75,code=compute_75"]
    command += ["-I", include, "-I", os.path.join(include, "cccl")]
    host = os.path.join(folder, "host.o")
    commands = [command + program.flags + program.more["record"] + [program.source, "-o", host]]
    commands += [["g++", host, runtime, "-no-pie", "-Wl,--unresolved-symbols=ignore-all",
                  "-o", os.path.join(folder, "host")]]
    for command in commands:
        made = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              cwd=os.path.dirname(program.source))
        if made.returncode:
            lines = [line for line in made.stderr.splitlines() if "error" in line]
            return "(does not compile: " + (lines + ["?"])[0][-160:] + ")"
    return ""


def ran(folder, args):
    try:
        done = subprocess.run(
            [os.path.join(folder, "host"), *args], stdin=subprocess.DEVNULL, capture_output=True,
            timeout=SECONDS, cwd=folder, env=os.environ | {"SPADKIT_RECORD": folder})
    except subprocess.TimeoutExpired:
        return f"(within {SECONDS} s)"
    return f"(it ends with {done.returncode})" if done.returncode else ""
