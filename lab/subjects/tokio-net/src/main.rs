//! tokio's servers of the page `net`, called as `subject-network <system> <mode> <workers>`; ../../harness/net/server.hpp says
//! what each mode does. One worker is tokio's current-thread runtime, several its multi-thread runtime; a task for each
//! connection, and one listener. `rust-tokio-net` reads nothing of HTTP but where a request ends; `rust-hyper` is in
//! hyper_server.rs.

mod hyper_server;

use std::process::exit;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n";
const END_OF_REQUEST: &[u8] = b"\r\n\r\n";
const REQUEST_ROOM: usize = 4096;
const ECHO_ROOM: usize = 16384;
const SINK_ROOM: usize = 65536;
const DATAGRAM_ROOM: usize = 2048;

fn fail(why: &str) -> ! {
    eprintln!("{why}");
    exit(1)
}

/// How many requests are complete in these bytes, and where the last one ends.
fn complete_in(bytes: &[u8]) -> (usize, usize) {
    let (mut count, mut end, mut at) = (0, 0, 0);
    while let Some(next) = bytes[at..].iter().position(|&byte| byte == b'\r') {
        at += next;
        if bytes[at..].starts_with(END_OF_REQUEST) {
            at += END_OF_REQUEST.len();
            (count, end) = (count + 1, at);
        } else {
            at += 1;
        }
    }
    (count, end)
}

/// All requests that are complete in one read are answered by one write.
async fn http(mut peer: TcpStream, responses: &'static [u8]) {
    let mut buffer = vec![0; REQUEST_ROOM];
    let mut have = 0;
    loop {
        match peer.read(&mut buffer[have..]).await {
            Ok(n) if n > 0 => have += n,
            _ => return,
        }
        let (count, end) = complete_in(&buffer[..have]);
        buffer.copy_within(end..have, 0);
        have -= end;
        if count > 0
            && peer
                .write_all(&responses[..count * RESPONSE.len()])
                .await
                .is_err()
        {
            return;
        }
    }
}

async fn echo(mut peer: TcpStream) {
    let mut buffer = vec![0; ECHO_ROOM];
    while let Ok(n) = peer.read(&mut buffer).await {
        if n == 0 || peer.write_all(&buffer[..n]).await.is_err() {
            return;
        }
    }
}

async fn sink(mut peer: TcpStream) {
    let mut buffer = vec![0; SINK_ROOM];
    while matches!(peer.read(&mut buffer).await, Ok(n) if n > 0) {}
}

/// One at a time: tokio has no batches.
async fn echo_datagrams(workers: usize) {
    let door = UdpSocket::bind("127.0.0.1:0")
        .await
        .unwrap_or_else(|_| fail("no socket"));
    println!("{}", door.local_addr().map(|at| at.port()).unwrap_or(0));
    let door: &'static UdpSocket = Box::leak(Box::new(door));
    let tasks: Vec<_> = (0..workers).map(|_| tokio::spawn(echo_at(door))).collect();
    for task in tasks {
        task.await.unwrap_or_else(|_| fail("a task panicked"));
    }
}

async fn echo_at(door: &'static UdpSocket) {
    let mut buffer = vec![0; DATAGRAM_ROOM];
    loop {
        if let Ok((n, from)) = door.recv_from(&mut buffer).await {
            let _ = door.send_to(&buffer[..n], from).await;
        }
    }
}

async fn serve(mode: String, parses: bool) {
    let door = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap_or_else(|_| fail("no listener"));
    println!("{}", door.local_addr().map(|at| at.port()).unwrap_or(0));
    let responses: &'static [u8] = Box::leak(RESPONSE.repeat(REQUEST_ROOM / 4).into_boxed_slice());
    loop {
        let (peer, _) = door
            .accept()
            .await
            .unwrap_or_else(|error| fail(&error.to_string()));
        let _ = peer.set_nodelay(true);
        match mode.as_str() {
            "http" if parses => drop(tokio::spawn(hyper_server::serve_connection(peer))),
            "http" => drop(tokio::spawn(http(peer, responses))),
            "echo" => drop(tokio::spawn(echo(peer))),
            "sink" => drop(tokio::spawn(sink(peer))),
            _ => fail("unknown mode"),
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let workers = arguments
        .get(3)
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    if arguments.len() != 4 || workers == 0 {
        fail("usage: subject-network <system> http|echo|sink|udp <workers>");
    }
    let mut builder = match workers {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    if workers > 1 {
        builder.worker_threads(workers);
    }
    let runtime = builder
        .enable_io()
        .build()
        .unwrap_or_else(|_| fail("no runtime"));
    let (parses, mode) = (arguments[1] == "rust-hyper", arguments[2].clone());
    // As a task, not in block_on(): a thread that blocks is no worker.
    let all = runtime.spawn(async move {
        match mode.as_str() {
            "udp" => echo_datagrams(workers).await,
            _ => serve(mode, parses).await,
        }
    });
    let _ = runtime.block_on(all);
}
