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
