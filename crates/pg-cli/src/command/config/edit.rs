//! Changes to the text of a profile file that keep everything else, comments included.

use crate::account::{
    Setting, dialect,
    profile::{self, Profiles},
};

/// The head of a new file.
pub(super) const HEAD: &str = "\
# Profiles of pg: named accounts. `pg config set PROFILE SETTING=VALUE` changes them, --profile PROFILE selects one,
# and the profile [default] is used if none is named. Keep this file private: chmod 600.
";

/// A new profile: every setting as a comment.
const SECTION: &str = "\
# Address of the version 3 services.
# baseUrl = \"https://gateway.example\"
# Credentials of the version 3 services, and the key that signs requests.
# apiKey = \"\"
# apiPassword = \"\"
# shaKey = \"\"
# Key of the account updater.
# accountUpdaterKey = \"\"
# Address and credentials of the version 5 service.
# enterpriseBaseUrl = \"https://enterprise.example\"
# enterpriseApiKey = \"\"
# enterpriseApiPassword = \"\"
# How replies are interpreted where the documents are silent: NAMES, or a dialect file.
# dialect = \"documented\"
";

/// Returns the text with a new profile at its end.
pub(super) fn with_section(text: &str, name: &str) -> String {
    let gap = if text.is_empty() || text.ends_with("\n\n") {
        ""
    } else if text.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    format!("{text}{gap}[{name}]\n{}", SECTION.replace("NAMES", &dialect::known()))
}

/// Returns the text with settings of a profile changed or removed.
///
/// # Errors
/// If the text is not a profile file, or cannot be edited line by line.
pub(super) fn set(text: &str, name: &str, changes: &[(Setting, Option<String>)]) -> Result<String, String> {
    let mut wanted = values(&parse(text)?);
    let text = if wanted.contains_key(name) { text.to_owned() } else { with_section(text, name) };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (setting, value) in changes {
        change(&mut lines, name, *setting, value.as_deref());
    }
    let edited = lines.join("\n") + "\n";
    let profile = wanted.entry(name.to_owned()).or_default();
    for (setting, value) in changes {
        profile.retain(|(known, _)| known != setting);
        profile.extend(value.clone().map(|value| (*setting, value)));
        profile.sort_by_key(|(setting, _)| *setting as usize);
    }
    match profile::parse(&edited) {
        Ok(found) if values(&found) == wanted => Ok(edited),
        _ => Err("its layout is too unusual to edit automatically; edit it by hand".to_owned()),
    }
}

fn parse(text: &str) -> Result<Profiles, String> {
    profile::parse(text).map_err(|mistakes| mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

/// The content of a file, without positions.
type Values = std::collections::BTreeMap<String, Vec<(Setting, String)>>;

fn values(profiles: &Profiles) -> Values {
    let values = |entries: &Vec<profile::Entry>| {
        let mut values: Vec<_> = entries.iter().map(|entry| (entry.setting, entry.value.clone())).collect();
        values.sort_by_key(|(setting, _)| *setting as usize);
        values
    };
    profiles.iter().map(|(name, entries)| (name.clone(), values(entries))).collect()
}

fn change(lines: &mut Vec<String>, name: &str, setting: Setting, value: Option<&str>) {
    let Some(start) = lines.iter().position(|line| is_header(line, name)) else { return };
    let end = lines[start + 1..].iter().position(|line| line.trim_start().starts_with('['));
    let end = end.map_or(lines.len(), |end| start + 1 + end);
    let of_setting = |line: &String| {
        let rest = line.trim_start().strip_prefix(setting.member());
        rest.is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    let line = value.map(|value| format!("{} = {}", setting.member(), quoted(value)));
    let found = (start + 1..end).find(|at| of_setting(&lines[*at]));
    match (found, line) {
        (Some(at), Some(line)) => lines[at] = line,
        (Some(at), None) => drop(lines.remove(at)),
        (None, None) => {}
        (None, Some(line)) => {
            // In place of its comment, or after the last setting.
            let comment = (start + 1..end)
                .find(|at| lines[*at].trim_start().strip_prefix('#').is_some_and(|rest| of_setting(&rest.to_owned())));
            match comment {
                Some(at) => lines[at] = line,
                None => {
                    let last = (start..end).rev().find(|at| !lines[*at].trim().is_empty()).unwrap_or(start);
                    lines.insert(last + 1, line);
                }
            }
        }
    }
}

/// Whether a line begins the table of a profile.
fn is_header(line: &str, name: &str) -> bool {
    let inside = line.trim().strip_prefix('[').and_then(|rest| rest.split_once(']'));
    inside.is_some_and(|(inside, _)| inside.trim().trim_matches(['"', '\'']) == name)
}

/// Returns a basic TOML string on one line. The library would write a text with line breaks on several lines.
fn quoted(value: &str) -> String {
    let mut quoted = String::from("\"");
    for c in value.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(value: &str) -> Vec<(Setting, Option<String>)> {
        vec![(Setting::BaseUrl, Some(value.to_owned()))]
    }

    #[test]
    fn comments_and_other_profiles_stay() {
        let text = "# mine\n[default]\nbaseUrl = \"https://a.example\" # old\n\n[staging] # test\nshaKey = \"s\"\n";
        let edited = set(text, "default", &url("https://b.example")).unwrap();
        assert_eq!(edited, text.replace("\"https://a.example\" # old", "\"https://b.example\""));
        let edited = set(&edited, "staging", &url("https://c.example")).unwrap();
        assert!(edited.ends_with("[staging] # test\nshaKey = \"s\"\nbaseUrl = \"https://c.example\"\n"), "{edited}");
        let edited = set(&edited, "staging", &[(Setting::ShaKey, None)]).unwrap();
        assert!(edited.ends_with("[staging] # test\nbaseUrl = \"https://c.example\"\n"), "{edited}");
    }

    #[test]
    fn a_new_profile_takes_the_place_of_its_comments() {
        let edited = set(HEAD, "new", &[(Setting::ApiPassword, Some("a\"b\\c".to_owned()))]).unwrap();
        assert!(
            edited.contains("\n[new]\n# Address") && edited.contains("\napiPassword = \"a\\\"b\\\\c\"\n"),
            "{edited}"
        );
        assert!(!edited.contains("# apiPassword"), "{edited}");
        assert_eq!(profile::parse(&edited).unwrap()["new"][0].value, "a\"b\\c");
    }

    #[test]
    fn unusual_files_are_left_alone() {
        for text in
            ["a = { shaKey = \"s\" }\n", "[a]\n\"shaKey\" = \"s\"\n", "[a]\nshaKey = '''\n[b]\nbaseUrl = \"x\"'''\n"]
        {
            let problem = set(text, "a", &[(Setting::ShaKey, Some("t".to_owned()))]).unwrap_err();
            assert!(problem.contains("edit it by hand"), "{text}: {problem}");
        }
        assert!(set("[a\n", "a", &url("https://a.example")).unwrap_err().starts_with("line 1"));
    }
}
