# SPDX-License-Identifier: MIT OR Apache-2.0
# spad_retry_sequencer as a block of its own, fermi (n=14 m=5).
# Its clock is clk.
#
# The period is in the time unit of the library, mostly nanoseconds; the
# input and output delays are fractions of it that the surrounding logic uses.
# Set your own before this file is read:
# set spadkit_period 2.0
if { ![info exists spadkit_period] } { set spadkit_period 10.0 }
if { ![info exists spadkit_input_delay] } { set spadkit_input_delay 0.3 }
if { ![info exists spadkit_output_delay] } { set spadkit_output_delay 0.3 }
create_clock -name clk -period $spadkit_period [get_ports clk]
set_input_delay [expr {$spadkit_input_delay * $spadkit_period}] -clock clk \
    [get_ports {rst at_valid at_aop[*] at_mask[*] at_bank[*] at_row[*] at_lock[*] at_data[*] \
        at_tag[*] sp_ready sr_valid sr_mask[*] sr_data[*] sr_success[*] sr_error sr_degree[*]}]
set_output_delay [expr {$spadkit_output_delay * $spadkit_period}] -clock clk \
    [get_ports {at_ready sp_valid sp_op[*] sp_mask[*] sp_bank[*] sp_row[*] sp_lock[*] sp_data[*] \
        sp_tag[*] sp_error sp_degree[*] state[*] rounds[*]}]
