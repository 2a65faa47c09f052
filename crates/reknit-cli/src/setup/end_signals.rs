//! The signals that ask the program to end.

use std::future::Future;
use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::output::Failure;

/// Does some work, unless one of the signals comes first. The work is dropped then, and with it the programs that it started.
pub(crate) async fn unless_ended<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let mut signals = EndSignals::new().map_err(Failure::start("the signal handler"))?;
    tokio::select! {
        done = work => Ok(done),
        _ = signals.next() => Err(Failure::Interrupted),
    }
}

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndSignal {
    /// Ctrl-C: a person wants what goes on to stop.
    Interrupt,
    /// The program is to end.
    Terminate,
}

/// Ctrl-C (SIGINT), SIGTERM of a service manager, and SIGHUP of a terminal that closes.
pub(crate) struct EndSignals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl EndSignals {
    /// From now on these signals do not end the process.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    pub(crate) async fn next(&mut self) -> EndSignal {
        tokio::select! {
            _ = self.interrupt.recv() => EndSignal::Interrupt,
            _ = self.terminate.recv() => EndSignal::Terminate,
            _ = self.hangup.recv() => EndSignal::Terminate,
        }
    }
}
