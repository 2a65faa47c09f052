//! A proxy that only copies requests and responses: the least that a gateway with this library could cost.

use std::cell::RefCell;
use std::rc::Rc;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use crate::Result;

type Pool = Rc<RefCell<Vec<SendRequest<Full<Bytes>>>>>;

pub(crate) async fn serve(port: u16, model: u16) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let pool = Pool::default();
    loop {
        let (connection, _) = listener.accept().await?;
        connection.set_nodelay(true)?;
        let pool = pool.clone();
        let service = service_fn(move |request| forward_or_fail(request, pool.clone(), model));
        tokio::task::spawn_local(async move {
            let _ =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(connection), service).await;
        });
    }
}

async fn forward_or_fail(
    request: Request<Incoming>,
    pool: Pool,
    model: u16,
) -> Result<Response<BoxBody<Bytes, hyper::Error>>> {
    match forward(request, pool, model).await {
        Ok(response) => Ok(response),
        Err(error) => {
            let body = Full::new(Bytes::from(error.to_string())).map_err(|never| match never {}).boxed();
            let mut response = Response::new(body);
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            Ok(response)
        }
    }
}

async fn forward(request: Request<Incoming>, pool: Pool, model: u16) -> Result<Response<BoxBody<Bytes, hyper::Error>>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let pooled = pool.borrow_mut().pop();
    let mut sender = match pooled {
        Some(sender) if !sender.is_closed() => sender,
        _ => connect(model).await?,
    };
    sender.ready().await?;
    let response = sender.send_request(Request::from_parts(head, Full::new(body))).await?;
    let (head, body) = response.into_parts();
    // The answers of the scripted model are complete when they arrive, so that nothing is gained by passing on parts.
    let body = body.collect().await?.to_bytes();
    pool.borrow_mut().push(sender);
    Ok(Response::from_parts(head, Full::new(body).map_err(|never| match never {}).boxed()))
}

async fn connect(port: u16) -> Result<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::task::spawn_local(async move {
        let _ = connection.await;
    });
    Ok(sender)
}
