# SPDX-License-Identifier: MIT OR Apache-2.0
# spad_stream as a block of its own, fermi (n=14 m=5).
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
    [get_ports {rst hash_wr_en hash_wr_index[*] hash_wr_data[*] row_wr_en row_wr_index[*] \
        row_wr_data[*] cfg_lock_hash[*] req_valid req_op[*] req_mask[*] req_addr[*] req_data[*] \
        req_be[*] req_tag[*] rsp_ready}]
set_output_delay [expr {$spadkit_output_delay * $spadkit_period}] -clock clk \
    [get_ports {req_ready rsp_valid rsp_op[*] rsp_mask[*] rsp_tag[*] rsp_data[*] rsp_success[*] \
        rsp_error rsp_degree[*] idle}]
# Configuration is static while anything is inside.
set_false_path -from [get_ports {cfg_lock_hash[*]}]
# The registers of the mapping are as static. Where the hierarchy is kept their outputs
# are pins; elsewhere these names find none.
foreach spadkit_names {hash_config/cfg_* row_config/cfg_*} {
    set spadkit_pins [get_pins -quiet $spadkit_names]
    if { [llength $spadkit_pins] > 0 } { set_false_path -through $spadkit_pins }
}
