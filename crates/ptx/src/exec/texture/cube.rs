//! Cubes: a direction to a face and the place on it.

/// Face (+x, -x, +y, -y, +z, -z) and coordinates from 0 to 1 on it (CUDA C++
/// Programming Guide, cubemap textures). The direction 0 is the middle of +x.
pub(in crate::exec) fn face([x, y, z]: [f32; 3]) -> (u32, [f32; 2]) {
    let [ax, ay, az] = [x, y, z].map(f32::abs);
    let (face, major, s, t) = if !(ay > ax || az > ax) {
        if x >= 0.0 {
            (0, ax, -z, -y)
        } else {
            (1, ax, z, -y)
        }
    } else if ay >= az {
        if y >= 0.0 {
            (2, ay, x, z)
        } else {
            (3, ay, x, -z)
        }
    } else if z >= 0.0 {
        (4, az, x, -y)
    } else {
        (5, az, -x, -y)
    };
    let on = |v: f32| {
        if major == 0.0 {
            0.5
        } else {
            (v / major + 1.0) / 2.0
        }
    };
    (face, [on(s), on(t)])
}
