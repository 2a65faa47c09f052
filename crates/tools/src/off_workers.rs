//! Work on large data that would keep a worker of the async runtime from its other tasks.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Data of fewer bytes is handled where it is: handing the other tasks to another thread would take longer.
pub const LARGE_BYTES: usize = 256 * 1024;

/// Does work on about `bytes` of data. If they are many, the worker's other tasks move to another thread first, if there is one.
pub fn off_workers<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let has_workers =
        || Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes >= LARGE_BYTES && has_workers() { tokio::task::block_in_place(work) } else { work() }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn other_tasks_go_on_while_large_data_is_handled() {
        for (bytes, others_run) in [(LARGE_BYTES, true), (LARGE_BYTES - 1, false)] {
            let (send, receive) = mpsc::channel();
            let handled = tokio::spawn(async move {
                tokio::spawn(async move { send.send(()).expect("it is received") });
                off_workers(bytes, || receive.recv_timeout(Duration::from_millis(500)).is_ok())
            });
            assert_eq!(handled.await.expect("no panic"), others_run, "{bytes} bytes");
        }
    }

    #[tokio::test]
    async fn a_runtime_with_one_thread_does_the_work_itself() {
        assert_eq!(off_workers(usize::MAX, || 7), 7);
    }
}
