//! The client: so many calls over so many connections, each of which waits for its answer before it sends the next call.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::Result;
use crate::model::WORDS;

/// What is sent, and how often.
pub(crate) struct Load {
    port: u16,
    calls: usize,
    body: Bytes,
    headers: Vec<(String, String)>,
}

impl Load {
    pub(crate) fn new(port: u16, calls: usize, form: &str, model: &str, headers: &[&str]) -> Result<Self> {
        let stream = match form {
            "whole" => false,
            "stream" => true,
            _ => return Err(format!("`{form}` is neither `whole` nor `stream`").into()),
        };
        let body = format!(
            r#"{{"model":"{model}","stream":{stream},"messages":[{{"role":"system","content":"Be brief."}},{{"role":"user","content":"Say sixty words."}}]}}"#
        );
        let headers = headers
            .iter()
            .map(|header| {
                header.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned())).ok_or(*header)
            })
            .collect::<std::result::Result<_, _>>()
            .map_err(|header| format!("`{header}` is not NAME:VALUE"))?;
        Ok(Self { port, calls, body: body.into(), headers })
    }

    fn request(&self) -> Result<Request<Full<Bytes>>> {
        let mut request = Request::post("/v1/chat/completions")
            .header(HOST, format!("127.0.0.1:{}", self.port))
            .header(CONTENT_TYPE, "application/json")
            .header("authorization", "Bearer sk-scripted");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        Ok(request.body(Full::new(self.body.clone()))?)
    }
}

/// Makes the calls and prints how long they took.
pub(crate) async fn run(load: Load, connections: usize) -> Result<()> {
    let load = Rc::new(load);
    let (left, times) = (Rc::new(Cell::new(load.calls)), Rc::new(RefCell::new(Vec::with_capacity(load.calls))));
    let started = Instant::now();
    let tasks: Vec<_> = (0..connections)
        .map(|_| tokio::task::spawn_local(connection(load.clone(), left.clone(), times.clone())))
        .collect();
    for task in tasks {
        task.await??;
    }
    let seconds = started.elapsed().as_secs_f64();
    let mut times = times.borrow_mut();
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(r#"{{"calls":{},"seconds":{seconds:.3},"p50_us":{},"p99_us":{}}}"#, times.len(), at(0.5), at(0.99));
    Ok(())
}

async fn connection(load: Rc<Load>, left: Rc<Cell<usize>>, times: Rc<RefCell<Vec<u64>>>) -> Result<()> {
    let stream = TcpStream::connect(("127.0.0.1", load.port)).await?;
    stream.set_nodelay(true)?;
    let (mut sender, driver) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::task::spawn_local(async move {
        let _ = driver.await;
    });
    while left.get() > 0 {
        left.set(left.get() - 1);
        sender.ready().await?;
        let sent = Instant::now();
        let response = sender.send_request(load.request()?).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        times.borrow_mut().push(u64::try_from(sent.elapsed().as_micros())?);
        let words = body.windows(5).filter(|part| *part == b"word " || *part == b"word\"").count();
        if !status.is_success() || words != WORDS {
            return Err(format!("{status}, {words} of {WORDS} words: {}", String::from_utf8_lossy(&body)).into());
        }
    }
    Ok(())
}
