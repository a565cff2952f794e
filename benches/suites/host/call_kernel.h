// ESBMC's model of a launch, as the launch that it stands for, and what else ESBMC
// knows without a header.
#pragma once
#include <assert.h>
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ESBMC_verify_kernel(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)
#define ESBMC_verify_kernel_c ESBMC_verify_kernel
#define ESBMC_verify_kernel_f ESBMC_verify_kernel
#define ESBMC_verify_kernel_four ESBMC_verify_kernel
#define ESBMC_verify_kernel_fuintint ESBMC_verify_kernel
#define ESBMC_verify_kernel_fuintt ESBMC_verify_kernel
#define ESBMC_verify_kernel_i ESBMC_verify_kernel
#define ESBMC_verify_kernel_intt ESBMC_verify_kernel
#define ESBMC_verify_kernel_three_args_iuull ESBMC_verify_kernel
#define ESBMC_verify_kernel_u ESBMC_verify_kernel
#define ESBMC_verify_kernel_ui ESBMC_verify_kernel
#define ESBMC_verify_kernel_with_three_args ESBMC_verify_kernel
#define ESBMC_verify_kernel_with_two_args ESBMC_verify_kernel
