//! The machine, in a line.

use std::fs;

pub(crate) fn described() -> String {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("an unknown processor", |line| {
        line.trim_matches(['\t', ' ', ':'])
    });
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes: u64 = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|line| line.trim().split(' ').next()?.parse().ok())
        .unwrap_or(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{model}, {threads} hardware threads, {:.0} GB of memory, {} {}",
        kilobytes as f64 * 1024.0 / 1e9,
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}
