//! A proxy between the processes and the database.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    thread,
};

/// Connects clients to this server, and returns the port for them. `ways` returns two functions for each connection: the first one
/// is given the bytes of the client, the second one those of the server. They may change the bytes. If one returns false, its bytes
/// are not passed on, and the connection is closed.
pub(super) fn before<U, D>(server: u16, mut ways: impl FnMut() -> (U, D) + Send + 'static) -> u16
where
    U: FnMut(&mut [u8]) -> bool + Send + 'static,
    D: FnMut(&mut [u8]) -> bool + Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    // Ends with the program.
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) = (client.unwrap(), TcpStream::connect((Ipv4Addr::LOCALHOST, server)).unwrap());
            let ends = (server.try_clone().unwrap(), client.try_clone().unwrap());
            let (up, down) = ways();
            thread::spawn(move || pass(client, server, up));
            thread::spawn(move || pass(ends.0, ends.1, down));
        }
    });
    port
}

fn pass(mut from: TcpStream, mut to: TcpStream, mut may_pass: impl FnMut(&mut [u8]) -> bool) {
    let mut buffer = vec![0; 1 << 18];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if !may_pass(&mut buffer[..length]) || to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    for stream in [from, to] {
        // It may be closed already.
        let _ = stream.shutdown(Shutdown::Both);
    }
}
