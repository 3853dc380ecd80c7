//! The account's details: from flags, then the environment, then a profile file.

pub(crate) mod dialect;
pub(crate) mod profile;
mod setting;
mod values;

use std::{
    env::VarError,
    path::{Path, PathBuf},
    sync::Arc,
};

use pg_model::{Dialect, Encoding, Secret, method::AuthScheme as Kind};
use pg_proto::{Account, BaseUrl, Credentials, EnterpriseCredentials};

use crate::{argument, failure::Failure, output, shell};
use profile::Profile;
use values::Values;

pub(crate) use setting::Setting;

/// Returns the parser of an option that names an account. The name in a script's variable may be missing, and without a
/// name the command would apply to another account, or to all of them.
pub(crate) fn name() -> clap::builder::NonEmptyStringValueParser {
    clap::builder::NonEmptyStringValueParser::new()
}

/// The heading of these flags in `--help`.
const HEADING: &str = "Account (flag, else environment, else profile)";

/// Flags that describe the account. Each has an environment variable and a member of a profile.
#[derive(Default, clap::Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct AccountFlags {
    #[command(flatten)]
    values: Values,
    /// Profile that supplies missing settings; `default` if it exists [env: PG_PROFILE]
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// File of profiles [env: PG_PROFILE_FILE] [default: pg/profiles.toml in $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, value_name = "FILE")]
    profile_file: Option<PathBuf>,
}

/// The account settings.
pub(crate) struct Details {
    values: [Option<Secret>; Setting::ALL.len()],
    /// The file of profiles and the requested profile, for error messages.
    file: Option<PathBuf>,
    profile: Option<String>,
}

impl AccountFlags {
    /// The dialect, which may be a file, and the file of profiles, as these flags name them.
    pub(crate) fn files(&self) -> (Option<&Path>, Option<&Path>) {
        (self.values.dialect.as_deref().map(Path::new), self.profile_file.as_deref())
    }

    /// Returns the flags for another command to the same account; each begins with a space. A secret is a placeholder, which no command
    /// accepts: without the flag, the command would run under the account of the environment or of a profile.
    pub(crate) fn repeated(&mut self) -> String {
        let mut flags = String::new();
        let mut repeat = |flag, value: &str| flags.push_str(&format!(" {flag} {}", shell::word(value)));
        for setting in Setting::ALL {
            if let Some(value) = self.values.place(setting).as_deref().filter(|value| !value.is_empty()) {
                repeat(setting.flag(), if setting.is_secret() { setting.placeholder() } else { value });
            }
        }
        if let Some(profile) = &self.profile {
            repeat("--profile", profile);
        }
        if let Some(file) = &self.profile_file {
            repeat("--profile-file", &file.display().to_string());
        }
        flags
    }
}

impl Details {
    /// Merges flags, environment and profile, in this order of precedence.
    ///
    /// # Errors
    /// If a requested profile is missing, or the profile file is invalid.
    pub(crate) fn gather(mut flags: AccountFlags) -> Result<Self, Failure> {
        let file_of_environment = || std::env::var_os("PG_PROFILE_FILE").filter(|file| !file.is_empty());
        let file_named = flags.profile_file.take().or_else(|| file_of_environment().map(PathBuf::from));
        let profile_flag = flags.profile.take();
        let asked = match &profile_flag {
            Some(name) => Some(name.clone()),
            None => variable("PG_PROFILE")?,
        };
        let named = file_named.is_some();
        let file = file_named.or_else(profile::usual_file);
        let mut profile = match (&file, &asked) {
            (Some(file), asked) => profile::read(file, asked.as_deref(), named)?,
            (None, Some(_)) => {
                return Err(Failure::misuse(
                    "the settings folder is unknown: set HOME or use \
            --profile-file",
                ));
            }
            (None, None) => Profile::default(),
        };
        let mut values = [const { None }; Setting::ALL.len()];
        for setting in Setting::ALL {
            values[setting as usize] = choose(setting, &mut flags, &mut profile, profile_flag.as_deref())?;
        }
        Ok(Self { values, file, profile: asked })
    }

    /// Returns the value of a setting.
    pub(crate) fn get(&self, setting: Setting) -> Option<&str> {
        self.values[setting as usize].as_ref().map(Secret::expose)
    }

    /// Returns a required setting.
    ///
    /// # Errors
    /// If it is missing; the message says where to set it.
    pub(crate) fn require(&self, setting: Setting) -> Result<&str, Failure> {
        self.get(setting).ok_or_else(|| self.missing(&[setting]))
    }

    /// Replaces missing settings that requests of a kind need with visible placeholders; returns their names.
    pub(crate) fn fill_in(&mut self, kind: Kind) -> Vec<Setting> {
        let missing = self.unknown(kind);
        for setting in &missing {
            self.values[*setting as usize] = Some(setting.placeholder().into());
        }
        missing
    }

    /// Returns the account with the settings that requests of a kind need.
    ///
    /// # Errors
    /// If settings are missing (the message lists all of them) or an address is invalid.
    pub(crate) fn account(&self, kind: Kind, encoding: Encoding) -> Result<Account, Failure> {
        let missing = self.unknown(kind);
        if !missing.is_empty() {
            return Err(self.missing(&missing));
        }
        // Settings that requests of this kind do not contain may be empty.
        let secret = |setting| self.get(setting).unwrap_or_default();
        let credentials =
            Credentials::new(secret(Setting::ApiKey), secret(Setting::ApiPassword), secret(Setting::ShaKey));
        if kind != Kind::Enterprise {
            let base = self.base(Setting::BaseUrl)?;
            let dialect = self.dialect(&base)?;
            return Ok(Account::new(base, credentials).encoding(encoding).with_dialect(dialect));
        }
        let base = self.base(Setting::EnterpriseBaseUrl)?;
        let enterprise =
            EnterpriseCredentials::new(secret(Setting::EnterpriseApiKey), secret(Setting::EnterpriseApiPassword));
        let account = Account::new(base.clone(), credentials).encoding(encoding).with_dialect(self.dialect(&base)?);
        Ok(account.enterprise(base, enterprise))
    }

    /// Adds version 5 to an account. Its settings must be complete.
    ///
    /// # Errors
    /// If its address is invalid.
    pub(crate) fn with_enterprise(&self, account: Account) -> Result<Account, Failure> {
        let base = self.base(Setting::EnterpriseBaseUrl)?;
        let (key, password) = (self.require(Setting::EnterpriseApiKey)?, self.require(Setting::EnterpriseApiPassword)?);
        Ok(account.enterprise(base, EnterpriseCredentials::new(key, password)))
    }

    /// Returns the dialect for replies from an address.
    fn dialect(&self, base: &BaseUrl) -> Result<Arc<Dialect>, Failure> {
        Ok(self.named_dialect()?.unwrap_or_else(|| dialect::of_address(base)))
    }

    /// Returns the dialect that is set; `None` if only an address could tell it.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn named_dialect(&self) -> Result<Option<Arc<Dialect>>, Failure> {
        self.get(Setting::Dialect).map(dialect::named).transpose()
    }

    fn base(&self, setting: Setting) -> Result<BaseUrl, Failure> {
        let text = self.require(setting)?;
        let places = format!("({} or {})", setting.variable(), setting.flag());
        // The message does not repeat an address that contains a password.
        if text.contains('@') {
            return Err(Failure::misuse(format!("the base URL contains credentials; remove them {places}")));
        }
        BaseUrl::parse(text).map_err(|error| Failure::misuse(format!("{error} {places}")))
    }

    fn unknown(&self, kind: Kind) -> Vec<Setting> {
        let needed: &[Setting] = match kind {
            Kind::Signed => &[Setting::BaseUrl, Setting::ApiKey, Setting::ApiPassword, Setting::ShaKey],
            Kind::Session => &[Setting::BaseUrl],
            Kind::Enterprise => {
                &[Setting::EnterpriseBaseUrl, Setting::EnterpriseApiKey, Setting::EnterpriseApiPassword]
            }
        };
        needed.iter().copied().filter(|setting| self.get(*setting).is_none()).collect()
    }

    fn missing(&self, settings: &[Setting]) -> Failure {
        let list = |name: fn(Setting) -> &'static str| settings.iter().map(|s| name(*s)).collect::<Vec<_>>().join(", ");
        let file = self.file.as_ref().map_or_else(String::new, |file| format!(" of {}", file.display()));
        let members = list(Setting::member);
        let profile =
            self.profile.as_ref().map_or_else(|| "a profile".to_owned(), |name| format!("the profile {name}"));
        let how = format!("set {} in the environment, or {members} in {profile}{file}", list(Setting::variable));
        let is_empty =
            Setting::ALL.into_iter().all(|setting| setting == Setting::Dialect || self.get(setting).is_none());
        Failure::misuse(if is_empty {
            format!("no account is configured: {how}; `pg sandbox` prints a test account")
        } else {
            format!("the account lacks {members}: {how}")
        })
    }
}

fn choose(
    setting: Setting,
    flags: &mut AccountFlags,
    profile: &mut Profile,
    profile_flag: Option<&str>,
) -> Result<Option<Secret>, Failure> {
    if let Some(value) = flags.values.take(setting) {
        if setting.is_secret() {
            if value.expose() == setting.placeholder() {
                return Err(Failure::misuse(format!(
                    "replace {} after {} with the value of the account; nothing was sent",
                    setting.placeholder(),
                    setting.flag()
                )));
            }
            argument::warn_of_visible(&[setting.flag()], setting.variable());
        }
        warn_of_blanks(setting, setting.flag(), &value);
        return Ok(Some(value));
    }
    let of_profile = profile.take(setting);
    let Some(value) = variable(setting.variable())?.map(Secret::from) else {
        if let Some(value) = &of_profile {
            warn_of_blanks(setting, setting.member(), value);
        }
        return Ok(of_profile);
    };
    if let Some(name) = profile_flag
        && of_profile.is_some_and(|other| other.expose() != value.expose())
    {
        let (variable, member) = (setting.variable(), setting.member());
        output::warn(&format!("the environment variable {variable} overrides {member} of the profile {name}"));
    }
    warn_of_blanks(setting, setting.variable(), &value);
    Ok(Some(value))
}

/// A line break at the end of a secret makes it invalid for the service.
fn warn_of_blanks(setting: Setting, name: &str, value: &Secret) {
    if setting.is_secret() && value.expose().trim() != value.expose() {
        output::warn(&format!("{name} begins or ends with white space, which is part of the value"));
    }
}

/// Returns an environment variable; an empty one counts as unset.
///
/// # Errors
/// If it is not valid UTF-8.
pub(crate) fn variable(name: &str) -> Result<Option<String>, Failure> {
    match std::env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => {
            Err(Failure::misuse(format!("the environment variable {name} is not valid UTF-8; set it again")))
        }
    }
}
