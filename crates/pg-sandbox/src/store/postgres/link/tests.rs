use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::mpsc::{Receiver, channel},
};

use super::*;

/// A connection to this port whose clock jumps to the next timer whenever all work waits.
fn link(port: u16) -> Link {
    let url = format!("postgres://pg@127.0.0.1:{port}/none?sslmode=disable");
    Link::over(&url, Builder::new_current_thread().enable_all().start_paused(true)).unwrap()
}

/// A server that accepts connections and says nothing, as one that was stopped.
fn silent() -> (TcpListener, Link) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, link(port))
}

/// Begins a transaction, and gives why that failed and the seconds that it took.
fn begin(link: &mut Link) -> (String, u64) {
    let started = link.inside(super::super::patience::now).unwrap();
    let why = match link.insist_with(&|_| "BEGIN".to_owned(), &[]) {
        Err(Trouble::Broken(why)) => why,
        other => panic!("{:?}", other.map(drop)),
    };
    (why, link.inside(super::super::patience::now).unwrap().duration_since(started).as_secs())
}

#[test]
fn all_attempts_of_a_group_share_one_patience_with_a_silent_database() {
    let (_listener, mut link) = silent();
    for _ in 0..2 {
        link.begin_patience(false);
        // Three attempts of five seconds each, with pauses.
        assert_eq!(begin(&mut link), ("no answer within 5 seconds".to_owned(), 15));
        for _ in 0..100 {
            assert_eq!(begin(&mut link), ("no answer within 5 seconds".to_owned(), 0));
        }
    }
    assert!(!*link.reach().borrow());
}

#[test]
fn a_connection_that_breaks_after_a_long_wait_for_a_turn_is_replaced_once() {
    let (_listener, mut link) = silent();
    for (passed, tried) in [(24, 5), (25, 0)] {
        link.note_reached(true);
        link.begin_patience(false);
        (0..4 * passed).for_each(|_| link.pause());
        assert_eq!([begin(&mut link).1, begin(&mut link).1], [tried, 0], "{passed}");
    }
}

#[test]
fn a_task_tries_once() {
    let (_listener, mut link) = silent();
    link.begin_patience(true);
    assert_eq!([begin(&mut link).1, begin(&mut link).1], [5, 0]);
}

#[test]
fn a_database_that_refuses_connections_is_tried_for_as_long() {
    let (listener, mut link) = silent();
    drop(listener);
    link.begin_patience(false);
    let (why, seconds) = begin(&mut link);
    assert!((15..=20).contains(&seconds), "{seconds}: {why}");
    assert_eq!(begin(&mut link), (why, 0));
}

#[test]
fn the_question_about_a_lost_commit_has_a_patience_of_its_own() {
    let (_listener, mut link) = silent();
    link.begin_patience(false);
    begin(&mut link);
    assert_eq!(link.with_own_patience(begin).1, 15);
    assert_eq!(begin(&mut link).1, 0);
}

#[test]
fn a_process_that_stops_ends_a_wait_in_progress_and_waits_no_more() {
    let (listener, mut link) = silent();
    let halt = link.halt();
    // The server ends the wait once the connection has arrived.
    let stopping = std::thread::spawn(move || {
        let connected = listener.accept().unwrap();
        halt.end_waits();
        connected
    });
    link.runtime = Some(Builder::new_current_thread().enable_all().build().unwrap());
    link.begin_patience(false);
    assert_eq!(begin(&mut link).0, "the process stops");
    stopping.join().unwrap();
    link.begin_patience(false);
    assert_eq!(begin(&mut link).1, 0);
}

/// Reads a message of the protocol after its kind.
fn message(client: &mut TcpStream) -> Vec<u8> {
    let mut length = [0; 4];
    client.read_exact(&mut length).unwrap();
    let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
    client.read_exact(&mut body).unwrap();
    body
}

/// A server that answers one simple statement on each connection, tells it, and closes the connection.
fn closing_after_an_answer() -> (Receiver<String>, Link) {
    let (listener, link) = silent();
    let (tell, told) = channel();
    // Ends with the program.
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            message(&mut client);
            client.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").unwrap();
            let mut kind = [0];
            client.read_exact(&mut kind).unwrap();
            let text = String::from_utf8(message(&mut client)).unwrap();
            client.write_all(b"C\0\0\0\x0aBEGIN\0Z\0\0\0\x05T").unwrap();
            drop(client);
            let _ = tell.send(text);
        }
    });
    (told, link)
}

/// Lets the connection notice that the server has closed it.
fn until_closed(link: &Link) {
    while link.is_connected() {
        let turn = async {
            tokio::task::yield_now().await;
            Ok(())
        };
        link.run(turn).unwrap();
    }
}

#[test]
fn a_transaction_whose_connection_was_closed_does_not_go_on_over_another() {
    let (told, mut link) = closing_after_an_answer();
    link.runtime = Some(Builder::new_current_thread().enable_all().build().unwrap());
    // Otherwise it asks for the number of its server process first.
    link.may_be_direct = false;
    link.begin_patience(false);
    for _ in 0..2 {
        link.begin_with(&|_| "BEGIN".to_owned(), &[]).unwrap();
        assert_eq!(told.recv().unwrap(), "BEGIN\0");
        until_closed(&link);
        let one = [("SELECT 1", Vec::new())];
        let broken = [
            link.query("SELECT 1", &[]).map(drop),
            link.queries(&one).map(drop),
            link.simple("SELECT 1").map(drop),
            link.finish(&one),
        ];
        assert!(broken.iter().all(|done| matches!(done, Err(Trouble::Broken(_)))), "{broken:?}");
    }
    link.begin_with(&|_| "BEGIN".to_owned(), &[]).unwrap();
    until_closed(&link);
    assert!(matches!(link.end("COMMIT"), Err(Trouble::Broken(_))));
    // After that, a statement without a transaction is sent over another connection.
    link.simple("SHOW port").unwrap();
    assert_eq!([told.recv().unwrap(), told.recv().unwrap()], ["BEGIN\0", "SHOW port\0"]);
}
