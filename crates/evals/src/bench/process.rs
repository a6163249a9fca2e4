//! What this process has used, as Linux tells it; zero elsewhere.

use std::fs;

/// Memory of this process, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    /// The most that was resident at once.
    pub(super) peak: u64,
    /// Resident now.
    pub(super) resident: u64,
    /// Of it, what is not mapped from files.
    pub(super) anonymous: u64,
}

/// CPU time of all threads, user and system, in seconds. Its grain is a hundredth.
pub(super) fn cpu_seconds() -> f64 {
    // Fields 14 and 15 of proc_pid_stat(5), in ticks of which every Linux has 100 a second. The
    // second field may hold blanks and ends with the last `)`.
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = text.rsplit(") ").next().unwrap_or_default();
    let ticks = after
        .split(' ')
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

pub(super) fn memory() -> Memory {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.trim_matches([':', '\t', ' ']).split(' ').next());
        kilobytes
            .and_then(|number| number.parse::<u64>().ok())
            .unwrap_or(0)
            * 1024
    };
    Memory {
        peak: field("VmHWM"),
        resident: field("VmRSS"),
        anonymous: field("RssAnon"),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_something() {
        let memory = memory();
        assert!(memory.peak >= memory.resident && memory.resident > memory.anonymous);
        assert!(memory.anonymous > 0);
        let before = cpu_seconds();
        let began = std::time::Instant::now();
        let mut sum = 0_u64;
        while cpu_seconds() - before < 0.02 && began.elapsed().as_secs() < 20 {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(cpu_seconds() - before >= 0.02);
    }
}
