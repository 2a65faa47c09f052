//! Prints to standard output and standard error.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use reknit_protocol::Value;
use serde::Serialize;

use crate::output::{Failure, error_columns, fill, output_columns};

/// How many texts wait for the reader of standard error. Progress beyond that is dropped and counted.
const QUEUE_CAPACITY: usize = 1_024;

const MAX_BATCH: usize = 1_000;
/// How long progress waits for the lines that follow it.
const BATCH_WAIT: Duration = Duration::from_millis(2);
/// How long a message waits for the reader of standard error before the program goes on without it.
const MESSAGE_WAIT: Duration = Duration::from_secs(1);

/// What serde writes, as a value whose numbers keep their digits.
pub(crate) fn json_value(item: &impl Serialize) -> Result<Value, Failure> {
    let text = serde_json::to_string(item).map_err(|error| Failure::Write(io::Error::other(error)))?;
    Value::parse(&text).map_err(|error| Failure::Write(io::Error::other(error)))
}

pub(crate) fn print_data(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(Failure::Write)
}

/// Prints a text for people on standard output.
pub(crate) fn print_text(text: &str) -> Result<(), Failure> {
    match output_columns() {
        Some(columns) => print_data(&fill(text, columns)),
        None => print_data(text),
    }
}

/// Whether `--quiet` hides messages. Set once, before anything is printed.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Hides messages from now on, as `--quiet` asks. Data, warnings and the error that ends the command are still printed.
pub(crate) fn hide_messages() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

/// Whether `--quiet` hides messages.
pub(crate) fn are_messages_hidden() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Prints a message for people, unless `--quiet` hides it.
pub(crate) fn print_message(text: &str) {
    if !are_messages_hidden() {
        print_failure(text);
    }
}

/// Prints a warning: something that a person should know although nothing failed.
pub(crate) fn print_warning(text: &str) {
    print_failure(&format!("warning: {text}\n"));
}

/// Prints an error for people on standard error, after everything that was printed there before. A standard error that is
/// closed, or that nobody reads, is not a failure: the data and the exit status say what matters.
pub(crate) fn print_failure(text: &str) {
    let Some(output) = output() else { return };
    let text = error_columns().map_or_else(|| text.to_owned(), |columns| fill(text, columns));
    let (written, is_written) = sync_channel(1);
    if output.queue(Message { text, written: Some(written) }) == Queued::Yes {
        let _ = is_written.recv_timeout(MESSAGE_WAIT);
    }
}

/// Prints progress on standard error. It never waits: a run must not stop because nobody reads its progress.
pub(crate) fn print_progress(text: &str) -> Queued {
    output().map_or(Queued::No, |output| output.queue(Message { text: text.to_owned(), written: None }))
}

/// Whether a text will be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queued {
    Yes,
    /// It was dropped, and its lines were counted.
    No,
}

struct Message {
    text: String,
    /// Tells the sender that the text was written.
    written: Option<SyncSender<()>>,
}

/// The thread that writes to standard error.
struct ErrorOutput {
    messages: SyncSender<Message>,
    dropped_lines: Arc<AtomicU64>,
}

impl ErrorOutput {
    fn queue(&self, message: Message) -> Queued {
        let lines = message.text.lines().count() as u64;
        if self.messages.try_send(message).is_ok() {
            return Queued::Yes;
        }
        self.dropped_lines.fetch_add(lines, Ordering::Relaxed);
        Queued::No
    }
}

/// `None` if the system cannot start another thread.
fn output() -> Option<&'static ErrorOutput> {
    static OUTPUT: OnceLock<Option<ErrorOutput>> = OnceLock::new();
    let start = || {
        let (messages, queued) = sync_channel(QUEUE_CAPACITY);
        let dropped_lines = Arc::new(AtomicU64::new(0));
        let dropped = Arc::clone(&dropped_lines);
        let thread = thread::Builder::new()
            .name("stderr".to_owned())
            .spawn(move || write_all(&mut io::stderr(), &queued, &dropped));
        thread.ok().map(|_| ErrorOutput { messages, dropped_lines })
    };
    OUTPUT.get_or_init(start).as_ref()
}

fn write_all(out: &mut impl io::Write, messages: &Receiver<Message>, dropped_lines: &AtomicU64) {
    while let Ok(first) = messages.recv() {
        let batch: Vec<Message> = std::iter::once(first).chain(messages.try_iter().take(MAX_BATCH)).collect();
        let mut text = String::new();
        let dropped = dropped_lines.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            text = format!("{dropped} progress lines dropped: standard error was not read\n");
        }
        text.extend(batch.iter().map(|message| message.text.as_str()));
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        let mut waiting = batch.iter().filter_map(|message| message.written.as_ref()).peekable();
        if waiting.peek().is_none() {
            // Lines that follow closely are written together: to wake this thread for each takes longer than to write them.
            thread::sleep(BATCH_WAIT);
        }
        for written in waiting {
            let _ = written.try_send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_that_nobody_reads_is_dropped_and_counted() {
        let (messages, queued) = sync_channel(1);
        let output = ErrorOutput { messages, dropped_lines: Arc::default() };
        let sent = ["a\n", "b\nc\n", "d\n"].map(|text| output.queue(Message { text: text.to_owned(), written: None }));
        assert_eq!(sent, [Queued::Yes, Queued::No, Queued::No]);
        let ErrorOutput { messages, dropped_lines } = output;
        drop(messages);
        let mut written = Vec::new();
        write_all(&mut written, &queued, &dropped_lines);
        assert_eq!(written, b"3 progress lines dropped: standard error was not read\na\n");
    }
}
