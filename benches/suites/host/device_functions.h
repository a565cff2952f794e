// CUDA 13 has this header no more: what it declared is there without.
