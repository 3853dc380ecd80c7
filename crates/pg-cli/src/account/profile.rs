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

use super::values::Values;
use crate::{argument, failure::Failure, output, suggestion};

/// The profile that is taken when none is named.
const DEFAULT: &str = "default";

/// The members of one profile.
pub(super) type Profile = Values;

/// Where profiles are looked for when no file is named.
pub(super) fn usual_file() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let config = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")))?;
    Some(config.join("pg").join("profiles.toml"))
}

/// Reads a profile. `asked` is the name that was asked for, `named` tells whether the file was. What was asked for has
/// to be there; what was not may be missing.
///
/// # Errors
/// When the file can't be read, others may read it, it is no list of profiles, or has none of that name.
pub(super) fn read(path: &Path, asked: Option<&str>, named: bool) -> Result<Profile, Failure> {
    let shown = mask::text(&path.display().to_string());
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound && !named => {
            return match asked {
                Some(name) => Err(Failure::misuse(format!(
                    "no profile {:?}: there is no file {shown}; make it, or name another with --profile-file",
                    mask::text(name)
                ))),
                None => Ok(Profile::default()),
            };
        }
        Err(error) => return Err(Failure::misuse(format!("the profile file {shown} can't be read: {error}"))),
    };
    guard(&file, path)?;
    let text = argument::read_text(&mut file)
        .map_err(|error| Failure::misuse(format!("the profile file {shown} can't be read: {error}")))?;
    let mut profiles =
        parse(&text).map_err(|problem| Failure::misuse(format!("the profile file {shown}, {problem}")))?;
    match profiles.remove(asked.unwrap_or(DEFAULT)) {
        Some(profile) => Ok(profile),
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

/// The profiles of a text, or line and column of what is wrong. The parser's own text quotes the line, which may hold
/// a secret.
fn parse(text: &str) -> Result<BTreeMap<String, Profile>, String> {
    toml::from_str(text).map_err(|error| {
        let before = &text[..error.span().map_or(0, |span| span.start).min(text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        format!("line {line}, column {column}: {}", without_value(error.message().trim()).replace('\n', " "))
    })
}

/// What the parser says about a value of the wrong type, without the value: a key that lost its quotation marks is still a secret.
fn without_value(problem: &str) -> String {
    match problem.split_once("expected ") {
        Some((before, expected)) if before.starts_with("invalid ") => format!("expected {expected}"),
        _ => problem.to_owned(),
    }
}

/// A file that everybody may read is no place for secrets.
#[cfg(unix)]
fn guard(file: &File, path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};

    let shown = mask::text(&path.display().to_string());
    let found =
        file.metadata().map_err(|error| Failure::misuse(format!("the profile file {shown} can't be read: {error}")))?;
    // A pipe is one, as a shell makes it of the output of a command that keeps secrets.
    if !found.is_file() && !found.file_type().is_fifo() {
        return Err(Failure::misuse(format!("the profile file {shown} is no file that profiles could be in")));
    }
    let mode = found.permissions().mode();
    if mode & 0o006 != 0 {
        return Err(Failure::misuse(format!(
            "the profile file {shown} may be read or written by every user of this machine: chmod 600 {shown}"
        )));
    }
    if mode & 0o060 != 0 {
        output::warn(&format!("the profile file {shown} may be read by its group: chmod 600 {shown}"));
    }
    Ok(())
}

/// Other systems have no such mode.
#[cfg(not(unix))]
fn guard(_: &File, _: &Path) -> Result<(), Failure> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Setting;

    #[test]
    fn profiles_are_tables_of_known_members() {
        let mut profiles = parse("[a]\nbaseUrl = \"https://a.example\"\nshaKey = \"\"\n[b]\n").unwrap();
        let a = profiles.get_mut("a").unwrap();
        assert_eq!(a.take(Setting::BaseUrl).unwrap().expose(), "https://a.example");
        assert!(a.take(Setting::ShaKey).is_none());
        assert_eq!(profiles.len(), 2);
    }

    #[test]
    fn errors_tell_the_place_and_quote_no_line() {
        for (text, line) in [
            ("[a]\napiKey = canary\n", "line 2"),
            ("[a]\napiKey = \"k\"\napikey = \"canary\"\n", "line 3"),
            ("[a]\napiKey = 5\n", "line 2"),
            ("[a]\napiKey = 4111111111111111\n", "line 2"),
            ("a = 1", "line 1"),
        ] {
            let problem = parse(text).map(|_| ()).unwrap_err();
            assert!(problem.starts_with(line), "{problem}");
            assert!(!problem.contains("canary") && !problem.contains("4111"), "{problem}");
        }
    }

    #[test]
    fn members_are_named_as_settings_are() {
        for setting in Setting::ALL {
            let text = format!("[a]\n{} = \"x\"\n", setting.member());
            let mut profiles = parse(&text).unwrap();
            assert_eq!(profiles.get_mut("a").unwrap().take(setting).unwrap().expose(), "x", "{setting:?}");
        }
    }
}
