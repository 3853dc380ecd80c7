//! Relative links of Markdown pages lead to files, folders and headings that exist; a link that names a function,
//! as [`Type::function()`](file.rs), leads to the file that defines it. A path in a code span, from the root, exists.
//! Some page links to each page below `docs/`.

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
    let linked: BTreeSet<String> = pages.clone().flat_map(targets).collect();
    let reached = |page: &&Source| {
        let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        linked.contains(&page.path) || linked.contains(folder)
    };
    let unlinked = pages
        .clone()
        .filter(|page| page.path.starts_with("docs/") && !reached(page))
        .map(|page| Violation::new(page.path.as_str(), "no page links to it", "add it to the README.md of its folder"));
    pages.flat_map(|page| of_page(page, &texts, &folders)).chain(unlinked).collect()
}

/// The paths that a page links to.
fn targets(page: &Source) -> Vec<String> {
    let file = |link: Link<'_>| link.target.split('#').next().filter(|file| !file.is_empty()).map(str::to_owned);
    links(&page.text).into_iter().filter_map(|(_, link)| resolved(&page.path, &file(link)?)).collect()
}

fn of_page(page: &Source, texts: &BTreeMap<&str, &str>, folders: &BTreeSet<&str>) -> Vec<Violation> {
    let complaint = |(line, link): (usize, Link<'_>)| {
        let (what, remedy) = problem(&page.path, link, texts, folders)?;
        Some(Violation::new(format!("{}:{line}", page.path), format!("links to {}: {what}", link.target), remedy))
    };
    let stale = paths(&page.text).into_iter().filter(|(_, path)| !texts.contains_key(path) && !folders.contains(path));
    let stale = stale.map(|(line, path)| {
        Violation::new(format!("{}:{line}", page.path), format!("names {path}: no such file"), "correct the path")
    });
    links(&page.text).into_iter().filter_map(complaint).chain(stale).collect()
}

/// Every path from the root in a code span that is not a link's text, with its line. Capitals stand for any name.
fn paths(text: &str) -> Vec<(usize, &str)> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/_-.".contains(c);
    let rooted = |span: &str| ["crates/", "docs/", "tests/", "xtask/"].iter().any(|top| span.starts_with(top));
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let pieces: Vec<&str> = line.split('`').collect();
        for pair in pieces.windows(2).skip(1).step_by(2) {
            if rooted(pair[0]) && pair[0].chars().all(plain) && !pair[1].starts_with(']') {
                found.push((index + 1, pair[0].trim_end_matches('/')));
            }
        }
    }
    found
}

/// The error in a link, and the remedy.
fn problem(
    page: &str,
    link: Link<'_>,
    texts: &BTreeMap<&str, &str>,
    folders: &BTreeSet<&str>,
) -> Option<(&'static str, &'static str)> {
    let (file, heading) = link.target.split_once('#').unwrap_or((link.target, ""));
    let path = if file.is_empty() { Some(page.to_owned()) } else { resolved(page, file) };
    let Some(path) = path.filter(|path| texts.contains_key(path.as_str()) || folders.contains(path.as_str())) else {
        return Some(("no such file", "correct the path"));
    };
    let text = texts.get(path.as_str()).copied().unwrap_or_default();
    if link
        .function
        .is_some_and(|name| !text.contains(&format!("fn {name}(")) && !text.contains(&format!("fn {name}<")))
    {
        return Some(("that file defines no such function", "name the function that replaced it, and its file"));
    }
    let known = heading.is_empty() || anchors(text).contains(heading);
    (!known).then_some(("no such heading", "name a heading of that page"))
}

/// A link, and the function that its text names.
#[derive(Clone, Copy)]
struct Link<'t> {
    target: &'t str,
    function: Option<&'t str>,
}

/// What stands before the target of a link within a line. A line may also be `[name]: target`.
const BEFORE_TARGETS: [&str; 2] = ["](", "href=\""];

/// Every relative link with its line. Listings between fences and code spans are not links.
fn links(text: &str) -> Vec<(usize, Link<'_>)> {
    let mut found = Vec::new();
    let mut listing = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            listing = !listing;
        }
        if listing {
            continue;
        }
        let reference = line.strip_prefix('[').and_then(|rest| rest.find("]: ")).map(|at| at + 1);
        let starts =
            BEFORE_TARGETS.iter().flat_map(|before| line.match_indices(before)).chain(reference.map(|at| (at, "]: ")));
        for (at, before) in starts {
            let in_code = line[..at].matches('`').count() % 2 == 1;
            let end = if before == "](" { ')' } else { '"' };
            let target = line[at + before.len()..].split(end).next().unwrap_or_default();
            // A title may be behind the target.
            let target = target.split(" \"").next().unwrap_or_default().trim_end();
            let elsewhere =
                target.contains(':') || target.contains(' ') || target.is_empty() || target.starts_with('/');
            if !in_code && !elsewhere {
                found.push((index + 1, Link { target, function: function(&line[..at]) }));
            }
        }
    }
    found
}

/// The name at the end of a link's text, if that is code and ends with `()`.
fn function(before: &str) -> Option<&str> {
    let name = before.strip_suffix("()`")?;
    let start = name.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    Some(&name[start..])
}

/// The path of a link from the root; `None` outside of the project.
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
            source("README.md", "[a](docs/guide/a.md) [b](docs/b.md)\n"),
            source("src/lib.rs", "impl A {\n    fn go<T>(self) {}\n}\n"),
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
    fn dead_links_of_every_form_are_reported() {
        for link in ["[x](c.md \"title\")", "[x][c]\n\n[c]: c.md", "<a href=\"c.md\">x</a>"] {
            let line = link.lines().count();
            let told = format!("docs/guide/a.md:{line}: links to c.md: no such file; correct the path");
            assert_eq!(complaints(link), [told], "{link}");
        }
        let page = "[x](../b.md \"title\") [x][b] <a href=\"https://example.com/\">y</a>\n\n[b]: ../b.md#named\n";
        assert_eq!(complaints(page), [""; 0]);
    }

    #[test]
    fn a_path_in_a_code_span_exists() {
        assert!(complaints("`docs/guide/a.md` `docs/guide/` `docs/NAME.md` `tests/<name>` `a/b`\n").is_empty());
        assert!(complaints("[`tests/a`](../b.md)\n").is_empty(), "a link is checked as a link");
        assert_eq!(
            complaints("\n`docs/guide/b.md`\n"),
            ["docs/guide/a.md:2: names docs/guide/b.md: no such file; correct the path"]
        );
    }

    #[test]
    fn a_page_without_an_incoming_link_is_reported() {
        let page = |path: &str, text: &str| source(path, text);
        let alone = check(&[page("docs/a.md", "[itself](#a)\n# A\n"), page("README.md", "")]);
        let alone: Vec<String> = alone.iter().map(ToString::to_string).collect();
        assert_eq!(alone, ["docs/a.md: no page links to it; add it to the README.md of its folder"]);
        for readme in ["[a](docs/a.md#a)", "[docs](docs/)"] {
            assert_eq!(check(&[page("docs/a.md", "# A\n"), page("README.md", readme)]), []);
        }
    }

    #[test]
    fn links_to_files_folders_headings_and_addresses_are_fine() {
        let page =
            "# Here\n[a](#here) [b](../b.md#two-words) [c](../b.md#named) [d](../../src/) [e](https://example.com/x)\n";
        assert!(complaints(page).is_empty());
        assert!(complaints("[`A::go()`](../../src/lib.rs) [`A::gone`](../../src/lib.rs)\n").is_empty());
        assert_eq!(
            complaints("[`A::gone()`](../../src/lib.rs)\n"),
            [
                "docs/guide/a.md:1: links to ../../src/lib.rs: that file defines no such function; name the function that replaced it, and its file"
            ]
        );
        assert!(complaints("```\n[x](none.md)\n```\n`[y](none.md)`\n").is_empty(), "listings hold no links");
    }
}
