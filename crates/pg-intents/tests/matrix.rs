//! The failure matrix of the internals names tests. They exist. The guide says how many failures it has.

use std::{fs, path::Path};

const PAGE: &str = include_str!("../../../docs/internals/fleet.md");
const GUIDE: &str = include_str!("../../../docs/guide/fleet.md");

#[test]
fn every_row_of_the_failure_matrix_names_a_test_that_exists() {
    let mut sources = String::new();
    for folder in ["tests", "src/sqlite"] {
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                sources += &fs::read_to_string(path).unwrap();
            }
        }
    }
    let matrix = PAGE.split("\n## ").find(|section| section.starts_with("Failures\n")).expect("the matrix is there");
    let rows: Vec<&str> = matrix.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() > 10, "{rows:?}");
    assert!(GUIDE.contains(&format!(" has {} failures", rows.len())), "the guide does not say {}", rows.len());
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let tests: Vec<&str> = cells.last().unwrap().split('`').skip(1).step_by(2).collect();
        assert!(cells.len() == 5 && !tests.is_empty() && cells.iter().all(|cell| !cell.trim().is_empty()), "{row}");
        for test in tests {
            let (sync, with_async) = (format!("#[test]\nfn {test}()"), format!("async fn {test}()"));
            assert!(sources.contains(&sync) || sources.contains(&with_async), "no test {test}: {row}");
        }
    }
}
