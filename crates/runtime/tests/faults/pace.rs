//! A clock that leaps when nobody has anything to do, though there are real sockets.

use std::time::Duration;

/// How far the clock leaps. Short beside everything that is measured.
const STEP: Duration = Duration::from_millis(200);

/// How often everybody gets a turn before the clock leaps, and how long a turn is on the wall. Each takes in all that has
/// arrived on any socket; the kernel of a busy machine takes a moment to bring it there.
const TURNS: usize = 4;
const TURN: Duration = Duration::from_millis(1);

/// Runs a test on a clock that leaps when nobody has anything to do.
///
/// Tokio's own leaping clock does so as well while bytes are on their way from one socket to the other, and every limit would
/// pass at once. Everybody here is in one thread: if nothing has come in after some turns, all wait for time.
pub(crate) fn paced<T>(test: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all();
    // `bench/faults/run` wants to see the same with the clock on the wall.
    if std::env::var_os("REKNIT_FAULTS_CLOCK").is_some_and(|clock| clock == "real") {
        return builder.build().expect("a runtime").block_on(test);
    }
    let runtime = builder.start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        // While a thread of its own is at work, tokio's clock does not leap by itself.
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let _busy = tokio::task::spawn_blocking(move || ended.recv());
        let leaps = async {
            loop {
                for _ in 0..TURNS {
                    tokio::task::spawn_blocking(|| std::thread::sleep(TURN)).await.expect("it only sleeps");
                }
                tokio::time::advance(STEP).await;
            }
        };
        let outcome = tokio::select! {
            outcome = test => outcome,
            () = leaps => unreachable!("it never ends"),
        };
        drop(end);
        outcome
    })
}
