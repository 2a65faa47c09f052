//! The baseline without a client: prepared bytes are written and the response is read, on one connection.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::{MAX_TOKENS, MODEL, Mode, QUESTION, Result, SYSTEM};

pub struct BareExchange {
    stream: TcpStream,
    request: Vec<u8>,
    buffer: Vec<u8>,
}

impl BareExchange {
    pub fn connect(url: &str, mode: Mode) -> Result<Self> {
        let server = url.trim_start_matches("http://").trim_end_matches("/v1");
        let stream = TcpStream::connect(server)?;
        stream.set_nodelay(true)?;
        let streaming = match mode {
            Mode::Whole => "",
            Mode::Stream => r#","stream":true,"stream_options":{"include_usage":true}"#,
        };
        let body = format!(
            r#"{{"model":"{MODEL}","messages":[{{"role":"system","content":"{SYSTEM}"}},{{"role":"user","content":"{QUESTION}"}}],"temperature":0,"max_tokens":{MAX_TOKENS}{streaming}}}"#
        );
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {server}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        Ok(Self { stream, request: (head + &body).into_bytes(), buffer: Vec::new() })
    }

    pub fn round(&mut self, calls: usize) -> Result<Vec<Duration>> {
        (0..calls).map(|_| self.exchange()).collect()
    }

    fn exchange(&mut self) -> Result<Duration> {
        let start = Instant::now();
        self.stream.write_all(&self.request)?;
        self.buffer.clear();
        let mut chunk = [0; 16 * 1024];
        while !is_complete(&self.buffer) {
            let count = self.stream.read(&mut chunk)?;
            if count == 0 {
                return Err("the server closed the connection".into());
            }
            self.buffer.extend_from_slice(&chunk[..count]);
        }
        Ok(start.elapsed())
    }
}

/// Whether a response is complete, by its content length or its last chunk.
fn is_complete(bytes: &[u8]) -> bool {
    let Some(head) = bytes.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { return false };
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    match length {
        Some(length) => bytes.len() >= head + 4 + length,
        None => bytes.ends_with(b"0\r\n\r\n"),
    }
}
