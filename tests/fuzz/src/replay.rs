//! Replays the corpus and every past crash.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::{TARGETS, Target};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn replay(name: &str) {
    let target: Target = TARGETS.iter().find(|(known, _)| *known == name).unwrap().1;
    let corpus = files(&folder("corpus").join(name));
    assert!(!corpus.is_empty(), "{name} has no corpus");
    for path in corpus.into_iter().chain(files(&folder("regressions").join(name))) {
        let input = fs::read(&path).unwrap();
        // Names the file only if the target fails.
        if std::panic::catch_unwind(|| target(&input)).is_err() {
            panic!("{} breaks a property of {name}", path.display());
        }
    }
}

#[test]
fn amount() {
    replay("amount");
}

#[test]
fn callback() {
    replay("callback");
}

#[test]
fn config() {
    replay("config");
}

#[test]
fn form() {
    replay("form");
}

#[test]
fn json() {
    replay("json");
}

#[test]
fn machines() {
    replay("machines");
}

#[test]
fn mask() {
    replay("mask");
}

#[test]
fn receiver() {
    replay("receiver");
}

#[test]
fn redirect() {
    replay("redirect");
}

#[test]
fn reply() {
    replay("reply");
}

#[test]
fn request() {
    replay("request");
}

#[test]
fn sandbox() {
    replay("sandbox");
}

#[test]
fn saved() {
    replay("saved");
}

#[test]
fn session_data() {
    replay("session_data");
}

#[test]
fn signing() {
    replay("signing");
}

#[test]
fn xml() {
    replay("xml");
}

#[test]
fn every_target_has_a_harness_a_corpus_and_a_replay() {
    let names: BTreeSet<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    let own = include_str!("replay.rs");
    let manifest = fs::read_to_string(folder("Cargo.toml")).unwrap();
    for name in &names {
        let harness = fs::read_to_string(folder("fuzz_targets").join(format!("{name}.rs"))).unwrap();
        assert!(harness.contains(&format!("pg_fuzz::harness!({name});")), "{name}");
        assert!(own.contains(&format!("    replay(\"{name}\");\n")), "{name} is not replayed");
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
    }
    let harnesses = files(&folder("fuzz_targets")).len();
    assert_eq!(harnesses, names.len());
    for kept in ["corpus", "regressions"] {
        for path in files(&folder(kept)) {
            assert!(names.contains(path.file_name().unwrap().to_str().unwrap()), "{}", path.display());
        }
    }
}

#[test]
fn the_corpus_is_small() {
    let bytes: u64 = files(&folder("corpus"))
        .iter()
        .flat_map(|target| files(target))
        .map(|path| fs::metadata(path).unwrap().len())
        .sum();
    assert!(bytes < 1 << 20, "{bytes} bytes");
}
