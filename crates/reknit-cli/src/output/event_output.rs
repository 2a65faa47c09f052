//! Live events as JSON lines on standard output.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::output::Failure;

/// How many lines wait for the reader of standard output. Lines beyond that are dropped and counted: a run must not stop because
/// nobody reads its events.
const QUEUE_CAPACITY: usize = 4_096;

/// A thread that writes lines to standard output.
#[derive(Debug)]
pub(crate) struct EventOutput {
    writer: Mutex<Option<Writer>>,
    dropped: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Writer {
    lines: SyncSender<String>,
    thread: JoinHandle<()>,
}

impl EventOutput {
    pub(crate) fn start() -> Result<Self, Failure> {
        let (lines, queued) = sync_channel(QUEUE_CAPACITY);
        let dropped = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&dropped);
        let thread = thread::Builder::new()
            .name("events".to_owned())
            .spawn(move || write_all(&mut io::stdout(), &queued, &counted))
            .map_err(Failure::start("the output of events"))?;
        Ok(Self { writer: Mutex::new(Some(Writer { lines, thread })), dropped })
    }

    /// Queues a line. It never waits.
    pub(crate) fn send(&self, line: String) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let is_queued = writer.as_ref().is_some_and(|writer| writer.lines.try_send(line).is_ok());
        if !is_queued {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until every queued line is written, so that what is printed next comes after them.
    pub(crate) fn end(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Writer { lines, thread }) = writer {
            drop(lines);
            // A writer that panicked has nothing left to write.
            let _ = thread.join();
        }
    }
}

fn write_all(out: &mut impl io::Write, lines: &Receiver<String>, dropped: &AtomicU64) {
    let mut write = |line: &str| {
        // A reader that has gone away does not end the run.
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    };
    for line in lines {
        note_dropped(dropped, &mut write);
        write(&line);
    }
    note_dropped(dropped, &mut write);
}

fn note_dropped(dropped: &AtomicU64, write: &mut impl FnMut(&str)) {
    match dropped.swap(0, Ordering::Relaxed) {
        0 => {}
        count => write(&format!("{{\"event\":\"dropped\",\"lines\":{count}}}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_nobody_reads_are_dropped_and_counted() {
        let (lines, queued) = sync_channel(2);
        let dropped = AtomicU64::new(3);
        for line in ["{\"event\":\"a\"}", "{\"event\":\"b\"}"] {
            lines.send(line.to_owned()).unwrap();
        }
        drop(lines);
        let mut written = Vec::new();
        write_all(&mut written, &queued, &dropped);
        assert_eq!(
            String::from_utf8(written).unwrap(),
            "{\"event\":\"dropped\",\"lines\":3}\n{\"event\":\"a\"}\n{\"event\":\"b\"}\n"
        );
    }
}
