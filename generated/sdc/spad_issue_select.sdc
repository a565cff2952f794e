# SPDX-License-Identifier: MIT OR Apache-2.0
# spad_issue_select as a block of its own, fermi (n=14 m=5).
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
    [get_ports {rst cfg_policy[*] cfg_aware cfg_violate ready[*] is_mem[*] is_atomic[*] shares[*] \
        cls[*] allowed_wait[*] allowed_viol[*] locked[*] owner[*] changes mask mask_lasts \
        mask_likely atom_infl room}]
set_output_delay [expr {$spadkit_output_delay * $spadkit_period}] -clock clk \
    [get_ports {take take_sel[*] take_warp[*] picked[*] masked wait_sh[*] viol[*]}]
# Configuration is static while a kernel runs. Where yours comes from registers
# that are written only when the block is idle:
# set_false_path -from [get_ports {cfg_policy[*] cfg_aware cfg_violate}]
