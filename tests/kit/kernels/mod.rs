//! Every kernel of kernels/ against a reference on the CPU, formulated
//! independently: integers bit for bit, floats within a bound that is derived
//! from the operations (`bound`). Each case runs under every compiler whose PTX
//! is committed, on one and on two host threads, with the race detector on.

mod bound;
mod harness;

mod aes;
mod all;
mod atomics;
mod backprop;
mod bytehist;
mod convolution;
mod dct8x8;
mod faults;
mod fdtd3d;
mod fft;
pub mod files;
mod fwt;
mod gemm;
mod gridding;
mod haar;
mod heartwall;
mod histogram;
mod hotspot;
mod hough;
mod kmeans;
mod lavamd;
mod layerforward;
mod lud;
mod marching;
mod matmul;
mod matvec;
mod nqueens;
mod nw;
mod orders;
mod questions;
mod rap;
mod reduction;
mod sanitizer;
mod scalarprod;
mod scan;
mod sort;
mod srad;
mod tiles;
mod tma;
mod transpose;
mod unlimited;
