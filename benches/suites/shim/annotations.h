// GPUVerify's annotations, without effect. Arguments are not evaluated.
#pragma once
#define SPADKIT_NOTHING ((void)0)
#define __requires(...) SPADKIT_NOTHING
#define __global_requires(...) SPADKIT_NOTHING
#define __ensures(...) SPADKIT_NOTHING
#define __global_ensures(...) SPADKIT_NOTHING
#define __assert(...) SPADKIT_NOTHING
#define __global_assert(...) SPADKIT_NOTHING
#define __assume(...) SPADKIT_NOTHING
#define __global_assume(...) SPADKIT_NOTHING
#define __invariant(...) SPADKIT_NOTHING
#define __global_invariant(...) SPADKIT_NOTHING
#define __candidate_invariant(...) SPADKIT_NOTHING
#define __candidate_global_invariant(...) SPADKIT_NOTHING
#define __function_wide_invariant(...) SPADKIT_NOTHING
#define __function_wide_candidate_invariant(...) SPADKIT_NOTHING
#define __barrier_invariant(...) SPADKIT_NOTHING
#define __barrier_invariant_binary(...) SPADKIT_NOTHING
#define __barrier_invariant_1(...) SPADKIT_NOTHING
#define __barrier_invariant_2(...) SPADKIT_NOTHING
#define __non_temporal_loads_begin() SPADKIT_NOTHING
#define __non_temporal_loads_end() SPADKIT_NOTHING
#define __requires_fresh_array(...) SPADKIT_NOTHING
#define __reads_from(...) SPADKIT_NOTHING
#define __reads_from_local(...) SPADKIT_NOTHING
#define __writes_to(...) SPADKIT_NOTHING
#define __read_permission(...) SPADKIT_NOTHING
#define __write_permission(...) SPADKIT_NOTHING
#define __array_snapshot(...) SPADKIT_NOTHING
#define __axiom(...) typedef int spadkit_axiom
