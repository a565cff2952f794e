#!/usr/bin/env python3
"""Makes the committed PTX of kernels/*/*.cu. A user of the kit does not need it.

    python3 -m venv venv
    venv/bin/pip install nvidia-cuda-nvrtc-cu12
    venv/bin/python kernels/compile.py [FAMILY...]

NVRTC is NVIDIA's run-time compiler as a library: no GPU, no CUDA toolkit and
no nvcc is needed. The kernels include nothing, so that `nvcc -lineinfo -ptx FILE.cu`
gives the same. Each FAMILY/FAMILY.cu becomes FAMILY.ptx (sm_52, what nvcc 12
takes by default, or what TARGETS says) and, where VARIANTS says so,
FAMILY.sm70.ptx and so on, and FAMILY.clang.ptx, by clang 14 or later with the
declarations of clang_cuda.h.
"""

import ctypes
import glob
import os
import subprocess
import sys
import sysconfig

HERE = os.path.dirname(os.path.abspath(__file__))

# Other compilers and targets, for variety: each new architecture changes what
# the compiler writes (independent thread scheduling from 70, reductions and
# wide loads from 80 on).
VARIANTS = {
    "transpose": ["clang"],
    "reduction": ["sm80", "clang"],
    "matmul": ["sm80", "clang"],
    "scan": ["clang"],
    "fwt": ["clang"],
    "histogram": ["sm70", "sm90"],
    "sort": ["clang"],
    "nw": ["clang"],
    "aes": ["sm90"],
}

# Instructions that sm_52 does not have need another target: ldmatrix, mma, tensor
# copies.
TARGETS = {"tiles": 80, "gemm": 80, "questions": 80, "tma": 90}

# The same source with a macro defined becomes FAMILY.NAME.ptx.
MACROS = {"nw": {"similar-first": "SIMILAR_FIRST"}}

def nvrtc():
    """The library of the Python package."""
    site = sysconfig.get_paths()["purelib"]
    found = glob.glob(os.path.join(site, "nvidia/cuda_nvrtc/lib/libnvrtc.so.*"))
    if not found:
        sys.exit("NVRTC is missing: pip install nvidia-cuda-nvrtc-cu12")
    return ctypes.CDLL(found[0])


def compile_nvrtc(library, path, arch, macros=()):
    name = os.path.basename(path)
    with open(path, "rb") as source:
        text = source.read()
    # With line information (.file and .loc), so that reports show the source.
    options = [f"--gpu-architecture=compute_{arch}", "--std=c++17", "-lineinfo"]
    options += [f"-D{macro}" for macro in macros]
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), text, name.encode(), 0, None, None)
    array = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
    status = library.nvrtcCompileProgram(program, len(options), array)
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    # Of old targets it says that they will go.
    if log.value.strip() and (status != 0 or b"deprecated" not in log.value):
        print(log.value.decode(), file=sys.stderr)
    if status != 0:
        sys.exit(f"{name}: not compiled")
    library.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    library.nvrtcGetPTX(program, ptx)
    return ptx.value.decode()


def compile_clang(path):
    folder, name = os.path.split(path)
    command = ["clang", "-x", "cuda", "--cuda-device-only", "-nocudalib", "-nocudainc",
               "--cuda-gpu-arch=sm_70", "-include", "../clang_cuda.h", "-O3", "-std=c++17",
               "-Wno-unknown-cuda-version", "-Xclang", "-target-feature", "-Xclang", "+ptx70",
               "-ffp-contract=fast", "-S", name, "-o", "-"]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE).stdout.decode()


def write(path, text):
    # A path of this machine must not get into the repository.
    text = text.replace(HERE + "/", "")
    assert '"/' not in text, path
    with open(path, "w") as out:
        out.write(text)
    print(path[len(HERE) + 1:], len(text))


def main():
    os.chdir(HERE)  # line information names files from here
    library = nvrtc()
    families = sys.argv[1:] or sorted(os.path.basename(os.path.dirname(p))
                                      for p in glob.glob(os.path.join(HERE, "*/*.cu")))
    for family in families:
        stem = os.path.join(HERE, family, family)
        write(stem + ".ptx", compile_nvrtc(library, stem + ".cu", TARGETS.get(family, 52)))
        for variant in VARIANTS.get(family, []):
            if variant == "clang":
                write(stem + ".clang.ptx", compile_clang(stem + ".cu"))
            else:
                write(f"{stem}.{variant}.ptx", compile_nvrtc(library, stem + ".cu", variant[2:]))
        for name, macro in MACROS.get(family, {}).items():
            write(f"{stem}.{name}.ptx", compile_nvrtc(library, stem + ".cu", 52, [macro]))


if __name__ == "__main__":
    main()
