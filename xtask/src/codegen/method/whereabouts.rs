//! The places of everything that belongs to a method, searched in the files, so that they are always right.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::super::{
    REFERENCE, RUST, files_below,
    names::snake,
    reference::markdown,
    tables::{Method, Service},
};

/// The sandbox's side of the methods, which is written by hand.
const SANDBOX: &str = "crates/pg-sandbox/src/service";

/// One thing and its place.
#[derive(Debug)]
pub(super) struct Whereabouts {
    /// What it is, in a few words.
    pub(super) what: &'static str,
    /// `file:line`, and more lines of the same file where there are more.
    pub(super) at: Option<String>,
}

/// Everything that belongs to a method, from its request to its handler.
pub(super) fn of(root: &Path, service: &Service, method: &Method) -> Vec<Whereabouts> {
    let rust = &method.rust;
    let request = format!("{RUST}/methods/{}.rs", snake(rust));
    let in_request = |what, holds: &str| one(root, what, &request, holds);
    let mut all = vec![
        in_request("request type", &format!("pub struct {rust} {{")),
        in_request("signing order, and way back from a form", "request_fields! {"),
        one(root, "validator", "crates/pg-model/src/check.rs", "pub(crate) fn each_field("),
        in_request("facts at run time", "pub(crate) static INFO: MethodInfo"),
    ];
    if method.cross {
        let rule = format!("pub(crate) fn {}(", snake(rust));
        all.push(one(root, "rule between fields", "crates/pg-model/src/cross.rs", &rule));
    }
    let reply = if method.reply.is_empty() { "RedirectData" } else { &method.reply };
    all.push(one(root, "reply", &format!("{RUST}/records/{}.rs", snake(reply)), &format!("pub struct {reply} {{")));
    let page = format!("{REFERENCE}/{}.md", service.info.name);
    all.push(one(root, "reference", &page, &format!("## {}", markdown::text(&method.name))));
    all.push(one(root, "OpenAPI path", OPENAPI, &format!("  {}{}:", service.info.prefix, method.name)));
    all.push(one(root, "OpenAPI schema", OPENAPI, &format!("    {rust}:")));
    all.push(several(
        root,
        "tests",
        "docs/internals/coverage.md",
        &format!("| `{}/{}`", service.info.name, method.name),
    ));
    all.push(handler(root, rust));
    all
}

const OPENAPI: &str = "docs/reference/openapi.yaml";

/// The first line that is the wanted one, or begins with it.
fn one(root: &Path, what: &'static str, file: &str, holds: &str) -> Whereabouts {
    let found = lines(root, Path::new(file), |line| is_it(line, holds)).first().copied();
    Whereabouts { what, at: found.map(|line| format!("{file}:{line}")) }
}

/// Every line that begins with the wanted one, as ranges.
fn several(root: &Path, what: &'static str, file: &str, holds: &str) -> Whereabouts {
    let found = lines(root, Path::new(file), |line| line.starts_with(holds));
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for line in found {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == line => *last = line,
            _ => ranges.push((line, line)),
        }
    }
    let shown: Vec<String> = ranges
        .iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first} to {last}") })
        .collect();
    let at = (!shown.is_empty()).then(|| format!("{file}:{}", shown.join(", ")));
    Whereabouts { what, at }
}

/// The file in which the sandbox carries the method out.
fn handler(root: &Path, rust: &str) -> Whereabouts {
    let mut files: Vec<PathBuf> = files_below(root, Path::new(SANDBOX)).unwrap_or_default();
    files.sort();
    let ways = [format!("impl Serve for {rust} {{"), format!("{rust}::from_parameters(")];
    let at = ways.iter().find_map(|holds| {
        files.iter().find_map(|file| {
            let line = *lines(root, file, |line| line.contains(holds)).first()?;
            Some(format!("{}:{line}", file.display()))
        })
    });
    Whereabouts { what: "sandbox", at }
}

fn is_it(line: &str, holds: &str) -> bool {
    // Headings and keys must match as whole lines: another method may begin with the same text.
    if holds.starts_with('#') || holds.ends_with(':') { line == holds } else { line.trim_start().starts_with(holds) }
}

/// The numbers of the lines that are wanted.
fn lines(root: &Path, file: &Path, wanted: impl Fn(&str) -> bool) -> Vec<usize> {
    let text = fs::read_to_string(root.join(file)).unwrap_or_default();
    text.lines().enumerate().filter(|(_, line)| wanted(line)).map(|(at, _)| at + 1).collect()
}
