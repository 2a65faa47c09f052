//! The last lines that a program wrote, for messages about its end.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::secrets::Secrets;

const MAX_LINES: usize = 8;
const MAX_LINE: usize = 300;

/// The last lines that a program wrote. Cloning shares them.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastOutput {
    lines: Arc<Mutex<VecDeque<String>>>,
    secrets: Secrets,
}

impl LastOutput {
    pub(crate) fn new(secrets: Secrets) -> Self {
        Self { lines: Arc::default(), secrets }
    }

    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Keeps a line, shortened, with control characters escaped.
    pub(crate) fn push(&self, line: &[u8]) {
        let line = line.get(..MAX_LINE * 4).unwrap_or(line);
        let text = String::from_utf8_lossy(line);
        let text = self.secrets.redact(text.trim_end());
        if text.trim().is_empty() {
            return;
        }
        let mut shown = String::new();
        for char in text.chars().take(MAX_LINE) {
            if char.is_control() && char != '\t' { shown.extend(char.escape_default()) } else { shown.push(char) }
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push_back(shown);
        if lines.len() > MAX_LINES {
            lines.pop_front();
        }
    }

    /// Reads a stream to its end and keeps its last lines. A line without an end is kept up to its limit.
    pub(crate) async fn read_all(self, mut from: impl AsyncRead + Unpin) {
        let (mut chunk, mut line) = ([0_u8; 4096], Vec::new());
        while let Ok(count @ 1..) = from.read(&mut chunk).await {
            for byte in chunk.iter().take(count) {
                if *byte == b'\n' {
                    self.push(&line);
                    line.clear();
                } else if line.len() < MAX_LINE * 4 {
                    line.push(*byte);
                }
            }
        }
        self.push(&line);
    }

    /// The lines for a message; empty if there are none.
    pub(crate) fn note(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_empty() {
            return String::new();
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        format!("; its last output: {}", lines.join(" | "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_lines_are_kept_shortened_and_escaped() {
        let output = LastOutput::new(Secrets::new(&["s3cret".into()]));
        let mut text = (0..20).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
        text.push('\n');
        text.push_str(&"x".repeat(100_000));
        text.push_str("\n\u{1b}[31mred s3cret\r\n\n");
        output.clone().read_all(text.as_bytes()).await;
        let note = output.note();
        assert!(note.starts_with("; its last output: line 14 | "), "{note}");
        assert!(note.ends_with(r" | \u{1b}[31mred [redacted]"), "{note}");
        assert!(note.len() < 1_000, "{} bytes", note.len());
        assert_eq!(LastOutput::default().note(), "");
    }
}
