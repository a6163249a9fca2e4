//! Where updates run: on threads that step back for whoever asks a question meanwhile.
//!
//! Half of the processors, and at a lower priority where the system knows one. A search on the
//! same machine then finds a processor free, and takes the others when it needs them; a machine
//! that has nothing else to do loses nothing to a save, which is read in one thread anyway. An update
//! that somebody waits for does not step back.

use std::sync::OnceLock;
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The niceness of the threads for updates, as nice(1) counts it.
const NICENESS: i32 = 10;
/// That of threads behind them: the least.
const LEAST: i32 = 19;

/// Runs some work on the threads for updates; here, where there are none to be had. For whoever
/// updates an index while others ask it.
pub fn run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    // One pool serves all watchers of a process.
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    run_in(&POOL, "update", NICENESS, work)
}

/// The same on other threads, behind these: for work that takes long and that nobody waits for.
pub fn run_behind<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    run_in(&POOL, "behind", LEAST, work)
}

fn run_in<T: Send>(
    pool: &OnceLock<Option<ThreadPool>>,
    name: &'static str,
    niceness: i32,
    work: impl FnOnce() -> T + Send,
) -> T {
    let build = || {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        ThreadPoolBuilder::new()
            .num_threads((processors / 2).max(1))
            .thread_name(move |number| format!("{name} {number}"))
            .start_handler(move |_| {
                if niceness > 0 {
                    step_back(niceness);
                }
            })
            .build()
            .ok()
    };
    match pool.get_or_init(build) {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// The same for an update that somebody waits for: it does not step back. Those who ask meanwhile
/// would wait for a thread that lets them go first, and so for one another.
pub(crate) fn run_for_who_waits<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    run_in(&POOL, "hurried update", 0, work)
}

/// Lowers the priority of this thread. Linux counts niceness by thread.
#[cfg(target_os = "linux")]
fn step_back(niceness: i32) {
    // Without it the work is in the way a little more; nothing else depends on it.
    let _ = rustix::process::setpriority_process(None, niceness);
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
fn step_back(_niceness: i32) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_in_the_background() {
        let name = run(|| thread::current().name().map(str::to_string));
        assert!(name.unwrap().starts_with("update "));
        #[cfg(target_os = "linux")]
        {
            let nice = |_: ()| rustix::process::getpriority_process(None).unwrap();
            assert_eq!(run(|| nice(())), NICENESS);
            assert_eq!(run_for_who_waits(|| nice(())), nice(()));
            assert_eq!(run_behind(|| nice(())), LEAST);
            assert!(nice(()) < NICENESS);
        }
    }
}
