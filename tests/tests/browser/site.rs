//! A merchant's website on this machine, as small as can be: it answers GET with pages and keeps what was asked of it.

use std::{
    net::Ipv4Addr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// A website with a free port, not open yet: its pages may need to know its address.
pub(crate) struct Site {
    listener: TcpListener,
    address: String,
}

/// A website that is open.
pub(crate) struct OpenSite {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        Self { listener, address }
    }

    /// The address of one of its pages.
    pub(crate) fn page(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// Opens it; `page` makes the body of a page from its whole address.
    pub(crate) fn open(self, page: impl Fn(&str) -> String + Send + Sync + 'static) -> OpenSite {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let open = OpenSite { address: self.address.clone(), asked: Arc::clone(&asked) };
        let page = Arc::new(page);
        tokio::spawn(async move {
            while let Ok((stream, _)) = self.listener.accept().await {
                let (page, asked, address) = (Arc::clone(&page), Arc::clone(&asked), self.address.clone());
                tokio::spawn(async move {
                    let Some(target) = target(stream).await else { return };
                    let (mut stream, target) = target;
                    asked.lock().unwrap().push(target.clone());
                    let body = page(&format!("{address}{target}"));
                    let _ = stream.write_all(response(&body).as_bytes()).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        open
    }
}

impl OpenSite {
    pub(crate) fn page(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// Paths and queries that browsers have asked for, without the icon that some ask for by themselves.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().filter(|target| *target != "/favicon.ico").cloned().collect()
    }
}

/// What a browser asks for; browsers also open connections on which they then say nothing.
async fn target(mut stream: TcpStream) -> Option<(TcpStream, String)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let target = head.strip_prefix("GET ")?.split(' ').next()?.to_owned();
    Some((stream, target))
}

fn response(body: &str) -> String {
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Shop</title></head><body>{body}</body></html>"
    );
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
        page.len()
    )
}
