//! `pg sandbox accounts`: the configured accounts of a running sandbox, and their credentials if these are public.

use serde_json::Value;

use super::{entries, print, print_list, text};
use crate::{
    account::Setting,
    command::sandbox::{abilities, setting_of},
    control::{Control, SandboxFlags},
    failure::Failure,
    output, shell, suggestion,
    table::table,
};

/// Lists the configured accounts, or prints the settings of one as shell commands
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg sandbox accounts                       names, currencies, what each may do
  eval \"$(pg sandbox accounts main)\"        sets PG_BASE_URL, PG_API_KEY, … in this shell
  pg sandbox accounts --json | jq '.[].name'

Credentials of accounts from a config file are not shown; those of another account are unset. \
`pg sandbox account list` shows the accounts created at run time.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    at: SandboxFlags,
    /// The account whose settings are printed as shell commands
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

pub(super) async fn run(arguments: Arguments, json: bool) -> Result<(), Failure> {
    let control = Control::new(&arguments.at)?;
    let accounts = control.get("merchants").await?;
    let Some(name) = &arguments.name else {
        return print_list(&accounts, json, "pg: the sandbox has no accounts", |accounts| {
            let rows: Vec<_> = accounts.iter().map(|account| [text(&account["name"]), abilities(account)]).collect();
            table(["NAME", "PERMISSIONS"], &rows)
        });
    };
    let account = find(&accounts, name)?;
    print(account, json, |account| exports(account, control.base().as_str()))
}

/// Returns the configured account of a name.
///
/// # Errors
/// If there is no such account; the message suggests the nearest name.
pub(crate) fn find<'a>(accounts: &'a Value, name: &str) -> Result<&'a Value, Failure> {
    let known = || entries(accounts).iter().filter_map(|account| account["name"].as_str());
    entries(accounts).iter().find(|account| account["name"] == name).ok_or_else(|| {
        let hint = suggestion::nearest(name, known()).map_or_else(
            || {
                let known = known().collect::<Vec<_>>().join(", ");
                format!("configured accounts: {known}; `pg sandbox account list` shows those created at run time")
            },
            |near| format!("did you mean {near}?"),
        );
        Failure::misuse(format!("no account {:?} is configured; {hint}", pg_model::mask::text(name)))
    })
}

/// Returns lines that set the account's details in a shell.
pub(super) fn exports(account: &Value, base: &str) -> String {
    let base = base.trim_end_matches('/');
    let mut lines = vec![
        format!("export {}={}", Setting::BaseUrl.variable(), shell::word(base)),
        format!("export {}={}", Setting::EnterpriseBaseUrl.variable(), shell::word(&format!("{base}/enterprise"))),
    ];
    // The reply for a new account has the addresses too.
    let others = |setting: &Setting| ![Setting::BaseUrl, Setting::EnterpriseBaseUrl].contains(setting);
    for setting in Setting::ALL.into_iter().filter(others) {
        if let Some(value) = setting_of(account, setting) {
            lines.push(format!("export {}={}", setting.variable(), shell::word(value)));
        } else if setting.is_secret() {
            // Those of another account would be sent to this sandbox.
            lines.push(format!("unset {}", setting.variable()));
        }
    }
    if account[Setting::ApiKey.member()].is_null() {
        lines.push("# Its credentials are in the sandbox's config file.".to_owned());
    }
    output::harmless_lines(&lines.join("\n")).into_owned()
}
