"""Other threads of Python run beside a kernel, and Ctrl-C ends it."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

import spadkit
from spadkit import Kernel

# Counts to `n` in every thread.
PTX = """
.version 7.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 out, .param .u64 n)
{
  .reg .pred %p<2>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [n];
  mov.u64 %rd3, 0;
loop:
  add.u64 %rd3, %rd3, 1;
  setp.lt.u64 %p1, %rd3, %rd2;
  @%p1 bra loop;
  st.global.u64 [%rd1], %rd3;
  ret;
}
"""
FOREVER = 1 << 40


def test_another_thread_makes_progress() -> None:
    spin = Kernel.from_ptx(PTX)
    out = np.zeros(1, np.uint64)
    running = threading.Thread(target=lambda: spin[1, 32](out, 300_000))
    begin = time.perf_counter()
    running.start()
    steps, longest, last = 0, 0.0, begin
    while running.is_alive():
        steps += 1
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
        time.sleep(0.001)
    total = time.perf_counter() - begin
    assert out[0] == 300_000
    assert steps >= 3 and longest < total / 2, (steps, longest, total)


def test_two_kernels_at_a_time() -> None:
    spin = Kernel.from_ptx(PTX)
    outs = [np.zeros(1, np.uint64) for _ in range(4)]
    threads = [
        threading.Thread(target=spin[1, 32], args=(out, n + 1)) for n, out in enumerate(outs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [int(out[0]) for out in outs] == [1, 2, 3, 4]


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C raises, also where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_kernel() -> None:
    spin = Kernel.from_ptx(PTX)
    out = np.zeros(1, np.uint64)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        spin[4, 32](out, FOREVER, limit=1 << 62)
    assert time.perf_counter() - begin < 30 and out[0] == 0
    # The next one runs.
    spin[1, 32](out, 5)
    assert out[0] == 5


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_search_and_a_trace() -> None:
    spin = Kernel.from_ptx(PTX)
    launch = spin[1, 32].bind(np.zeros(1, np.uint64), FOREVER, limit=1 << 62)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        launch.conflicts()


def test_a_program_without_handlers_dies_of_sigterm() -> None:
    """The library does not take signals away from the interpreter."""
    code = f"""
import numpy as np, spadkit
k = spadkit.Kernel.from_ptx({PTX!r})
print("ready", flush=True)
k[1, 32](np.zeros(1, np.uint64), {FOREVER}, limit={1 << 62})
"""
    path = os.path.dirname(os.path.dirname(spadkit.__file__))
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert child.stdout is not None and child.stdout.readline() == b"ready\n"
    child.send_signal(signal.SIGTERM)
    assert child.wait(30) == -signal.SIGTERM
    child.stdout.close()
