//! A clock that skips idle time, although there are real sockets.
#![expect(clippy::expect_used, reason = "a panic fails the test and shows where")]

use std::time::Duration;

/// How far the clock is advanced at once. Short compared with all times that the tests measure.
const STEP: Duration = Duration::from_millis(200);

/// How many pauses of which real duration there are before the clock is advanced. In each, the runtime handles all bytes that
/// have arrived; the kernel of a busy machine needs a moment to deliver them.
const PAUSES: usize = 4;
const PAUSE: Duration = Duration::from_millis(1);

/// Runs a test with a clock that skips idle time.
///
/// Tokio's own paused clock would also skip the time in which bytes travel between two sockets, so that every timeout would
/// expire at once. All tasks run on one thread: if no bytes arrive during some pauses, all tasks wait for the clock.
///
/// # Panics
///
/// If the operating system gives no runtime.
pub fn paced<T>(test: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all();
    // `bench/faults/run` runs the same tests in real time.
    if std::env::var_os("REKNIT_FAULTS_CLOCK").is_some_and(|clock| clock == "real") {
        return builder.build().expect("a runtime").block_on(test);
    }
    let runtime = builder.start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        // Tokio does not advance a paused clock while a blocking task runs.
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let _busy = tokio::task::spawn_blocking(move || ended.recv());
        let advancing = async {
            loop {
                for _ in 0..PAUSES {
                    tokio::task::spawn_blocking(|| std::thread::sleep(PAUSE)).await.expect("the task only sleeps");
                }
                tokio::time::advance(STEP).await;
            }
        };
        let outcome = tokio::select! {
            outcome = test => outcome,
            () = advancing => unreachable!("the loop never ends"),
        };
        drop(end);
        outcome
    })
}
