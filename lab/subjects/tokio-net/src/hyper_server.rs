//! A connection of hyper's server, called as `subject-tokio-net rust-hyper http <workers>`. It parses each request. No
//! timer, and so no deadlines; answers of pipelined requests leave together (`pipeline_flush`).

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderValue, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use tokio::net::TcpStream;

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let found = request.method() == Method::GET && request.uri().path() == "/";
    let text: &'static str = if found { "hello\n" } else { "not found\n" };
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    if !found {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response.headers_mut().insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    Ok(response)
}

pub async fn serve_connection(peer: TcpStream) {
    let _ = http1::Builder::new()
        .pipeline_flush(true)
        .serve_connection(TokioIo::new(peer), service_fn(answer))
        .await;
}
