//! Examples of saved states, in `tests/saved-states`: each phase of each machine, and each optional field. They show that a change
//! of a saved state needs a new version.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
};

use serde_json::Value;

use super::*;

const ADVICE: &str = "\
    A program of the last version would not resume such a state, or would misread it. Raise the VERSION of this machine and, if fleets \
    store it, that of `pg-intents/src/machines.rs`. PG_BLESS=1 then adds the examples in their new form; add examples of new phases and \
    fields by hand, and keep the old ones, which must still load. If programs of the last version do read the new form correctly \
    (docs/internals/fleet.md), keep the version and change the examples by hand.";

/// Checks that this version writes these examples of `file` as they are, that each variant and each optional field of the state is in one
/// of them, and that the examples of earlier versions load. `unsaved` are optional fields that are not saved.
pub(in crate::machine) fn check<S: Serialize + DeserializeOwned + Debug>(
    (file, lines): (&str, &str),
    machine: &'static str,
    version: u32,
    unsaved: &[&str],
) {
    let (mut shown, mut latest) = (Shown::default(), (0, Vec::new()));
    for line in lines.lines() {
        let saved = SavedState::from_text(line);
        let loaded = saved.head_of(machine, version).and_then(|head| Ok((head, saved.open::<S>(machine, version)?)));
        let (head, state) = loaded.unwrap_or_else(|error| panic!("{file}: {error}\n{line}\n{ADVICE}"));
        let books = head.books;
        let again = SavedState::written(&Written { machine, version, books, state: &state });
        if head.version == version {
            assert_eq!(again.text(), line, "{file}: the form of the state has changed.\n{ADVICE}");
            shown.note(&state, line);
        }
        if head.version > latest.0 {
            latest = (head.version, Vec::new());
        }
        latest.1.push(again.0);
    }
    if latest.0 < version {
        assert!(
            std::env::var_os("PG_BLESS").is_some(),
            "{file}: version {version} has no example; PG_BLESS=1 adds them"
        );
        let path = format!("{}/tests/saved-states/{file}", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, format!("{lines}{}\n", latest.1.join("\n"))).unwrap();
        return;
    }
    let missing = shown.missing(unsaved);
    assert!(missing.is_empty(), "{file}: no example of version {version} has {missing:?}.\n{ADVICE}");
}

/// What examples show.
#[derive(Default)]
struct Shown {
    /// The known variants of an enumeration, and those in an example.
    variants: BTreeMap<Vec<String>, BTreeSet<String>>,
    /// The fields that are empty in an example, and those that are not.
    empty: BTreeSet<String>,
    filled: BTreeSet<String>,
}

impl Shown {
    fn note<S: DeserializeOwned + Debug>(&mut self, state: &S, line: &str) {
        let text = format!("{state:?}");
        // No field is before the text after the last value.
        let fields = |value| text.rsplit(value).skip(1).map(last_word);
        self.empty.extend(fields(": None"));
        self.filled.extend(fields(": Some("));

        let whole: Value = serde_json::from_str(line).unwrap();
        let mut places = Vec::new();
        names(&whole["state"], String::new(), &mut places);
        for (place, name) in places {
            let mut other = whole["state"].clone();
            let found = other.pointer_mut(&place).unwrap();
            *found = match found.as_object_mut().and_then(|members| members.remove(&name)) {
                Some(member) => Value::from_iter([("?", member)]),
                None => Value::from("?"),
            };
            if let Some(known) = serde_json::from_value::<S>(other).err().and_then(|error| variants(&error.to_string()))
            {
                self.variants.entry(known).or_default().insert(name);
            }
        }
    }

    fn missing(&self, unsaved: &[&str]) -> Vec<String> {
        let variants =
            self.variants.iter().flat_map(|(known, shown)| known.iter().filter(|name| !shown.contains(*name)));
        let fields = self.empty.difference(&self.filled).filter(|field| !unsaved.contains(&&***field));
        variants.chain(fields).cloned().collect()
    }
}

fn last_word(text: &str) -> String {
    let start = text.rfind(|c: char| c != '_' && !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
    text[start..].to_owned()
}

/// Finds the places of all names that may be those of variants: texts, and objects with one member.
fn names(value: &Value, place: String, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => found.push((place, text.clone())),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| names(item, format!("{place}/{at}"), found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| names(member, format!("{place}/{name}"), found));
            if let (1, Some(name)) = (members.len(), members.keys().next()) {
                found.push((place, name.clone()));
            }
        }
        _ => {}
    }
}

/// Returns the variants that serde knows, from its error about an unknown one.
fn variants(error: &str) -> Option<Vec<String>> {
    let known = error.strip_prefix("unknown variant `?`, expected ")?;
    Some(known.split('`').skip(1).step_by(2).map(str::to_owned).collect())
}
