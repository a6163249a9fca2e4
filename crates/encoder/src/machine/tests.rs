//! Every kernel of this machine against plain loops over whole matrices.

use super::{Bytes, Floats, GROUP, Kernel, PANEL};

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }
}

/// Rows, columns, depth: whole tiles, parts of tiles, single rows, odd numbers of panels.
const SIZES: &[(usize, usize, usize)] = &[
    (1, 16, 32),
    (2, 48, 64),
    (7, 16, 32),
    (8, 32, 96),
    (13, 64, 64),
    (16, 48, 128),
    (17, 16, 32),
    (31, 80, 160),
    (32, 32, 64),
    (45, 112, 384),
    (70, 48, 64),
];

#[test]
fn sums_are_the_same_on_every_kernel_at_the_limits_too() {
    let mut numbers = Numbers(1);
    for &(rows, width, depth) in SIZES {
        for extreme in [false, true] {
            let stride = depth + 5;
            let values: Vec<u8> = (0..rows * stride)
                .map(|_| match extreme {
                    true => [0, 255][numbers.next() as usize % 2],
                    false => numbers.next() as u8,
                })
                .collect();
            let weights: Vec<i8> = (0..width * depth)
                .map(|_| match extreme {
                    true => [-127, 127][numbers.next() as usize % 2],
                    false => (numbers.next() % 255) as i8,
                })
                .map(|weight| weight.max(-127))
                .collect();
            let (panels, columns) = pack(&weights, width, depth);
            let mut expected = vec![0i32; rows * width];
            for row in 0..rows {
                for column in 0..width {
                    expected[row * width + column] = (0..depth)
                        .map(|at| {
                            i32::from(values[row * stride + at])
                                * i32::from(weights[column * depth + at])
                        })
                        .sum();
                }
            }
            let a = Bytes {
                values: &values,
                stride,
                rows,
                depth,
            };
            for kernel in Kernel::available() {
                let mut out = vec![i32::MIN; rows * width];
                kernel.sums(a, &panels, &columns, &mut out);
                assert!(out == expected, "{kernel}: {rows} × {width} × {depth}");
            }
        }
    }
}

/// Row-major weights to panels, and the sums of the columns.
fn pack(weights: &[i8], width: usize, depth: usize) -> (Vec<u8>, Vec<i32>) {
    let mut panels = vec![0u8; width * depth];
    let mut columns = vec![0i32; width];
    for column in 0..width {
        for at in 0..depth {
            let weight = weights[column * depth + at];
            let place = column / PANEL * PANEL * depth
                + at / GROUP * PANEL * GROUP
                + column % PANEL * GROUP
                + at % GROUP;
            panels[place] = weight as u8;
            columns[column] += i32::from(weight);
        }
    }
    (panels, columns)
}

#[test]
fn products_agree_within_rounding() {
    let mut numbers = Numbers(2);
    let mut float = || f64::from(numbers.next()) / f64::from(1u32 << 30) - 1.0;
    for &(rows, width, depth) in SIZES {
        let stride = depth + 3;
        let values: Vec<f32> = (0..rows * stride).map(|_| float() as f32).collect();
        let weights: Vec<f32> = (0..width * depth).map(|_| float() as f32).collect();
        let mut panels = vec![0f32; width * depth];
        for column in 0..width {
            for at in 0..depth {
                panels[column / PANEL * PANEL * depth + at * PANEL + column % PANEL] =
                    weights[column * depth + at];
            }
        }
        let a = Floats {
            values: &values,
            stride,
            rows,
            depth,
        };
        for kernel in Kernel::available() {
            let mut out = vec![f32::NAN; rows * width];
            kernel.products(a, &panels, width, &mut out);
            for row in 0..rows {
                for column in 0..width {
                    let exact: f64 = (0..depth)
                        .map(|at| {
                            f64::from(values[row * stride + at])
                                * f64::from(weights[column * depth + at])
                        })
                        .sum();
                    let error = (f64::from(out[row * width + column]) - exact).abs();
                    assert!(error < 1e-6 * depth as f64, "{kernel}: {error}");
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "assertion")]
fn a_matrix_that_is_too_short_is_noticed_before_it_is_read() {
    let values = vec![0u8; 63];
    let a = Bytes {
        values: &values,
        stride: 32,
        rows: 2,
        depth: 32,
    };
    Kernel::best().sums(a, &[0; 512], &[0; 16], &mut [0; 32]);
}

#[test]
fn no_rows_are_no_work() {
    for kernel in Kernel::available() {
        let a = Bytes {
            values: &[],
            stride: 32,
            rows: 0,
            depth: 32,
        };
        kernel.sums(a, &[0; 512], &[0; 16], &mut []);
        let a = Floats {
            values: &[],
            stride: 32,
            rows: 0,
            depth: 32,
        };
        kernel.products(a, &[0.0; 512], 16, &mut []);
    }
}
