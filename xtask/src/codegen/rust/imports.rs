//! The `use` lines of a generated file.

use std::collections::{BTreeMap, BTreeSet};

/// What a file takes from `alloc` and from the crate, by path below it.
#[derive(Default)]
pub(super) struct Imports {
    alloc: BTreeSet<String>,
    own: BTreeSet<String>,
}

impl Imports {
    /// Something of the crate, such as `CardKey`, `check` or `field::Field`.
    pub(super) fn own(&mut self, path: impl Into<String>) {
        self.own.insert(path.into());
    }

    /// Everything of a list that the code uses: each word, and the path that it stands for.
    pub(super) fn used(&mut self, code: &str, words: &[(&str, &str)]) {
        self.own.extend(words.iter().filter(|(word, _)| code.contains(word)).map(|(_, path)| (*path).to_owned()));
    }

    /// Text and lists, where the code uses them; the words say how that looks.
    pub(super) fn alloc(&mut self, code: &str, words: &[(&str, &str)]) {
        self.alloc.extend(words.iter().filter(|(word, _)| code.contains(word)).map(|(_, path)| (*path).to_owned()));
    }

    /// The lines, and an empty one after each kind.
    pub(super) fn lines(&self) -> String {
        let line = |root: &str, paths: &BTreeSet<String>| match paths.len() {
            0 => String::new(),
            _ => format!("use {root}::{{{}}};\n\n", merged(paths)),
        };
        line("alloc", &self.alloc) + &line("crate", &self.own)
    }
}

/// Names of the same module in one pair of brackets.
fn merged(paths: &BTreeSet<String>) -> String {
    let mut modules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in paths {
        let (module, name) = path.rsplit_once("::").unwrap_or(("", path));
        modules.entry(module).or_default().push(name);
    }
    let parts: Vec<String> = modules
        .iter()
        .map(|(module, names)| match (module.is_empty(), names.len()) {
            (true, _) => names.join(", "),
            (false, 1) => format!("{module}::{}", names[0]),
            (false, _) => format!("{module}::{{{}}}", names.join(", ")),
        })
        .collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::Imports;

    #[test]
    fn names_of_one_module_share_brackets() {
        let mut imports = Imports::default();
        imports.own("CardKey");
        imports.used(
            "Field Length",
            &[("Length", "field::Length"), ("Field", "field::Field"), ("Named", "parameters::Named")],
        );
        imports.own("generated::groups::references");
        imports.alloc("Vec", &[("Vec", "vec::Vec"), ("String", "string::String")]);
        assert_eq!(
            imports.lines(),
            "use alloc::{vec::Vec};\n\nuse crate::{CardKey, field::{Field, Length}, generated::groups::references};\n\n"
        );
    }
}
