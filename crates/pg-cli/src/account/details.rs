//! What is known of the account, whichever place it came from.

use std::{env::VarError, path::PathBuf, sync::Arc};

use pg_model::{Dialect, Encoding, Secret, method::AuthScheme as Kind};
use pg_proto::{Account, BaseUrl, Credentials, EnterpriseCredentials};

use super::{
    Setting, dialect,
    profile::{self, Profile},
    values::Values,
};
use crate::{failure::Failure, output, shell};

/// Flags that describe the account. Each has a variable of the environment and a member of a profile.
#[derive(Default, clap::Args)]
#[command(next_help_heading = super::HEADING)]
pub(crate) struct AccountFlags {
    #[command(flatten)]
    values: Values,
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
            (Setting::BaseUrl.flag(), &self.values.base_url),
            (Setting::EnterpriseBaseUrl.flag(), &self.values.enterprise_base_url),
            (Setting::Dialect.flag(), &self.values.dialect),
            ("--profile", &self.profile),
            ("--profile-file", &profile_file),
        ]
        .into_iter()
        .filter_map(|(flag, value)| Some(format!(" {flag} {}", shell::word(value.as_deref()?))))
        .collect()
    }
}

impl Details {
    /// Gathers what flags, environment and profile say, in this order of precedence.
    ///
    /// # Errors
    /// When a profile was asked for that can't be had, or the profile file is not fit to be read.
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
            (None, Some(_)) => return Err(Failure::misuse("no folder of settings is known: name --profile-file")),
            (None, None) => Profile::default(),
        };
        let mut values = [const { None }; Setting::ALL.len()];
        for setting in Setting::ALL {
            values[setting as usize] = choose(setting, &mut flags, &mut profile, profile_flag.as_deref())?;
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

    /// The account with version 5, whose details are all known.
    ///
    /// # Errors
    /// When its address is none.
    pub(crate) fn with_enterprise(&self, account: Account) -> Result<Account, Failure> {
        let base = self.base(Setting::EnterpriseBaseUrl)?;
        let (key, password) = (self.require(Setting::EnterpriseApiKey)?, self.require(Setting::EnterpriseApiPassword)?);
        Ok(account.enterprise(base, EnterpriseCredentials::new(key, password)))
    }

    /// The dialect that replies from an address are read by.
    fn dialect(&self, base: &BaseUrl) -> Result<Arc<Dialect>, Failure> {
        self.get(Setting::Dialect).map_or_else(|| Ok(dialect::of_address(base)), dialect::named)
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
) -> Result<Option<Secret>, Failure> {
    if let Some(value) = flags.values.take(setting) {
        if setting.is_secret() {
            output::warn(&format!(
                "{} on the command line can be seen by other users and stays in the shell's history; use {}",
                setting.flag(),
                setting.variable(),
            ));
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
        output::warn(&format!("{variable} of the environment is used, not {member} of the profile {name}"));
    }
    warn_of_blanks(setting, setting.variable(), &value);
    Ok(Some(value))
}

/// A line break that came along with a secret looks like a wrong secret to the service.
fn warn_of_blanks(setting: Setting, name: &str, value: &Secret) {
    if setting.is_secret() && value.expose().trim() != value.expose() {
        output::warn(&format!("{name} begins or ends with white space, which counts as part of it"));
    }
}

/// A variable of the environment; an empty one counts as not set.
///
/// # Errors
/// When it is no text.
pub(crate) fn variable(name: &str) -> Result<Option<String>, Failure> {
    match std::env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => {
            Err(Failure::misuse(format!("{name} of the environment is no UTF-8 text; set it anew")))
        }
    }
}
