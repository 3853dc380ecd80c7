//! The examples in this crate's documentation need this crate alone.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, path::Path};

/// The code of the documentation below a folder, block by block, with the file's name.
fn blocks(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            blocks(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let docs =
            text.lines().map(|line| line.trim_start().trim_start_matches("///").trim_start_matches("//!").trim());
        let docs = docs.collect::<Vec<_>>().join("\n");
        for block in docs.split("```").skip(1).step_by(2).filter(|block| !block.starts_with("text")) {
            found.push((path.display().to_string(), block.to_owned()));
        }
    }
}

#[test]
fn they_use_no_other_crate() {
    let mut found = Vec::new();
    blocks(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() > 10);
    for (file, block) in found {
        let code = block.replace("\n# ", "\n");
        for root in code.lines().filter_map(|line| line.strip_prefix("use ")) {
            assert!(root.starts_with("pg_proto::") || root.starts_with("std::"), "{file}: use {root}");
        }
        let imported = |name: &str| ["::NAME", "{NAME", " NAME,", " NAME}"].map(|form| form.replace("NAME", name));
        for name in ["http", "bytes"] {
            let one_line = code.replace('\n', " ");
            let used = one_line.replace(&format!("pg_proto::{name}::"), "").replace(&format!(" {name}::Bytes"), "");
            let bare = used.contains(&format!("{name}::"));
            let brought = imported(name).iter().any(|form| one_line.contains(form.as_str()));
            assert!(!bare || brought, "{file}: {name} is not that of pg_proto: {block}");
        }
        assert!(!code.contains("pg_model::") && !code.contains("pg_crypto::"), "{file}: {block}");
    }
}
