//! The details of an account, as flags and as members of a profile. Both have the same details under the same names.

use pg_model::Secret;

use super::Setting;

/// The account settings from one source.
#[derive(Default, clap::Args)]
#[command(next_help_heading = super::HEADING)]
pub(super) struct Values {
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
    #[arg(long, value_name = "NAME|FILE", help = format!(
        "{}. Default: sandbox for an http address on this machine, documented (no assumptions) for any other address [env: PG_DIALECT]",
        super::dialect::help("How replies are interpreted where the documents are silent"),
    ))]
    pub(super) dialect: Option<String>,
}

impl Values {
    /// Returns the value of a setting; an empty value counts as missing.
    pub(super) fn take(&mut self, setting: Setting) -> Option<Secret> {
        self.place(setting).take().filter(|value| !value.is_empty()).map(Secret::from)
    }

    /// Sets the value of a setting.
    pub(super) fn put(&mut self, setting: Setting, value: String) {
        *self.place(setting) = Some(value);
    }

    /// Returns the place of a setting's value.
    pub(super) const fn place(&mut self, setting: Setting) -> &mut Option<String> {
        match setting {
            Setting::BaseUrl => &mut self.base_url,
            Setting::EnterpriseBaseUrl => &mut self.enterprise_base_url,
            Setting::ApiKey => &mut self.api_key,
            Setting::ApiPassword => &mut self.api_password,
            Setting::ShaKey => &mut self.sha_key,
            Setting::EnterpriseApiKey => &mut self.enterprise_api_key,
            Setting::EnterpriseApiPassword => &mut self.enterprise_api_password,
            Setting::AccountUpdaterKey => &mut self.account_updater_key,
            Setting::Dialect => &mut self.dialect,
        }
    }
}
