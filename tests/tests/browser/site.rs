//! A merchant's website on this machine, kept minimal: it answers GET with pages and records the requests.

use std::{
    fs,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// A website with a reserved port that does not serve yet, because its pages may contain its address.
pub(crate) struct Site {
    listener: TcpListener,
    address: String,
    files: Option<(&'static str, PathBuf)>,
}

/// A website that serves requests.
pub(crate) struct OpenSite {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        Self { listener, address, files: None }
    }

    /// The address of one of its pages.
    pub(crate) fn page(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// With the files of a folder below a path.
    pub(crate) fn with_files(mut self, path: &'static str, folder: PathBuf) -> Self {
        self.files = Some((path, folder));
        self
    }

    /// Starts serving; `page` makes the body of a page from its full address.
    pub(crate) fn open(self, page: impl Fn(&str) -> String + Send + Sync + 'static) -> OpenSite {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let open = OpenSite { address: self.address.clone(), asked: Arc::clone(&asked) };
        let (page, files) = (Arc::new(page), Arc::new(self.files));
        tokio::spawn(async move {
            while let Ok((stream, _)) = self.listener.accept().await {
                let (page, asked, address) = (Arc::clone(&page), Arc::clone(&asked), self.address.clone());
                let files = Arc::clone(&files);
                tokio::spawn(async move {
                    let Some(target) = target(stream).await else { return };
                    let (mut stream, target) = target;
                    asked.lock().unwrap().push(target.clone());
                    let file = files.as_ref().as_ref().and_then(|(path, folder)| file(&target, path, folder));
                    let response = file.unwrap_or_else(|| response(&page(&format!("{address}{target}"))));
                    let _ = stream.write_all(&response).await;
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

/// The request of a browser; browsers also open connections without sending a request.
async fn target(mut stream: TcpStream) -> Option<(TcpStream, String)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let target = head.strip_prefix("GET ")?.split(' ').next()?.to_owned();
    Some((stream, target))
}

/// Returns the file of the folder at this path.
fn file(target: &str, path: &str, folder: &Path) -> Option<Vec<u8>> {
    let name = target.strip_prefix(path)?;
    let kind = if name.ends_with(".wasm") { "application/wasm" } else { "text/javascript" };
    Some(answer(kind, &fs::read(folder.join(name)).ok()?))
}

fn response(body: &str) -> Vec<u8> {
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Shop</title></head><body>{body}</body></html>"
    );
    answer("text/html; charset=utf-8", page.as_bytes())
}

fn answer(kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}
