// Speckle-reducing anisotropic diffusion, one iteration in two kernels over
// tiles of 24 x 24 (sharing paper, SRAD1 and SRAD2: 576 threads, 13824 and
// 11520 bytes; hash paper, section 7.1: no conflicts). Neighbours beyond the
// image are its border. Rows and columns are multiples of 24. The barriers between
// loads stand where Rodinia's kernels have them: they put the
// loads of global memory one behind the other.

constexpr int B = 24;

// Directional differences and the diffusion coefficient.
extern "C" __global__ void srad1(float *north_d, float *south_d, float *west_d, float *east_d,
                                 float *coefficient, const float *image, int columns, int rows,
                                 float q0sqr)
{
    __shared__ float centre[B][B], result[B][B];
    __shared__ float north[B][B], south[B][B], west[B][B], east[B][B];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * B + tx, y = blockIdx.y * B + ty, at = y * columns + x;
    // The rows and columns just outside the tile.
    int above = max((int)blockIdx.y * B - 1, 0), below = min((int)(blockIdx.y + 1) * B, rows - 1);
    int before = max((int)blockIdx.x * B - 1, 0), behind = min((int)(blockIdx.x + 1) * B, columns - 1);
    north[ty][tx] = image[above * columns + x];
    south[ty][tx] = image[below * columns + x];
    __syncthreads();
    west[ty][tx] = image[y * columns + before];
    east[ty][tx] = image[y * columns + behind];
    __syncthreads();
    centre[ty][tx] = image[at];
    __syncthreads();
    float c = centre[ty][tx];
    float dn = (ty == 0 ? north[ty][tx] : centre[ty - 1][tx]) - c;
    float ds = (ty == B - 1 ? south[ty][tx] : centre[ty + 1][tx]) - c;
    float dw = (tx == 0 ? west[ty][tx] : centre[ty][tx - 1]) - c;
    float de = (tx == B - 1 ? east[ty][tx] : centre[ty][tx + 1]) - c;
    float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (c * c);
    float l = (dn + ds + dw + de) / c;
    float numerator = 0.5f * g2 - 0.0625f * l * l, denominator = 1.0f + 0.25f * l;
    float qsqr = numerator / (denominator * denominator);
    float k = 1.0f / (1.0f + (qsqr - q0sqr) / (q0sqr * (1.0f + q0sqr)));
    result[ty][tx] = fminf(fmaxf(k, 0.0f), 1.0f);
    __syncthreads();
    coefficient[at] = result[ty][tx];
    north_d[at] = dn;
    south_d[at] = ds;
    west_d[at] = dw;
    east_d[at] = de;
}

// The divergence, added to the image.
extern "C" __global__ void srad2(float *image, const float *north_d, const float *south_d,
                                 const float *west_d, const float *east_d,
                                 const float *coefficient, int columns, int rows, float lambda)
{
    __shared__ float south[B][B], east[B][B], centre[B][B], result[B][B], old[B][B];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * B + tx, y = blockIdx.y * B + ty, at = y * columns + x;
    int below = min((int)(blockIdx.y + 1) * B, rows - 1);
    int behind = min((int)(blockIdx.x + 1) * B, columns - 1);
    old[ty][tx] = image[at];
    __syncthreads();
    south[ty][tx] = coefficient[below * columns + x];
    __syncthreads();
    east[ty][tx] = coefficient[y * columns + behind];
    __syncthreads();
    centre[ty][tx] = coefficient[at];
    __syncthreads();
    float cc = centre[ty][tx];
    float cs = ty == B - 1 ? south[ty][tx] : centre[ty + 1][tx];
    float ce = tx == B - 1 ? east[ty][tx] : centre[ty][tx + 1];
    float divergence = cc * north_d[at] + cs * south_d[at] + cc * west_d[at] + ce * east_d[at];
    result[ty][tx] = old[ty][tx] + 0.25f * lambda * divergence;
    __syncthreads();
    image[at] = result[ty][tx];
}

// The same differences on tiles of 16 x 16, two rows of which are one warp, and
// with each neighbour loaded in a branch of its own: no warp access then touches
// two arrays, and none has a conflict, as the hash paper says of srad (section
// 7.1). The empty asm keeps the compiler from merging the two loads.
extern "C" __global__ void srad1_branches(float *north_d, float *south_d, float *west_d,
                                          float *east_d, float *coefficient, const float *image,
                                          int columns, int rows, float q0sqr)
{
    constexpr int T = 16;
    __shared__ float centre[T][T], result[T][T];
    __shared__ float north[T][T], south[T][T], west[T][T], east[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * T + tx, y = blockIdx.y * T + ty, at = y * columns + x;
    int above = max((int)blockIdx.y * T - 1, 0), below = min((int)(blockIdx.y + 1) * T, rows - 1);
    int before = max((int)blockIdx.x * T - 1, 0), behind = min((int)(blockIdx.x + 1) * T, columns - 1);
    north[ty][tx] = image[above * columns + x];
    south[ty][tx] = image[below * columns + x];
    __syncthreads();
    west[ty][tx] = image[y * columns + before];
    east[ty][tx] = image[y * columns + behind];
    __syncthreads();
    centre[ty][tx] = image[at];
    __syncthreads();
    float n, s, w, e, c = centre[ty][tx];
#define EITHER(TO, OUTSIDE, BORDER, INSIDE) \
    if (OUTSIDE) {                          \
        TO = BORDER[ty][tx];                \
        asm volatile("");                   \
    } else                                  \
        TO = INSIDE;
    EITHER(n, ty == 0, north, centre[ty - 1][tx])
    EITHER(s, ty == T - 1, south, centre[ty + 1][tx])
    EITHER(w, tx == 0, west, centre[ty][tx - 1])
    EITHER(e, tx == T - 1, east, centre[ty][tx + 1])
    float dn = n - c, ds = s - c, dw = w - c, de = e - c;
    float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (c * c);
    float l = (dn + ds + dw + de) / c;
    float numerator = 0.5f * g2 - 0.0625f * l * l, denominator = 1.0f + 0.25f * l;
    float qsqr = numerator / (denominator * denominator);
    float k = 1.0f / (1.0f + (qsqr - q0sqr) / (q0sqr * (1.0f + q0sqr)));
    result[ty][tx] = fminf(fmaxf(k, 0.0f), 1.0f);
    __syncthreads();
    coefficient[at] = result[ty][tx];
    north_d[at] = dn;
    south_d[at] = ds;
    west_d[at] = dw;
    east_d[at] = de;
}
