//! A charge that is kept in a file, killed with SIGKILL after every one of its steps.

use std::process::Stdio;

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::Command,
};

use crate::place::{Place, printed};

const PROGRAM: &str = env!("CARGO_BIN_EXE_kept_in_a_file");

/// More steps than a charge has; reaching it means that the charge does not end.
const MOST_STEPS: usize = 40;

fn program(place: &Place, order: &str) -> Command {
    let mut command = place.program(PROGRAM, &place.address(), order);
    command.arg(place.folder.path().join(format!("{order}.json")));
    command
}

/// Kills the program after the given number of steps. Returns the steps, and whether the program ended before.
async fn kill_after(steps: usize, mut command: Command) -> (Vec<String>, bool) {
    let mut child = command.arg("--step").stdin(Stdio::piped()).spawn().unwrap();
    let mut enter = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut made = Vec::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.starts_with("paid") {
            assert!(child.wait().await.unwrap().success());
            return (made, true);
        }
        made.push(line);
        if made.len() == steps {
            break;
        }
        enter.write_all(b"\n").await.unwrap();
    }
    // SIGKILL, while it waits for Enter.
    child.kill().await.unwrap();
    (made, false)
}

async fn killed_after_each_step(faults: &[&str]) -> Vec<String> {
    let place = Place::new().await;
    for steps in 1..MOST_STEPS {
        let order = format!("order-{steps}");
        for fault in faults {
            place.fault(fault).await;
        }
        let (made, ended) = kill_after(steps, program(&place, &order)).await;
        if !ended {
            let (out, err) = printed(program(&place, &order).output().await.unwrap());
            let [paid] = &place.ledger(&order).await[..] else { panic!("after {made:?}: not one payment, {out}{err}") };
            assert_eq!(paid.transaction_status_code, "600");
            assert!(out.ends_with(&format!("\npaid: {}\n", paid.transaction_key)), "after {made:?}: {out}{err}");
        }
        place.no_more_faults().await;
        assert_eq!(place.ledger(&order).await.len(), 1, "after {made:?}");
        assert!(!place.folder.path().join(format!("{order}.json")).exists());
        if ended {
            return made;
        }
    }
    panic!("it does not end");
}

#[tokio::test(flavor = "multi_thread")]
async fn when_all_goes_well() {
    let steps = killed_after_each_step(&[]).await;
    assert_eq!(steps, ["decided to send", "stored", "sent /v3/transaction/auth/xml", "done"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_reply_is_lost() {
    let steps = killed_after_each_step(&["drop-reply"]).await;
    assert_eq!(steps.len(), 8, "{steps:?}");
    assert_eq!(steps[3..], ["waiting", "decided to send", "stored", "sent /v3/transaction/lookup/xml", "done"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_request_is_lost() {
    let steps = killed_after_each_step(&["drop-request"]).await;
    // The lookup finds nothing, so the machine pays again with the same reference.
    assert_eq!(steps.iter().filter(|step| step.ends_with("/auth/xml")).count(), 2, "{steps:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn when_both_payments_lose_their_replies() {
    killed_after_each_step(&["drop-request", "drop-reply"]).await;
}

/// Without its state, the next start would send the payment without a lookup.
#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_payment_is_looked_up_at_the_next_starts_and_never_sent_again() {
    let place = Place::new().await;
    place.fault("drop-request").await;
    place.no_lookups().await;
    let run = async || printed(program(&place, "order-7").output().await.unwrap());
    let (out, err) = run().await;
    assert!(out.contains("\nunknown: ") && out.contains("/auth/xml"), "{out}{err}");
    place.no_more_faults().await;
    for _ in 0..2 {
        let (out, err) = run().await;
        assert!(out.contains("\nunknown: ") && !out.contains("/auth/xml"), "{out}{err}");
    }
    assert!(place.ledger("order-7").await.is_empty());
}

/// Kills the program between two steps: the service has paid, and the reply has not arrived.
#[tokio::test(flavor = "multi_thread")]
async fn while_the_reply_is_on_its_way() {
    let place = Place::new().await;
    // Longer than the test takes; the sandbox commits first and replies afterwards.
    place.delay(3_600_000).await;
    let mut child = program(&place, "order-7").spawn().unwrap();
    while place.ledger("order-7").await.is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
    }
    child.kill().await.unwrap();
    let (out, err) = printed(program(&place, "order-7").output().await.unwrap());
    let [paid] = &place.ledger("order-7").await[..] else { panic!("not one payment, {out}{err}") };
    assert!(out.ends_with(&format!("\npaid: {}\n", paid.transaction_key)), "{out}{err}");
}
