//! What is generated from the drills is fresh.

use std::{fs, path::Path};

fn documents() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference")
}

#[test]
fn the_page_of_drills_is_fresh() {
    let path = documents().join("drills.md");
    let page = pg_rehearse::page();
    if std::env::var_os("PG_BLESS").is_some() {
        fs::write(&path, &page).expect("it works");
    }
    let held = fs::read_to_string(&path).unwrap_or_default();
    assert!(held == page, "{} is not fresh: run this test with PG_BLESS=1", path.display());
}
