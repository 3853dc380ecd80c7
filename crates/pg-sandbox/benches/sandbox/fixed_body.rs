//! The floor: the server without the sandbox. It reads a request whole and answers what it was given.

use std::{
    convert::Infallible,
    net::{Ipv4Addr, SocketAddr},
    sync::mpsc,
    thread,
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

/// Serves this response on its own thread until the process ends.
pub(crate) fn serve(response: Response<Bytes>) -> SocketAddr {
    let (told, address) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
            told.send(listener.local_addr().expect("an address")).expect("the receiver waits");
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).expect("a socket");
                let response = response.clone();
                let service = service_fn(move |request| answer(request, response.clone()));
                // As the sandbox's server is set.
                let connection = http1::Builder::new()
                    .half_close(true)
                    .timer(TokioTimer::new())
                    .header_read_timeout(Duration::from_secs(30))
                    .serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection);
            }
        });
    });
    address.recv().expect("the server starts")
}

async fn answer(request: Request<Incoming>, response: Response<Bytes>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes);
    assert!(body.is_ok_and(|body| !body.is_empty()));
    Ok(response.map(Full::new))
}
