//! Kills a charging process with SIGKILL between each two of its steps, and restarts it.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use pg_model::Encoding;
use pg_tests::{ledger, shop::Shop};

/// Its final output, or `None` if it was killed.
fn charging(base_url: &str, file: &Path, reference: &str, place: usize) -> Option<String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_charging"))
        .args([base_url, file.to_str().unwrap(), reference, &place.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said = line.trim_end().to_owned();
    if said == "here" {
        // On Unix this is SIGKILL.
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    assert!(said == "here" || status.success(), "{said} {status}");
    (said != "here").then_some(said)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_between_any_two_steps_it_has_charged_once_in_the_end() {
    let shop = Shop::open(Encoding::Json).await;
    let base_url = shop.server.base_url();
    let folder = tempfile::tempdir().unwrap();
    for (name, fault) in [
        ("calm", None),
        ("lost", Some(r#"{"method": "transaction/auth", "kind": "drop-reply"}"#)),
        ("never", Some(r#"{"method": "transaction/auth", "kind": "drop-request"}"#)),
    ] {
        for place in 1.. {
            if let Some(fault) = fault {
                shop.control("faults", fault).await;
            }
            let reference = format!("order-{name}-{place}");
            let file = folder.path().join(format!("{reference}.json"));
            let first = tokio::task::block_in_place(|| charging(&base_url, &file, &reference, place));
            let ended = first.is_some();
            // Kills it at the same place again, if it gets there; then lets it finish.
            let said = first.or_else(|| tokio::task::block_in_place(|| charging(&base_url, &file, &reference, place)));
            let said = said.or_else(|| tokio::task::block_in_place(|| charging(&base_url, &file, &reference, 0)));
            let held = ledger::under(&shop.client, &reference).await;
            let [paid] = &held[..] else { panic!("{reference}: {} payments, it said {said:?}", held.len()) };
            assert_eq!(said, Some(format!("approved {}", paid.transaction_key)), "{reference}");
            if ended {
                assert!(place > 4, "{name}: it passes more than {place} places");
                break;
            }
        }
        let clear = http::Request::delete(format!("{base_url}/_sandbox/faults")).body(bytes::Bytes::new()).unwrap();
        pg_hyper::Transport::send(shop.client.transport(), clear).await.unwrap();
    }
}
