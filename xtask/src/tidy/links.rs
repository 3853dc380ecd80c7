//! Relative links of Markdown pages lead to files, folders and headings that exist.

use std::collections::{BTreeMap, BTreeSet};

use super::{Source, Violation};
use crate::codegen::anchor;

/// Checks every page.
pub(super) fn check(sources: &[Source]) -> Vec<Violation> {
    let texts: BTreeMap<&str, &str> =
        sources.iter().map(|source| (source.path.as_str(), source.text.as_str())).collect();
    let folders: BTreeSet<&str> =
        texts.keys().flat_map(|path| path.match_indices('/').map(|(at, _)| &path[..at])).collect();
    let pages = sources.iter().filter(|source| source.path.ends_with(".md"));
    pages.flat_map(|page| of_page(page, &texts, &folders)).collect()
}

fn of_page(page: &Source, texts: &BTreeMap<&str, &str>, folders: &BTreeSet<&str>) -> Vec<Violation> {
    let complaint = |(line, target): (usize, &str)| {
        let (what, remedy) = problem(&page.path, target, texts, folders)?;
        Some(Violation::new(format!("{}:{line}", page.path), format!("links to {target}: {what}"), remedy))
    };
    links(&page.text).into_iter().filter_map(complaint).collect()
}

/// What is wrong with a link, and what to do about it.
fn problem(
    page: &str,
    target: &str,
    texts: &BTreeMap<&str, &str>,
    folders: &BTreeSet<&str>,
) -> Option<(&'static str, &'static str)> {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { Some(page.to_owned()) } else { resolved(page, file) };
    let Some(path) = path.filter(|path| texts.contains_key(path.as_str()) || folders.contains(path.as_str())) else {
        return Some(("no such file", "correct the path"));
    };
    let known = heading.is_empty() || texts.get(path.as_str()).is_some_and(|text| anchors(text).contains(heading));
    (!known).then_some(("no such heading", "name a heading of that page"))
}

/// Every relative link with its line. Listings between fences and code spans are not links.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut listing = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            listing = !listing;
        }
        if listing {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            let in_code = line[..at].matches('`').count() % 2 == 1;
            let target = line[at + 2..].split(')').next().unwrap_or_default();
            let elsewhere =
                target.contains(':') || target.contains(' ') || target.is_empty() || target.starts_with('/');
            if !in_code && !elsewhere {
                found.push((index + 1, target));
            }
        }
    }
    found
}

/// The path from the root of what a page names; `None` if that is outside of the project.
fn resolved(page: &str, file: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in file.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    let headings = headings.map(|heading| anchor(heading.trim_start_matches('#').trim()));
    let named = text.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned);
    headings.chain(named).collect()
}

#[cfg(test)]
mod tests {
    use super::super::source;
    use super::*;

    fn complaints(page: &str) -> Vec<String> {
        let sources = [
            source("docs/guide/a.md", page),
            source("docs/b.md", "# Two words\n<a id=\"named\"></a>\n"),
            source("src/lib.rs", ""),
        ];
        check(&sources).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn dead_links_are_reported_with_their_line() {
        assert_eq!(
            complaints("[x](../b.md) [y](../c.md)\n[z](b.md#two-words)\n[h](../b.md#three) [up](../../../x)\n"),
            [
                "docs/guide/a.md:1: links to ../c.md: no such file; correct the path",
                "docs/guide/a.md:2: links to b.md#two-words: no such file; correct the path",
                "docs/guide/a.md:3: links to ../b.md#three: no such heading; name a heading of that page",
                "docs/guide/a.md:3: links to ../../../x: no such file; correct the path",
            ]
        );
        assert_eq!(
            complaints("[a](#none)"),
            ["docs/guide/a.md:1: links to #none: no such heading; name a heading of that page"]
        );
    }

    #[test]
    fn links_to_files_folders_headings_and_addresses_are_fine() {
        let page =
            "# Here\n[a](#here) [b](../b.md#two-words) [c](../b.md#named) [d](../../src/) [e](https://example.com/x)\n";
        assert!(complaints(page).is_empty());
        assert!(complaints("```\n[x](none.md)\n```\n`[y](none.md)`\n").is_empty(), "listings hold no links");
    }
}
