//! Where updates run: on threads that step back for whoever asks a question meanwhile.
//!
//! Half of the processors, and at a lower priority where the system knows one. A search on the
//! same machine then finds a processor free, and takes the others when it needs them; a machine
//! that has nothing else to do loses nothing to a save, which is read in one thread anyway.

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

/// One pool serves all watchers of a process.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let build = || {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        ThreadPoolBuilder::new()
            .num_threads((processors / 2).max(1))
            .thread_name(|number| format!("update {number}"))
            .start_handler(|_| step_back())
            .build()
            .ok()
    };
    POOL.get_or_init(build).as_ref()
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
            assert!(nice(()) < NICENESS);
        }
    }
}
