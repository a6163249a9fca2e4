//! Numbers against their definitions, and every kernel against the others.

use super::*;
use crate::machine::{Kernel, Work};

fn numbers(count: usize, reach: f32) -> Vec<f32> {
    (0..count)
        .map(|at| ((at * 7919 % 1009) as f32 / 504.5 - 1.0) * reach)
        .collect()
}

fn phi(x: f64) -> f64 {
    // Simpson's rule from far below.
    let (from, steps) = (-12.0_f64, 4000);
    let width = (x - from) / f64::from(steps);
    let density = |at: f64| (-at * at / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let inner: f64 = (1..steps)
        .map(|step| density(from + width * f64::from(step)) * if step % 2 == 1 { 4.0 } else { 2.0 })
        .sum();
    (density(from) + inner + density(x)) * width / 3.0
}

#[test]
fn gelu_is_near_its_definition() {
    let inputs = numbers(512, 7.0);
    let (mut fine, mut coarse) = (inputs.clone(), inputs.clone());
    gelu(&mut fine);
    gelu_coarse(&mut coarse);
    for ((x, fine), coarse) in inputs.iter().zip(fine).zip(coarse) {
        let exact = f64::from(*x) * phi(f64::from(*x));
        assert!(
            (f64::from(fine) - exact).abs() < 2e-6,
            "{x}: {fine}, {exact}"
        );
        assert!((f64::from(coarse) - exact).abs() < 1.4e-4, "{x}: {coarse}");
    }
}

#[test]
fn powers_are_near_theirs() {
    for x in numbers(2000, 60.0) {
        let exponent = x - 60.0;
        let exact = f64::from(exponent).exp2();
        assert!(
            (f64::from(power(exponent)) / exact - 1.0).abs() < 3e-7,
            "{exponent}"
        );
        if exponent > -24.0 {
            assert!((f64::from(power_coarse(exponent)) / exact - 1.0).abs() < 1e-4);
        }
    }
    assert_eq!(power(-1000.0), 0.0);
    assert!(power_coarse(-1000.0) * 255.0 < 0.01);
}

#[test]
fn every_half_comes_back_and_floats_become_the_nearest() {
    let mut out = vec![0.0; LANES];
    for half in 0..=u16::MAX {
        if half & 0x7C00 == 0x7C00 {
            continue;
        }
        let bytes: Vec<u8> = std::iter::repeat_n(half.to_le_bytes(), LANES)
            .flatten()
            .collect();
        from_halves(&bytes, &mut out);
        assert_eq!(to_half(out[3]), half);
    }
    for value in numbers(500, 3.0) {
        from_halves(&to_half(value).to_le_bytes().repeat(LANES), &mut out);
        assert!(
            (out[0] - value).abs() <= value.abs() / 2048.0,
            "{value} {}",
            out[0]
        );
    }
    assert_eq!(to_half(1e9), 0x7BFF);
    assert_eq!(to_half(-65_519.9), 0xFBFF);
}

#[test]
fn bytes_stand_within_half_a_step() {
    let row = numbers(64, 3.0);
    let mut bytes = vec![0; 64];
    let step = to_bytes(&row, &mut bytes);
    for (value, byte) in row.iter().zip(&bytes) {
        let back = (f32::from(*byte) - 128.0) * step;
        assert!((back - value).abs() <= step * 0.5001, "{value} {back}");
    }
    assert_eq!(to_bytes(&[0.0; 16], &mut bytes), 0.0);
    assert_eq!(bytes[..16], [128; 16]);
}

#[test]
fn shares_are_those_of_the_definition_and_sum_to_one() {
    let sums: Vec<i32> = (0..48).map(|at| (at * 37 % 101) * 50).collect();
    let (offsets, scales) = (vec![100; 48], vec![0.01; 48]);
    for count in [1, 15, 16, 17, 40, 48] {
        let mut row: Vec<f32> = sums.iter().map(|sum| (sum - 100) as f32 * 0.005).collect();
        let exact: Vec<f64> = row[..count].iter().map(|x| f64::from(*x).exp2()).collect();
        let whole: f64 = exact.iter().sum();
        shares(&mut row, count);
        let (mut room, mut bytes) = (vec![0.0; 48], vec![9; 64]);
        let worth = byte_shares(
            &sums,
            &offsets,
            &scales,
            0.5,
            count,
            &mut room,
            &mut bytes[..48],
        );
        let most = exact.iter().fold(0.0, |most: f64, x| most.max(*x)) / whole;
        for at in 0..48 {
            let exact = exact.get(at).map_or(0.0, |share| share / whole);
            assert!((f64::from(row[at]) - exact).abs() < 1e-6);
            let byte = f64::from(bytes[at]) * f64::from(worth);
            assert!(
                (byte - exact).abs() < most * 0.01,
                "{count} {at}: {byte} {exact}"
            );
        }
        assert_eq!(bytes[48], 9);
    }
}

#[test]
fn a_normalized_row_has_mean_zero_and_variance_one() {
    let mut row = numbers(64, 5.0);
    normalize(&mut row, &[1.0; 64], &[0.0; 64], 1e-12);
    assert!((squares(&row) / 64.0 - 1.0).abs() < 1e-5);
    assert!(row.iter().sum::<f32>().abs() < 1e-4);
}

#[test]
fn every_kernel_gives_the_same_bits() {
    struct All;
    impl Work for All {
        type Result = (Vec<u32>, Vec<u8>, Vec<u8>, u32, u32);
        #[inline(always)]
        fn run(self) -> Self::Result {
            let mut row = numbers(384, 4.0);
            normalize(&mut row, &numbers(384, 1.0), &numbers(384, 0.5), 1e-12);
            gelu(&mut row);
            gelu_coarse(&mut row[..128]);
            shares(&mut row[128..256], 100);
            let mut bytes = vec![0; 384];
            let step = to_bytes(&row, &mut bytes);
            let sums: Vec<i32> = bytes.iter().map(|byte| i32::from(*byte) * 321).collect();
            let mut scores = vec![0.0; 384];
            let mut shares = vec![0; 384];
            let scales = numbers(384, 0.02);
            let worth = byte_shares(
                &sums,
                &sums[..384],
                &scales,
                0.1,
                300,
                &mut scores,
                &mut shares,
            );
            let floats: Vec<u32> = row
                .iter()
                .chain(&scores)
                .map(|value| value.to_bits())
                .collect();
            (floats, bytes, shares, step.to_bits(), worth.to_bits())
        }
    }
    let expected = All.run();
    for kernel in Kernel::available() {
        assert!(kernel.run(All) == expected, "{kernel}");
    }
}
