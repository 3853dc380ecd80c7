//! The settings that apply, and their sources. Secrets are masked.

use std::path::Path;

use pg_model::mask;
use serde_json::{Value, json};

use super::file;
use crate::{
    account::{Setting, profile, variable},
    failure::Failure,
    output, suggestion,
    table::table,
};

/// A setting with its secret masked.
struct Shown {
    setting: Setting,
    value: Option<String>,
    from: String,
}

impl Shown {
    fn value(&self) -> String {
        match &self.value {
            None => "(not set)".to_owned(),
            Some(_) if self.setting.is_secret() => "***".to_owned(),
            Some(value) => self.masked(value),
        }
    }

    fn json(&self) -> Value {
        let secret = self.setting.is_secret();
        json!({
            "setting": self.setting.member(),
            "set": self.value.is_some(),
            "secret": secret,
            "value": self.value.as_deref().filter(|_| !secret).map(|value| self.masked(value)),
            "from": Some(&self.from).filter(|from| !from.is_empty()),
        })
    }

    /// Returns a setting that is not a secret without what was put into it by mistake: `config check` refuses such a value. An address
    /// may lack its scheme.
    fn masked(&self, value: &str) -> String {
        match value.rfind('@') {
            Some(end)
                if matches!(self.setting, Setting::BaseUrl | Setting::EnterpriseBaseUrl) && !value.contains("://") =>
            {
                format!("***{}", mask::text(&value[end..]))
            }
            _ => mask::text(&mask::without_passwords(value)),
        }
    }
}

/// One profile, or the settings that apply now.
pub(super) fn run(path: Option<&Path>, asked: Option<&str>, json: bool) -> Result<(), Failure> {
    let profiles = path.map(file::profiles).transpose()?.unwrap_or_default();
    let of_environment = variable("PG_PROFILE")?;
    let name = asked.or(of_environment.as_deref()).unwrap_or(profile::DEFAULT);
    let is_asked = asked.is_some() || of_environment.is_some();
    if let Some(path) = path.filter(|_| is_asked && !profiles.contains_key(name)) {
        return Err(unknown(path, name, profiles.keys().map(String::as_str)));
    }
    let of_profile = |setting: Setting| {
        let entries = profiles.get(name).into_iter().flatten();
        entries
            .filter(|entry| entry.setting == setting && !entry.value.is_empty())
            .map(|entry| entry.value.clone())
            .next()
    };
    let mut shown = Vec::new();
    for setting in Setting::ALL {
        let environment = if asked.is_some() { None } else { variable(setting.variable())? };
        shown.push(match (environment, of_profile(setting)) {
            (Some(value), _) => Shown { setting, value: Some(value), from: setting.variable().to_owned() },
            (None, Some(value)) => Shown { setting, value: Some(value), from: format!("profile {name}") },
            (None, None) => Shown { setting, value: None, from: String::new() },
        });
    }
    let names: Vec<&String> = profiles.keys().collect();
    if json {
        let settings: Vec<Value> = shown.iter().map(Shown::json).collect();
        return output::json(&json!({
            "path": path.map(|path| path.display().to_string()),
            "profile": Some(name).filter(|name| profiles.contains_key(*name)),
            "settings": settings,
            "profiles": names,
        }));
    }
    let rows: Vec<_> =
        shown.iter().map(|shown| [shown.setting.member().to_owned(), shown.value(), shown.from.clone()]).collect();
    output::page(&table(["SETTING", "VALUE", "FROM"], &rows))?;
    let Some(path) = path.map(|path| mask::text(&path.display().to_string())) else {
        output::say("pg: no profile file: HOME is not set");
        return Ok(());
    };
    output::say(&match &*names {
        [] => format!("pg: no profiles in {path}; add one with `pg config new PROFILE`"),
        names => {
            let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
            format!("pg: profiles in {path}: {}", names.join(", "))
        }
    });
    Ok(())
}

/// Returns a failure about a profile that does not exist.
pub(super) fn unknown<'a>(path: &Path, name: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    let meant = suggestion::nearest(name, known).map_or_else(
        || format!("add it with `pg config new {}`", mask::text(name)),
        |near| format!("did you mean {near}?"),
    );
    file::problem(path, &format!("no profile {:?}; {meant}", mask::text(name)))
}
