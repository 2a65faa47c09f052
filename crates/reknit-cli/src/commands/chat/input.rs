//! Reads the messages of the user, one line each.

use std::io::{self, BufRead, Read as _};

use tokio::sync::oneshot;

use crate::output::{Failure, Input, print_failure};
use crate::setup::EndSignals;

const MAX_BYTES: u64 = 1 << 20;

/// What the user typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// A message, which is not empty.
    Message(String),
    /// Ctrl-D, Ctrl-C at the prompt, or the end of a pipe.
    End,
}

/// Waits for the next message.
pub(super) async fn read_message(is_interactive: bool) -> Result<Typed, Failure> {
    if is_interactive {
        print_failure("> ");
    }
    let (read, line) = oneshot::channel();
    // A thread of its own, for each line: questions about approvals read standard input in between, and the runtime would wait
    // for the thread when the program ends after Ctrl-C.
    std::thread::spawn(move || {
        let _ = read.send(next_message(&mut io::stdin().lock()));
    });
    let mut signals = EndSignals::new().map_err(Failure::start("the signal handler"))?;
    let typed = tokio::select! {
        typed = line => typed.unwrap_or(Ok(Typed::End)).map_err(|source| Failure::Input { input: Input::Stdin, source })?,
        _ = signals.next() => Typed::End,
    };
    if is_interactive && typed == Typed::End {
        print_failure("\n");
    }
    Ok(typed)
}

/// The next line that is not empty.
fn next_message(input: &mut impl BufRead) -> io::Result<Typed> {
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(Typed::End);
        }
        if !line.ends_with(b"\n") && line.len() as u64 == MAX_BYTES {
            return Err(io::Error::other("a message is longer than 1 MiB"));
        }
        let line = String::from_utf8_lossy(&line);
        if !line.trim().is_empty() {
            return Ok(Typed::Message(line.trim().to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_that_is_not_empty_is_a_message() {
        let mut input = io::Cursor::new("\n  Where is order 7? \r\n\nAnd 8?");
        let mut next = || next_message(&mut input).unwrap();
        assert_eq!(next(), Typed::Message("Where is order 7?".to_owned()));
        assert_eq!(next(), Typed::Message("And 8?".to_owned()));
        assert_eq!(next(), Typed::End);
    }

    #[test]
    fn a_message_that_is_too_long_is_refused() {
        let text = "x".repeat(2 << 20);
        assert!(next_message(&mut io::Cursor::new(text)).is_err());
    }
}
