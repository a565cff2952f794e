// The compaction of a few segments, without the rest of the encoder.
#include "src/gpujpeg_huffman_gpu_encoder.cu"

int main() {
  const int count = 6, bytes = 64;
  gpujpeg_segment segments[count] = {};
  for (int n = 0; n < count; n++) {
    segments[n].data_temp_index = n * bytes;
    segments[n].data_compressed_size = bytes;
  }
  gpujpeg_segment *segment;
  uint8_t *from, *to;
  unsigned *used;
  cudaMalloc((void **)&segment, sizeof segments);
  cudaMalloc((void **)&from, count * bytes);
  cudaMalloc((void **)&to, count * bytes);
  cudaMalloc((void **)&used, sizeof *used);
  cudaMemcpy(segment, segments, sizeof segments, cudaMemcpyHostToDevice);
  gpujpeg_huffman_encoder_compaction_kernel<<<1, dim3(32, WARPS_NUM)>>>(segment, count, from, to, used);
}
