//! Checks the program of `docs/guide/custom-runtime.md`: the same text, and the documented behaviour.

use crate::place::{Place, printed};

const PROGRAM: &str = env!("CARGO_BIN_EXE_till");

#[test]
fn the_page_shows_the_program_that_is_tested() {
    let page = include_str!("../../../../docs/guide/custom-runtime.md");
    let shown = page.split("```rust,no_run\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let program = include_str!("../../src/bin/till.rs");
    assert!(shown.starts_with("use std::{") && program.ends_with(&format!("\n\n{shown}")), "they differ");
}

/// A driver that follows the page loses no checkout: `killed_checkout` kills a program that does.
#[test]
fn the_page_says_to_store_a_machine_before_it_sends_and_before_it_asks() {
    let page = include_str!("../../../../docs/guide/custom-runtime.md");
    for (action, events) in [("Send(", ["Reply(", "Failed("]), ("Ask(", ["Input(", "Woken"])] {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{action}"))).unwrap();
        assert!(row.contains("store `save()`, **then** "), "{row}");
        assert!(events.iter().all(|event| row.contains(event)), "{row}");
    }
    assert!(page.contains("\n1. **Save before sending and before asking.**"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_pays_once_however_often_it_is_run_and_whatever_is_lost() {
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
        // The outcome is noted, and there is no machine left to resume.
        let exists = |ending: &str| place.folder.path().join(format!("{order}.{ending}")).exists();
        assert!(exists("txt") && !exists("json"), "{order}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_reads_the_dialect_of_the_service_before_it_pays() {
    let place = Place::new().await;
    let mut till = place.program(PROGRAM, &place.address(), "");
    till.env("PG_DIALECT", place.folder.path().join("missing.toml"));
    let ended = till.arg("order-7").current_dir(place.folder.path()).output().await.unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success() && said.contains("PG_DIALECT: ") && said.contains("missing.toml: "), "{said}");
    assert!(place.ledger("order-7").await.is_empty());
    let page = include_str!("../../../../docs/guide/custom-runtime.md");
    assert!(page.contains("\n$ export PG_DIALECT=../pg/crates/pg-sandbox/dialects/sandbox.toml\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variable_that_is_missing_is_named() {
    let place = Place::new().await;
    for name in ["PG_BASE_URL", "PG_API_KEY", "PG_API_PASSWORD", "PG_SHA_KEY"] {
        let mut till = place.program(PROGRAM, &place.address(), "");
        let ended = till.env_remove(name).arg("order-7").current_dir(place.folder.path()).output().await.unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(!ended.status.success() && said.contains(&format!("{name} is not set")), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_cannot_be_stored_sends_nothing() {
    let place = Place::new().await;
    // A folder is in the place of the file.
    std::fs::create_dir(place.folder.path().join("order-7.json.new")).unwrap();
    let mut till = place.program(PROGRAM, &place.address(), "");
    let (out, _) = printed(till.arg("order-7").current_dir(place.folder.path()).output().await.unwrap());
    assert_eq!(out, "not paid: NotSent\n");
    assert!(place.ledger("order-7").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_outcome_is_never_begun_anew() {
    let place = Place::new().await;
    let run = || async {
        let mut till = place.program(PROGRAM, &place.address(), "");
        till.arg("order-7").current_dir(place.folder.path()).output().await.unwrap()
    };
    // Without the machine, the program has no key to look up and does not start a new charge.
    std::fs::write(place.folder.path().join("order-7.txt"), "unknown, run this again later").unwrap();
    assert!(!run().await.status.success());
    assert!(place.ledger("order-7").await.is_empty());
}

/// The page lists the imports of each example correctly.
#[test]
fn the_page_names_the_files_to_copy_along() {
    let page = include_str!("../../../../docs/guide/custom-runtime.md");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin");
    let mut examples = 0;
    for row in page.lines().filter(|line| line.starts_with("| `") && line.contains(".rs` |")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let text = std::fs::read_to_string(folder.join(cells[1].trim_matches('`'))).unwrap();
        let imports = text.split_once("use pg_runtimes::").map_or("", |(_, rest)| rest.split(';').next().unwrap());
        for module in ["driving", "shop", "tls"] {
            let words = imports.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let imported = words.clone().any(|word| word == module);
            assert_eq!(imported, cells[3].contains(&format!("`{module}`")), "{row}");
        }
        examples += 1;
    }
    assert_eq!(examples, std::fs::read_dir(folder).unwrap().count());
}
