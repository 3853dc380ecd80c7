//! `pg call`: one request, checked, shown or sent, and its reply.

mod check;
mod curl;
mod lookup;
mod preview;
mod redirect;
mod send;
mod verbose;
mod verdict;

use std::time::Duration;

use bytes::Bytes;
use pg_model::{
    Encoding,
    method::{AuthScheme, MethodInfo},
};
use pg_proto::RawRequest;

use self::lookup::Lookup;
use crate::{
    account::{AccountFlags, Details, Setting},
    argument::{self, Given},
    failure::{Exit, Failure},
    output, reference,
    transport::RedactingTransport,
};

/// Calls a method and prints its reply as JSON
///
/// All parameters are checked first; nothing is sent if one is invalid.
#[derive(clap::Args)]
#[command(after_help = format!("\
Examples:
  pg call token/lookup cardKey=4F2C-91
  pg call transaction/auth cardNumber=- cardExpiryMonth=12 … < card.txt
  pg call transaction/refund transactionKey=… transactionValue=500 --dry-run
  pg call enterprise/address property_name=1 postcode='ZZ1 1AA' --curl
  pg call token/lookup cardKey=4F2C-91 --verbose

{}

`pg methods SERVICE/METHOD` shows the parameters of a method.

Exit codes: 0 done, 1 refused or declined, 2 misuse, 3 no reply and nothing was executed: the service was not reachable, or \
the method only reads, 4 outcome unknown: no reply to a method that changes something, an unreadable reply, or a refusal that an \
earlier copy of the request may have caused. A method that only reads can be called again. A lookup that finds nothing proves nothing \
while a request may still arrive (A140).", argument::HELP))]
pub(crate) struct Arguments {
    /// The method, such as token/lookup
    #[arg(value_name = "SERVICE/METHOD")]
    method: String,
    /// The method's parameters, not URL-encoded; pg adds the credentials and the signature
    #[arg(value_name = "name=value")]
    parameters: Vec<String>,
    /// Asks the service for XML instead of JSON; the output is still JSON
    #[arg(long)]
    xml: bool,
    /// Prints the request with all secrets masked, and sends nothing
    #[arg(long)]
    dry_run: bool,
    /// Prints a curl command with the real credentials, and sends nothing; masked with --dry-run
    #[arg(long)]
    curl: bool,
    /// Sends the parameters unchecked, for rules that the service has changed
    #[arg(long)]
    unchecked: bool,
    /// Prints the status, headers and basis of each request and reply on stderr, masked
    #[arg(long, short)]
    verbose: bool,
    /// Time limit for connecting, sending and receiving together
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    #[command(flatten)]
    account: AccountFlags,
}

/// Sending and previewing share this code: `--dry-run` shows exactly the request that would be sent.
pub(crate) fn run(mut arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    let info = reference::method(&arguments.method)?;
    let mut given = Given::read(&arguments.parameters)?;
    let account_flags = arguments.account.repeated();
    let mut details = Details::gather(arguments.account)?;
    add_updater_key(info, &mut given, &details);
    if !arguments.unchecked {
        check::check(info, &given.parameters).inspect_err(|_| {
            if !given.is_test_data() {
                given.warn_of_secrets();
            }
        })?;
    }
    let placeholders = if arguments.dry_run { details.fill_in(info.credentials) } else { Vec::new() };
    let encoding = if arguments.xml { Encoding::Xml } else { Encoding::Json };
    let account = details.account(info.credentials, encoding)?;
    let request = account
        .request_raw(&RawRequest::of(info, given.parameters.clone()))
        .map_err(|misuse| Failure::misuse(misuse.to_string()))?;
    if !placeholders.is_empty() {
        let variables: Vec<_> = placeholders.iter().map(|setting| setting.variable()).collect();
        output::say(&format!("pg: no account is configured ({}): using placeholders", variables.join(", ")));
    }
    if !(on_this_machine(&request) && given.is_test_data()) {
        given.warn_of_secrets();
    }
    if arguments.curl {
        curl::print(&request, arguments.dry_run, json)?;
        return Ok(Exit::Done);
    }
    if arguments.dry_run {
        preview::print(&request, &placeholders, json)?;
        return Ok(Exit::Done);
    }
    let call = send::Call {
        info,
        target: request.uri().to_string(),
        lookup: Lookup::of(info, &given.parameters, &account_flags),
        pages: redirect::Pages::of(&given.parameters),
        http: RedactingTransport::new(Duration::from_secs(arguments.timeout), &details)?,
        verbose: arguments.verbose,
        json,
    };
    // While the reply is awaited, only the data needed to read it is held. Secrets that the reply must not show are
    // held as hashes.
    let can_decrypt = details.get(Setting::ApiKey).is_some();
    drop(details);
    if info.credentials == AuthScheme::Session {
        drop(given);
        call.post_form(account, request, can_decrypt)
    } else {
        drop(request);
        call.send(account, given.parameters)
    }
}

/// Whether the request goes to a sandbox on this machine, whose test cards are public.
fn on_this_machine(request: &http::Request<Bytes>) -> bool {
    let host = request.uri().host().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

/// The key of the account updater belongs to the account, so it is added to requests.
fn add_updater_key(info: &MethodInfo, given: &mut Given, details: &Details) {
    const NAME: &str = "accountUpdaterKey";
    if let (Some(_), None, Some(key)) =
        (info.field(NAME), given.parameters.get(NAME), details.get(Setting::AccountUpdaterKey))
    {
        given.parameters.push(NAME, key);
    }
}

/// Returns names and values of a request's form.
fn form(request: &http::Request<Bytes>) -> impl Iterator<Item = (String, String)> + '_ {
    form_urlencoded::parse(request.body()).map(|(name, value)| (name.into_owned(), value.into_owned()))
}

/// Returns a parameter for display: its name without card numbers, and its masked value. An unknown name may be the mistyped name of a
/// secret.
fn shown(name: &str, value: &str) -> (String, String) {
    let value = if argument::is_secret(name) && !pg_model::METHODS.iter().any(|info| info.field(name).is_some()) {
        "***".to_owned()
    } else {
        pg_proto::shown(name, value)
    };
    (pg_model::mask::text(name), value)
}
