// A CUDA runtime that executes no kernel: it writes a launch file of each launch of a
// program, with the memory as the host has filled it. Linked instead of libcudart.
// SPADKIT_RECORD names the folder; its file `entries` has, for every entry of the PTX,
// the sizes of its parameters.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Symbol {
  std::string name;
  size_t bytes = 0;
  std::vector<char> data;  // empty unless the host has written it
};

// Functions, because programs register their kernels before main.
template <typename T> T& the() {
  static T* value = new T;
  return *value;
}
struct Allocations : std::map<uintptr_t, size_t> {};
struct Functions : std::map<const void*, std::string> {};
struct Symbols : std::map<const void*, Symbol> {};
struct Call {
  dim3 grid, block;
  size_t shared = 0;
};

std::string folder() {
  const char* name = getenv("SPADKIT_RECORD");
  return name ? name : ".";
}

std::vector<size_t> sizes(const std::string& entry) {
  std::ifstream file(folder() + "/entries");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    std::vector<size_t> out;
    for (size_t n; words >> n;) out.push_back(n);
    if (name == entry) return out;
  }
  fprintf(stderr, "record: the PTX has no entry %s\n", entry.c_str());
  exit(3);
}

// The allocation that an address is in, or right behind the end of.
const std::pair<const uintptr_t, size_t>* allocation(uintptr_t at) {
  auto next = the<Allocations>().upper_bound(at);
  if (next == the<Allocations>().begin()) return nullptr;
  --next;
  return at <= next->first + next->second ? &*next : nullptr;
}

std::string saved(const std::string& name, const void* data, size_t bytes) {
  std::ofstream(folder() + "/" + name, std::ios::binary)
      .write(static_cast<const char*>(data), bytes);
  return name;
}

std::string hex(const unsigned char* data, size_t bytes) {
  std::string out;
  char pair[3];
  for (size_t n = 0; n < bytes; n++) {
    snprintf(pair, sizeof pair, "%02x", data[n]);
    out += pair;
  }
  return out;
}

struct Writer {
  std::ostringstream text;
  std::string stem;
  std::map<uintptr_t, std::string> buffers;

  std::string buffer(uintptr_t base) {
    auto found = buffers.find(base);
    if (found == buffers.end())
      found = buffers.emplace(base, "buffer" + std::to_string(buffers.size())).first;
    return found->second;
  }

  void argument(size_t index, const unsigned char* data, size_t bytes) {
    text << "\n[[arg]]\nname = \"arg" << index << "\"\n";
    std::string pointers;
    for (size_t at = 0; at + 8 <= bytes; at += 8) {
      uintptr_t word;
      memcpy(&word, data + at, 8);
      auto* in = allocation(word);
      if (!in) continue;
      auto offset = word - in->first;
      if (bytes == 8) {
        text << "same_as = \"" << buffer(in->first) << "\"\noffset = " << offset << "\n";
        return;
      }
      pointers += pointers.empty() ? "" : ", ";
      pointers += "{ at = " + std::to_string(at) + ", to = \"" + buffer(in->first) +
                  "\", offset = " + std::to_string(offset) + " }";
    }
    text << "type = \"bytes\"\nvalue = \"" << hex(data, bytes) << "\"\n";
    if (!pointers.empty()) text << "pointers = [" << pointers << "]\n";
  }

  void memory() {
    for (auto& [base, name] : buffers) {
      auto bytes = the<Allocations>()[base];
      for (size_t at = 0; at + 8 <= bytes; at += 8)
        if (auto word = *reinterpret_cast<uintptr_t*>(base + at); word && allocation(word)) {
          text << "\n# pointers in " << name << "\n";
          break;
        }
      auto file = saved(stem + "." + name + ".raw", reinterpret_cast<void*>(base), bytes);
      text << "\n[[arg]]\nname = \"" << name << "\"\ntype = \"u8\"\ncount = " << bytes
           << "\ninit = \"" << file << "\"\n";
    }
    for (auto& [_, symbol] : the<Symbols>()) {
      if (symbol.data.empty()) continue;
      auto file = saved(stem + "." + symbol.name + ".raw", symbol.data.data(), symbol.bytes);
      text << "\n[[symbol]]\nname = \"" << symbol.name << "\"\ntype = \"u8\"\ncount = "
           << symbol.bytes << "\ninit = \"" << file << "\"\n";
    }
  }
};

cudaError_t launched(const void* function, dim3 grid, dim3 block, void** args, size_t shared,
                     bool cooperative) {
  static int count = 0;
  auto& entry = the<Functions>()[function];
  Writer out;
  out.stem = std::to_string(count++);
  auto triple = [](dim3 d) {
    return "[" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + "]";
  };
  out.text << "ptx = \"PTX\"\nentry = \"" << entry << "\"\nlimit = LIMIT\ngrid = " << triple(grid)
           << "\nblock = " << triple(block) << "\n";
  if (shared) out.text << "dynamic_shared = " << shared << "\n";
  if (cooperative) out.text << "cooperative = true\n";
  size_t index = 0;
  for (size_t bytes : sizes(entry)) {
    out.argument(index, static_cast<unsigned char*>(args[index]), bytes);
    index++;
  }
  out.memory();
  std::ofstream(folder() + "/" + out.stem + ".toml") << out.text.str();
  return cudaSuccess;
}

Symbol& symbol(const void* at) { return the<Symbols>()[at]; }

void fill(Symbol& to, const void* from, size_t bytes, size_t offset) {
  to.data.resize(to.bytes);
  if (offset + bytes <= to.bytes) memcpy(to.data.data() + offset, from, bytes);
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void*) { return new void*; }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 0; }
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  the<Functions>()[host] = name;
}
void __cudaRegisterVar(void**, char* host, char*, const char* name, int, size_t bytes, int, int) {
  the<Symbols>()[host] = {name, bytes, {}};
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void*) {
  the<Call>() = {grid, block, shared};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  *grid = the<Call>().grid;
  *block = the<Call>().block;
  *shared = the<Call>().shared;
  *static_cast<void**>(stream) = nullptr;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                               size_t shared, cudaStream_t) {
  return launched(kernel, grid, block, args, shared, false);
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                             size_t shared, cudaStream_t) {
  return launched(function, grid, block, args, shared, false);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** args,
                                        size_t shared, cudaStream_t) {
  return launched(function, grid, block, args, shared, true);
}

cudaError_t cudaMalloc(void** out, size_t bytes) {
  *out = calloc(bytes + 64, 1);  // zeros: the same for every run
  the<Allocations>()[reinterpret_cast<uintptr_t>(*out)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaMallocManaged(void** out, size_t bytes, unsigned) { return cudaMalloc(out, bytes); }
cudaError_t cudaFree(void* at) {
  the<Allocations>().erase(reinterpret_cast<uintptr_t>(at));
  return cudaSuccess;  // not freed: another allocation would get the address
}
cudaError_t cudaMallocHost(void** out, size_t bytes) {
  *out = calloc(bytes, 1);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void*) { return cudaSuccess; }
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  // What a kernel would have written is not there: the host keeps what it has.
  if (kind != cudaMemcpyDeviceToHost && to && from) memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  memset(to, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) {
  return cudaMemset(to, value, bytes);
}
cudaError_t cudaMemcpyToSymbol(const void* to, const void* from, size_t bytes, size_t offset,
                               cudaMemcpyKind) {
  fill(symbol(to), from, bytes, offset);
  return cudaSuccess;
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void*, size_t bytes, size_t, cudaMemcpyKind) {
  memset(to, 0, bytes);
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int) {
  memset(out, 0, sizeof *out);
  out->major = 7;
  out->minor = 5;
  out->warpSize = 32;
  out->multiProcessorCount = 2;
  out->maxThreadsPerBlock = 1024;
  out->sharedMemPerBlock = 48 << 10;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaDeviceReset() { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "no error"; }
cudaError_t cudaStreamCreate(cudaStream_t* out) {
  *out = nullptr;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* out) {
  *out = nullptr;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* out, cudaEvent_t, cudaEvent_t) {
  *out = 1;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }

}  // extern "C"
