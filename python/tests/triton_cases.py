"""Triton's tutorials on NumPy arrays: each case runs a kernel of
kernels/triton/tutorials.py and compares it with NumPy."""

from types import SimpleNamespace
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

from spadkit import Kernel, TensorMap

Array = npt.NDArray[Any]


def random(*shape: int, kind: type[Any] = np.float32) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(kind)


def near(result: Array, expected: Array, eps: float, terms: int = 1) -> None:
    """Within the rounding of the result and of a sum of so many terms, whose
    partial sums are below the sum of magnitudes, some units here."""
    error = np.abs(result.astype(np.float64) - expected)
    most = eps * (1 + np.abs(expected)) + terms * 2.0**-24 * (8 + np.abs(expected))
    assert np.all(error <= most), f"{np.max(error / most)} times the tolerance"


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def add(kernel: Kernel) -> None:
    x, y, out = random(5000), random(5000) + 1, np.zeros(5000, np.float32)
    kernel[lambda meta: (cdiv(5000, meta["BLOCK"]),)](x, y, out, 5000, BLOCK=1024)
    assert np.array_equal(out, x + y)


def softmax(kernel: Kernel) -> None:
    x, out = random(9, 781), np.zeros((9, 781), np.float32)
    kernel[4](x, out, 9, 781)
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    near(out, powers / powers.sum(axis=1, keepdims=True), 2.0**-20)


def product(kernel: Kernel, m: int, n: int, k: int, grid: int) -> None:
    """Half precision in, sums in single, half out."""
    a, b, c = random(m, k, kind=np.float16), random(k, n, kind=np.float16), np.zeros((m, n), np.float16)
    kernel[grid](a, b, c, m, n, k)
    near(c, a.astype(np.float64) @ b.astype(np.float64), 2.0**-10, k)


def matmul(kernel: Kernel) -> None:
    product(kernel, 144, 112, 80, 6)


def persistent_matmul(kernel: Kernel) -> None:
    product(kernel, 192, 128, 96, 4)


def descriptor_matmul(kernel: Kernel) -> None:
    product(kernel, 192, 128, 96, 4)


def host_descriptor_matmul(kernel: Kernel) -> None:
    """A tensor of PyTorch, a tensor map, and an array that the map is made of."""
    m, n, k = 192, 128, 96
    a, b, c = random(m, k, kind=np.float16), random(k, n, kind=np.float16), np.zeros((m, n), np.float16)
    left = SimpleNamespace(base=Tensor(a), shape=[m, k], strides=[k, 1], block_shape=[64, 32])
    right = TensorMap(b, (32, 64), swizzle=128)
    kernel[4](left, right, c, m, n, k)
    near(c, a.astype(np.float64) @ b.astype(np.float64), 2.0**-10, k)


class Tensor:
    """What Triton's descriptors need of a tensor of PyTorch."""

    def __init__(self, array: Array) -> None:
        self.array, self.dtype = array, f"torch.{array.dtype}"

    def detach(self) -> "Tensor":
        return self

    def numpy(self) -> Array:
        return self.array


def dropout(kernel: Kernel) -> None:
    x, out, again = random(5000), np.zeros(5000, np.float32), np.zeros(5000, np.float32)
    kernel[5](x, out, 5000, 0.25, 123)
    kernel[5](x, again, 5000, 0.25, 123)
    assert np.array_equal(out, again), "one seed, one result"
    lives = philox(123, 5000) > np.float32(0.25)
    expected = np.where(lives, x / np.float32(0.75), 0)
    near(out, expected, 2.0**-22)
    assert np.array_equal(out != 0, lives) and 0.7 < lives.mean() < 0.8


def philox(seed: int, count: int) -> Array:
    """tl.rand: the first word of Philox 4x32-10 (Salmon et al., 2011), as a
    number in [0, 1)."""
    c = [np.arange(count, dtype=np.uint64)] + [np.zeros(count, np.uint64)] * 3
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        high = [(np.uint64(w) * c[i]) >> np.uint64(32) for w, i in ((0xD2511F53, 0), (0xCD9E8D57, 2))]
        low = [(np.uint64(w) * c[i]) & np.uint64(0xFFFFFFFF) for w, i in ((0xD2511F53, 0), (0xCD9E8D57, 2))]
        c = [high[1] ^ c[1] ^ np.uint64(key[0]), low[1], high[0] ^ c[3] ^ np.uint64(key[1]), low[0]]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    signed = c[0].astype(np.uint32).astype(np.int32)
    magnitude = np.where(signed < 0, -signed - 1, signed)
    return magnitude.astype(np.float32) * np.float32(4.6566127342e-10)


def layer_norm(kernel: Kernel) -> None:
    rows, columns = 6, 700
    x, weight, bias = 3 * random(rows, columns) - 1, random(columns), random(columns + 1)[1:].copy()
    out, means, rstds = np.zeros_like(x), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    kernel[rows](x, out, weight, bias, means, rstds, columns, 1e-5)
    wide = x.astype(np.float64)
    mean, variance = wide.mean(axis=1), wide.var(axis=1)
    normal = (wide - mean[:, None]) / np.sqrt(variance + 1e-5)[:, None]
    near(means, mean, 2.0**-20)
    near(rstds, 1 / np.sqrt(variance + 1e-5), 2.0**-20)
    near(out, normal * weight + bias, 2.0**-18)


def layer_norm_backward(kernel: Kernel) -> None:
    rows, columns, groups = 10, 500, 4
    x, dy, weight = random(rows, columns), random(rows + 1, columns)[1:].copy(), random(columns)
    wide, slope = x.astype(np.float64), dy.astype(np.float64)
    mean, rstd = wide.mean(axis=1), 1 / np.sqrt(wide.var(axis=1) + 1e-5)
    normal = (wide - mean[:, None]) * rstd[:, None]
    scaled = slope * weight
    c1 = (normal * scaled).mean(axis=1, keepdims=True)
    c2 = scaled.mean(axis=1, keepdims=True)
    dx = np.zeros_like(x)
    dw, db = np.zeros((groups, columns), np.float32), np.zeros((groups, columns), np.float32)
    locks, counts = np.zeros(groups, np.int32), np.zeros(groups, np.int32)
    means, rstds = mean.astype(np.float32), rstd.astype(np.float32)
    kernel[rows](dx, dy, dw, db, x, weight, means, rstds, locks, counts, columns)
    near(dx, (scaled - (normal * c1 + c2)) * rstd[:, None], 2.0**-18)
    near(dw.sum(axis=0), (slope * normal).sum(axis=0), 2.0**-18)
    near(db.sum(axis=0), slope.sum(axis=0), 2.0**-18)
    assert not locks.any() and counts.all()


def attention(kernel: Kernel) -> None:
    heads, length, d = 2, 128, 64
    q, k, v = (random(heads + i, length, d, kind=np.float16)[i:].copy() for i in range(3))
    out = np.zeros_like(q)
    kernel[length // 64, heads](q, k, v, out, 0.125, length)
    scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) * 0.125
    scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    # The weights are rounded to half precision before the second product.
    near(out, weights @ v.astype(np.float64), 2.0**-9)


def grouped_matmul(kernel: Kernel) -> None:
    sizes = np.array([[64, 128, 64], [128, 64, 96], [64, 64, 32]], np.int32)
    a = [random(m, k, kind=np.float16) for m, n, k in sizes]
    b = [random(k, n, kind=np.float16) for m, n, k in sizes]
    c = [np.zeros((m, n), np.float16) for m, n, k in sizes]
    kernel[3](a, b, c, sizes, len(sizes))
    for left, right, result in zip(a, b, c):
        near(result, left.astype(np.float64) @ right.astype(np.float64), 2.0**-10, left.shape[1])


Case = Callable[[Kernel], None]
CASES: dict[str, Case] = {
    case.__name__: case
    for case in (
        add, softmax, matmul, dropout, layer_norm, layer_norm_backward, attention,
        grouped_matmul, persistent_matmul, descriptor_matmul, host_descriptor_matmul,
    )
}
