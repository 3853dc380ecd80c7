//! The changes between two listings of a crate, and whether programs that use the crate still compile.
//!
//! The rules are those of Cargo's page on semantic versioning, as far as a listing shows them: signatures are compared as they are
//! written, without the names of their parameters, so that a bound that was relaxed counts as breaking too.

use std::collections::{BTreeMap, BTreeSet};

/// What changed in a crate.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// Programs that compiled may no longer compile.
    pub(super) breaking: Vec<String>,
    /// What is new, and what promises more.
    pub(super) additive: Vec<String>,
}

/// Compares the listing of a release with a later one.
pub(super) fn changes(before: &str, after: &str) -> Changes {
    let (before, after) = (blocks(before), blocks(after));
    let mut changes = Changes::default();
    for (item, old) in &before {
        match after.get(item) {
            Some(new) => old.compare(new, &mut changes),
            None => changes.breaking.push(format!("{item} was removed")),
        }
    }
    changes
        .additive
        .extend(after.keys().filter(|item| !before.contains_key(*item)).map(|item| format!("{item} is new")));
    changes
}

const KINDS: [&str; 9] = ["fn", "struct", "enum", "trait", "type", "static", "mod", "use", "const"];

/// An item of a listing with all that belongs to it.
struct Block {
    /// Its kind and path.
    name: String,
    kind: &'static str,
    /// The attributes before its first line.
    marks: BTreeSet<String>,
    /// The rest of that line.
    head: String,
    /// By what they are: `field price`, `fn new`, `impl Default for Tea`.
    members: BTreeMap<String, Member>,
    derived: BTreeSet<String>,
    /// A struct with private fields, which other crates cannot construct with a literal.
    hides: bool,
}

struct Member {
    marks: BTreeSet<String>,
    text: String,
    /// Of a trait: an implementation may leave it out.
    provided: bool,
}

fn blocks(listing: &str) -> BTreeMap<String, Block> {
    let parsed = listing.split("\n\n").filter_map(|block| Block::parse(block.trim_end()));
    parsed.map(|block| (block.name.clone(), block)).collect()
}

impl Block {
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let (marks, head) = without_marks(lines.next()?);
        let (kind, path) = named(head)?;
        let mut block = Self {
            name: format!("{kind} {path}"),
            kind,
            marks,
            head: signature(head),
            members: BTreeMap::new(),
            derived: BTreeSet::new(),
            hides: false,
        };
        let mut inside = "";
        for line in lines.filter_map(|line| line.strip_prefix("    ")) {
            // Entries for some types only are indented by four more spaces.
            let (owner, line) = match line.strip_prefix("    ") {
                Some(line) => (inside, line),
                None => ("", line),
            };
            if line == "…" {
                block.hides = true;
            } else if let Some(traits) = line.strip_prefix("derive ") {
                block.derived.extend(traits.split(", ").map(str::to_owned));
            } else {
                let (marks, text) = without_marks(line);
                inside = if owner.is_empty() && text.starts_with("impl") { text } else { inside };
                let name = [owner, &block.member_name(text)].join(" ").trim().to_owned();
                let provided = text.ends_with("{ … }");
                block.members.insert(name, Member { marks, text: signature(text), provided });
            }
        }
        Some(block)
    }

    fn member_name(&self, text: &str) -> String {
        let word =
            |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default().to_owned();
        if text.starts_with("impl") {
            return text.to_owned();
        }
        if let Some((_, after)) = text.split_once("fn ").filter(|(before, _)| is_modifiers(before)) {
            return format!("fn {}", word(after));
        }
        for kind in ["const ", "type "] {
            if let Some(rest) = text.strip_prefix(kind) {
                return format!("{kind}{}", word(rest));
            }
        }
        format!("{} {}", if self.kind == "enum" { "variant" } else { "field" }, word(text))
    }

    fn is_open(&self) -> bool {
        self.hides || self.marks.contains("#[non_exhaustive]")
    }

    fn compare(&self, new: &Self, changes: &mut Changes) {
        let item = &self.name;
        if let Some(breaking) = changed(&self.head, &new.head) {
            let list = if breaking { &mut changes.breaking } else { &mut changes.additive };
            list.push(format!("{item} was `{}` and is `{}`", self.head, new.head));
        }
        compare_marks(item, &self.marks, &new.marks, changes);
        if self.kind == "struct" && new.hides && !self.is_open() {
            changes.breaking.push(format!("{item} has private fields now, so a struct literal no longer makes it"));
        }
        for lost in self.derived.difference(&new.derived) {
            // A trait may be written out instead of derived.
            let simple = lost.rsplit("::").next().unwrap_or(lost);
            if !new.members.keys().any(|name| name.starts_with("impl") && name.contains(&format!("{simple} for "))) {
                changes.breaking.push(format!("{item} no longer derives {lost}"));
            }
        }
        changes.additive.extend(new.derived.difference(&self.derived).map(|more| format!("{item} derives {more}")));
        for (name, old) in &self.members {
            let Some(new) = new.members.get(name) else {
                let derived = new
                    .derived
                    .iter()
                    .any(|derived| name.starts_with("impl") && name.contains(&format!("{derived} for ")));
                if !derived {
                    changes.breaking.push(format!("{item}: {name} was removed"));
                }
                continue;
            };
            if let Some(breaking) = changed(&old.text, &new.text) {
                let list = if breaking { &mut changes.breaking } else { &mut changes.additive };
                list.push(format!("{item}: {name} was `{}` and is `{}`", old.text, new.text));
            }
            if old.provided && !new.provided {
                changes.breaking.push(format!("{item}: {name} is required now"));
            }
            compare_marks(&format!("{item}: {name}"), &old.marks, &new.marks, changes);
        }
        for (name, added) in new.members.iter().filter(|(name, _)| !self.members.contains_key(*name)) {
            self.compare_added(name, added, changes);
        }
    }

    fn compare_added(&self, name: &str, added: &Member, changes: &mut Changes) {
        let item = &self.name;
        let required = self.kind == "trait" && !name.starts_with("impl") && !added.provided;
        let shown = name.starts_with("field") || name.starts_with("variant");
        if required {
            changes.breaking.push(format!("{item}: {name} is new and required"));
        } else if shown && !self.is_open() {
            changes.breaking.push(format!("{item}: {name} is new, and the item was not #[non_exhaustive]"));
        } else {
            changes.additive.push(format!("{item}: {name} is new"));
        }
    }
}

/// Conditions and `#[non_exhaustive]` take away when they come, and give when they go; `#[deprecated]` only warns.
fn compare_marks(item: &str, old: &BTreeSet<String>, new: &BTreeSet<String>, changes: &mut Changes) {
    for mark in new.difference(old) {
        let warns = mark.starts_with("#[deprecated");
        let list = if warns { &mut changes.additive } else { &mut changes.breaking };
        list.push(format!("{item} is {mark} now"));
    }
    changes.additive.extend(old.difference(new).map(|mark| format!("{item} is no longer {mark}")));
}

/// Whether a signature changed, and whether the change breaks programs: an added `const` does not.
fn changed(old: &str, new: &str) -> Option<bool> {
    (old != new).then(|| new.strip_prefix("const ") != Some(old))
}

fn without_marks(mut line: &str) -> (BTreeSet<String>, &str) {
    let mut marks = BTreeSet::new();
    while line.starts_with("#[") {
        let Some(end) = closing(line, 1) else { break };
        marks.insert(line[..=end].to_owned());
        line = line[end + 1..].trim_start();
    }
    (marks, line)
}

/// The kind of an item and its path, from its first line.
fn named(head: &str) -> Option<(&'static str, &str)> {
    let words: Vec<&str> = head.split_whitespace().collect();
    let at = words.iter().position(|word| word.starts_with("pg_") || word.contains("::"))?;
    let kind = KINDS.into_iter().find(|kind| at > 0 && words[at - 1] == *kind)?;
    let end = words[at].find(['<', '(', ':']).map_or(words[at].len(), |_| path_end(words[at]));
    Some((kind, &words[at][..end]))
}

/// The end of a module path: at `<`, `(`, or a single colon.
fn path_end(word: &str) -> usize {
    let bytes = word.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'<' | b'(' => return at,
            b':' if bytes.get(at + 1) == Some(&b':') => at += 2,
            b':' => return at,
            _ => at += 1,
        }
    }
    at
}

fn is_modifiers(words: &str) -> bool {
    words.split_whitespace().all(|word| ["const", "async", "unsafe", "extern"].contains(&word))
}

/// A signature without the names of its parameters, which callers do not write.
fn signature(text: &str) -> String {
    let text = text.strip_suffix(" { … }").unwrap_or(text);
    let is_function = text.split_once("fn ").is_some_and(|(before, _)| is_modifiers(before));
    let open = parameters(text).filter(|_| is_function);
    let Some((open, close)) = open.and_then(|open| Some((open, closing(text, open)?))) else { return text.to_owned() };
    let parameters: Vec<&str> = pieces(&text[open + 1..close]).into_iter().map(without_name).collect();
    format!("{}({}){}", &text[..open], parameters.join(", "), &text[close + 1..])
}

fn without_name(parameter: &str) -> &str {
    let parameter = parameter.trim();
    match parameter.strip_prefix("mut ").unwrap_or(parameter) {
        receiver if receiver.starts_with("self") => receiver,
        // A pattern such as `(month, year): (u8, u16)` ends at the colon outside all brackets.
        named => match outside(named, ':') {
            Some(at) if !named[at..].starts_with("::") => named[at + 1..].trim_start(),
            _ => named,
        },
    }
}

/// Where the parameters of a function begin: at the first parenthesis outside its generics.
fn parameters(text: &str) -> Option<usize> {
    outside(text, '(')
}

/// The first place of a character outside all brackets.
fn outside(text: &str, wanted: char) -> Option<usize> {
    let mut depth = 0;
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        if depth == 0 && c == wanted {
            return Some(at);
        }
        depth += step(last, c);
        last = c;
    }
    None
}

/// How a character changes the depth of brackets; `->` closes none.
fn step(last: char, c: char) -> i32 {
    match c {
        '(' | '[' | '<' | '{' => 1,
        '>' if last == '-' || last == '=' => 0,
        ')' | ']' | '>' | '}' => -1,
        _ => 0,
    }
}

/// The place that closes the bracket at `open`.
fn closing(text: &str, open: usize) -> Option<usize> {
    let (mut depth, mut last) = (0, ' ');
    for (at, c) in text[open..].char_indices() {
        depth += step(last, c);
        last = c;
        if depth == 0 {
            return Some(open + at);
        }
    }
    None
}

/// The parts between commas outside all brackets.
fn pieces(mut text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    while let Some(at) = outside(text, ',') {
        found.push(&text[..at]);
        text = &text[at + 1..];
    }
    found.push(text);
    found.retain(|piece| !piece.trim().is_empty());
    found
}

#[cfg(test)]
mod tests;
