"""ESBMC-GPU's regression tests: kernels of GPUVerify's and PUG's with host code. The
last lines of test.desc say whether the verification fails, and mostly for what."""

import os
import re

from build import HERE

SUITE = "ESBMC-GPU's tests"
FOLDERS = {"gpu_verify": "of GPUVerify", "pug": "of PUG"}
# What the last line of test.desc says, the kinds of findings that are the same, and the
# reason why it is nothing about races.
FAULTS = {
    "array bounds": (("out-of-bounds",), "an access out of bounds"),
    "out of bounds": (("out-of-bounds",), "an access out of bounds"),
    "constant memory": (("out-of-bounds", "trap"), "a store to constant memory"),
    "(NULL|null) pointer": (("null", "trap"), "a null pointer"),
    "assert": (("trap",), "an assertion or an invariant"),
}
KINDS = {reason: kinds for kinds, reason in FAULTS.values()}


def programs(root, make, truths):
    # Assertions of the host are about results, which no kernel has computed: -DNDEBUG.
    host = os.path.join(HERE, "host")
    flags = ["-I" + host, "-include", os.path.join(host, "call_kernel.h")]
    # CUDA 13 has this call no more.
    flags += ["-DcudaThreadSynchronize=cudaDeviceSynchronize"]
    for part, whose in FOLDERS.items():
        top = os.path.join(root, "regression", "cuda", part)
        suite = f"{SUITE}, {whose}"
        for folder, folders, files in os.walk(top):
            folders.sort()
            for file in sorted(f for f in files if f.endswith(".cu")):
                name = os.path.relpath(os.path.join(folder, file), top).removesuffix("/main.cu")
                expected = open(os.path.join(folder, "test.desc"), errors="replace").read()
                source = os.path.join(folder, file)
                text = open(source, errors="replace").read()
                truth, fault = labelled(expected, text, part)
                if told := truths.get(suite, {}).get(name):
                    truth, fault = told, KINDS.get(told)
                more = {"record": ["-DNDEBUG"], "plain": True}
                more |= {"fault": (fault, None)} if fault else {}
                own = flags + ["-include", "curand_kernel.h"] * ("curand" in text)
                yield make(suite, name, source, "cuda", [1], [1], truth, own, more=more)


def labelled(expected, text, part):
    """What a test is true of, and the kinds of findings of a fault that is no race."""
    if re.search(r"VERIFICATION SUCC?ESSFUL", expected):
        return "none", None
    # Where it does not say for what, the comments at the top of the kernel do.
    head = "\n".join(line for line in text.splitlines()[:10] if line.startswith("//"))
    told = " ".join(re.findall("#(?!VERIF)(.*)", expected)) or (head if "xfail" in head else "")
    if part == "pug":  # each is a program of its own kind whose assertion is turned round
        told = "assertion"
    if re.search(r"data race|\bracy\b|Write by", told):
        return "race", None
    for words, (kinds, reason) in FAULTS.items():
        if re.search(words, told):
            # Most assertions are of the host, about results.
            kernels = re.split(r"\bint\s+main\b", text)[0]
            of_host = words == "assert" and not re.search(r"^\s*(?!//)\s*assert\s*\(", kernels, re.M)
            return (reason, None) if of_host else (reason, kinds)
    return "fails, and nothing says for what", None
