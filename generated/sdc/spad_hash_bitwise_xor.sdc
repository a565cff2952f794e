# SPDX-License-Identifier: MIT OR Apache-2.0
# spad_hash_bitwise_xor as a block of its own, fermi (n=14 m=5).
# It has no clock: a virtual one bounds the way from inputs to outputs.
#
# The period is in the time unit of the library, mostly nanoseconds; the
# input and output delays are fractions of it that the surrounding logic uses.
# Set your own before this file is read:
# set spadkit_period 2.0
if { ![info exists spadkit_period] } { set spadkit_period 10.0 }
if { ![info exists spadkit_input_delay] } { set spadkit_input_delay 0.3 }
if { ![info exists spadkit_output_delay] } { set spadkit_output_delay 0.3 }
create_clock -name clk -period $spadkit_period
set_input_delay [expr {$spadkit_input_delay * $spadkit_period}] -clock clk \
    [get_ports {addr[*] cfg_sel[*]}]
set_output_delay [expr {$spadkit_output_delay * $spadkit_period}] -clock clk \
    [get_ports {bank[*]}]
# Configuration is static while a kernel runs. Where yours comes from registers
# that are written only when the block is idle:
# set_false_path -from [get_ports {cfg_sel[*]}]
