//! A proxy between a store and its server.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// Starts a proxy that answers one statement itself, or closes the connection. Returns its port, and how often it did so.
pub(crate) async fn before(port: u16, statement: &'static [u8], answer: Option<Vec<u8>>) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, met) = (listener.local_addr().unwrap(), Arc::<AtomicUsize>::default());
    let count = Arc::clone(&met);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (count, answer) = (Arc::clone(&count), answer.clone());
            tokio::spawn(async move {
                let server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
                    (client.into_split(), server.into_split());
                let (mut asked, mut said) = (vec![0; 65536], vec![0; 65536]);
                loop {
                    tokio::select! {
                        read = from_client.read(&mut asked) => {
                            let Ok(length @ 1..) = read else { break };
                            if asked[..length].windows(statement.len()).any(|window| window == statement) {
                                count.fetch_add(1, Ordering::SeqCst);
                                let Some(answer) = &answer else { break };
                                let Ok(()) = to_client.write_all(answer).await else { break };
                                continue;
                            }
                            let Ok(()) = to_server.write_all(&asked[..length]).await else { break };
                        }
                        read = from_server.read(&mut said) => {
                            let Ok(length @ 1..) = read else { break };
                            let Ok(()) = to_client.write_all(&said[..length]).await else { break };
                        }
                    }
                }
            });
        }
    });
    (address.port(), met)
}

/// Starts a proxy through which a statement reaches the server only together with another one.
/// Returns its port.
pub(crate) async fn together(port: u16, first: &'static [u8], second: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
                (client.into_split(), server.into_split());
            tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
            tokio::spawn(async move {
                let (mut asked, mut held) = (vec![0; 65536], Vec::new());
                while let Ok(length @ 1..) = from_client.read(&mut asked).await {
                    held.extend_from_slice(&asked[..length]);
                    let has = |part: &[u8]| held.windows(part.len()).any(|window| window == part);
                    if has(first) && !has(second) {
                        continue;
                    }
                    let Ok(()) = to_server.write_all(&held).await else { break };
                    held.clear();
                }
            });
        }
    });
    address.port()
}
