//! What is known of the account, whichever place it came from.

use std::path::PathBuf;

use pg_model::{Encoding, Secret, method::Credentials as Kind};
use pg_proto::{Account, BaseUrl, Credentials, EnterpriseCredentials};

use super::{
    Setting,
    profile::{self, Profile},
};
use crate::{failure::Failure, output, shell};

/// Flags that describe the account. Each has a variable of the environment and a member of a profile.
#[derive(Default, clap::Args)]
#[command(next_help_heading = "Account (flag, else environment, else profile)")]
pub(crate) struct AccountFlags {
    /// Address of the version 3 services [env: PG_BASE_URL]
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Address of the version 5 service [env: PG_ENTERPRISE_BASE_URL]
    #[arg(long, value_name = "URL")]
    enterprise_base_url: Option<String>,
    /// API key; prefer the environment [env: PG_API_KEY]
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
    /// API password; prefer the environment [env: PG_API_PASSWORD]
    #[arg(long, value_name = "PASSWORD")]
    api_password: Option<String>,
    /// Key that signs requests; prefer the environment [env: PG_SHA_KEY]
    #[arg(long, value_name = "KEY")]
    sha_key: Option<String>,
    /// API key of version 5; prefer the environment [env: PG_ENTERPRISE_API_KEY]
    #[arg(long, value_name = "KEY")]
    enterprise_api_key: Option<String>,
    /// API password of version 5; prefer the environment [env: PG_ENTERPRISE_API_PASSWORD]
    #[arg(long, value_name = "PASSWORD")]
    enterprise_api_password: Option<String>,
    /// Key of the account updater; prefer the environment [env: PG_ACCOUNT_UPDATER_KEY]
    #[arg(long, value_name = "KEY")]
    account_updater_key: Option<String>,
    /// Profile to take the rest from; `default` if there is one [env: PG_PROFILE]
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// File of profiles [env: PG_PROFILE_FILE] [default: pg/profiles.toml in the folder of settings]
    #[arg(long, value_name = "FILE")]
    profile_file: Option<PathBuf>,
}

/// What is known of the account.
pub(crate) struct Details {
    values: [Option<Secret>; Setting::ALL.len()],
    /// Where profiles are read from, for errors.
    file: Option<PathBuf>,
}

impl AccountFlags {
    /// Flags that hold no secret, for a further command to the same account; each with a blank in front.
    pub(crate) fn to_repeat(&self) -> String {
        let profile_file = self.profile_file.as_ref().map(|file| file.display().to_string());
        [
            (Setting::BaseUrl.flag(), &self.base_url),
            (Setting::EnterpriseBaseUrl.flag(), &self.enterprise_base_url),
            ("--profile", &self.profile),
            ("--profile-file", &profile_file),
        ]
        .into_iter()
        .filter_map(|(flag, value)| Some(format!(" {flag} {}", shell::word(value.as_deref()?))))
        .collect()
    }

    fn take(&mut self, setting: Setting) -> Option<Secret> {
        match setting {
            Setting::BaseUrl => &mut self.base_url,
            Setting::EnterpriseBaseUrl => &mut self.enterprise_base_url,
            Setting::ApiKey => &mut self.api_key,
            Setting::ApiPassword => &mut self.api_password,
            Setting::ShaKey => &mut self.sha_key,
            Setting::EnterpriseApiKey => &mut self.enterprise_api_key,
            Setting::EnterpriseApiPassword => &mut self.enterprise_api_password,
            Setting::AccountUpdaterKey => &mut self.account_updater_key,
        }
        .take()
        .filter(|value| !value.is_empty())
        .map(Secret::from)
    }
}

impl Details {
    /// Gathers what flags, environment and profile say, in this order of precedence.
    ///
    /// # Errors
    /// When a profile was asked for that can't be had, or the profile file is not fit to be read.
    pub(crate) fn gather(mut flags: AccountFlags) -> Result<Self, Failure> {
        let file_named = flags.profile_file.take().or_else(|| variable("PG_PROFILE_FILE").map(PathBuf::from));
        let profile_flag = flags.profile.take();
        let asked = profile_flag.clone().or_else(|| variable("PG_PROFILE"));
        let named = file_named.is_some();
        let file = file_named.or_else(profile::usual_file);
        let mut profile = match (&file, &asked) {
            (Some(file), asked) => profile::read(file, asked.as_deref(), named)?,
            (None, Some(_)) => return Err(Failure::misuse("no folder of settings is known: name --profile-file")),
            (None, None) => Profile::default(),
        };
        let mut values = [const { None }; Setting::ALL.len()];
        for setting in Setting::ALL {
            values[setting as usize] = choose(setting, &mut flags, &mut profile, profile_flag.as_deref());
        }
        Ok(Self { values, file })
    }

    /// What is known of a setting.
    pub(crate) fn get(&self, setting: Setting) -> Option<&str> {
        self.values[setting as usize].as_ref().map(Secret::expose)
    }

    /// A setting that there is no going on without.
    ///
    /// # Errors
    /// When it is not known; says where it can be set.
    pub(crate) fn require(&self, setting: Setting) -> Result<&str, Failure> {
        self.get(setting).ok_or_else(|| self.missing(&[setting]))
    }

    /// Fills with visible placeholders what requests of a kind need and is not known; returns which.
    pub(crate) fn fill_in(&mut self, kind: Kind) -> Vec<Setting> {
        let missing = self.unknown(kind);
        for setting in &missing {
            self.values[*setting as usize] = Some(setting.placeholder().into());
        }
        missing
    }

    /// The account, as far as requests of a kind need it.
    ///
    /// # Errors
    /// When something is missing, all of it at once, or an address is none.
    pub(crate) fn account(&self, kind: Kind, encoding: Encoding) -> Result<Account, Failure> {
        let missing = self.unknown(kind);
        if !missing.is_empty() {
            return Err(self.missing(&missing));
        }
        // What requests of this kind do not carry may be empty.
        let secret = |setting| self.get(setting).unwrap_or_default();
        let credentials =
            Credentials::new(secret(Setting::ApiKey), secret(Setting::ApiPassword), secret(Setting::ShaKey));
        if kind != Kind::Enterprise {
            return Ok(Account::new(self.base(Setting::BaseUrl)?, credentials).encoding(encoding));
        }
        let base = self.base(Setting::EnterpriseBaseUrl)?;
        let enterprise =
            EnterpriseCredentials::new(secret(Setting::EnterpriseApiKey), secret(Setting::EnterpriseApiPassword));
        Ok(Account::new(base.clone(), credentials).encoding(encoding).enterprise(base, enterprise))
    }

    fn base(&self, setting: Setting) -> Result<BaseUrl, Failure> {
        let text = self.require(setting)?;
        let places = format!("({} or {})", setting.variable(), setting.flag());
        // An address with a password in it is not repeated.
        if text.contains('@') {
            return Err(Failure::misuse(format!("the base address has credentials in it; take them out {places}")));
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
        Failure::misuse(format!(
            "the account is not known: set {} in the environment, or {} in a profile{file}; \
             `pg sandbox` shows an account to try",
            list(Setting::variable),
            list(Setting::member),
        ))
    }
}

fn choose(
    setting: Setting,
    flags: &mut AccountFlags,
    profile: &mut Profile,
    profile_flag: Option<&str>,
) -> Option<Secret> {
    if let Some(value) = flags.take(setting) {
        if setting.is_secret() {
            output::warn(&format!(
                "{} on the command line can be seen by other users and stays in the shell's history; use {}",
                setting.flag(),
                setting.variable(),
            ));
        }
        return Some(value);
    }
    let of_profile = profile.take(setting);
    match (variable(setting.variable()), profile_flag) {
        (Some(value), Some(name)) if of_profile.as_ref().is_some_and(|other| other.expose() != value) => {
            let (variable, member) = (setting.variable(), setting.member());
            output::warn(&format!("{variable} of the environment is used, not {member} of the profile {name}"));
            Some(value.into())
        }
        (Some(value), _) => Some(value.into()),
        (None, _) => of_profile,
    }
}

/// A variable of the environment; an empty one counts as not set.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
