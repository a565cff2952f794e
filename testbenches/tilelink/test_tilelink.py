"""Agents and the monitor of cocotb-TileLink at two devices in front of spad_tcdm."""

import logging
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from cocotb_TileLink.drivers.DutMultiMasterSlaveUL import DutMultiMasterSlaveUL
from cocotb_TileLink.drivers.SimRandomTrafficGeneratorUL import SimRandomTrafficGeneratorUL
from cocotb_TileLink.drivers.SimSimpleMasterUL import SimSimpleMasterUL
from cocotb_TileLink.monitors.TileLinkULMonitor import TileLinkULMonitor

BYTES = 2048  # the lower half is that of the writing agent
ROUNDS = int(os.environ.get("ROUNDS", "150"))
RANDOM = int(os.environ.get("RANDOM_MESSAGES", "400"))
SEED = int(os.environ.get("SEED", "1"))


class Upper(SimRandomTrafficGeneratorUL):
    """The public generator of messages, half of them against the rules, in the upper half."""

    def _get_random_A_packet(self):
        packet = super()._get_random_A_packet()
        return packet._replace(a_address=packet.a_address | BYTES)


def monitored(agent, dut, name):
    """A monitor of what the agent sends and gets: each source is answered once."""
    logging.getLogger(f"cocotb.{name}").setLevel(logging.WARNING)
    monitor = TileLinkULMonitor(name)
    monitor.register_device(agent).register_clock(dut.clk).register_reset(dut.rst)
    cocotb.start_soon(monitor.process())
    return monitor


async def accesses(dut, agent, rng):
    """Writes and reads of any bytes by several sources; what is read was written."""
    memory = bytearray(BYTES)
    for start in range(0, BYTES, 64):
        agent.write(start, 64, [0] * 64, [True] * 64, 0)
        await agent.source_free(0)
        assert all(not d.d_error for d in agent.get_rsp(0))
    part = BYTES // 4
    for _ in range(ROUNDS):
        jobs = []
        for source in range(4):
            length = rng.randint(1, 24)
            at = source * part + rng.randrange(part - length)
            if rng.random() < 0.5:
                data = [rng.randrange(256) for _ in range(length)]
                mask = [rng.random() < 0.8 for _ in range(length)]
                for i in range(length):
                    if mask[i]:
                        memory[at + i] = data[i]
                agent.write(at, length, list(data), list(mask), source)
                jobs.append((source, None, None))
            else:
                agent.read(at, length, source)
                jobs.append((source, at, length))
        for source, at, length in jobs:
            await agent.source_free(source)
            answers = agent.get_rsp(source)
            assert all(not d.d_error for d in answers)
            if at is None:
                continue
            got, place = [], at
            for answer in answers:
                size = 1 << answer.d_size
                got += [answer.d_data >> 8 * (place % 4 + i) & 255 for i in range(size)]
                place += size
            assert bytes(got) == bytes(memory[at : at + length]), (hex(at), length)


@cocotb.test()
async def agents_are_answered(dut):
    """One agent checks its data; the other sends what it likes and takes its time."""
    random.seed(SEED)
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    dut.rst.value = 1
    agent, other = SimSimpleMasterUL(), Upper(num_of_transactions=RANDOM)
    device = DutMultiMasterSlaveUL(dut, "clk", 2)
    for one, name in ((agent, "one"), (other, "two")):
        device.register_master(one.get_master_interface(name), name)
        one.register_slave(device.get_slave_interface(name), name)
        one.register_clock(dut.clk).register_reset(dut.rst)
        cocotb.start_soon(one.process())
        monitored(one, dut, name)
    cocotb.start_soon(device.process())
    await ClockCycles(dut.clk, 4)
    dut.rst.value = 0
    await ClockCycles(dut.clk, 2)
    await accesses(dut, agent, random.Random(SEED))
    await other.sim_finished()
    assert other.num_of_transactions_recv == 0
