"""PTX of a program: CUDA by nvcc, OpenCL by clang and libclc."""

import glob
import hashlib
import os
import re
import shutil
import subprocess
import sysconfig

from launch import expanded

HERE = os.path.dirname(os.path.abspath(__file__))
SHIM = os.path.join(HERE, "shim")
LEVELS = ("O3", "O0")


class Missing(Exception):
    """A compiler is not there."""


def toolkit():
    """The folder with bin/nvcc: CUDA's, or that of the Python packages."""
    site = sysconfig.get_paths()["purelib"]
    found = glob.glob(os.path.join(site, "nvidia/cu*/bin/nvcc"))
    nvcc = os.environ.get("NVCC") or (found[0] if found else shutil.which("nvcc"))
    if not nvcc:
        raise Missing(
            "nvcc is missing: pip install nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm "
            "nvidia-cuda-runtime nvidia-cuda-cccl nvidia-curand, or name one with NVCC"
        )
    return nvcc


def cuda(program, level):
    nvcc = toolkit()
    include = os.path.join(os.path.dirname(os.path.dirname(nvcc)), "include")
    text = open(program.source, errors="replace").read()
    command = [nvcc, "-ptx", "-arch=sm_75", "-lineinfo", "-w"]
    command += [] if program.more.get("plain") else ["-I", SHIM]
    command += ["-I", include]
    command += ["-I", os.path.join(os.path.dirname(include), "include/cccl")]
    if "curand" in text:
        command += ["-DSPADKIT_CURAND"]
    if "cooperative_groups" in text:
        command += ["-DSPADKIT_GROUPS"]
    # Types of CUDA that the source defines itself.
    own = re.findall(r"typedef\s+unsigned\s+\w+\s+(size_t|clock_t|uchar)\s*;", expanded(program.source))
    command += [f"-DSPADKIT_OWN_{name}" for name in dict.fromkeys(own)]
    if program.suite.startswith("GPUVerify"):
        command += ["-include", "cuda.h"]
    command += ["-Xcicc", "-O0"] if level == "O0" else ["-O3"]
    return command + program.flags + [program.source]


def opencl(program, level):
    clang = os.environ.get("CLANG") or next(
        filter(None, map(shutil.which, ["clang"] + [f"clang-{n}" for n in range(25, 13, -1)])), None
    )
    library = os.environ.get("LIBCLC") or next(
        iter(glob.glob("/usr/lib/clc/nvptx64--nvidiacl.bc")), None)
    if not clang or not library:
        raise Missing("clang and libclc's nvptx64--nvidiacl.bc are missing, or name CLANG and LIBCLC")
    command = [clang, "-x", "cl", "-cl-std=CL1.2", "-target", "nvptx64-nvidia-nvcl", "-w"]
    command += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", library]
    command += ["-gline-tables-only", "-fno-dwarf-directory-asm", "-S"]
    command += ["-I", os.path.dirname(program.source), "-I", SHIM, "-include", "annotations.h"]
    command += ["-O0" if level == "O0" else "-O2"]
    return command + program.flags + [program.source]


def ptx(program, level, work):
    """The path of the PTX, or None and what the compiler said."""
    command = (cuda if program.language == "cuda" else opencl)(program, level)
    key = hashlib.sha256("\0".join(command).encode())
    included = [flag for n, flag in enumerate(program.flags) if program.flags[n - 1] == "-include"]
    included = [path for path in included if os.path.exists(path)]
    for read in [program.source] + included + sorted(glob.glob(os.path.join(SHIM, "*"))):
        key.update(open(read, "rb").read())
    key = key.hexdigest()[:20]
    out = os.path.join(work, "ptx", key + ".ptx")
    log = out + ".log"
    if not os.path.exists(out) and not os.path.exists(log):
        os.makedirs(os.path.dirname(out), exist_ok=True)
        made = subprocess.run(
            command + ["-o", out], capture_output=True, text=True, errors="replace",
            cwd=os.path.dirname(program.source))
        if made.returncode:
            if os.path.exists(out):
                os.remove(out)
            open(log, "w").write(made.stderr + made.stdout)
    if os.path.exists(out):
        return out, ""
    return None, open(log).read()


def versions():
    out = []
    for command in ([toolkit(), "--version"], opencl_version()):
        if command:
            said = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
            out += [line for line in said if "release" in line or "version" in line][:1]
    return out


def opencl_version():
    clang = next(filter(None, map(shutil.which, ["clang", "clang-19"])), None)
    return [clang, "--version"] if clang else None
