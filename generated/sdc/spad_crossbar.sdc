# SPDX-License-Identifier: MIT OR Apache-2.0
# spad_crossbar as a block of its own, fermi (n=14 m=5).
# It has no clock: a virtual one bounds the way from inputs to outputs.
#
# The period is in the time unit of the library, mostly nanoseconds. Set another
# one before this file is read: set spadkit_period 2.0
if { ![info exists spadkit_period] } { set spadkit_period 10.0 }
create_clock -name clk -period $spadkit_period
# What is around the block takes 30 % of the period before and behind it.
set spadkit_outside [expr {0.3 * $spadkit_period}]
set_input_delay $spadkit_outside -clock clk [get_ports {served[*] leader[*] lane_bank[*] lane_row[*] lane_data[*] lane_be[*] sel_valid[*] sel_bank[*] bank_rdata[*]}]
set_output_delay $spadkit_outside -clock clk [get_ports {bank_row[*] bank_wdata[*] bank_wbe[*] lane_rdata[*]}]
