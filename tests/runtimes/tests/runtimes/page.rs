//! The program of `docs/custom-runtime.md`: the same text, and it does what the page says.

use crate::place::{Place, printed};

const PROGRAM: &str = env!("CARGO_BIN_EXE_till");

#[test]
fn the_page_shows_the_program_that_is_tested() {
    let page = include_str!("../../../../docs/custom-runtime.md");
    let shown = page.split("```rust,no_run\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let program = include_str!("../../src/bin/till.rs");
    assert!(shown.starts_with("use std::{") && program.ends_with(&format!("\n\n{shown}")), "they differ");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_pays_once_however_often_it_is_run_and_whatever_is_lost() {
    let place = Place::new().await;
    for fault in [None, Some("drop-reply")] {
        if let Some(kind) = fault {
            place.fault(kind).await;
        }
        let order = fault.unwrap_or("order-7");
        for _ in 0..2 {
            let mut till = place.program(PROGRAM, &place.address(), "");
            let (out, _) = printed(till.arg(order).current_dir(place.folder.path()).output().await.unwrap());
            let [paid] = &place.ledger(order).await[..] else { panic!("{order}: not one payment") };
            assert_eq!(out, format!("paid: {}\n", paid.transaction_key));
        }
        assert!(place.folder.path().join(format!("{order}.json")).exists());
    }
}
