//! Checks the profile file and reports every mistake.

use std::{fs::File, path::Path};

use pg_model::mask;
use serde_json::json;

use super::{file, show, valid};
use crate::{
    account::{
        Setting,
        profile::{self, Entry, Mistake},
    },
    failure::{Exit, Failure},
    output,
};

/// Settings that are only useful together.
const TOGETHER: [&[Setting]; 2] = [
    &[Setting::BaseUrl, Setting::ApiKey, Setting::ApiPassword, Setting::ShaKey],
    &[Setting::EnterpriseBaseUrl, Setting::EnterpriseApiKey, Setting::EnterpriseApiPassword],
];

pub(super) fn run(path: &Path, asked: Option<&str>, json: bool) -> Result<Exit, Failure> {
    let Some(text) = file::read(path)? else {
        return Err(file::problem(path, "does not exist; add a profile with `pg config new PROFILE`"));
    };
    let mut problems: Vec<String> = Vec::new();
    let opened = File::open(path).map_err(|error| file::problem(path, &error.to_string()))?;
    if let Err(failure) = profile::guard(&opened, path) {
        problems.push(failure.message().to_owned());
    }
    let mut checked: Vec<String> = Vec::new();
    match profile::parse(&text) {
        Err(mistakes) => problems.extend(mistakes.iter().map(ToString::to_string)),
        Ok(profiles) => {
            if let Some(name) = asked.filter(|name| !profiles.contains_key(*name)) {
                return Err(show::unknown(path, name, profiles.keys().map(String::as_str)));
            }
            for (name, entries) in profiles.iter().filter(|(name, _)| asked.is_none_or(|asked| asked == *name)) {
                checked.push(name.clone());
                problems.extend(of_profile(&text, name, entries));
            }
        }
    }
    // A value in the wrong place may be a card number.
    let problems: Vec<String> = problems.iter().map(|problem| mask::text(&mask::without_passwords(problem))).collect();
    let ended = match &*problems {
        [] => Ok(Exit::Done),
        _ => Err(file::problem(path, &problems.join("; "))),
    };
    if json {
        let document = json!({ "path": path.display().to_string(), "profiles": checked, "problems": problems });
        return output::result(&document, ended);
    }
    if problems.is_empty() {
        let names = if checked.is_empty() { "no profiles".to_owned() } else { checked.join(", ") };
        output::page(&output::harmless(&format!("{}: {names}: ok", path.display())))?;
    } else {
        let lines: Vec<String> = problems
            .iter()
            .map(|problem| output::harmless(&format!("{}: {problem}", path.display())).into_owned())
            .collect();
        output::page(&lines.join("\n"))?;
    }
    // Standard output has the problems.
    ended.map_err(Failure::logged)
}

fn of_profile(text: &str, name: &str, entries: &[Entry]) -> Vec<String> {
    let set = |setting: &Setting| entries.iter().any(|entry| entry.setting == *setting && !entry.value.is_empty());
    let given = entries.iter().filter(|entry| !entry.value.is_empty());
    let mut problems: Vec<String> = given
        .filter_map(|entry| Some(Mistake::at(text, entry.at, valid(entry.setting, &entry.value).err()?).to_string()))
        .collect();
    for group in TOGETHER {
        let missing: Vec<&str> = group.iter().filter(|setting| !set(setting)).map(|setting| setting.member()).collect();
        if !missing.is_empty() && missing.len() < group.len() {
            problems.push(format!("profile {name} lacks {}", missing.join(", ")));
        }
    }
    problems
}
