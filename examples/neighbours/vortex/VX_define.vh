// SPDX-License-Identifier: MIT OR Apache-2.0
// A stub of Vortex' header, to check the glue without Vortex.
`ifndef VX_DEFINE_VH
`define VX_DEFINE_VH
`define STRING
`endif
