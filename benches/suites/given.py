"""Launch files of programs whose launches are given whole, with their data."""

import array
import hashlib
import os
import sys

CODES = {"s32": "i", "u32": "I", "f32": "f", "f64": "d", "u64": "Q", "s16": "h", "s8": "b", "u8": "B"}


def launches(ptx, entry, program, work, limit):
    """Paths of the launch files, and what each is called."""
    stem = os.path.join(work, "launch", f"{os.path.basename(ptx)[:-4]}.{entry[-40:]}.given")
    os.makedirs(os.path.dirname(stem), exist_ok=True)
    told = program.more["launches"]
    for n, given in enumerate(told(entry) if callable(told) else told):
        path = f"{stem}.{n}.toml"
        with open(path, "w") as out:
            out.write(written(given, ptx, entry, work, limit))
        yield path, given["name"]


def written(given, ptx, entry, work, limit):
    first = given["kernels"][0]
    lines = [f'ptx = "{ptx}"', f'entry = "{first.get("entry", entry)}"', f"limit = {limit}"]
    lines += shape(first)
    lines += ["cooperative = true"] if given.get("cooperative") else []
    for arg in given["args"]:
        lines += ["", "[[arg]]", f'name = "{arg["name"]}"', f'type = "{arg["type"]}"']
        if "data" in arg:
            lines += [f"count = {len(arg['data'])}", f'init = "{raw(arg, work)}"']
        elif "count" in arg:
            lines += [f"count = {arg['count']}"]
        else:
            lines += [f"value = {arg['value']!r}"]
        into = [f'{{ at = {p["at"]}, to = "{p["to"]}" }}' for p in arg.get("pointers", [])]
        lines += [f"pointers = [{', '.join(into)}]"] if into else []
    for kernel in given["kernels"][1:]:
        names = ", ".join(f'"{name}"' for name in kernel["args"])
        lines += ["", "[[then]]", f'entry = "{kernel["entry"]}"', f"args = [{names}]"] + shape(kernel)
        lines += ["cooperative = true"] if given.get("cooperative") else []
    return "\n".join(lines) + "\n"


def shape(kernel):
    return [f"grid = [{kernel['grid']}]", f"block = [{kernel['block']}]"]


def raw(arg, work):
    """A file of an array, named by what it has."""
    data = array.array(CODES[arg["type"]], arg["data"])
    if sys.byteorder == "big":
        data.byteswap()
    data = data.tobytes()
    path = os.path.join(work, "data", hashlib.sha256(data).hexdigest()[:20] + ".raw")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(data)
    return path
