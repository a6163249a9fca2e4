//! Sums of bytes in the tiles of x86-64 (AMX): 16 rows × 16 columns × 64 inputs an instruction.
//!
//! The compiler has no stable functions for tiles, so the instructions are written out. Format of
//! the configuration and meaning of the instructions: Intel's Software Developer's Manual, volume
//! 1, chapter 18, and volume 2, `LDTILECFG`, `TDPBUSD`.

use std::arch::asm;
use std::arch::x86_64::__cpuid_count;

use super::{Bytes, PANEL};

/// Rows of a tile.
const ROWS: usize = 16;

/// Bytes of a row of a tile.
const ROW_BYTES: usize = 64;

/// Whether the processor has byte tiles and the system lets this process use them, which has to be
/// asked for once a process.
pub(super) fn is_allowed() -> bool {
    has_tiles() && ask_for_tiles()
}

/// CPUID leaf 7: tiles and products of bytes.
fn has_tiles() -> bool {
    const TILES: u32 = 1 << 24;
    const BYTES: u32 = 1 << 25;
    if __cpuid_count(0, 0).eax < 7 {
        return false;
    }
    let features = __cpuid_count(7, 0).edx;
    features & TILES != 0 && features & BYTES != 0
}

/// `arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)`. It holds for all threads.
#[cfg(target_os = "linux")]
fn ask_for_tiles() -> bool {
    let answer: i64;
    // SAFETY: the call takes two numbers and no pointer, and changes what this process may use.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") 158_i64 => answer,
            in("rdi") 0x1023_u64,
            in("rsi") 18_u64,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    answer == 0
}

/// Elsewhere nobody tried.
#[cfg(not(target_os = "linux"))]
fn ask_for_tiles() -> bool {
    false
}

/// What `LDTILECFG` reads.
#[repr(C, align(64))]
struct Shapes {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

/// The tiles for a block of `upper + lower` rows: 0 and 1 are sums of the upper rows, 2 and 3 of
/// the lower; 4 and 5 are inputs of the upper and lower rows; 6 and 7 are weights.
fn shapes(upper: usize, lower: usize, depth: usize) -> Shapes {
    let mut shapes = Shapes {
        palette: 1,
        start_row: 0,
        reserved: [0; 14],
        row_bytes: [0; 16],
        rows: [0; 16],
    };
    // A tile that is not used keeps one row: a tile without rows cannot be cleared.
    let (upper, lower) = (upper.max(1) as u8, lower.max(1) as u8);
    for (tile, rows, bytes) in [
        (0, upper, ROW_BYTES),
        (1, upper, ROW_BYTES),
        (2, lower, ROW_BYTES),
        (3, lower, ROW_BYTES),
        (4, upper, depth),
        (5, lower, depth),
        (6, (depth / 4) as u8, ROW_BYTES),
        (7, (depth / 4) as u8, ROW_BYTES),
    ] {
        shapes.rows[tile] = rows;
        shapes.row_bytes[tile] = bytes as u16;
    }
    shapes
}

/// # Safety
/// [`is_allowed`], and the lengths are as `Kernel::sums` checks them.
pub(super) unsafe fn sums(a: Bytes<'_>, panels: &[u8], width: usize, out: &mut [i32]) {
    // The depth is a multiple of 32.
    let step = if a.depth.is_multiple_of(ROW_BYTES) {
        ROW_BYTES
    } else {
        ROW_BYTES / 2
    };
    let mut row = 0;
    let mut set: Option<(usize, usize)> = None;
    // Blocks of rows outside: their inputs stay near, the weights pass by in order.
    while row < a.rows {
        let upper = (a.rows - row).min(ROWS);
        let lower = (a.rows - row - upper).min(ROWS);
        if set != Some((upper, lower)) {
            let shapes = shapes(upper, lower, step);
            // SAFETY: the shapes are valid: palette 1, at most 16 rows and 64 bytes a row.
            unsafe { asm!("ldtilecfg [{}]", in(reg) &shapes, options(nostack, readonly)) };
            set = Some((upper, lower));
        }
        let mut panel = 0;
        while panel < width / PANEL {
            let two = panel + 1 < width / PANEL;
            // SAFETY: rows `row..row + upper + lower` lie in `a` and `out`, and one or two panels
            // at `panel` in `panels` and `out`.
            unsafe {
                let block = Block {
                    inputs: a.values.as_ptr().add(row * a.stride),
                    stride: a.stride,
                    weights: panels.as_ptr().add(panel * a.depth * PANEL),
                    panel_bytes: a.depth * PANEL,
                    steps: a.depth / step,
                    step,
                    out: out.as_mut_ptr().add(row * width + panel * PANEL),
                    out_stride: width * size_of::<i32>(),
                };
                match (lower > 0, two) {
                    (true, true) => block.four(),
                    (true, false) => block.two_below(),
                    (false, true) => block.two_beside(),
                    (false, false) => block.one(),
                }
            }
            panel += 1 + usize::from(two);
        }
        row += upper + lower;
    }
    // SAFETY: ends the use of tiles; no tile holds anything that is still wanted.
    unsafe { asm!("tilerelease", options(nostack, nomem)) };
}

/// One block of up to 32 rows and two panels.
struct Block {
    inputs: *const u8,
    stride: usize,
    weights: *const u8,
    panel_bytes: usize,
    steps: usize,
    step: usize,
    out: *mut i32,
    out_stride: usize,
}

impl Block {
    /// Two tiles of rows, two panels.
    ///
    /// # Safety
    /// The tiles are set up for these rows, and all pointers reach as far as the fields say.
    unsafe fn four(self) {
        // SAFETY: reads `steps` tiles of each of four places and writes four tiles, all of which
        // lie in the caller's slices.
        unsafe {
            asm!(
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "2:",
                "tileloadd tmm6, [{w0} + {ws}*1]",
                "tileloadd tmm4, [{a0} + {as_}*1]",
                "tdpbusd tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{w1} + {ws}*1]",
                "tdpbusd tmm1, tmm4, tmm7",
                "tileloadd tmm5, [{a1} + {as_}*1]",
                "tdpbusd tmm2, tmm5, tmm6",
                "tdpbusd tmm3, tmm5, tmm7",
                "add {a0}, {step}",
                "add {a1}, {step}",
                "add {w0}, {wstep}",
                "add {w1}, {wstep}",
                "dec {n}",
                "jnz 2b",
                "tilestored [{o0} + {os}*1], tmm0",
                "tilestored [{o0} + {os}*1 + 64], tmm1",
                "tilestored [{o1} + {os}*1], tmm2",
                "tilestored [{o1} + {os}*1 + 64], tmm3",
                a0 = inout(reg) self.inputs => _,
                a1 = inout(reg) self.inputs.add(ROWS * self.stride) => _,
                w0 = inout(reg) self.weights => _,
                w1 = inout(reg) self.weights.add(self.panel_bytes) => _,
                n = inout(reg) self.steps => _,
                ws = in(reg) ROW_BYTES,
                as_ = in(reg) self.stride,
                step = in(reg) self.step,
                wstep = in(reg) self.step * PANEL,
                o0 = in(reg) self.out,
                o1 = in(reg) self.out.byte_add(ROWS * self.out_stride),
                os = in(reg) self.out_stride,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }

    /// One tile of rows, two panels.
    ///
    /// # Safety
    /// As for [`Block::four`].
    unsafe fn two_beside(self) {
        // SAFETY: as in `four`, with one tile of rows.
        unsafe {
            asm!(
                "tilezero tmm0",
                "tilezero tmm1",
                "2:",
                "tileloadd tmm6, [{w0} + {ws}*1]",
                "tileloadd tmm4, [{a0} + {as_}*1]",
                "tdpbusd tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{w1} + {ws}*1]",
                "tdpbusd tmm1, tmm4, tmm7",
                "add {a0}, {step}",
                "add {w0}, {wstep}",
                "add {w1}, {wstep}",
                "dec {n}",
                "jnz 2b",
                "tilestored [{o0} + {os}*1], tmm0",
                "tilestored [{o0} + {os}*1 + 64], tmm1",
                a0 = inout(reg) self.inputs => _,
                w0 = inout(reg) self.weights => _,
                w1 = inout(reg) self.weights.add(self.panel_bytes) => _,
                n = inout(reg) self.steps => _,
                ws = in(reg) ROW_BYTES,
                as_ = in(reg) self.stride,
                step = in(reg) self.step,
                wstep = in(reg) self.step * PANEL,
                o0 = in(reg) self.out,
                os = in(reg) self.out_stride,
                out("tmm0") _, out("tmm1") _, out("tmm4") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }

    /// Two tiles of rows, one panel.
    ///
    /// # Safety
    /// As for [`Block::four`].
    unsafe fn two_below(self) {
        // SAFETY: as in `four`, with one panel.
        unsafe {
            asm!(
                "tilezero tmm0",
                "tilezero tmm2",
                "2:",
                "tileloadd tmm6, [{w0} + {ws}*1]",
                "tileloadd tmm4, [{a0} + {as_}*1]",
                "tdpbusd tmm0, tmm4, tmm6",
                "tileloadd tmm5, [{a1} + {as_}*1]",
                "tdpbusd tmm2, tmm5, tmm6",
                "add {a0}, {step}",
                "add {a1}, {step}",
                "add {w0}, {wstep}",
                "dec {n}",
                "jnz 2b",
                "tilestored [{o0} + {os}*1], tmm0",
                "tilestored [{o1} + {os}*1], tmm2",
                a0 = inout(reg) self.inputs => _,
                a1 = inout(reg) self.inputs.add(ROWS * self.stride) => _,
                w0 = inout(reg) self.weights => _,
                n = inout(reg) self.steps => _,
                ws = in(reg) ROW_BYTES,
                as_ = in(reg) self.stride,
                step = in(reg) self.step,
                wstep = in(reg) self.step * PANEL,
                o0 = in(reg) self.out,
                o1 = in(reg) self.out.byte_add(ROWS * self.out_stride),
                os = in(reg) self.out_stride,
                out("tmm0") _, out("tmm2") _, out("tmm4") _, out("tmm5") _, out("tmm6") _,
                options(nostack),
            );
        }
    }

    /// One tile of rows, one panel.
    ///
    /// # Safety
    /// As for [`Block::four`].
    unsafe fn one(self) {
        // SAFETY: as in `four`, with one tile of rows and one panel.
        unsafe {
            asm!(
                "tilezero tmm0",
                "2:",
                "tileloadd tmm6, [{w0} + {ws}*1]",
                "tileloadd tmm4, [{a0} + {as_}*1]",
                "tdpbusd tmm0, tmm4, tmm6",
                "add {a0}, {step}",
                "add {w0}, {wstep}",
                "dec {n}",
                "jnz 2b",
                "tilestored [{o0} + {os}*1], tmm0",
                a0 = inout(reg) self.inputs => _,
                w0 = inout(reg) self.weights => _,
                n = inout(reg) self.steps => _,
                ws = in(reg) ROW_BYTES,
                as_ = in(reg) self.stride,
                step = in(reg) self.step,
                wstep = in(reg) self.step * PANEL,
                o0 = in(reg) self.out,
                os = in(reg) self.out_stride,
                out("tmm0") _, out("tmm4") _, out("tmm6") _,
                options(nostack),
            );
        }
    }
}
