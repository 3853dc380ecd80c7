//! The sample shop compares what it finds after a 3-D Secure payment with its order.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread,
};

use pg_support::{free_port, installed};

use crate::samples::crate_folder;

/// Ends the shop with the test.
struct Shop(Child);

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads a request or a reply: its first line, and its body.
fn read(from: &TcpStream) -> (String, String) {
    let mut from = BufReader::new(from);
    let (mut first, mut length) = (String::new(), 0);
    from.read_line(&mut first).expect("it works");
    loop {
        let mut line = String::new();
        from.read_line(&mut line).expect("it works");
        let line = line.trim().to_ascii_lowercase();
        if let Some(given) = line.strip_prefix("content-length:") {
            length = given.trim().parse().expect("a length");
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).expect("it works");
    (first, String::from_utf8(body).expect("it works"))
}

fn write(mut to: &TcpStream, first: &str, body: &str) {
    let length = body.len();
    write!(to, "{first}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").expect("it works");
}

/// A service whose customer has authenticated, and that lists these transactions and answers the payment like this.
fn service(listed: &str, paid: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("it works");
    let address = listener.local_addr().expect("it works");
    let (listed, paid) = (format!(r#"{{"transactions": [{listed}]}}"#), paid.to_owned());
    thread::spawn(move || {
        for caller in listener.incoming() {
            let caller = caller.expect("it works");
            let reply = match read(&caller).0 {
                asked if asked.contains("lookup") => listed.as_str(),
                asked if asked.contains("getAuthenticationStatus") => {
                    r#"{"transactionStatusCode": "607", "liabilityShift": "Y"}"#
                }
                _ => &paid,
            };
            write(&caller, "HTTP/1.1 200 OK", reply);
        }
    });
    format!("http://{address}")
}

/// What the shop claims of an order of 9.98 GBP.
fn claim(listed: &str, paid: &str) -> String {
    let port = free_port();
    let mut shop = Command::new("node");
    shop.arg(crate_folder().join("tests/samples/shop.mjs")).env("SHOP_PORT", port.to_string()).stdout(Stdio::null());
    shop.env("PG_BASE_URL", service(listed, paid)).env_remove("FAULT");
    shop.envs([("PG_API_KEY", "key"), ("PG_API_PASSWORD", "password"), ("PG_SHA_KEY", "sha")]);
    let mut shop = Shop(shop.spawn().expect("it works"));
    let connection = loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(connection) => break connection,
            Err(_) => assert!(shop.0.try_wait().expect("it works").is_none(), "the shop has ended"),
        }
    };
    let job = r#"{"job": "three_d_secure", "step": "return", "order": "order-1", "amount": 998, "currency": "GBP", "authenticationKey": "a"}"#;
    write(&connection, "POST /three-d-secure HTTP/1.1\r\nHost: shop", job);
    let mut reply = String::new();
    BufReader::new(&connection).read_to_string(&mut reply).expect("it works");
    reply.split_once("\"claim\":\"").expect("a claim").1.split('"').next().expect("it works").to_owned()
}

#[test]
fn a_payment_of_something_else_under_the_reference_of_an_order_is_unknown() {
    if !installed(&["node"], "the sample shop") {
        return;
    }
    let ours = r#"{"transactionStatusCode": "600", "transactionType": "Auth", "transactionKey": "k", "currency": "GBP",
        "transactionValue": "998", "uniqueMerchantReference": "order-1"}"#;
    let check = ours.replace("Auth", "3DSecureCheck").replace("600", "607");
    let declined = ours.replace("600", "901");
    let refund = ours.replace("Auth", "Refund");
    for listed in [ours, &format!("{check}, {ours}"), &format!("{ours}, {refund}")] {
        assert_eq!(claim(listed, "{}"), "paid", "{listed}");
    }
    assert_eq!((claim(&declined, "{}"), claim(&check, ours)), ("declined".to_owned(), "paid".to_owned()));
    let others = [("998", "1"), ("\"998\"", "998.00"), ("GBP", "EUR"), ("Auth", "PreAuth"), ("order-1", "order-2")];
    for (from, to) in others {
        let other = ours.replace(from, to);
        assert_eq!(claim(&other, "{}"), "unknown", "listed: {other}");
        assert_eq!(claim(&check, &other), "unknown", "the reply: {other}");
    }
    assert_eq!(claim(&format!("{ours}, {declined}"), "{}"), "unknown", "several");
}
