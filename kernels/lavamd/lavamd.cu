// Forces between the particles of neighbouring boxes (lavaMD's scheme; hash
// paper, lavaMD): a block of 128 threads per box, 100 particles per box, the
// grid of blocks is the grid of boxes. 64-bit accesses to records of 32 bytes.

constexpr int PARTICLES = 100;

struct Particle {
    double v, x, y, z;
};

__device__ inline void load(Particle *to, const Particle *from, int t)
{
    if (t < PARTICLES) {
        to[t].v = from[t].v;
        to[t].x = from[t].x;
        to[t].y = from[t].y;
        to[t].z = from[t].z;
    }
}

extern "C" __global__ void lavamd(Particle *force, const Particle *position, const double *charge,
                                  double alpha)
{
    __shared__ Particle home[PARTICLES], other[PARTICLES];
    __shared__ double charges[PARTICLES];
    const int t = threadIdx.x;
    const int nx = gridDim.x, ny = gridDim.y, nz = gridDim.z;
    const int bx = blockIdx.x, by = blockIdx.y, bz = blockIdx.z;
    const int box = (bz * ny + by) * nx + bx;
    const double a2 = 2.0 * alpha * alpha;
    Particle f = {0.0, 0.0, 0.0, 0.0};
    load(home, position + box * PARTICLES, t);
    __syncthreads();
    for (int z = max(bz - 1, 0); z <= min(bz + 1, nz - 1); z++)
        for (int y = max(by - 1, 0); y <= min(by + 1, ny - 1); y++)
            for (int x = max(bx - 1, 0); x <= min(bx + 1, nx - 1); x++) {
                const int from = ((z * ny + y) * nx + x) * PARTICLES;
                load(other, position + from, t);
                if (t < PARTICLES)
                    charges[t] = charge[from + t];
                __syncthreads();
                if (t < PARTICLES) {
                    for (int j = 0; j < PARTICLES; j++) {
                        double dot = home[t].x * other[j].x + home[t].y * other[j].y +
                                     home[t].z * other[j].z;
                        double r2 = home[t].v + other[j].v - dot;
                        double vij = exp(-a2 * r2), fs = 2.0 * vij;
                        f.v += charges[j] * vij;
                        f.x += charges[j] * (fs * (home[t].x - other[j].x));
                        f.y += charges[j] * (fs * (home[t].y - other[j].y));
                        f.z += charges[j] * (fs * (home[t].z - other[j].z));
                    }
                }
                __syncthreads();
            }
    if (t < PARTICLES)
        force[box * PARTICLES + t] = f;
}
