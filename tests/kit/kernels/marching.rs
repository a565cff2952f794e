//! Marching cubes: every vertex lies where the surface cuts its edge of the
//! lattice, the mesh is closed, and normals are the slope of the field.

use crate::kernels::harness::{Run, TestKernel};
use std::collections::HashMap;

const SIZE: f64 = 2.0 / 32.0;
const ISO: f64 = 0.2;

/// An edge of the lattice: its lower end and its direction.
type Edge = ([i64; 3], usize);

fn field(p: [f64; 3]) -> f64 {
    let sum: f64 = p.iter().map(|v| (3.0 * v).powi(4) - 45.0 * v * v).sum();
    (sum + 11.8) * 0.2 + 0.5
}

fn position(lattice: [i64; 3]) -> [f64; 3] {
    lattice.map(|n| n as f64 * SIZE - 1.0)
}

fn vectors(values: &[f32]) -> Vec<[f64; 3]> {
    let vector = |v: &[f32]| std::array::from_fn(|i| f64::from(v[i]));
    values.chunks(4).map(vector).collect()
}

/// The edge that a vertex lies on: off the lattice in one direction at most.
fn edge_of(point: [f64; 3]) -> Edge {
    let place = point.map(|v| (v + 1.0) / SIZE);
    let off = |i: usize| (place[i] - place[i].round()).abs();
    let direction = (0..3).max_by(|&a, &b| off(a).total_cmp(&off(b))).unwrap();
    let mut low = place.map(|v| v.round() as i64);
    for i in (0..3).filter(|&i| i != direction) {
        assert!(off(i) < 1e-4, "{place:?} is on no edge");
    }
    low[direction] = place[direction].floor() as i64;
    (low, direction)
}

fn check_vertex(point: [f64; 3], normal: [f64; 3]) {
    let (low, direction) = edge_of(point);
    let mut high = low;
    high[direction] += 1;
    let (below, above) = (field(position(low)), field(position(high)));
    let t = (ISO - below) / (above - below);
    let expected = position(low)[direction] + t * SIZE;
    assert!((point[direction] - expected).abs() < 1e-4, "{point:?}");
    for axis in 0..3 {
        let slope = |lattice| {
            let p = position(lattice);
            let mut q = p;
            q[axis] += 0.001;
            field(q) - field(p)
        };
        let expected = slope(low) + t * (slope(high) - slope(low));
        assert!((normal[axis] - expected).abs() < 5e-5, "{normal:?}");
    }
}

fn check(run: &Run) {
    let points = vectors(&run.after::<f32>("points"));
    let normals = vectors(&run.after::<f32>("normals"));
    for (&point, &normal) in points.iter().zip(&normals) {
        check_vertex(point, normal);
    }
    // Each side of a triangle is a side of another one the other way round.
    let mut sides: HashMap<(Edge, Edge), i32> = HashMap::new();
    for triangle in points.chunks(3) {
        let edges: Vec<Edge> = triangle.iter().map(|&p| edge_of(p)).collect();
        for i in 0..3 {
            let (a, b) = (edges[i], edges[(i + 1) % 3]);
            *sides.entry((a, b)).or_default() += 1;
            *sides.entry((b, a)).or_default() -= 1;
        }
    }
    assert!(sides.values().all(|&n| n == 0), "the mesh has a hole");
}

#[test]
fn the_surface_is_closed_and_where_the_field_says() {
    for name in ["mc1", "mc2"] {
        TestKernel::load("marching", name).check(check);
    }
}
