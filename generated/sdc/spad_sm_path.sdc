# SPDX-License-Identifier: MIT OR Apache-2.0
# spad_sm_path as a block of its own, fermi (n=14 m=5).
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
    [get_ports {rst kernel_clear cfg_pipeline[*] cfg_barrel[*] cfg_policy[*] cfg_aware cfg_violate \
        cfg_lock_hash[*] cfg_sharing cfg_limit[*] hash_wr_en hash_wr_index[*] hash_wr_data[*] \
        row_wr_en row_wr_index[*] row_wr_data[*] launch_valid launch_block[*] launch_shared \
        launch_wmask[*] launch_last[*] exit_valid exit_warp[*] exit_mask[*] off_valid[*] \
        off_kind[*] off_words[*] off_tag[*] off_pc[*] off_hi[*] op_mask[*] op_addr[*] op_data[*] \
        op_be[*] op_aop[*] icn_valid icn_warp[*] icn_tag[*] icn_pass[*] icn_last icn_mask[*] \
        icn_data[*] wb_ready}]
set_output_delay [expr {$spadkit_output_delay * $spadkit_period}] -clock clk \
    [get_ports {iss_valid iss_warp[*] iss_pass[*] iss_last ex_hold icn_ready wb_valid wb_src[*] \
        wb_warp[*] wb_tag[*] wb_kind[*] wb_pass[*] wb_last wb_mask[*] wb_data[*] wb_success[*] \
        wb_error wb_degree[*] wait_sh[*] viol[*] locked[*] owner[*] rel_done[*] live[*] unlock[*] \
        stall[*] masked seq_state[*] occ[*] nm_valid[*] pre_count}]
# Configuration is static while anything is inside.
set_false_path -from [get_ports {cfg_pipeline[*] cfg_barrel[*] cfg_policy[*] cfg_aware cfg_violate \
    cfg_lock_hash[*] cfg_sharing cfg_limit[*]}]
# The registers of the mapping are as static. Where the hierarchy is kept their outputs
# are pins; elsewhere these names find none.
foreach spadkit_names {hash_stage/hash_config/cfg_* hash_stage/row_config/cfg_*} {
    set spadkit_pins [get_pins -quiet $spadkit_names]
    if { [llength $spadkit_pins] > 0 } { set_false_path -through $spadkit_pins }
}
