// Marching cubes: the triangles of the surface on which a field has a given
// value, one thread per cube that the surface cuts. A thread puts the points of
// all twelve edges and their normals into shared memory, and picks its triangles'
// out of them.

struct Vector {
    float x, y, z;
};

__device__ float field(Vector p)
{
    float x = 3.0f * p.x, y = 3.0f * p.y, z = 3.0f * p.z;
    float sum = x * x * x * x - 5.0f * x * x + y * y * y * y - 5.0f * y * y
        + z * z * z * z - 5.0f * z * z + 11.8f;
    return sum * 0.2f + 0.5f;
}

// The field's value in w, its differences to neighbours beside.
__device__ float4 slope(Vector p)
{
    const float d = 0.001f;
    float v = field(p);
    return make_float4(field({p.x + d, p.y, p.z}) - v, field({p.x, p.y + d, p.z}) - v,
                       field({p.x, p.y, p.z + d}) - v, v);
}

__device__ float between(float a, float b, float t)
{
    return a + t * (b - a);
}

__device__ void cross(float iso, Vector p, Vector q, float4 f, float4 g, Vector *point, Vector *normal)
{
    float t = (iso - f.w) / (g.w - f.w);
    *point = {between(p.x, q.x, t), between(p.y, q.y, t), between(p.z, q.z, t)};
    *normal = {between(f.x, g.x, t), between(f.y, g.y, t), between(f.z, g.z, t)};
}

template <int THREADS>
__device__ void march(float4 *points, float4 *normals, const unsigned *voxels,
                      const unsigned *starts, const unsigned *triangles, const unsigned *counts,
                      float iso, unsigned active)
{
    __shared__ Vector point[12 * THREADS];
    __shared__ Vector normal[12 * THREADS];
    unsigned thread = threadIdx.x;
    unsigned i = blockIdx.x * THREADS + thread;
    bool own = i < active;
    if (!own)
        i = active - 1;

    unsigned voxel = voxels[i];
    const float size = 2.0f / 32.0f;
    Vector p = {(voxel & 31) * size - 1.0f, (voxel >> 5 & 31) * size - 1.0f, (voxel >> 10) * size - 1.0f};
    Vector v[8] = {p,
                   {p.x + size, p.y, p.z},
                   {p.x + size, p.y + size, p.z},
                   {p.x, p.y + size, p.z},
                   {p.x, p.y, p.z + size},
                   {p.x + size, p.y, p.z + size},
                   {p.x + size, p.y + size, p.z + size},
                   {p.x, p.y + size, p.z + size}};
    float4 f[8];
    unsigned kind = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        f[k] = slope(v[k]);
        kind |= unsigned(f[k].w < iso) << k;
    }

#pragma unroll
    for (int k = 0; k < 4; k++) {
        int next = (k + 1) % 4;
        int low = k * THREADS + thread;
        int high = (k + 4) * THREADS + thread;
        int side = (k + 8) * THREADS + thread;
        cross(iso, v[k], v[next], f[k], f[next], &point[low], &normal[low]);
        cross(iso, v[k + 4], v[next + 4], f[k + 4], f[next + 4], &point[high], &normal[high]);
        cross(iso, v[k], v[k + 4], f[k], f[k + 4], &point[side], &normal[side]);
    }
    __syncthreads();

    unsigned count = own ? counts[kind] : 0;
    for (unsigned k = 0; k < count; k++) {
        unsigned at = triangles[kind * 16 + k] * THREADS + thread;
        unsigned to = starts[i] + k;
        points[to] = make_float4(point[at].x, point[at].y, point[at].z, 1.0f);
        normals[to] = make_float4(normal[at].x, normal[at].y, normal[at].z, 0.0f);
    }
}

extern "C" __global__ void mc1(float4 *points, float4 *normals, const unsigned *voxels,
                               const unsigned *starts, const unsigned *triangles,
                               const unsigned *counts, float iso, unsigned active)
{
    march<32>(points, normals, voxels, starts, triangles, counts, iso, active);
}

extern "C" __global__ void mc2(float4 *points, float4 *normals, const unsigned *voxels,
                               const unsigned *starts, const unsigned *triangles,
                               const unsigned *counts, float iso, unsigned active)
{
    march<48>(points, normals, voxels, starts, triangles, counts, iso, active);
}
