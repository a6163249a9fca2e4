//! Where updates run: on threads that step back for whoever asks a question meanwhile.
//!
//! Half of the processors, and at a lower priority where the system knows one. A search on the
//! same machine then finds a processor free, and takes the others when it needs them; a machine
//! that has nothing else to do loses nothing to a save, which is read in one thread anyway. An update
//! that somebody waits for does not step back.

use std::sync::OnceLock;
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The niceness of the threads, as nice(1) counts it.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Runs some work on the threads for updates; here, where there are none to be had. For whoever
/// updates an index while others ask it.
pub fn run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match pool() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// The same for an update that somebody waits for: it does not step back. Those who ask meanwhile
/// would wait for a thread that lets them go first, and so for one another.
pub(crate) fn run_for_who_waits<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    match POOL.get_or_init(|| built("hurried update", || ())) {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// One pool serves all watchers of a process.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    POOL.get_or_init(|| built("update", step_back)).as_ref()
}

fn built(name: &'static str, start: fn()) -> Option<ThreadPool> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    ThreadPoolBuilder::new()
        .num_threads((processors / 2).max(1))
        .thread_name(move |number| format!("{name} {number}"))
        .start_handler(move |_| start())
        .build()
        .ok()
}

/// Lowers the priority of this thread. Linux counts niceness by thread.
#[cfg(target_os = "linux")]
fn step_back() {
    // Without it updates are in the way a little more; nothing else depends on it.
    let _ = rustix::process::setpriority_process(None, NICENESS);
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
fn step_back() {}

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
            assert!(nice(()) < NICENESS);
        }
    }
}
