//! `pg survey`: finds out how a staging environment behaves where the documents leave something open.

mod cards;
mod drive;
mod shown;
mod staging;

use std::{
    fmt::Display,
    io::ErrorKind,
    path::{Path, PathBuf},
    time::Duration,
};

use pg_hyper::DurableFile;
use pg_model::{Currency, Dialect, Encoding, method::AuthScheme};
use pg_proto::{Account, machine::SavedState};
use pg_survey::{Conclusion, Cost, Ending, Options, Report, Survey};

use super::result_file;
use crate::{
    account::{AccountFlags, Details, Setting, dialect},
    argument,
    failure::{Exit, Failure},
    output,
    transport::RedactingTransport,
};

/// Finds out, with harmless requests, how a service behaves where its documents leave something open
///
/// Reports each open point with the evidence, and writes a dialect file for clients, for `pg sandbox --dialect` and for
/// all other commands with --dialect. Nothing is charged without --with-payments.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg survey --plan                                      lists the requests, and sends none
  pg survey --staging staging.example --write own.toml
  pg survey --staging staging.example --with-payments --cards cards.txt --write own.toml
  pg survey --staging staging.example --with-payments --cards cards.txt --against own.toml

The last one ends with exit code 1 if the service has changed. Without --with-payments it does not compare the \
entries that need a payment, such as the code of a decline, and says how many these are.

A file of cards has a line for each card: its role, number, expiry date and CV2, such as
  approved 4000000000001000 12/30 123
Roles: approved, declined, insufficient-funds, challenge, not-enrolled.

--staging is required, except for an http address on this machine. The survey sends at most 100 requests of \
each version a minute, stops when the service refuses the credentials, and sends a wrong password only with --with-wrong-password. \
Ctrl-C ends it with a partial report. Guide: docs/guide/survey.md.

Exit codes: 0 done, 1 the service differs from --against, charges a used reference again or refuses the account, or a test card does not work, 2 misuse, 3 not reachable or interrupted, 4 ended early after a test payment that has no reply, or a result could not be written.")]
pub(crate) struct Arguments {
    /// Confirms that an address is a staging environment: host, host:port or the whole base URL; repeatable
    #[arg(long, value_name = "ADDRESS")]
    staging: Vec<String>,
    /// Prints the planned requests, and sends none
    #[arg(long)]
    plan: bool,
    /// Makes payments, captures and refunds with the test cards, and stores a card
    #[arg(long)]
    with_payments: bool,
    /// Sends one request with a wrong password, which counts towards a lockout
    #[arg(long)]
    with_wrong_password: bool,
    /// File of test cards, or - for standard input [env: PG_SURVEY_CARDS]
    #[arg(long, value_name = "FILE")]
    cards: Option<String>,
    /// A test card as ROLE=@FILE or ROLE=-. As `approved=NUMBER MM/YY CV2` on the command line, other users can see it
    #[arg(long = "card", value_name = "ROLE=CARD")]
    card: Vec<String>,
    /// Currency of payments
    #[arg(long, value_name = "CODE", default_value = "GBP", value_parser = currency)]
    currency: String,
    /// Maximum number of requests of each version per minute; choose fewer if other programs use the account
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100))]
    per_minute: u32,
    /// Compares the service with this dialect instead of the sandbox's; exit code 1 if the service differs
    #[arg(long, value_name = "NAME|FILE")]
    against: Option<String>,
    /// Writes the dialect of the service to this file, and overwrites it
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// File that remembers requests and failed logins between surveys, so that a second survey stays within the limit
    /// too [default: the file of --write with .throttle appended]
    #[arg(long, value_name = "FILE")]
    throttle: Option<PathBuf>,
    /// Name of the written dialect
    #[arg(long, value_name = "NAME", default_value = "surveyed")]
    name: String,
    /// Time limit of a request
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    #[command(flatten)]
    account: AccountFlags,
}

pub(crate) fn run(arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    check_files(&arguments)?;
    let ours = arguments.against.as_deref().map_or_else(|| Ok(pg_sandbox::dialect()), dialect::named)?;
    let mut options = Options::default();
    options.payments = arguments.with_payments;
    options.wrong_password = arguments.with_wrong_password;
    options.cards = cards::read(arguments.cards.as_deref(), &arguments.card)?;
    options.currency.clone_from(&arguments.currency);
    options.per_minute = arguments.per_minute;
    if options.payments && options.cards.is_empty() {
        return Err(Failure::misuse(
            "--with-payments needs test cards: name them with --cards FILE or --card ROLE=@FILE",
        ));
    }
    let mut details = Details::gather(arguments.account)?;
    if arguments.plan {
        // A plan needs no account.
        details.fill_in(AuthScheme::Signed);
    }
    let account = account(&details)?;
    let survey = Survey::new(&account, options, drive::seed());
    if arguments.plan {
        shown::plan(&survey.plan(), json)?;
        return Ok(Exit::Done);
    }
    staging::check(&account, &arguments.staging)?;
    let transport = RedactingTransport::new(Duration::from_secs(arguments.timeout), &details)?;
    drop(details);
    let throttle = throttle_file(arguments.throttle, arguments.write.as_deref());
    let files = arguments.write.iter().chain(throttle.as_ref().map(|(_, path)| path));
    files.into_iter().try_for_each(|path| result_file::check(path))?;
    announce(&survey, &account);
    let survey = match &throttle {
        Some((_, path)) => resumed(survey, path)?,
        None => survey,
    };
    let (survey, failure) = drive::drive(survey, &transport, throttle.as_ref().map(|(file, _)| file))?;
    let report = survey.report(&ours);
    let is_compared = arguments.against.is_some();
    let ended = failure.map_or_else(|| ended(&report, is_compared, arguments.with_payments), Err);
    let ended = ended
        .map_err(|failure| failure.with(&remedy(&report.ending, throttle.as_ref().map(|(_, path)| path.as_path()))));
    let ended = finish(&survey, (&report, ended), &account, &ours, json, (arguments.write.as_deref(), &arguments.name));
    if is_compared && report.ending == Ending::Complete {
        warn_of_gaps(&report, ours.shown_name(), arguments.with_payments);
    }
    ended
}

/// Says how many entries of the dialect were not compared, since a comparison without them may miss a change.
fn warn_of_gaps(report: &Report, dialect: &str, pays: bool) {
    let left_out = report.with(Conclusion::NotDecided).filter(|finding| finding.ours.is_some()).count();
    if left_out > 0 {
        let add = if pays { "" } else { "; most need --with-payments --cards FILE" };
        output::say(&format!(
            "pg: entries of the dialect {dialect:?} that were not compared, and may have changed: {left_out} (see \"Not decided\"){add}"
        ));
    }
}

/// With a malformed or unsupported code, the service's error would not answer the survey's question.
fn currency(code: &str) -> Result<String, String> {
    if Currency::from(code).exponent().is_some() {
        return Ok(code.to_owned());
    }
    Err("expected a currency of ISO 4217 in capital letters, such as GBP".to_owned())
}

/// Refuses to overwrite a file that the survey reads, and to write two results to one file.
fn check_files(arguments: &Arguments) -> Result<(), Failure> {
    let throttle = throttle_file(arguments.throttle.clone(), arguments.write.as_deref()).map(|(_, path)| path);
    let throttle_flag = if arguments.throttle.is_some() { "--throttle" } else { "the default of --throttle" };
    let written = [("--write", arguments.write.as_deref()), (throttle_flag, throttle.as_deref())];
    let cards = cards::file(arguments.cards.as_deref())?;
    let card = arguments
        .card
        .iter()
        .filter_map(|card| card.split_once("=@"))
        .map(|(_, file)| ("--card", Some(Path::new(file))));
    let against = arguments.against.as_deref().map(Path::new);
    let (dialect, profiles) = arguments.account.files();
    let read = [
        ("--cards", cards.as_deref().map(Path::new)),
        ("--against", against),
        ("--dialect", dialect),
        ("--profile-file", profiles),
    ];
    result_file::check_apart(&written, &read.into_iter().chain(card).collect::<Vec<_>>())
}

/// Returns the file with requests and failed logins: that of `--throttle`, or one beside the file of `--write`.
fn throttle_file(chosen: Option<PathBuf>, write: Option<&Path>) -> Option<(DurableFile, PathBuf)> {
    let beside = |path: &Path| {
        let mut name = path.as_os_str().to_owned();
        name.push(".throttle");
        PathBuf::from(name)
    };
    let path = chosen.or_else(|| write.map(beside))?;
    Some((DurableFile::new(path.clone()), path))
}

/// Returns the survey with the requests and failed logins of an earlier one, if the file exists.
fn resumed(survey: Survey, path: &Path) -> Result<Survey, Failure> {
    let unusable = |error: &dyn Display| {
        Failure::misuse(format!(
            "{}: {error}. A file of --throttle has no payment: delete it or choose another",
            path.display()
        ))
    };
    match argument::read_file(path) {
        Ok(text) => survey.resume_throttle(&SavedState::from_text(text)).map_err(|error| unusable(&error)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(survey),
        Err(error) => Err(unusable(&error)),
    }
}

/// Returns version 3, and version 5 if its details are known.
fn account(details: &Details) -> Result<Account, Failure> {
    let account = details.account(AuthScheme::Signed, Encoding::Json)?;
    let version_5 = [Setting::EnterpriseBaseUrl, Setting::EnterpriseApiKey, Setting::EnterpriseApiPassword];
    if version_5.iter().all(|setting| details.get(*setting).is_some()) {
        return details.with_enterprise(account);
    }
    Ok(account)
}

fn announce(survey: &Survey, account: &Account) {
    let plan = survey.plan();
    let address = account.base_urls().next().map(ToString::to_string).unwrap_or_default();
    let costs =
        [Cost::Session, Cost::FailedLogin, Cost::Record, Cost::Payment].map(|cost| (plan.count(cost), cost.words()));
    // Such as "an empty session".
    let noun = |what: &'static str| what.split_once(' ').map_or(what, |(_, noun)| noun);
    let counted = |(count, what)| format!("{count} {}{}", noun(what), if count == 1 { "" } else { "s" });
    let costs: Vec<String> = costs.into_iter().filter(|(count, _)| *count > 0).map(counted).collect();
    output::say(&format!(
        "pg: {} requests to {address}, and at most {} more to check that the account still works; cost: {}; \
         `--plan` lists them",
        plan.probes.len(),
        plan.most_controls,
        costs.join(", "),
    ));
}

/// Writes the dialect and shows the report, with how the survey ended. A survey without findings writes nothing, since the
/// file may hold the findings of an earlier survey.
fn finish(
    survey: &Survey,
    (report, ended): (&Report, Result<Exit, Failure>),
    account: &Account,
    ours: &Dialect,
    json: bool,
    (file, name): (Option<&Path>, &str),
) -> Result<Exit, Failure> {
    let text = shown::file(&survey.dialect(name), report, account);
    let has_found = report.findings.iter().any(|finding| finding.seen.is_some());
    let written = file.filter(|_| has_found).map_or(Ok(()), |file| result_file::write(file, &text));
    let told = file.filter(|_| written.is_ok()).map(|file| match has_found {
        true => format!("pg: the dialect is in {}", file.display()),
        false => format!("pg: nothing was found; {} is not written", file.display()),
    });
    let ended = shown::report(report, ours, &text, account, json, written.and(ended));
    told.iter().for_each(|told| output::say(told));
    ended
}

/// Returns how a survey that was not kept from its end has ended. `is_compared`: with a dialect that the service should speak.
fn ended(report: &Report, is_compared: bool, pays: bool) -> Result<Exit, Failure> {
    if report.unanswered_payment && report.ending.is_of_the_service() {
        let why = "a test payment that was sent has no reply, and may have been made";
        return Err(Failure::new(Exit::Unknown, format!("{}; {why}", report.ending)));
    }
    let error = report.with(Conclusion::Error).next().map(|finding| &*finding.remark);
    let differs = is_compared && report.with(Conclusion::Differs).next().is_some();
    if let (Ending::Complete, None, Some(card)) = (&report.ending, error, report.unusable_cards.first()) {
        let why = format!("{card}; check the card, and run the survey again");
        return Err(Failure::new(Exit::Refused, why));
    }
    exit(&report.ending, error, differs, pays)
}

/// Returns what to do after refused credentials.
fn remedy(ending: &Ending, throttle: Option<&Path>) -> String {
    match (ending, throttle) {
        (Ending::CredentialsRefused(_), _) => "; correct the credentials and run the survey again".to_owned(),
        (Ending::CredentialsRefusedEarlier(_), Some(file)) => {
            format!("; correct them, or delete {} if they were valid", file.display())
        }
        _ => String::new(),
    }
}

/// Returns the exit code of a survey's end.
fn exit(ending: &Ending, error: Option<&str>, differs: bool, pays: bool) -> Result<Exit, Failure> {
    let (exit, why) = match (ending, error) {
        (Ending::Complete, Some(error)) => (Exit::Refused, error.to_owned()),
        (Ending::Complete, None) if differs => return Ok(Exit::Refused),
        (Ending::Complete, None) => return Ok(Exit::Done),
        (Ending::NotReachable | Ending::NotTheService(_) | Ending::Unanswered, _) => {
            (Exit::NotReachable, ending.to_string())
        }
        (Ending::Interrupted, _) => {
            let charged = if pays { "each test payment that was sent has a reply" } else { "nothing was charged" };
            (Exit::NotReachable, format!("interrupted: {charged}; the report is partial; run the survey again"))
        }
        (Ending::InterruptedInPayment, _) => {
            let why =
                "interrupted: a test payment that was sent has no reply, and may have been made; the report is partial";
            (Exit::Unknown, why.to_owned())
        }
        (ending, _) => (Exit::Refused, ending.to_string()),
    };
    Err(Failure::new(exit, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_interruption_with_a_payment_without_a_reply_has_an_unknown_outcome() {
        let code = |ending: &Ending, pays| exit(ending, None, false, pays).unwrap_or_else(|failure| failure.exit());
        for (ending, expected) in [
            (Ending::Complete, Exit::Done),
            (Ending::CredentialsRefused("102".to_owned()), Exit::Refused),
            (Ending::LockedOut("121".to_owned()), Exit::Refused),
            (Ending::Unavailable("HTTP 503".to_owned()), Exit::Refused),
            (Ending::NotTheService("HTTP 200".to_owned()), Exit::NotReachable),
            (Ending::NotReachable, Exit::NotReachable),
            (Ending::Unanswered, Exit::NotReachable),
            (Ending::Interrupted, Exit::NotReachable),
            (Ending::InterruptedInPayment, Exit::Unknown),
        ] {
            assert_eq!(code(&ending, true), expected, "{ending:?}");
        }
        assert_eq!(exit(&Ending::Complete, None, true, false).ok(), Some(Exit::Refused));
        let error = exit(&Ending::Complete, Some("it charges again"), false, true).expect_err("a failure");
        assert_eq!((error.exit(), error.message()), (Exit::Refused, "it charges again"));
    }
}
