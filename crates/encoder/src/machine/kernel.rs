//! Which instructions are used, and the checked way to them.

use std::fmt;
use std::sync::LazyLock;

use super::{GROUP, PANEL, plain};
use crate::EncoderError;

/// A set of instructions to compute with.
///
/// All give the same sums of bytes, bit for bit; products of floats differ in the last places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// Plain loops, left to the compiler.
    Plain,
    /// 256-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 256-bit vectors with sums of bytes.
    #[cfg(target_arch = "x86_64")]
    AvxVnni,
    /// 512-bit vectors; sums of bytes as with [`Kernel::Avx2`].
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 512-bit vectors with sums of bytes.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
    /// 512-bit vectors, and tiles for sums of bytes.
    #[cfg(target_arch = "x86_64")]
    Amx,
    /// 128-bit vectors; every aarch64 has them.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// 128-bit vectors with sums of bytes.
    #[cfg(target_arch = "aarch64")]
    NeonDot,
}

/// A matrix of bytes to multiply: rows of activations, each value 128 above what it stands for
/// or, for shares, as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes<'a> {
    /// Row after row.
    pub(crate) values: &'a [u8],
    /// From the start of one row to the next.
    pub(crate) stride: usize,
    /// How many rows are computed.
    pub(crate) rows: usize,
    /// Values of a row that count; a multiple of 32.
    pub(crate) depth: usize,
}

/// The same in floats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Floats<'a> {
    /// Row after row.
    pub(crate) values: &'a [f32],
    /// From the start of one row to the next.
    pub(crate) stride: usize,
    /// How many rows are computed.
    pub(crate) rows: usize,
    /// Values of a row that count.
    pub(crate) depth: usize,
}

impl Kernel {
    /// The fastest that this machine has; found once.
    pub fn best() -> Self {
        static BEST: LazyLock<Kernel> =
            LazyLock::new(|| Kernel::available().pop().unwrap_or(Kernel::Plain));
        *BEST
    }

    /// The kernel that is asked for, else the fastest.
    ///
    /// # Errors
    /// This machine does not have it.
    pub(crate) fn chosen(wanted: Option<Self>) -> Result<Self, EncoderError> {
        match wanted {
            None => Ok(Self::best()),
            Some(kernel) => kernel.among(&Self::available()),
        }
    }

    fn among(self, available: &[Self]) -> Result<Self, EncoderError> {
        if available.contains(&self) {
            return Ok(self);
        }
        let names: Vec<String> = available.iter().map(Self::to_string).collect();
        Err(EncoderError::Unavailable(format!(
            "this machine has no kernel {self}; it has {}",
            names.join(", ")
        )))
    }

    /// All that this machine has, slowest first.
    pub fn available() -> Vec<Self> {
        #[cfg_attr(
            not(any(target_arch = "x86_64", target_arch = "aarch64")),
            expect(unused_mut, reason = "other machines have only the plain kernel")
        )]
        let mut kernels = vec![Self::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            let vnni = avx512 && is_x86_feature_detected!("avx512vnni");
            let has = [
                (Self::Avx2, avx2),
                (Self::AvxVnni, avx2 && is_x86_feature_detected!("avxvnni")),
                (Self::Avx512, avx512),
                (Self::Avx512Vnni, vnni),
                (Self::Amx, vnni && super::amx::is_allowed()),
            ];
            kernels.extend(
                has.iter()
                    .filter(|(_, has)| *has)
                    .map(|(kernel, _)| *kernel),
            );
        }
        #[cfg(target_arch = "aarch64")]
        {
            kernels.push(Self::Neon);
            if std::arch::is_aarch64_feature_detected!("dotprod") {
                kernels.push(Self::NeonDot);
            }
        }
        kernels
    }

    /// Writes the sums `Σ a·w` over the depth for each row of `a` and each column of the panels:
    /// `out` holds a row of as many columns as there are in the panels for each row of `a`.
    ///
    /// `panels`: i8 in −127..=127; for each 16 columns, for each 4 inputs, 16 × 4 bytes.
    /// `columns`: for each column the sum of its weights.
    pub(crate) fn sums(self, a: Bytes<'_>, panels: &[u8], columns: &[i32], out: &mut [i32]) {
        let width = columns.len();
        assert!(width.is_multiple_of(PANEL) && a.depth.is_multiple_of(8 * GROUP));
        assert_eq!(panels.len(), width * a.depth);
        assert!(out.len() >= a.rows * width);
        if a.rows == 0 || width == 0 || a.depth == 0 {
            out[..a.rows * width].fill(0);
            return;
        }
        assert!(a.stride >= a.depth && a.values.len() >= (a.rows - 1) * a.stride + a.depth);
        match self {
            Self::Plain => plain::sums(a, panels, width, out),
            // SAFETY: the kernel was found on this processor (invariant 1), and the lengths were
            // checked above (invariant 2). So for every arm below.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 | Self::Avx512 => unsafe {
                super::x86_i8::avx2(a, panels, columns, out);
            },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni => unsafe { super::x86_i8::avx_vnni(a, panels, width, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => unsafe { super::x86_i8::avx512_vnni(a, panels, width, out) },
            // Few rows do not fill the tiles.
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Amx if a.rows < 8 => unsafe {
                super::x86_i8::avx512_vnni(a, panels, width, out);
            },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Amx => unsafe { super::amx::sums(a, panels, width, out) },
            #[cfg(target_arch = "aarch64")]
            Self::Neon => super::neon::sums(a, panels, columns, out),
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Self::NeonDot => unsafe { super::neon::sums_dot(a, panels, columns, out) },
        }
    }

    /// Writes the products `Σ a·w` over the depth for each row of `a` and each of `width` columns.
    ///
    /// `panels`: for each 16 columns, for each input, 16 floats.
    pub(crate) fn products(self, a: Floats<'_>, panels: &[f32], width: usize, out: &mut [f32]) {
        assert!(width.is_multiple_of(PANEL));
        assert_eq!(panels.len(), width * a.depth);
        assert!(out.len() >= a.rows * width);
        if a.rows == 0 || width == 0 || a.depth == 0 {
            out[..a.rows * width].fill(0.0);
            return;
        }
        assert!(a.stride >= a.depth && a.values.len() >= (a.rows - 1) * a.stride + a.depth);
        match self {
            Self::Plain => plain::products(a, panels, width, out),
            // SAFETY: as in `sums`.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 | Self::AvxVnni => unsafe { super::x86_f32::avx2(a, panels, width, out) },
            // SAFETY: as in `sums`.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 | Self::Avx512Vnni | Self::Amx => unsafe {
                super::x86_f32::avx512(a, panels, width, out);
            },
            #[cfg(target_arch = "aarch64")]
            Self::Neon | Self::NeonDot => super::neon::products(a, panels, width, out),
        }
    }

    /// Runs plain code that the compiler turns into this kernel's vectors. The results are those of
    /// the same code anywhere: the compiler neither reorders nor fuses operations on floats.
    pub(crate) fn run<W: Work>(self, work: W) -> W::Result {
        match self {
            Self::Plain => work.run(),
            // SAFETY: the kernel was found on this processor (invariant 1).
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 | Self::AvxVnni => unsafe { with_avx2(work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 | Self::Avx512Vnni | Self::Amx => unsafe { with_avx512(work) },
            // The compiler uses NEON by itself.
            #[cfg(target_arch = "aarch64")]
            Self::Neon | Self::NeonDot => work.run(),
        }
    }
}

/// Plain code that is compiled for each kernel. That takes `#[inline(always)]` on `run` and on all
/// that it calls; a closure, or a function that is handed over, would be compiled once.
pub(crate) trait Work {
    /// What comes of it.
    type Result;

    /// Does it.
    fn run(self) -> Self::Result;
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<W: Work>(work: W) -> W::Result {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn with_avx512<W: Work>(work: W) -> W::Result {
    work.run()
}

impl fmt::Display for Kernel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Plain => "plain",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni => "avx-vnni",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => "avx512-vnni",
            #[cfg(target_arch = "x86_64")]
            Self::Amx => "amx",
            #[cfg(target_arch = "aarch64")]
            Self::Neon => "neon",
            #[cfg(target_arch = "aarch64")]
            Self::NeonDot => "neon-dot",
        })
    }
}

#[cfg(test)]
mod chosen_tests {
    use super::*;

    #[test]
    fn a_kernel_that_the_machine_lacks_is_refused() {
        assert_eq!(
            Kernel::Plain.among(&[Kernel::Plain]).unwrap(),
            Kernel::Plain
        );
        let best = Kernel::best();
        assert_eq!(Kernel::chosen(Some(best)).unwrap(), best);
        if best != Kernel::Plain {
            let error = best.among(&[Kernel::Plain]).unwrap_err().to_string();
            assert!(error.contains("it has plain"), "{error}");
        }
    }
}
