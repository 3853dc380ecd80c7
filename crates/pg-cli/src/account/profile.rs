//! Profiles: named accounts in a TOML file that only its owner may read.
//!
//! ```toml
//! [staging]
//! baseUrl = "https://gateway.example"
//! apiKey = "0123456789abcdef0123456789abcdef"
//! apiPassword = "password"
//! shaKey = "secret"
//! ```

use std::{
    collections::BTreeMap,
    fs::File,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use pg_model::mask;
use toml::de::{DeTable, DeValue};

use super::{Setting, values::Values};
use crate::{argument, failure::Failure, output, suggestion};

/// The profile that is used if none is named.
pub(crate) const DEFAULT: &str = "default";

/// The members of one profile.
pub(super) type Profile = Values;

/// Returns the file in which profiles are looked up when no file is named.
pub(crate) fn usual_file() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let config = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")))?;
    Some(config.join("pg").join("profiles.toml"))
}

/// Reads a profile. `asked` is the requested name; `named` says whether the file was named. A profile or a file must
/// exist only if it was requested.
///
/// # Errors
/// If the file cannot be read, is readable by every user, is not a list of profiles, or lacks the requested one.
pub(super) fn read(path: &Path, asked: Option<&str>, named: bool) -> Result<Profile, Failure> {
    let shown = mask::text(&path.display().to_string());
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound && !named => {
            return match asked {
                Some(name) => Err(Failure::misuse(format!(
                    "no profile {:?}: the file {shown} does not exist; create it with `pg config new`, or choose another file with --profile-file",
                    mask::text(name)
                ))),
                None => Ok(Profile::default()),
            };
        }
        Err(error) => return Err(Failure::misuse(format!("cannot read the profile file {shown}: {error}"))),
    };
    guard(&file, path)?;
    let text = argument::read_text(&mut file)
        .map_err(|error| Failure::misuse(format!("cannot read the profile file {shown}: {error}")))?;
    let mut profiles = parse(&text).map_err(|mistakes| {
        let list: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        Failure::misuse(format!("the profile file {shown}, {}", list.join("; ")))
    })?;
    match profiles.remove(asked.unwrap_or(DEFAULT)) {
        Some(entries) => {
            let mut profile = Profile::default();
            entries.into_iter().for_each(|entry| profile.put(entry.setting, entry.value));
            Ok(profile)
        }
        None => asked.map_or_else(
            || Ok(Profile::default()),
            |name| {
                let meant = suggestion::nearest(name, profiles.keys().map(String::as_str))
                    .map_or_else(String::new, |near| format!("; did you mean {near}?"));
                let name = mask::text(name);
                Err(Failure::misuse(format!("the profile file {shown} has no profile {name:?}{meant}")))
            },
        ),
    }
}

/// One setting of a profile.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) setting: Setting,
    pub(crate) value: String,
    /// Where its value begins in the file.
    pub(crate) at: usize,
}

/// The settings of each profile, by its name.
pub(crate) type Profiles = BTreeMap<String, Vec<Entry>>;

/// A mistake in a profile file, with its place. It quotes no value, which may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    line: usize,
    column: usize,
    problem: String,
}

impl Mistake {
    /// Creates a mistake at a byte of a text.
    pub(crate) fn at(text: &str, at: usize, problem: impl Into<String>) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        Self { line, column, problem: problem.into() }
    }
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.problem)
    }
}

/// Parses profiles, or returns every mistake.
pub(crate) fn parse(text: &str) -> Result<Profiles, Vec<Mistake>> {
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        vec![Mistake::at(text, at, without_value(error.message().trim()).replace('\n', " "))]
    })?;
    let (mut profiles, mut mistakes) = (Profiles::new(), Vec::new());
    for (name, value) in table.get_ref() {
        let DeValue::Table(members) = value.get_ref() else {
            mistakes.push(Mistake::at(text, name.span().start, OUTSIDE));
            continue;
        };
        let entries = profiles.entry(name.get_ref().to_string()).or_default();
        for (member, value) in members {
            let Some(setting) = Setting::ALL.into_iter().find(|setting| setting.member() == *member.get_ref()) else {
                // If the equals sign is missing, the value is part of the name, so the name is not shown.
                let problem = format!("unknown setting; {}", meant(member.get_ref()));
                mistakes.push(Mistake::at(text, member.span().start, problem));
                continue;
            };
            match value.get_ref() {
                DeValue::String(value_text) => {
                    entries.push(Entry { setting, value: value_text.to_string(), at: value.span().start });
                }
                _ => {
                    let problem = format!("{} must be a quoted string", setting.member());
                    mistakes.push(Mistake::at(text, value.span().start, problem));
                }
            }
        }
    }
    if mistakes.is_empty() { Ok(profiles) } else { Err(mistakes) }
}

const OUTSIDE: &str = "expected a profile such as [staging] before the first setting";

/// Returns the message for an unknown setting of a command line.
pub(crate) fn unknown(member: &str) -> String {
    format!("unknown setting {}; {}", mask::text(member), meant(member))
}

/// Returns the setting that was probably meant, or all of them.
fn meant(member: &str) -> String {
    let known = || Setting::ALL.into_iter().map(Setting::member);
    suggestion::nearest(member, known()).map_or_else(
        || format!("known settings are {}", known().collect::<Vec<_>>().join(", ")),
        |near| format!("did you mean {near}?"),
    )
}

/// Returns the parser's message about a value of the wrong type, without the value: a key without quotation marks is
/// still a secret.
fn without_value(problem: &str) -> String {
    match problem.split_once("expected ") {
        Some((before, expected)) if before.starts_with("invalid ") => format!("expected {expected}"),
        _ => problem.to_owned(),
    }
}

/// Rejects a file that every user can read, and warns of a file that its group can read.
///
/// # Errors
/// If it is not a file, or every user may read or write it.
#[cfg(unix)]
pub(crate) fn guard(file: &File, path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};

    let shown = mask::text(&path.display().to_string());
    let found =
        file.metadata().map_err(|error| Failure::misuse(format!("cannot read the profile file {shown}: {error}")))?;
    // A pipe is allowed, such as a shell's process substitution of a password manager.
    if !found.is_file() && !found.file_type().is_fifo() {
        return Err(Failure::misuse(format!("the profile file {shown} is not a regular file")));
    }
    let mode = found.permissions().mode();
    if mode & 0o006 != 0 {
        return Err(Failure::misuse(format!(
            "the profile file {shown} is readable or writable by every user of this machine; run chmod 600 {shown}"
        )));
    }
    if mode & 0o060 != 0 {
        output::warn(&format!("the profile file {shown} is readable by its group; run chmod 600 {shown}"));
    }
    Ok(())
}

/// Other systems have no file modes.
#[cfg(not(unix))]
pub(crate) fn guard(_: &File, _: &Path) -> Result<(), Failure> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> Mistake {
        parse(text).unwrap_err().remove(0)
    }

    #[test]
    fn profiles_are_tables_of_known_members() {
        let profiles = parse("[a]\nbaseUrl = \"https://a.example\"\nshaKey = \"\"\n[b]\n").unwrap();
        let [url, sha] = &*profiles["a"] else { panic!("{profiles:?}") };
        assert_eq!((url.setting, &*url.value, url.at), (Setting::BaseUrl, "https://a.example", 14));
        assert_eq!((sha.setting, &*sha.value), (Setting::ShaKey, ""));
        assert_eq!(profiles.len(), 2);
    }

    #[test]
    fn mistakes_name_the_place_and_a_suggestion_and_quote_no_value() {
        for (text, says) in [
            ("[a]\napiKey = canary\n", "line 2"),
            ("[a]\napiKey = \"k\"\napikey = \"canary\"\n", "line 3, column 1: unknown setting; did you mean apiKey?"),
            ("[a]\nshaKeycanary = 1\n", "line 2, column 1: unknown setting; known settings are"),
            ("[a]\napiPasswordcan = 1\n", "line 2, column 1: unknown setting; did you mean apiPassword?"),
            ("[a]\napiKey = 5\n", "line 2, column 10: apiKey must be a quoted string"),
            ("[a]\napiKey = 4111111111111111\n", "line 2"),
            (
                "[a]\ncolour = \"canary\"\n",
                "line 2, column 1: unknown setting; known settings are baseUrl, enterpriseBaseUrl",
            ),
            ("baseUrl = \"x\"", "line 1, column 1: expected a profile such as [staging]"),
        ] {
            let problem = only(text).to_string();
            assert!(problem.starts_with(says), "{problem}");
            assert!(!problem.contains("canary") && !problem.contains("4111"), "{problem}");
        }
        assert_eq!(parse("[a]\nx = 1\ny = 2\n").unwrap_err().len(), 2);
    }

    #[test]
    fn members_are_named_as_settings_are() {
        for setting in Setting::ALL {
            let profiles = parse(&format!("[a]\n{} = \"x\"\n", setting.member())).unwrap();
            assert_eq!(profiles["a"][0].setting, setting);
        }
    }
}
