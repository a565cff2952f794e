"""Kernels in Triton, one for each of Triton's tutorials. Written for the kit."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    """out = x + y."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, total, mask=inside)


@triton.jit
def softmax(x, out, rows, columns, BLOCK: tl.constexpr):
    """A row of softmax for each step; programs stride over the rows."""
    at = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * columns + at, powers / tl.sum(powers, axis=0), mask=at < columns)


@triton.jit
def matmul(
    a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    """C = A B in half precision with sums in single; tiles in groups of rows."""
    tiles_m, tiles_n = tl.cdiv(m, BM), tl.cdiv(n, BN)
    tile = tl.program_id(0)
    first = tile // (GROUP * tiles_n) * GROUP
    height = min(tiles_m - first, GROUP)
    tile_m = first + tile % (GROUP * tiles_n) % height
    tile_n = tile % (GROUP * tiles_n) // height
    rows = (tile_m * BM + tl.arange(0, BM)) % m
    columns = (tile_n * BN + tl.arange(0, BN)) % n
    inner = tl.arange(0, BK)
    a_at = a + rows[:, None] * k + inner[None, :]
    b_at = b + inner[:, None] * n + columns[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(k, BK)):
        left = tl.load(a_at, mask=inner[None, :] < k - step * BK, other=0.0)
        right = tl.load(b_at, mask=inner[:, None] < k - step * BK, other=0.0)
        total = tl.dot(left, right, total)
        a_at += BK
        b_at += BK * n
    rows = tile_m * BM + tl.arange(0, BM)
    columns = tile_n * BN + tl.arange(0, BN)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16), mask=inside)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    """Elements live with probability 1 - p; which ones follows from the seed."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    values = tl.load(x + at, mask=inside)
    lives = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(lives, values / (1 - p), 0.0), mask=inside)


@triton.jit
def layer_norm(x, out, weight, bias, means, rstds, columns, eps, BLOCK: tl.constexpr):
    """A row of layer normalisation for each program, by blocks of columns."""
    row = tl.program_id(0)
    x += row * columns
    out += row * columns
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(x + at, mask=at < columns, other=0.0)
    mean = tl.sum(sums, axis=0) / columns
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        away = tl.load(x + at, mask=at < columns, other=0.0) - mean
        sums += tl.where(at < columns, away * away, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(sums, axis=0) / columns + eps)
    tl.store(means + row, mean)
    tl.store(rstds + row, rstd)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < columns
        normal = (tl.load(x + at, mask=inside, other=0.0) - mean) * rstd
        scaled = normal * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
        tl.store(out + at, scaled, mask=inside)


@triton.jit
def layer_norm_backward(
    dx, dy, dw, db, x, weight, means, rstds, locks, counts, columns,
    GROUP: tl.constexpr, BLOCK: tl.constexpr,
):
    """Gradients of a row; those of weight and bias are summed under locks."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0.0)
    slope = tl.load(dy + row * columns + at, mask=inside, other=0.0)
    scale = tl.load(weight + at, mask=inside, other=0.0)
    mean, rstd = tl.load(means + row), tl.load(rstds + row)
    normal = tl.where(inside, (values - mean) * rstd, 0.0)
    scaled = scale * slope
    c1 = tl.sum(normal * scaled, axis=0) / columns
    c2 = tl.sum(scaled, axis=0) / columns
    tl.store(dx + row * columns + at, (scaled - (normal * c1 + c2)) * rstd, mask=inside)
    group = row % GROUP
    part_w, part_b = slope * normal, slope
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    dw_at, db_at = dw + group * columns + at, db + group * columns + at
    if tl.load(counts + group) == 0:
        tl.atomic_xchg(counts + group, 1)
    else:
        part_w += tl.load(dw_at, mask=inside)
        part_b += tl.load(db_at, mask=inside)
    tl.store(dw_at, part_w, mask=inside)
    tl.store(db_at, part_b, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(locks + group, 0)


@triton.jit
def attention(
    q, k, v, out, scale, length,
    CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr,
):
    """Attention of one head, block by block with a running maximum."""
    head = tl.program_id(1) * length * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.arange(0, BN)
    d = tl.arange(0, D)
    queries = tl.load(q + head + rows[:, None] * D + d[None, :])
    highest = tl.full((BM,), -float("inf"), tl.float32)
    weights = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    end = length
    if CAUSAL:
        end = (tl.program_id(0) + 1) * BM
    for start in range(0, end, BN):
        at = start + columns
        keys = tl.load(k + head + at[None, :] * D + d[:, None])
        scores = tl.dot(queries, keys) * (scale * 1.44269504)
        if CAUSAL:
            scores = tl.where(rows[:, None] >= at[None, :], scores, -1e6)
        higher = tl.maximum(highest, tl.max(scores, axis=1))
        powers = tl.exp2(scores - higher[:, None])
        fade = tl.exp2(highest - higher)
        values = tl.load(v + head + at[:, None] * D + d[None, :])
        total = tl.dot(powers.to(tl.float16), values, total * fade[:, None])
        weights = weights * fade + tl.sum(powers, axis=1)
        highest = higher
    total = total / weights[:, None]
    tl.store(out + head + rows[:, None] * D + d[None, :], total.to(tl.float16))


@triton.jit
def grouped_matmul(
    a_addresses, b_addresses, c_addresses, sizes, count,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    """Products of several sizes in one launch: programs stride over all tiles.

    ``sizes`` has m, n, k of each; the addresses are integers of 64 bits.
    """
    tile = tl.program_id(0)
    before = 0
    for which in range(count):
        m = tl.load(sizes + which * 3)
        n = tl.load(sizes + which * 3 + 1)
        k = tl.load(sizes + which * 3 + 2)
        tiles_n = tl.cdiv(n, BN)
        tiles = tl.cdiv(m, BM) * tiles_n
        a = tl.load(a_addresses + which).to(tl.pointer_type(tl.float16))
        b = tl.load(b_addresses + which).to(tl.pointer_type(tl.float16))
        c = tl.load(c_addresses + which).to(tl.pointer_type(tl.float16))
        while tile >= before and tile < before + tiles:
            rows = (tile - before) // tiles_n * BM + tl.arange(0, BM)
            columns = (tile - before) % tiles_n * BN + tl.arange(0, BN)
            inner = tl.arange(0, BK)
            total = tl.zeros((BM, BN), tl.float32)
            for start in range(0, k, BK):
                left = tl.load(a + rows[:, None] * k + (start + inner)[None, :])
                right = tl.load(b + (start + inner)[:, None] * n + columns[None, :])
                total = tl.dot(left, right, total)
            tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))
            tile += tl.num_programs(0)
        before += tiles


@triton.jit
def persistent_matmul(
    a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """As matmul, but each program computes several tiles."""
    tiles_n = tl.cdiv(n, BN)
    tiles = tl.cdiv(m, BM) * tiles_n
    inner = tl.arange(0, BK)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        rows = tile // tiles_n * BM + tl.arange(0, BM)
        columns = tile % tiles_n * BN + tl.arange(0, BN)
        total = tl.zeros((BM, BN), tl.float32)
        for start in range(0, k, BK):
            left = tl.load(a + rows[:, None] * k + (start + inner)[None, :])
            right = tl.load(b + (start + inner)[:, None] * n + columns[None, :])
            total = tl.dot(left, right, total)
        tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


@triton.jit
def descriptor_matmul(
    a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """As persistent_matmul, with tensor descriptors: TMA from sm_90 on."""
    a_tiles = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
    b_tiles = tl.make_tensor_descriptor(b, [k, n], [n, 1], [BK, BN])
    c_tiles = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
    tiles_n = tl.cdiv(n, BN)
    tiles = tl.cdiv(m, BM) * tiles_n
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        row, column = tile // tiles_n * BM, tile % tiles_n * BN
        total = tl.zeros((BM, BN), tl.float32)
        for start in range(0, k, BK):
            total = tl.dot(a_tiles.load([row, start]), b_tiles.load([start, column]), total)
        c_tiles.store([row, column], total.to(tl.float16))


@triton.jit
def host_descriptor_matmul(
    a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """As descriptor_matmul, with descriptors that the host makes."""
    tiles_n = tl.cdiv(n, BN)
    tiles = tl.cdiv(m, BM) * tiles_n
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        row, column = tile // tiles_n * BM, tile % tiles_n * BN
        total = tl.zeros((BM, BN), tl.float32)
        for start in range(0, k, BK):
            total = tl.dot(a.load([row, start]), b.load([start, column]), total)
        c.store([row, column], total.to(tl.float16))
