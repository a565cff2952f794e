"""Random bursts of a master of cocotbext-axi through spad_axi, beside a memory here."""

import logging
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiBurstType, AxiBus, AxiMaster, AxiResp

CAPACITY = 768 * 4  # bytes of the scratchpad
END = 1024 * 4  # what a word address reaches
PAGE = 4096
TASKS = 6
ROUNDS = int(os.environ.get("ROUNDS", "40"))
SEED = int(os.environ.get("SEED", "1"))
# The size, as AXI has it, of a beat of all the lanes that the port takes the place of.
WHOLE = int(os.environ.get("LANES", "1")).bit_length() + 1


def pauses(rng):
    """Whether a channel waits, in spells: never, sometimes, mostly."""
    while True:
        weight = rng.choice([0, 0, 0.2, 0.5, 0.9])
        for _ in range(rng.randrange(20, 200)):
            yield rng.random() < weight


async def started(dut):
    """The master, after a reset."""
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    logging.getLogger("cocotb.top").setLevel(logging.WARNING)
    master = AxiMaster(AxiBus.from_prefix(dut, "axi"), dut.clk, dut.rst)
    dut.rst.value = 1
    await ClockCycles(dut.clk, 3)
    dut.rst.value = 0
    await RisingEdge(dut.clk)
    return master


def pause(master, rng):
    """Lets every channel wait at random."""
    for side in (master.write_if, master.read_if):
        for name in ("aw_channel", "w_channel", "b_channel", "ar_channel", "r_channel"):
            channel = getattr(side, name, None)
            if channel is not None:
                channel.set_pause_generator(pauses(random.Random(rng.random())))


def places(burst, address, length, size):
    """The byte addresses that a transfer of `length` bytes accesses, in its order."""
    each = 1 << size
    if burst == AxiBurstType.FIXED:
        return [address + i % each for i in range(length)]
    if burst == AxiBurstType.WRAP:
        base = address // length * length
        return [base + (address - base + i) % length for i in range(length)]
    return list(range(address, address + length))


def transfer(rng, low, high):
    """A burst within the bytes from `low` to below `high`."""
    burst = rng.choice([AxiBurstType.INCR] * 3 + [AxiBurstType.FIXED, AxiBurstType.WRAP])
    # Where beats do not follow each other, the master expects whole ones.
    sizes = [*range(WHOLE + 1), WHOLE, WHOLE] if burst == AxiBurstType.INCR else [WHOLE]
    size = rng.choice(sizes)
    each = 1 << size
    if burst == AxiBurstType.FIXED:
        return burst, rng.randrange(low, high, each), each * rng.randint(1, 16), size
    if burst == AxiBurstType.WRAP:
        length = each * rng.choice([2, 4, 8, 16])
        address = rng.randrange(-(-low // length), high // length) * length
        return burst, address + each * rng.randrange(length // each), length, size
    length = rng.randint(1, rng.choice([4, 16, 64, high - low]))
    return burst, rng.randint(low, high - length), length, size


async def accesses(master, memory, rng, low, high):
    """Writes and reads of these bytes; what is read is what was written."""
    for _ in range(ROUNDS):
        burst, address, length, size = transfer(rng, low, high)
        if burst == AxiBurstType.WRAP and address % PAGE + length > PAGE:
            continue  # the master splits what leaves a page before it wraps
        at = places(burst, address, length, size)
        if rng.random() < 0.5:
            data = rng.randbytes(length)
            answer = await master.write(address, data, burst=burst, size=size)
            assert answer.resp == AxiResp.OKAY, answer
            for place, byte in zip(at, data):
                memory[place] = byte
        else:
            answer = await master.read(address, length, burst=burst, size=size)
            assert answer.resp == AxiResp.OKAY, answer
            expected = bytes(memory[place] for place in at)
            assert answer.data == expected, (burst, hex(address), length, size)


@cocotb.test()
async def memory_is_as_written(dut):
    """Several transfers at once, each in bytes of its own; then the whole memory."""
    rng = random.Random(SEED)
    master = await started(dut)
    memory = bytearray(rng.randbytes(CAPACITY))
    await master.write(0, bytes(memory))
    pause(master, rng)
    part = CAPACITY // TASKS
    tasks = []
    for i in range(TASKS):
        own = accesses(master, memory, random.Random(rng.random()), i * part, (i + 1) * part)
        tasks.append(cocotb.start_soon(own))
    for task in tasks:
        await task
    assert (await master.read(0, CAPACITY)).data == bytes(memory)
    await ClockCycles(dut.clk, 20)


@cocotb.test()
async def addresses_outside_are_refused(dut):
    """What is beyond the capacity, or beyond a word address, changes nothing."""
    rng = random.Random(SEED + 1)
    master = await started(dut)
    memory = rng.randbytes(CAPACITY)
    await master.write(0, memory)
    for address, expected in [(CAPACITY, AxiResp.SLVERR), (END, AxiResp.DECERR)] * 4:
        address += 4 * rng.randrange(200) + rng.choice([0, 0x1000, 0x8000]) * (address == END)
        length = rng.randint(1, 32)
        answer = await master.write(address, rng.randbytes(length))
        assert answer.resp == expected, (hex(address), answer)
        answer = await master.read(address, length)
        assert answer.resp == expected, (hex(address), answer)
        assert answer.data == bytes(length), answer
    assert (await master.read(0, CAPACITY)).data == memory


@cocotb.test()
async def an_idle_port_says_so(dut):
    """Not while a transfer is under way."""
    master = await started(dut)
    assert int(dut.port.idle.value) == 1
    writing = cocotb.start_soon(master.write(0, bytes(64)))
    await ClockCycles(dut.clk, 8)
    assert int(dut.port.idle.value) == 0
    await writing
    await ClockCycles(dut.clk, 4)
    assert int(dut.port.idle.value) == 1
