# SPDX-License-Identifier: MIT OR Apache-2.0
# spad_conflict_arbiter as a block of its own, fermi (n=14 m=5).
# Its clock is clk.
#
# The period is in the time unit of the library, mostly nanoseconds. Set another
# one before this file is read: set spadkit_period 2.0
if { ![info exists spadkit_period] } { set spadkit_period 10.0 }
create_clock -name clk -period $spadkit_period [get_ports clk]
# What is around the block takes 30 % of the period before and behind it.
set spadkit_outside [expr {0.3 * $spadkit_period}]
set_input_delay $spadkit_outside -clock clk [get_ports {rst req_valid req_mask[*] req_access req_bank[*] req_row[*] adv}]
set_output_delay $spadkit_outside -clock clk [get_ports {req_ready grp_valid grp_last grp_served[*] grp_leader[*] grp_bank_valid[*] grp_bank[*] grp_row[*] grp_degree[*]}]
