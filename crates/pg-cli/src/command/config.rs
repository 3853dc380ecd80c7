//! `pg config`: profiles, which are named accounts in a file that only its owner can read.

mod check;
mod edit;
mod file;
mod show;

use std::path::PathBuf;

use pg_model::mask;
use pg_proto::BaseUrl;

use crate::{
    account::{Setting, dialect, profile, variable},
    argument::{self, Given},
    command::sandbox::remote,
    control::{Control, SandboxFlags},
    failure::{Exit, Failure},
    output,
};

/// Shows and writes profiles: named accounts that --profile selects
///
/// Secrets are never printed, and only its owner can read the file. Flags and the environment take precedence over a
/// profile.
#[derive(clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  pg config new staging                                  an empty profile with comments
  pg config set staging baseUrl=https://gateway.example
  pg config set staging apiKey=@key.txt                  a secret from a file; apiKey=- reads stdin
  pg config new local --from-sandbox                     a profile for the running sandbox
  pg config show                                         what applies now, and where it comes from
  pg config check
  pg call token/lookup cardKey=4F2C-91 --profile staging

Settings: baseUrl, enterpriseBaseUrl, apiKey, apiPassword, shaKey, enterpriseApiKey, enterpriseApiPassword,
accountUpdaterKey, dialect."
)]
pub(crate) struct Arguments {
    /// File of profiles [env: PG_PROFILE_FILE] [default: pg/profiles.toml in $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, value_name = "FILE", global = true)]
    profile_file: Option<PathBuf>,
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Shows the settings that apply and the source of each, or one profile; secrets are masked
    #[command(after_help = "Examples:\n  pg config show\n  pg config show staging\n  pg config show --json")]
    Show {
        /// The profile; without it, the settings that apply now
        #[arg(value_name = "PROFILE")]
        profile: Option<String>,
        /// The same flag, with the name that other commands use
        #[arg(long = "profile", value_name = "PROFILE", hide = true, conflicts_with = "profile")]
        named: Option<String>,
    },
    /// Sets or removes settings of a profile; creates the profile and the file if they are missing
    #[command(after_help = "\
Examples:
  pg config set staging baseUrl=https://gateway.example dialect=operator.toml
  pg config set staging apiKey=-               from stdin
  pg config set staging apiPassword=@file.txt  from a file
  pg config set staging dialect=               removes it")]
    Set {
        /// The profile
        #[arg(value_name = "PROFILE")]
        profile: String,
        /// Settings; SETTING=@FILE reads a file, SETTING=- reads stdin, SETTING= removes it
        #[arg(value_name = "SETTING=VALUE", required = true)]
        settings: Vec<String>,
    },
    /// Prints the path of the profile file
    Path,
    /// Adds a profile: with every setting as a comment, or with the account of a running sandbox
    #[command(after_help = "Examples:\n  pg config new staging\n  pg config new local --from-sandbox")]
    New {
        /// The profile; `default` is used if no profile is named
        #[arg(value_name = "PROFILE")]
        profile: String,
        /// Takes addresses and credentials from the running sandbox
        #[arg(long)]
        from_sandbox: bool,
        /// The sandbox's account
        #[arg(
            long,
            value_name = "ACCOUNT",
            default_value = "main",
            requires = "from_sandbox",
            value_parser = crate::account::name()
        )]
        account: String,
        #[command(flatten)]
        at: SandboxFlags,
    },
    /// Checks the file: permissions, syntax, names, addresses, missing settings
    #[command(after_help = "Examples:\n  pg config check\n  pg config check staging")]
    Check {
        /// The profile; without it, all
        #[arg(value_name = "PROFILE")]
        profile: Option<String>,
        /// The same flag, with the name that other commands use
        #[arg(long = "profile", value_name = "PROFILE", hide = true, conflicts_with = "profile")]
        named: Option<String>,
    },
}

/// Returns a file with one new profile, for the documentation.
#[cfg(test)]
pub(crate) fn sample() -> String {
    edit::with_section(edit::HEAD, "staging")
}

pub(crate) fn run(arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    let file = file::path(arguments.profile_file);
    // Settings may come from the environment alone.
    if let What::Show { profile: None, named: None } = &arguments.what
        && variable("PG_PROFILE")?.is_none()
    {
        show::run(file.ok().as_deref(), None, json)?;
        return Ok(Exit::Done);
    }
    let file = file?;
    match arguments.what {
        What::Path => {
            let shown = file.display().to_string();
            if json { output::json(&serde_json::json!({ "path": shown }))? } else { output::data(&shown)? }
        }
        What::Show { profile, named } => show::run(Some(&file), profile.or(named).as_deref(), json)?,
        What::Check { profile, named } => return check::run(&file, profile.or(named).as_deref(), json),
        What::Set { profile, settings } => {
            file::check_name(&profile)?;
            let changes = changes(&settings)?;
            let _locked = file::lock(&file)?;
            let text = file::read(&file)?.unwrap_or_else(|| edit::HEAD.to_owned());
            let edited = edit::set(&text, &profile, &changes).map_err(|problem| file::problem(&file, &problem))?;
            file::write(&file, &edited)?;
            told(&format!("profile {profile} written to {}", file.display()), &file, &profile, json)?;
        }
        What::New { profile, from_sandbox, account, at } => {
            file::check_name(&profile)?;
            let from_sandbox = if from_sandbox { Some(of_sandbox(&at, &account)?) } else { None };
            let _locked = file::lock(&file)?;
            let text = file::read(&file)?.unwrap_or_else(|| edit::HEAD.to_owned());
            let profiles = profile::parse(&text).map_err(|mistakes| file::mistakes(&file, &mistakes))?;
            if profiles.contains_key(&profile) {
                let message = format!("profile {profile} exists already; change it with `pg config set {profile} …`");
                return Err(Failure::misuse(message));
            }
            let with_section = edit::with_section(&text, &profile);
            let edited = match from_sandbox {
                Some(changes) => {
                    edit::set(&with_section, &profile, &changes).map_err(|problem| file::problem(&file, &problem))?
                }
                None => with_section,
            };
            file::write(&file, &edited)?;
            told(&format!("profile {profile} added to {}", file.display()), &file, &profile, json)?;
        }
    }
    Ok(Exit::Done)
}

fn told(line: &str, file: &std::path::Path, profile: &str, json: bool) -> Result<(), Failure> {
    if json {
        output::json(&serde_json::json!({ "path": file.display().to_string(), "profile": profile }))
    } else {
        output::page(&output::harmless(line))
    }
}

/// Returns settings to set or remove.
fn changes(settings: &[String]) -> Result<Vec<(Setting, Option<String>)>, Failure> {
    let mut inline = Vec::new();
    for argument in settings {
        let Some((name, value)) = argument.split_once('=') else { continue };
        let setting = setting(name)?;
        let is_inline = !value.is_empty() && value != "-" && (!value.starts_with('@') || value.starts_with("@@"));
        if setting.is_secret() && is_inline {
            inline.push(setting.member());
        }
    }
    if !inline.is_empty() {
        argument::warn_of_visible(&inline, "SETTING=@FILE or SETTING=-");
    }
    let given = Given::read(settings)?;
    given.pairs().into_iter().map(|(name, value)| change(setting(name)?, value)).collect()
}

fn setting(name: &str) -> Result<Setting, Failure> {
    let found = Setting::ALL.into_iter().find(|setting| setting.member() == name);
    found.ok_or_else(|| Failure::misuse(profile::unknown(name)))
}

fn change(setting: Setting, value: &str) -> Result<(Setting, Option<String>), Failure> {
    if value.is_empty() {
        return Ok((setting, None));
    }
    valid(setting, value).map_err(Failure::misuse)?;
    // A dialect file is found from any folder.
    let file = (setting == Setting::Dialect && !dialect::is_built_in(value)).then(|| std::path::absolute(value).ok());
    let file = file.flatten().and_then(|file| file.into_os_string().into_string().ok());
    Ok((setting, Some(file.unwrap_or_else(|| value.to_owned()))))
}

/// Checks a value for a setting.
///
/// # Errors
/// If it is invalid; the message does not contain a secret value.
fn valid(setting: Setting, value: &str) -> Result<(), String> {
    let member = setting.member();
    if value.chars().any(char::is_control) {
        return Err(format!("{member} contains a control character, such as a line break"));
    }
    match setting {
        Setting::BaseUrl | Setting::EnterpriseBaseUrl => {
            if value.contains('@') {
                return Err(format!("{member} contains credentials; remove them"));
            }
            let base = BaseUrl::parse(value).map_err(|error| format!("{member} is invalid: {error}"))?;
            if base.is_private() {
                Ok(())
            } else {
                Err(format!("{member} is invalid: plain HTTP is allowed on this machine only; use https"))
            }
        }
        Setting::Dialect => dialect::named(value).map(drop).map_err(|failure| failure.message().to_owned()),
        _ if value.trim() != value => Err(format!("{member} begins or ends with white space")),
        _ => Ok(()),
    }
}

/// Address and credentials of an account of the running sandbox.
fn of_sandbox(at: &SandboxFlags, account: &str) -> Result<Vec<(Setting, Option<String>)>, Failure> {
    let control = Control::new(at)?;
    let accounts = super::block_on(control.get("merchants"))?;
    let found = remote::account(&accounts, account)?;
    if found[Setting::ApiKey.member()].is_null() {
        let account = mask::text(account);
        return Err(Failure::misuse(format!("the sandbox does not show the credentials of account {account:?}")));
    }
    let base = control.base().as_str().trim_end_matches('/').to_owned();
    let mut changes = vec![
        (Setting::BaseUrl, Some(base.clone())),
        (Setting::EnterpriseBaseUrl, Some(format!("{base}/enterprise"))),
        (Setting::Dialect, Some("sandbox".to_owned())),
    ];
    for setting in Setting::ALL {
        if let Some(value) = super::sandbox::setting_of(found, setting) {
            changes.push((setting, Some(value.to_owned())));
        }
    }
    Ok(changes)
}
