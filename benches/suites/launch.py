"""Launch files of a program: `spadkit init` says what the parameters are, the test's
first lines how many threads there are, and `__requires` what the scalars may be.

Where nothing says it, the rules are:
- Buffers have 256 K elements (4 M where that is too few), integers counted up from 0,
  so that an index from memory is another one for each thread, and in a last launch
  zeros, unless a precondition says what an element is; floats are random.
- Scalars are what the comments of a failing test say it fails with, else, in launches
  of their own, the threads of the grid along x, 1, and 16, or the first value of a list
  that the preconditions allow. Floats are 1.
- Arrays of OpenCL's local memory that the host sizes have 16 KB each.
"""

import os
import re
import subprocess
import tomllib

ELEMENTS = 1 << 18
LOCAL = 16 << 10
# A precondition that an element of a buffer is something other than zero.
FILLED = re.compile(r"\w\[[^]]*\]\s*==\s*(?!0\b)")
TRIES = [1, 16, 2, 4, 8, 32, 64, 128, 256, 512, 1024, 0, 3, 5, 7, 10, 100, 2048, 4096, 65536, -1]
SIZES = {"u8": 1, "s8": 1, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "u64": 8, "s64": 8, "f64": 8}


class Inexpressible(Exception):
    """A launch file has no room for it."""


def entries(ptx):
    return re.findall(r"\.entry\s+([\w$]+)", open(ptx).read())


def split(text):
    """The parts of a list at its commas, not those inside of brackets."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c in "(<[") - (c in ")>]")
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return parts + [part] if part.strip() else parts


def expanded(path, names=None, depth=0):
    """A source with what it includes from its own folders, without the branches of
    `#if NAME == NUMBER` that are not taken: several kernels share one file so."""
    names = {} if names is None else names
    lines, taken = [], []
    for line in open(path, errors="replace").read().splitlines():
        word = line.strip()
        if m := re.match(r"#\s*define\s+(\w+)\s+(\d+)\s*$", word):
            names[m[1]] = m[2]
        if m := re.match(r"#\s*if\s+(\w+)\s*==\s*(\d+)", word):
            taken.append(names.get(m[1], m[2]) == m[2])
        elif re.match(r"#\s*if", word):
            taken.append(None)
        elif re.match(r"#\s*else\b", word) and taken:
            taken[-1] = None if taken[-1] is None else not taken[-1]
        elif re.match(r"#\s*endif\b", word) and taken:
            taken.pop()
        if False in taken:
            continue
        include = re.match(r'#\s*include\s+"([^"]+)"', word)
        inner = include and os.path.join(os.path.dirname(path), include[1])
        if inner and depth < 4 and os.path.exists(inner):
            lines.append(expanded(inner, names, depth + 1))
        else:
            lines.append(line)
    return "\n".join(lines)


def parameters(source, entry):
    """Names of the kernel's parameters, and of what they point to, as the source has them."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", source, flags=re.S)
    for begin in re.finditer(r"__global__|\b_*kernel\b", text):
        names = re.finditer(r"(\w+)\s*\(", text[begin.end() : begin.end() + 400])
        found = next((n for n in list(names)[:3] if n[1] in entry), None)
        if not found:
            continue
        depth, start = 1, begin.end() + found.end()
        at = start
        while at < len(text) and depth:
            depth += (text[at] == "(") - (text[at] == ")")
            at += 1
        return [named(p) for p in split(text[start : at - 1])
                if p.strip() and p.strip() != "void"]
    return []


def named(parameter):
    plain = re.sub(r"\[[^]]*\]", "", parameter)
    name = re.findall(r"\w+", plain)[-1]
    kind = "f32" if re.search(r"\bfloat|real", parameter) else "u32"
    kind = "f64" if re.search(r"\bdouble", parameter) else kind
    return name, kind if "*" in parameter or plain != parameter else None


def clauses(source, program):
    """Preconditions, as expressions of Python."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", source, flags=re.S)
    names = dict(re.findall(r"#\s*define\s+(\w+)\s+([^\n\\]+)", text))
    for flag in program.flags:
        if m := re.match(r"-D(\w+)=(.+)", flag):
            names[m[1]] = m[2]
    dims = lambda list: (list + [1, 1, 1])[:3]
    for n, axis in enumerate("xyz"):
        b, g = dims(program.block)[n], dims(program.grid)[n]
        names |= {f"blockDim.{axis}": str(b), f"gridDim.{axis}": str(g)}
        names |= {f"get_local_size({n})": str(b), f"get_num_groups({n})": str(g)}
        names |= {f"get_global_size({n})": str(b * g)}
    for found in re.finditer(r"__(?:global_)?requires\(", text):
        depth, at = 1, found.end()
        while at < len(text) and depth:
            depth += (text[at] == "(") - (text[at] == ")")
            at += 1
        clause = text[found.end() : at - 1]
        for _ in range(4):
            for name in sorted(names, key=len, reverse=True):
                pattern = re.escape(name) if not name.isidentifier() else rf"\b{name}\b"
                clause = re.sub(pattern, lambda m: f"({names[m[0]].strip()})", clause)
        clause = re.sub(r"(\d)(?:u|U|f|ul|UL)\b", r"\1", clause)
        clause = clause.replace("&&", " and ").replace("||", " or ")
        clause = clause.replace("&", " and ").replace("|", " or ")
        clause = re.sub(r"!(?!=)", " not ", clause).replace("/", "//")
        yield re.sub(r"\(\s*(?:unsigned|int|uint|size_t|float|unsigned int)\s*\)", "", clause).strip()


def is_pow2(n):
    return n > 0 and n & (n - 1) == 0


def holds(clause, values):
    """Whether a precondition holds; None if it is about something else."""
    scope = {"__builtins__": {}, "__is_pow2": is_pow2, "true": True, "false": False}
    scope["__implies"] = lambda a, b: not a or b
    try:
        return bool(eval(clause, scope, dict(values)))
    except Exception:
        return None


def settle(values, rules):
    """Changes scalars until the preconditions hold, as far as they are about scalars."""
    for _ in range(4):
        wrong = [c for c in rules if holds(c, values) is False]
        if not wrong:
            return True
        for clause in wrong:
            for name in re.findall(r"[A-Za-z_]\w*", clause):
                if name not in values or holds(clause, values):
                    continue
                old = values[name]
                equal = re.findall(rf"\b{name}\)*\s*==\s*(.+)|(.+?)==\s*\(*{name}\b", clause)
                tries = []
                for pair in equal:
                    for side in pair:
                        try:
                            scope = {"__builtins__": {}}
                            tries.append(eval(side.rstrip(") ") or "None", scope, dict(values)))
                        except Exception:
                            continue
                for value in [t for t in tries if isinstance(t, (int, float))] + TRIES:
                    values[name] = value
                    if holds(clause, values):
                        break
                else:
                    values[name] = old
    return not any(holds(c, values) is False for c in rules)


def shared_bytes(text):
    """Where dynamic shared memory begins: after the variables of the PTX."""
    found = re.findall(r"^\s*\.shared\s+\.align\s+\d+\s+\.\w+\s+[\w$]+((?:\[\d+\])*)", text, re.M)
    total = 0
    for dims in found:
        size = 8
        for n in re.findall(r"\d+", dims):
            size = size * int(n) if dims.count("[") > 1 else int(n)
        total = -(-total // 16) * 16 + size
    return -(-total // 256) * 256


def local_parameters(text, entry):
    """Positions of the parameters that are addresses of shared memory."""
    found = re.search(rf"\.entry\s+{re.escape(entry)}\s*\((.*?)\)\s", text, re.S)
    return [n for n, p in enumerate(split(found[1])) if ".ptr .shared" in p] if found else []


def bare(spadkit, ptx, entry, program, out):
    """What `spadkit init` makes of the entry."""
    comma = lambda list: ",".join(map(str, list))
    command = [spadkit, "init", ptx, "--entry", entry, "--force", "-o", out]
    command += ["--grid", comma(program.grid), "--block", comma(program.block)]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        raise Inexpressible(" ".join(made.stderr.split())[:200])
    return tomllib.load(open(out, "rb"))


def number(kind, value):
    if kind.startswith("f") or kind == "bf16":
        return float(value)
    bits = 8 * SIZES.get(kind, 4)
    value = int(value) % (1 << bits)
    if kind.startswith("s") and value >= 1 << (bits - 1):
        value -= 1 << bits
    return value if value < 1 << 63 else str(value)


def launches(spadkit, ptx, entry, program, work, elements, limit):
    """Launch files of one entry, one for each choice of scalars."""
    stem = os.path.join(work, "launch", os.path.basename(ptx)[:-4] + "." + entry[-40:])
    os.makedirs(os.path.dirname(stem), exist_ok=True)
    table = bare(spadkit, ptx, entry, program, stem + ".init.toml")
    source, text = expanded(program.source), open(ptx).read()
    args = table.get("arg", [])
    told = parameters(source, entry)
    # What structs point to comes after the parameters.
    pointed = {p["to"] for a in args for p in a.get("pointers", [])}
    pointed = [(a["name"], None) for a in args if a["name"] in pointed]
    if len(told) + len(pointed) == len(args):
        told += pointed
    else:
        told = [(a["name"], None) for a in args]
    names = [name for name, _ in told]
    local = local_parameters(text, entry)
    for n, (_, pointee) in enumerate(told):
        if pointee and n not in local and args[n].get("type") in ("u64", "s64"):
            args[n] = {"name": names[n], "type": pointee, "count": 1}
    free = [n for n, a in enumerate(args)
            if "value" in a and a["type"] != "bytes" and n not in local]
    rules = list(clauses(source, program)) if program.values is None else []
    threads = program.block[0] * program.grid[0]
    done = []
    head = dict(re.findall(r"^//(\w+) = (\d+)\s*$", source, re.M))
    guesses = [(threads, "iota"), (1, "iota"), (16, "iota"), (threads, "zeros")]
    for guess, data in guesses if program.values is None else guesses[1:2]:
        values = {names[n]: 1.0 if args[n]["type"].startswith("f") else guess for n in free}
        values |= {name: int(value) for name, value in head.items() if name in values}
        values |= {k: v for k, v in (program.values or {}).items() if k in values}
        if not settle(values, rules) or (values, data) in done:
            continue
        if data == "zeros" and any(map(FILLED.search, rules)):
            continue
        done.append((values, data))
        path = f"{stem}.{len(done)}.toml"
        with open(path, "w") as out:
            out.write(written(table, program, args, names, values, local, text, ptx, (elements, data), limit))
        yield path, values
    if not done:
        raise Inexpressible("no scalars found that the preconditions allow")


def written(table, program, args, names, values, local, text, ptx, buffers, limit):
    head = [f'ptx = "{ptx}"', f'entry = "{table["entry"]}"', f"grid = {program.grid}",
            f"block = {program.block}", f"limit = {limit}"]
    text_of = open(program.source, errors="replace").read()
    if program.more.get("cooperative") or re.search(r"grid_group|this_grid", text_of):
        head.append("cooperative = true")
    dynamic = program.more.get("dynamic_shared", LOCAL * len(local))
    if not dynamic and re.search(r"\.extern\s+\.shared", text):
        dynamic = 2 * LOCAL
    if dynamic:
        head.append(f"dynamic_shared = {dynamic}")
    first, used = shared_bytes(text), 0
    for n, arg in enumerate(args):
        head += ["", "[[arg]]", f'name = "arg{n}"']
        kind = arg.get("type")
        if n in local:
            head += ['type = "u64"', f"value = {first + used * LOCAL}"]
            used += 1
        elif "count" in arg:
            float_type = kind.startswith("f") or kind == "bf16"
            head += [f'type = "{kind}"', f"count = {buffers[0]}"]
            drawn = float_type or program.more.get("random")
            head += [f'init = "{"random" if drawn else buffers[1]}"']
        elif kind == "bytes" and len(str(arg["value"])) == 16 and "pointers" not in arg:
            head += ['type = "u32"', f"count = {buffers[0]}", f'init = "{buffers[1]}"']
        elif kind == "bytes":
            words, rest = divmod(len(arg["value"]), 8)
            head += ['type = "bytes"', f'value = "{"01000000" * words}{"00" * (rest // 2)}"']
            place = {a["name"]: f"arg{m}" for m, a in enumerate(args)}
            into = [f'{{ at = {p["at"]}, to = "{place[p["to"]]}" }}' for p in arg.get("pointers", [])]
            head += [f"pointers = [{', '.join(into)}]"] if into else []
        elif "value" in arg:
            head += [f'type = "{kind}"', f"value = {toml(number(kind, values[names[n]]))}"]
        else:
            raise Inexpressible(f"an argument of another kind: {arg}")
    for name, init in program.more.get("symbols", {}).items():
        head += ["", "[[symbol]]", f'name = "{name}"', 'type = "u32"', f'init = "{init}"']
        head += [f"count = {symbol_bytes(text, name) // 4}"]
    return "\n".join(head) + "\n"


def symbol_bytes(text, name):
    found = re.search(rf"\.global[^;\n]*\b{name}\[(\d+)\]", text)
    if not found:
        raise Inexpressible(f"the PTX has no variable {name}")
    return int(found[1])


def toml(value):
    return f'"{value}"' if isinstance(value, str) else repr(value)
