// SPDX-License-Identifier: MIT OR Apache-2.0
// Stands in for Vortex' header, so that the glue can be checked without Vortex.
`ifndef VX_DEFINE_VH
`define VX_DEFINE_VH
`define STRING
`endif
