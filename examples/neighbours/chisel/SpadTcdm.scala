// SPDX-License-Identifier: MIT OR Apache-2.0
// spad_tcdm of `spadkit emit spad_tcdm --preset small -o rtl` as a black box: 8 lanes, 8
// banks, 1,024 words of 32 bits. Lane 0 is in the low bits of each port.

import chisel3._
import chisel3.util._

class spad_tcdm extends BlackBox with HasBlackBoxPath {
  val io = IO(new Bundle {
    val clk = Input(Clock())
    val rst = Input(Bool())
    val hash_wr_en = Input(Bool())
    val hash_wr_index = Input(UInt(2.W))
    val hash_wr_data = Input(UInt(10.W))
    val row_wr_en = Input(Bool())
    val row_wr_index = Input(UInt(3.W))
    val row_wr_data = Input(UInt(2.W))
    val tcdm_req = Input(UInt(8.W))
    val tcdm_gnt = Output(UInt(8.W))
    val tcdm_add = Input(UInt(80.W))
    val tcdm_wen = Input(UInt(8.W))
    val tcdm_wdata = Input(UInt(256.W))
    val tcdm_be = Input(UInt(32.W))
    val tcdm_r_valid = Output(UInt(8.W))
    val tcdm_r_rdata = Output(UInt(256.W))
    val tcdm_r_opc = Output(UInt(8.W))
    val idle = Output(Bool())
  })
  scala.io.Source.fromFile("rtl/filelist.f").getLines()
    .filter(_.endsWith(".v")).foreach(file => addPath(s"rtl/$file"))
}

class LanePort extends Bundle {
  val req = Flipped(Decoupled(new Bundle {
    val word = UInt(10.W)
    val write = Bool()
    val data = UInt(32.W)
    val mask = UInt(4.W)
  }))
  // Comes a cycle after the request at the earliest, in order, and has to be taken.
  val resp = Valid(UInt(32.W))
}

class Scratchpad extends Module {
  val io = IO(Vec(8, new LanePort))
  val memory = Module(new spad_tcdm)
  memory.io.clk := clock
  memory.io.rst := reset.asBool
  memory.io.hash_wr_en := false.B // the mapping stays as it is after a reset
  memory.io.hash_wr_index := 0.U
  memory.io.hash_wr_data := 0.U
  memory.io.row_wr_en := false.B
  memory.io.row_wr_index := 0.U
  memory.io.row_wr_data := 0.U
  memory.io.tcdm_req := VecInit(io.map(_.req.valid)).asUInt
  memory.io.tcdm_add := VecInit(io.map(_.req.bits.word)).asUInt
  memory.io.tcdm_wen := VecInit(io.map(!_.req.bits.write)).asUInt // 1: a read
  memory.io.tcdm_wdata := VecInit(io.map(_.req.bits.data)).asUInt
  memory.io.tcdm_be := VecInit(io.map(_.req.bits.mask)).asUInt
  for ((lane, i) <- io.zipWithIndex) {
    lane.req.ready := memory.io.tcdm_gnt(i)
    lane.resp.valid := memory.io.tcdm_r_valid(i) // also of a write
    lane.resp.bits := memory.io.tcdm_r_rdata(32 * i + 31, 32 * i)
  }
}
