//! The transport over the standard input and output of a program: one message per line.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};

use crate::process::LastOutput;
use crate::wire;

#[derive(Debug, thiserror::Error)]
#[error("the message cannot be written")]
pub(crate) struct WriteError {
    pub(crate) is_partial: bool,
    source: io::Error,
}

/// Why nothing more is read, if the server did not simply close its output.
pub(crate) type ReadStop = Arc<Mutex<Option<Arc<ReadError>>>>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("it sent a message of more than {0} bytes")]
    TooLarge(usize),
    #[error("its output cannot be read: {0}")]
    Broken(#[from] io::Error),
}

/// The transport. Dropping or closing it closes the input of the program.
pub(crate) struct StdioTransport {
    input: Arc<tokio::sync::Mutex<Option<ChildStdin>>>,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    max_message: usize,
    last_output: LastOutput,
    stop: ReadStop,
}

impl StdioTransport {
    pub(crate) fn new(
        input: ChildStdin,
        output: ChildStdout,
        max_message: usize,
        last_output: LastOutput,
        stop: ReadStop,
    ) -> Self {
        let input = Arc::new(tokio::sync::Mutex::new(Some(input)));
        let output = BufReader::with_capacity(64 << 10, output);
        Self { input, output, line: Vec::new(), max_message, last_output, stop }
    }

    /// Reads the next line into `self.line`, which keeps what was read if the future is dropped. Returns whether there is one.
    async fn read_line(&mut self) -> Result<bool, ReadError> {
        loop {
            let chunk = self.output.fill_buf().await?;
            if chunk.is_empty() {
                return Ok(false);
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(chunk.len());
            if self.line.len() + taken > self.max_message {
                return Err(ReadError::TooLarge(self.max_message));
            }
            self.line.extend_from_slice(chunk.get(..taken).unwrap_or_default());
            self.output.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = WriteError;

    fn name() -> Cow<'static, str> {
        "stdio".into()
    }

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let input = Arc::clone(&self.input);
        async move {
            let unsent = |source| WriteError { is_partial: false, source };
            let mut text = wire::encode(&message).map_err(|error| unsent(error.into()))?;
            text.push('\n');
            let mut input = input.lock().await;
            let Some(pipe) = input.as_mut() else { return Err(unsent(io::ErrorKind::BrokenPipe.into())) };
            let mut rest = text.as_bytes();
            while !rest.is_empty() {
                let is_partial = rest.len() < text.len();
                let count = pipe.write(rest).await.map_err(|source| WriteError { is_partial, source })?;
                rest = rest.get(count..).unwrap_or_default();
            }
            pipe.flush().await.map_err(|source| WriteError { is_partial: true, source })
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            match self.read_line().await {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    *self.stop.lock() = Some(Arc::new(error));
                    return None;
                }
            }
            let line = self.last_output.secrets().redact_bytes(std::mem::take(&mut self.line));
            // Some servers write log lines here. They are no messages, but they help to explain a failure.
            match wire::decode(&line) {
                Ok(message) => return Some(message),
                Err(_) => self.last_output.push(&line),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.input.lock().await.take();
        Ok(())
    }
}
