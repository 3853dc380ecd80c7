//! Many requests in one write: other connections do not wait for all of them.

use std::{future::ready, net::Ipv4Addr};

use pg_connections::{ConnectionLimits, ConnectionSlots};
use tokio::io::DuplexStream;

use super::*;
use crate::{
    Peer,
    server::connection::{Counter, talk},
    service::{LIVE, METRICS},
};

/// Returns what has arrived so far.
async fn arrived(stream: &mut DuplexStream) -> String {
    let mut bytes = vec![0; 1 << 20];
    let length = tokio::select! {
        biased;
        length = stream.read(&mut bytes) => length.unwrap(),
        () = ready(()) => 0,
    };
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

#[tokio::test]
async fn pipelined_probes_take_turns_with_other_connections() {
    let (due, _outgoing) = mpsc::unbounded_channel();
    let sandbox = Sandbox::in_memory_with(Settings::default(), [7; 32]).unwrap();
    let limits = sandbox.settings().limits;
    let (_stop, stopped) = watch::channel(false);
    let slots = ConnectionSlots::new(ConnectionLimits::default());
    let (queue, _writing) = writer::start(sandbox, due, Arc::new(Failure::new(None))).unwrap();
    let counter = Counter::new(queue, limits);
    for probe in [LIVE, METRICS] {
        let asked = format!("GET /_sandbox/{probe} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        let mut peers = Vec::new();
        for requests in [1_000, 1] {
            let (mut ours, theirs) = tokio::io::duplex(16 << 20);
            ours.write_all(asked.repeat(requests).as_bytes()).await.unwrap();
            let address = Ipv4Addr::LOCALHOST.into();
            let place = slots.enter(address).await.expect("this machine has no limit");
            let (counter, stopped) = (counter.clone(), stopped.clone());
            tokio::spawn(async move { talk(theirs, Peer(address), &place, &counter, stopped).await });
            peers.push(ours);
        }
        let [many, one] = &mut *peers else { panic!("two connections") };
        let first = one.read_u8().await.unwrap();
        assert_eq!(first, b'H');
        let answers = arrived(many).await.matches("HTTP/1.1 200 OK").count();
        assert!(answers <= 4, "{probe}: {answers} answers before that of the other connection");
    }
}
