//! The tables of planted bugs in `docs/internals/reliability.md`. `PG_BLESS=1` writes them there.

use std::{env, fs, path::Path};

use pg_simulation::{fleets, planted};

#[test]
fn the_page_has_the_table_of_bugs() {
    is_fresh("| planted bug |", &planted::table());
}

#[test]
fn the_page_has_the_table_of_bugs_of_stores() {
    is_fresh("| planted bug of the store |", &fleets::table());
}

/// The table that begins with this heading is the one that is made now.
fn is_fresh(heading: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/internals/reliability.md");
    let page = fs::read_to_string(&path).expect("the page");
    let begin = page.find(heading).expect("a table of planted bugs");
    let end = begin + page[begin..].find("|\n\n").expect("its end") + "|\n".len();
    if env::var_os("PG_BLESS").is_some() {
        fs::write(&path, format!("{}{table}{}", &page[..begin], &page[end..])).expect("the page is written");
        return;
    }
    let listed = &page[begin..end];
    let other =
        table.lines().find(|row| !listed.contains(row)).or_else(|| listed.lines().find(|row| !table.contains(row)));
    let bless = "run PG_BLESS=1 cargo test -p pg-simulation --test all_of_simulation reliability -- --test-threads 1";
    assert!(listed == table, "the table in {} differs, at first in {other:?}; {bless}", path.display());
}
