//! The behaviour that all examples share.

use tokio::net::TcpSocket;

use crate::place::{Ending, Place, printed};

const PROGRAMS: [(&str, &str); 5] = [
    ("std_tcp", env!("CARGO_BIN_EXE_std_tcp")),
    ("smol", env!("CARGO_BIN_EXE_smol")),
    ("tower_stack", env!("CARGO_BIN_EXE_tower_stack")),
    ("reqwest", env!("CARGO_BIN_EXE_reqwest")),
    ("ureq", env!("CARGO_BIN_EXE_ureq")),
];

#[tokio::test(flavor = "multi_thread")]
async fn the_program_pays_over_http() {
    let place = Place::new().await;
    for (name, program) in PROGRAMS {
        let run = place.program(program, &place.address(), name).output().await.unwrap();
        let (out, _) = printed(run);
        let [paid] = &place.ledger(name).await[..] else { panic!("{name}: not one payment") };
        assert_eq!(out, format!("paid: {}\n", paid.transaction_key), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_pays_over_https_if_it_trusts_the_authority() {
    let place = Place::new().await;
    let protected = place.protected(Ending::Closed).await;
    for (name, program) in PROGRAMS {
        let mut command = place.program(program, &protected.address, name);
        let run = command.env("PG_CA_FILE", &protected.authority).output().await.unwrap();
        let (out, err) = printed(run);
        let [paid] = &place.ledger(name).await[..] else { panic!("{name}: not one payment, {out}{err}") };
        assert_eq!(out, format!("paid: {}\n", paid.transaction_key), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_complete_reply_counts_however_its_connection_ends() {
    let place = Place::new().await;
    for ending in [Ending::Cut, Ending::Kept] {
        let protected = place.protected(ending).await;
        for (name, program) in PROGRAMS {
            let order = format!("{name}-{ending:?}");
            let mut command = place.program(program, &protected.address, &order);
            let (out, err) = printed(command.env("PG_CA_FILE", &protected.authority).output().await.unwrap());
            let [paid] = &place.ledger(&order).await[..] else { panic!("{order}: not one payment, {out}{err}") };
            assert_eq!(out, format!("paid: {}\n", paid.transaction_key), "{order}: {err}");
            assert!(!err.contains("maybe sent"), "{order}: {err}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_untrusted_certificate_means_not_sent() {
    let place = Place::new().await;
    let protected = place.protected(Ending::Closed).await;
    for (name, program) in PROGRAMS {
        let run = place.program(program, &protected.address, name).output().await.unwrap();
        let (out, err) = printed(run);
        assert_eq!(out, "not sent\n", "{name}: {err}");
        assert!(!err.contains("maybe sent"), "{name}: {err}");
        assert!(place.ledger(name).await.is_empty(), "{name}");
    }
}

/// An address at which nothing listens, and the socket that reserves its port.
fn closed() -> (TcpSocket, String) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = format!("http://{}", socket.local_addr().unwrap());
    (socket, address)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_connection_means_not_sent() {
    let place = Place::new().await;
    let (_reserved, address) = closed();
    for (name, program) in PROGRAMS {
        let run = place.program(program, &address, name).output().await.unwrap();
        let (out, err) = printed(run);
        assert_eq!(out, "not sent\n", "{name}: {err}");
    }
}

/// A service on this machine may be reached over plain HTTP, and then a proxy would read the card.
#[tokio::test(flavor = "multi_thread")]
async fn no_proxy_of_the_environment_is_used() {
    let place = Place::new().await;
    // A program that used it could not pay.
    let (_reserved, proxy) = closed();
    let others = [("kept_in_a_file", env!("CARGO_BIN_EXE_kept_in_a_file")), ("till", env!("CARGO_BIN_EXE_till"))];
    for (name, program) in PROGRAMS.into_iter().chain(others) {
        let mut command = place.program(program, &place.address(), name);
        for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            command.env(variable, &proxy);
        }
        command.arg(if name == "till" { name } else { "order.json" }).current_dir(place.folder.path());
        let (out, err) = printed(command.output().await.unwrap());
        let [paid] = &place.ledger(name).await[..] else { panic!("{name}: not one payment, {out}{err}") };
        assert!(out.ends_with(&format!("paid: {}\n", paid.transaction_key)), "{name}: {out}{err}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_request_or_reply_is_maybe_sent_and_ends_as_one_payment() {
    let place = Place::new().await;
    for kind in ["drop-request", "drop-reply", "garble"] {
        for (name, program) in PROGRAMS {
            let order = format!("{name}-{kind}");
            place.fault(kind).await;
            let run = place.program(program, &place.address(), &order).output().await.unwrap();
            let (out, err) = printed(run);
            let [paid] = &place.ledger(&order).await[..] else { panic!("{order}: not one payment, {out}{err}") };
            assert_eq!(out, format!("paid: {}\n", paid.transaction_key), "{order}: {err}");
            assert!(!err.contains("not sent"), "{order}: {err}");
            assert_eq!(err.contains("maybe sent"), kind != "garble", "{order}: {err}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_span_of_a_request_tells_its_path_and_status_and_no_secret() {
    let place = Place::new().await;
    let mut command = place.program(env!("CARGO_BIN_EXE_tower_stack"), &place.address(), "order-7");
    let (_, err) = printed(command.output().await.unwrap());
    assert!(err.contains(r#"request{path="/v3/transaction/auth/xml"}"#) && err.contains("status=200"), "{err}");
    let environment = command.as_std().get_envs().filter(|(name, _)| name.to_str().unwrap().contains("KEY"));
    let secrets = environment.filter_map(|(_, value)| value.and_then(|value| value.to_str()));
    for secret in secrets.chain(["4000000000001000"]) {
        assert!(!err.contains(secret), "{err}");
    }
}
