//! Integer dot products of a question with many rows, in the instructions that the machine has.
//!
//! Every kernel gives the same numbers, since integer sums do not depend on their order. None can
//! overflow: the question has 12 bits, and [`MAX_DIMENSION`](crate::MAX_DIMENSION) was chosen so.
#![expect(unsafe_code, reason = "vector instructions and unaligned loads")]

use std::sync::LazyLock;

/// How far ahead rows are fetched, in bytes. The processor itself stops at the end of each page,
/// and four rows at a time cross one soon: measured, a million rows took 10 ms instead of 18.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 4096;

/// A way to multiply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// A plain loop, left to the compiler.
    Plain,
    /// 256-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 128-bit vectors; every aarch64 has them.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Kernel {
    /// The fastest that this machine has; found once.
    pub(crate) fn best() -> Self {
        static BEST: LazyLock<Kernel> =
            LazyLock::new(|| Kernel::available().pop().unwrap_or(Kernel::Plain));
        *BEST
    }

    /// All that this machine has, slowest first.
    pub(crate) fn available() -> Vec<Self> {
        #[cfg_attr(
            not(any(target_arch = "x86_64", target_arch = "aarch64")),
            expect(unused_mut, reason = "other machines have only the plain kernel")
        )]
        let mut kernels = vec![Self::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                kernels.push(Self::Avx2);
            }
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                kernels.push(Self::Avx512);
            }
        }
        #[cfg(target_arch = "aarch64")]
        kernels.push(Self::Neon);
        kernels
    }

    /// Writes the dot product of the question with each row. `rows` holds one row of
    /// `question.len()` bytes (i8) for each of `dots`; a row that is not there leaves its place as
    /// it was.
    pub(crate) fn dots(self, question: &[i16], rows: &[u8], dots: &mut [i32]) {
        match self {
            Self::Plain => plain_rows(question, rows, dots),
            // SAFETY: `available` is the only source of these values outside the tests' use of
            // `available` itself, and it checked the processor.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { avx2::rows(question, rows, dots) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { avx512::rows(question, rows, dots) },
            #[cfg(target_arch = "aarch64")]
            Self::Neon => neon::rows(question, rows, dots),
        }
    }
}

fn plain_rows(question: &[i16], rows: &[u8], dots: &mut [i32]) {
    for (row, dot) in rows.chunks_exact(question.len().max(1)).zip(dots) {
        *dot = plain(question, row);
    }
}

fn plain(question: &[i16], row: &[u8]) -> i32 {
    question
        .iter()
        .zip(row)
        .map(|(&q, &r)| i32::from(q) * i32::from(r.cast_signed()))
        .sum()
}

/// Walks over the rows four at a time, so that a load of the question serves four.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! walk_rows {
    ($question:ident, $rows:ident, $dots:ident, $four:ident, $one:ident) => {{
        let dimension = $question.len().max(1);
        let mut fours = $rows.chunks_exact(4 * dimension);
        let mut dots_of_four = $dots.chunks_exact_mut(4);
        for (four, dots) in (&mut dots_of_four).zip(&mut fours).map(|(d, f)| (f, d)) {
            dots.copy_from_slice(&$four($question, four));
        }
        // What is left over, and nothing when one side ran out first.
        let done = ($dots.len() / 4).min($rows.len() / (4 * dimension)) * 4;
        let rest = $rows.chunks_exact(dimension).skip(done);
        for (row, dot) in rest.zip($dots.iter_mut().skip(done)) {
            *dot = $one($question, row);
        }
    }};
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    /// Numbers multiplied at a time.
    const STEP: usize = 16;

    #[target_feature(enable = "avx2")]
    pub(super) fn rows(question: &[i16], rows: &[u8], dots: &mut [i32]) {
        walk_rows!(question, rows, dots, four, one);
    }

    /// Four rows, one after another in `rows`.
    #[target_feature(enable = "avx2")]
    fn four(question: &[i16], rows: &[u8]) -> [i32; 4] {
        let dimension = question.len();
        assert!(rows.len() >= 4 * dimension);
        let mut sums = [_mm256_setzero_si256(); 4];
        let whole = dimension - dimension % STEP;
        for at in (0..whole).step_by(STEP) {
            // SAFETY: `at + STEP <= dimension`, the question's length.
            let q = unsafe { _mm256_loadu_si256(question.as_ptr().add(at).cast()) };
            for (index, sum) in sums.iter_mut().enumerate() {
                // SAFETY: `index * dimension + at + STEP <= 4 * dimension <= rows.len()`.
                let place = unsafe { rows.as_ptr().add(index * dimension + at) };
                _mm_prefetch::<_MM_HINT_T0>(place.wrapping_add(super::AHEAD).cast());
                // SAFETY: as above; a prefetch may name any place.
                let bytes = unsafe { _mm_loadu_si128(place.cast()) };
                let products = _mm256_madd_epi16(_mm256_cvtepi8_epi16(bytes), q);
                *sum = _mm256_add_epi32(*sum, products);
            }
        }
        let mut dots = reduce(sums);
        for (index, dot) in dots.iter_mut().enumerate() {
            let row = &rows[index * dimension..][whole..dimension];
            *dot += super::plain(&question[whole..], row);
        }
        dots
    }

    #[target_feature(enable = "avx2")]
    fn one(question: &[i16], row: &[u8]) -> i32 {
        let mut sum = _mm256_setzero_si256();
        let (questions, question_rest) = question.as_chunks::<STEP>();
        let (rows, row_rest) = row.as_chunks::<STEP>();
        for (q, r) in questions.iter().zip(rows) {
            // SAFETY: both arrays are exactly as long as the loads.
            let (q, r) = unsafe {
                (
                    _mm256_loadu_si256(q.as_ptr().cast()),
                    _mm_loadu_si128(r.as_ptr().cast()),
                )
            };
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_cvtepi8_epi16(r), q));
        }
        let zero = _mm256_setzero_si256();
        reduce([sum, zero, zero, zero])[0] + super::plain(question_rest, row_rest)
    }

    /// The sum of each vector's eight numbers.
    #[target_feature(enable = "avx2")]
    pub(super) fn reduce(sums: [__m256i; 4]) -> [i32; 4] {
        let pairs = _mm256_hadd_epi32(
            _mm256_hadd_epi32(sums[0], sums[1]),
            _mm256_hadd_epi32(sums[2], sums[3]),
        );
        let quarters = _mm_add_epi32(
            _mm256_castsi256_si128(pairs),
            _mm256_extracti128_si256::<1>(pairs),
        );
        let mut dots = [0; 4];
        // SAFETY: the array is exactly as long as the store.
        unsafe { _mm_storeu_si128(dots.as_mut_ptr().cast(), quarters) };
        dots
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    /// Numbers multiplied at a time.
    const STEP: usize = 32;

    #[target_feature(enable = "avx512f,avx512bw,avx2")]
    pub(super) fn rows(question: &[i16], rows: &[u8], dots: &mut [i32]) {
        walk_rows!(question, rows, dots, four, one);
    }

    /// Four rows, one after another in `rows`.
    #[target_feature(enable = "avx512f,avx512bw,avx2")]
    fn four(question: &[i16], rows: &[u8]) -> [i32; 4] {
        let dimension = question.len();
        assert!(rows.len() >= 4 * dimension);
        let mut sums = [_mm512_setzero_si512(); 4];
        let whole = dimension - dimension % STEP;
        for at in (0..whole).step_by(STEP) {
            // SAFETY: `at + STEP <= dimension`, the question's length.
            let q = unsafe { _mm512_loadu_si512(question.as_ptr().add(at).cast()) };
            for (index, sum) in sums.iter_mut().enumerate() {
                // SAFETY: `index * dimension + at + STEP <= 4 * dimension <= rows.len()`.
                let place = unsafe { rows.as_ptr().add(index * dimension + at) };
                _mm_prefetch::<_MM_HINT_T0>(place.wrapping_add(super::AHEAD).cast());
                // SAFETY: as above; a prefetch may name any place.
                let bytes = unsafe { _mm256_loadu_si256(place.cast()) };
                let products = _mm512_madd_epi16(_mm512_cvtepi8_epi16(bytes), q);
                *sum = _mm512_add_epi32(*sum, products);
            }
        }
        let mut dots = super::avx2::reduce([
            halve(sums[0]),
            halve(sums[1]),
            halve(sums[2]),
            halve(sums[3]),
        ]);
        for (index, dot) in dots.iter_mut().enumerate() {
            let row = &rows[index * dimension..][whole..dimension];
            *dot += super::plain(&question[whole..], row);
        }
        dots
    }

    #[target_feature(enable = "avx512f,avx512bw,avx2")]
    fn one(question: &[i16], row: &[u8]) -> i32 {
        let mut sum = _mm512_setzero_si512();
        let (questions, question_rest) = question.as_chunks::<STEP>();
        let (rows, row_rest) = row.as_chunks::<STEP>();
        for (q, r) in questions.iter().zip(rows) {
            // SAFETY: both arrays are exactly as long as the loads.
            let (q, r) = unsafe {
                (
                    _mm512_loadu_si512(q.as_ptr().cast()),
                    _mm256_loadu_si256(r.as_ptr().cast()),
                )
            };
            sum = _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_cvtepi8_epi16(r), q));
        }
        _mm512_reduce_add_epi32(sum) + super::plain(question_rest, row_rest)
    }

    /// The upper half added to the lower.
    #[target_feature(enable = "avx512f,avx2")]
    fn halve(sum: __m512i) -> __m256i {
        _mm256_add_epi32(
            _mm512_castsi512_si256(sum),
            _mm512_extracti64x4_epi64::<1>(sum),
        )
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use std::arch::aarch64::*;

    /// Numbers multiplied at a time.
    const STEP: usize = 8;

    pub(super) fn rows(question: &[i16], rows: &[u8], dots: &mut [i32]) {
        walk_rows!(question, rows, dots, four, one);
    }

    /// Four rows, one after another in `rows`.
    fn four(question: &[i16], rows: &[u8]) -> [i32; 4] {
        let mut each = rows.chunks_exact(question.len().max(1));
        std::array::from_fn(|_| each.next().map_or(0, |row| one(question, row)))
    }

    fn one(question: &[i16], row: &[u8]) -> i32 {
        let (questions, question_rest) = question.as_chunks::<STEP>();
        let (rows, row_rest) = row.as_chunks::<STEP>();
        // SAFETY: NEON is part of every aarch64, and each load is as long as the array it reads.
        let sum = unsafe {
            let (mut low, mut high) = (vdupq_n_s32(0), vdupq_n_s32(0));
            for (q, r) in questions.iter().zip(rows) {
                let q = vld1q_s16(q.as_ptr());
                let r = vmovl_s8(vld1_s8(r.as_ptr().cast()));
                low = vmlal_s16(low, vget_low_s16(q), vget_low_s16(r));
                high = vmlal_high_s16(high, q, r);
            }
            vaddvq_s32(vaddq_s32(low, high))
        };
        sum + super::plain(question_rest, row_rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Extreme values beside any values.
    fn question(dimension: usize) -> impl Strategy<Value = Vec<i16>> {
        let value = prop_oneof![Just(-2047i16), Just(2047), -2047i16..=2047];
        proptest::collection::vec(value, dimension)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_kernel_equals_the_plain_one(
            (question, rows, count) in (1usize..200, 0usize..11).prop_flat_map(|(dimension, count)| {
                let byte = prop_oneof![Just(0x80u8), Just(0x7F), any::<u8>()];
                (question(dimension), proptest::collection::vec(byte, dimension * count), Just(count))
            }),
        ) {
            let mut expected = vec![0; count];
            Kernel::Plain.dots(&question, &rows, &mut expected);
            for kernel in Kernel::available() {
                let mut dots = vec![0; count];
                kernel.dots(&question, &rows, &mut dots);
                prop_assert_eq!(&dots, &expected, "{:?}", kernel);
                // A buffer of another length than the rows is no reason to read or write outside.
                let mut more = vec![7; count + 5];
                kernel.dots(&question, &rows, &mut more);
                prop_assert_eq!(&more[..count], &expected[..]);
                prop_assert_eq!(&more[count..], &[7; 5]);
            }
        }
    }

    #[test]
    fn the_longest_and_most_extreme_vectors_do_not_overflow() {
        let dimension = crate::MAX_DIMENSION;
        let question = vec![-2047i16; dimension];
        let rows = vec![0x80u8; dimension];
        for kernel in Kernel::available() {
            let mut dots = [0];
            kernel.dots(&question, &rows, &mut dots);
            assert_eq!(dots, [2047 * 128 * dimension as i32], "{kernel:?}");
        }
    }
}
