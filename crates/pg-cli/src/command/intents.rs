//! `pg intents`: payments in a store that servers share, for operators.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::{Subcommand, ValueEnum};
use pg_intents::{
    Directive, IntentFilter, IntentKey, IntentRow, IntentStatus, IntentStore, RewritableStore, SealedStore,
    SqliteStore, StoreError,
};
use serde::Serialize;

use super::block_on;
use crate::{
    failure::{Exit, Failure},
    output, shell,
};

pub(super) mod address;
mod directives;
mod known;
mod parked;
mod sealing;
mod stops;
mod waiting;
mod watch;

/// Shows the payments of a fleet (pg-intents), and tells its workers what to do with them
///
/// Without a subcommand it lists payments. The store is a SQLite file, or a PostgreSQL database in a program that was built with the feature postgres.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg intents --store intents.sqlite                        all payments that have not ended
  pg intents --store intents.sqlite --status ended         payments that ended recently
  pg intents --store intents.sqlite --stuck                three or more workers failed
  pg intents --store intents.sqlite show order-7           one payment with its history
  pg intents --store intents.sqlite reconcile order-7      a worker looks it up at once
  pg intents --store intents.sqlite reconcile --parked     workers look up all parked payments
  pg intents --store intents.sqlite withdraw order-7       closes its page and looks for a payment
  pg intents --store intents.sqlite park order-7           no worker touches it
  pg intents --store intents.sqlite --store-key intents.key show order-7  one of a sealed store
  pg intents --store intents.sqlite --store-key new.key --store-key-older old.key reseal
  pg intents --store intents.sqlite --account 'shop-uk at https://gateway.example' resume
                                                           all processes send again after wrong credentials
  pg intents --store postgres://shop@db/shop migrate --print  the SQL of the tables")]
pub(crate) struct Arguments {
    /// The store: a SQLite file, or postgres://user@host:port/database
    #[arg(long, value_name = "FILE|URL", env = "PG_INTENTS_STORE", hide_env_values = true, value_parser = address::parser())]
    store: String,
    /// The account, by its whole name in the store, which `show` prints: only its payments are shown or changed; required by resume
    #[arg(long, value_name = "ACCOUNT", global = true, value_parser = crate::account::name())]
    account: Option<String>,
    /// The key file of a sealed store, 64 hexadecimal digits; without it, PG_INTENTS_KEY holds the key. Without a key,
    /// outcomes of sealed payments are not shown, sealed checkouts are not withdrawn, and a reconciled 3-D Secure payment does not
    /// ask for its result
    #[arg(long, value_name = "FILE", global = true)]
    store_key: Option<PathBuf>,
    /// The file of an older key with which payments are still sealed; repeatable. PG_INTENTS_KEY_OLDER holds such keys,
    /// separated by white space
    #[arg(long, value_name = "FILE", global = true)]
    store_key_older: Vec<PathBuf>,
    /// Shows payments with this status; may be given several times [default: all but ended]
    #[arg(long, value_enum)]
    status: Vec<Status>,
    /// Shows open and unknown payments that three or more workers have started and none has finished
    #[arg(long, conflicts_with = "status")]
    stuck: bool,
    /// Maximum number of payments to show
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Keeps running, and prints a payment again whenever it changes, the last time when it has ended
    #[arg(long)]
    watch: bool,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// Shows one payment with its history
    Show(One),
    /// Hands a payment, parked or not, to the next free worker, which looks it up
    ///
    /// A capture, cancellation or refund has no lookup: if its request may have been sent, it ends as unknown, also while a worker waits
    /// for its reply. A checkout whose page is open is not looked up before a callback, the customer's return or the end of its time: use
    /// withdraw.
    ///
    /// With --parked, one line tells what became of each payment. Exit codes: 0 all were reconciled, 1 some were not, 3 the database is away.
    Reconcile {
        /// The uniqueMerchantReference
        #[arg(value_name = "REFERENCE", required_unless_present = "parked", conflicts_with = "parked")]
        reference: Option<String>,
        /// Reconciles all parked payments, also those that operators have parked, of all accounts or of --account
        #[arg(long)]
        parked: bool,
    },
    /// Lets a worker close the hosted page of a checkout and look for a payment on it
    Withdraw(One),
    /// Keeps workers from touching a payment until it is reconciled
    Park(One),
    /// Seals every payment, ended ones included, with the key of --store-key while the fleet keeps running
    ///
    /// Repeat it after a minute until it seals none: then older keys are no longer needed.
    Reseal {
        /// Also seals payments that were stored unencrypted
        #[arg(long)]
        clear: bool,
    },
    /// Lets all processes of --account send again, after its wrong credentials were corrected
    Resume,
    /// Creates or upgrades the tables of the store
    Migrate {
        /// Prints the statements and changes nothing
        #[arg(long)]
        print: bool,
    },
}

#[derive(clap::Args)]
struct One {
    /// The uniqueMerchantReference
    #[arg(value_name = "REFERENCE")]
    reference: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum Status {
    Open,
    Unknown,
    Parked,
    Ended,
}

/// A row for people and programs, without the saved machine and the payment.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    account: &'a str,
    reference: &'a str,
    kind: &'a str,
    status: &'static str,
    /// The fingerprint of the key that seals the payment, if the payment was not opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    sealed_with: Option<&'a str>,
    outcome: Option<serde_json::Value>,
    owner: Option<&'a str>,
    fence: i64,
    claims: i32,
    /// Milliseconds until the lease ends or a worker looks again; negative if that is overdue.
    due_in_ms: Option<i64>,
    acknowledged: bool,
    created: i64,
    changed: i64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<&'a str>,
}

pub(crate) fn run(arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    block_on(async {
        if address::is_postgres(&arguments.store)? {
            return postgres(&arguments, json).await;
        }
        let store = match arguments.action {
            Some(Action::Migrate { print: true }) => return print(pg_intents::SQLITE_MIGRATIONS, json),
            Some(Action::Migrate { print: false }) => {
                // SQLite would leave its journal beside a device.
                if Path::new(&arguments.store).exists() {
                    address::check_file(&arguments.store)?;
                }
                SqliteStore::migrate(&arguments.store)
            }
            _ => {
                address::check_file(&arguments.store)?;
                SqliteStore::connect(&arguments.store)
            }
        };
        over(store.map_err(|error| not_opened(&error, &arguments.store))?, &arguments, json).await
    })
}

#[cfg(feature = "postgres")]
async fn postgres(arguments: &Arguments, json: bool) -> Result<Exit, Failure> {
    use pg_intents::{POSTGRES_MIGRATIONS, PostgresStore};
    let store = match arguments.action {
        Some(Action::Migrate { print: true }) => return print(POSTGRES_MIGRATIONS, json),
        Some(Action::Migrate { print: false }) => PostgresStore::migrate(&arguments.store).await,
        _ => PostgresStore::connect(&arguments.store).await,
    };
    over(store.map_err(|error| not_opened(&error, &arguments.store))?, arguments, json).await
}

#[cfg(not(feature = "postgres"))]
async fn postgres(_: &Arguments, _: bool) -> Result<Exit, Failure> {
    Err(super::without_postgres())
}

fn print(migrations: &[&str], json: bool) -> Result<Exit, Failure> {
    if json {
        output::json(&serde_json::json!({ "statements": migrations }))?;
    } else {
        output::page(migrations.concat().trim_end())?;
    }
    Ok(Exit::Done)
}

/// Runs over a store, opened with a key if there is one.
async fn over<S: RewritableStore>(store: S, arguments: &Arguments, json: bool) -> Result<Exit, Failure> {
    let Some(sealing) = sealing::given(arguments)? else { return act(&store, arguments, json).await };
    let accepts_clear = !matches!(arguments.action, Some(Action::Reseal { clear: false }));
    let sealing = if accepts_clear { sealing.accept_clear() } else { sealing };
    let store = SealedStore::open(Arc::new(store), sealing).await.map_err(failure)?;
    match arguments.action {
        Some(Action::Reseal { .. }) => sealing::reseal(&store, json).await,
        _ => act(&store, arguments, json).await,
    }
}

async fn act<S: IntentStore>(store: &S, arguments: &Arguments, json: bool) -> Result<Exit, Failure> {
    if !matches!(arguments.action, Some(Action::Migrate { .. } | Action::Reseal { .. })) {
        known::check(store, arguments).await?;
    }
    match &arguments.action {
        None => list(store, arguments, json).await,
        Some(Action::Migrate { .. }) => {
            told("the store has every table that this program needs", json, &serde_json::json!({ "migrated": true }))
        }
        Some(Action::Reseal { .. }) => Err(Failure::misuse(sealing::NO_KEY)),
        Some(Action::Show(one)) => {
            let row = find(store, arguments.account.clone(), &one.reference).await?;
            sealing::tell(&[&row], arguments);
            let shown = shown(&row, true);
            if json {
                output::json(&shown)?
            } else {
                output::data(&details(&shown))?
            }
            Ok(Exit::Done)
        }
        Some(Action::Reconcile { reference: None, .. }) => parked::reconcile(store, arguments, json).await,
        Some(Action::Reconcile { reference: Some(reference), .. }) => {
            directives::give(store, arguments, reference, Directive::Reconcile, json).await
        }
        Some(Action::Withdraw(one)) => waiting::withdraw(store, arguments, one, json).await,
        Some(Action::Park(one)) => directives::give(store, arguments, &one.reference, Directive::Park, json).await,
        Some(Action::Resume) => stops::resume(store, arguments, json).await,
    }
}

async fn list<S: IntentStore>(store: &S, arguments: &Arguments, json: bool) -> Result<Exit, Failure> {
    let statuses: Vec<IntentStatus> = match &arguments.status[..] {
        _ if arguments.stuck => vec![IntentStatus::Open, IntentStatus::Unknown],
        [] => vec![IntentStatus::Open, IntentStatus::Unknown, IntentStatus::Parked],
        chosen => chosen.iter().copied().map(IntentStatus::from).collect(),
    };
    let filter = IntentFilter {
        account: arguments.account.clone(),
        reference: None,
        statuses,
        claims: if arguments.stuck { 3 } else { 0 },
        // One more shows whether there are more.
        most: arguments.limit.saturating_add(1),
    };
    let limit = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    let mut printed: HashMap<IntentKey, i64> = HashMap::new();
    let mut stops = stops::Stops::default();
    let (mut has_told_of_more, mut has_listed, mut is_lost) = (false, false, false);
    let mut polls = (0..watch::POLLS).cycle();
    loop {
        let is_full = polls.next() == Some(0);
        let asked = if is_full { filter.clone() } else { watch::few(&filter) };
        let read = async {
            let mut rows = store.list(asked).await.map_err(failure)?;
            let has_more = rows.len() > limit;
            rows.truncate(limit);
            let left = watch::left_out(store, &rows, &printed).await?;
            stops.tell(store, arguments, &rows, is_full).await?;
            Ok::<_, Failure>((rows, left, has_more))
        };
        let (rows, left, has_more) = match read.await {
            // It outlives a restart or a failover of the database.
            Err(failure) if has_listed && arguments.watch && failure.exit() == Exit::NotReachable => {
                if !std::mem::replace(&mut is_lost, true) {
                    failure.lines().iter().for_each(|line| output::say(line));
                }
                watch::pause().await;
                continue;
            }
            read => read?,
        };
        if !std::mem::replace(&mut has_listed, true) {
            sealing::tell(&rows.iter().collect::<Vec<_>>(), arguments);
        }
        is_lost = false;
        if has_more && !std::mem::replace(&mut has_told_of_more, true) {
            output::say(&format!(
                "there are more payments than these {limit}, which changed last; --limit N shows more"
            ));
        }
        if json && !arguments.watch {
            output::json(&rows.iter().map(|row| shown(row, false)).collect::<Vec<_>>())?;
            return Ok(Exit::Done);
        }
        for row in left.iter().chain(rows.iter().rev()) {
            if printed.insert(row.key.clone(), row.changed) == Some(row.changed) {
                continue;
            }
            if !filter.statuses.contains(&row.status) {
                // It is printed again if it gets one of the statuses again.
                printed.remove(&row.key);
            }
            let row = shown(row, false);
            let text = if json { output::to_json(&row)? } else { line(&row) };
            // With --watch, a change is printed once only.
            if arguments.watch {
                output::news(&text)?;
            } else {
                output::data(&text)?;
            }
        }
        if !arguments.watch {
            if rows.is_empty() {
                output::say("no payments with this status");
            }
            return Ok(Exit::Done);
        }
        watch::pause().await;
    }
}

async fn find<S: IntentStore>(store: &S, account: Option<String>, reference: &str) -> Result<IntentRow, Failure> {
    let filter = IntentFilter { account, reference: Some(reference.to_owned()), most: 2, ..IntentFilter::default() };
    let mut rows = store.list(filter).await.map_err(failure)?;
    match (rows.pop(), rows.pop()) {
        (Some(row), None) => Ok(row),
        (None, _) => Err(Failure::new(Exit::Refused, format!("{reference}: no payment has this reference"))),
        (Some(_), Some(_)) => Err(Failure::misuse(format!(
            "{reference}: several accounts have this reference; choose one with --account"
        ))),
    }
}

/// Reports what was done: on standard output to programs, on standard error to people.
fn told(text: &str, json: bool, value: &serde_json::Value) -> Result<Exit, Failure> {
    if json {
        output::json(value)?;
    } else {
        output::say(text);
    }
    Ok(Exit::Done)
}

fn shown(row: &IntentRow, with_history: bool) -> Shown<'_> {
    let ends = row.status < IntentStatus::Parked && row.due != i64::MAX;
    Shown {
        account: &row.key.account,
        reference: &row.key.reference,
        kind: row.plain_kind(),
        status: row.status.name(),
        sealed_with: row.sealed_with(),
        outcome: row.outcome.as_deref().and_then(|outcome| serde_json::from_str(outcome).ok()),
        owner: row.owner.as_deref(),
        fence: row.fence,
        claims: row.claims,
        due_in_ms: ends.then(|| row.due.saturating_sub(row.read_at)),
        acknowledged: row.told == row.event,
        created: row.created,
        changed: row.changed,
        history: if with_history { row.history.lines().collect() } else { Vec::new() },
    }
}

fn line(row: &Shown<'_>) -> String {
    let without = if row.sealed_with.is_some() { "sealed" } else { "-" };
    let outcome = row.outcome.as_ref().and_then(|outcome| outcome["outcome"].as_str()).unwrap_or(without);
    let owner = row.owner.unwrap_or("-");
    let due = row.due_in_ms.map_or_else(|| "-".to_owned(), |due| format!("{} s", due / 1000));
    let Shown { status, reference, kind, claims, .. } = row;
    format!("{status:8}  {reference:24}  {kind:22}  {outcome:9}  owner {owner}, due in {due}, claims {claims}")
}

fn details(row: &Shown<'_>) -> String {
    let outcome = match (&row.outcome, row.sealed_with) {
        (Some(outcome), _) => outcome.to_string(),
        (None, Some(key)) => format!("sealed with the key {key}"),
        (None, None) => "-".to_owned(),
    };
    let told = if row.acknowledged { "nothing to acknowledge" } else { "not acknowledged by the application" };
    let head = format!(
        "{}\naccount  {}\noutcome  {outcome} ({told})\nhistory  time, owner, fencing number, what",
        line(row),
        row.account
    );
    row.history.iter().fold(head, |text, line| format!("{text}\n  {line}"))
}

/// Returns the failure of a directive, which can be given again.
fn not_known(error: &StoreError) -> Failure {
    Failure::new(exit(error), format!("{error}; it may be stored nevertheless: repeat the command"))
}

fn failure(error: StoreError) -> Failure {
    Failure::new(exit(&error), error.to_string())
}

fn not_opened(error: &StoreError, store: &str) -> Failure {
    Failure::new(exit(error), explained(error, store))
}

pub(super) const fn exit(error: &StoreError) -> Exit {
    match error {
        StoreError::Unavailable(_) | StoreError::Lost => Exit::NotReachable,
        _ => Exit::Misuse,
    }
}

/// Returns why a store could not be opened, and the command that corrects it, if there is one.
pub(super) fn explained(error: &StoreError, store: &str) -> String {
    match error {
        StoreError::Older { found: 0, .. } => format!("the database has no store of intents. {}", without_store(store)),
        StoreError::Older { found, known } => {
            format!("the store of intents has schema version {found} and needs {known}: run `{}`", migrate(store))
        }
        error => error.to_string(),
    }
}

/// Returns what to do where there is no store.
fn without_store(store: &str) -> String {
    format!(
        "If orders were paid before, look for their store, since with an empty one they are paid again. For a new one run `{}`",
        migrate(store)
    )
}

fn migrate(store: &str) -> String {
    // A URL may have a password.
    let store = if store.contains("://") { "URL".to_owned() } else { shell::word(store) };
    format!("pg intents --store {store} migrate")
}

impl From<Status> for IntentStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Open => Self::Open,
            Status::Unknown => Self::Unknown,
            Status::Parked => Self::Parked,
            Status::Ended => Self::Ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_tables_are_made_by_a_command_that_is_named() {
        let older = |found| StoreError::Older { found, known: 3 };
        assert_eq!(
            explained(&older(0), "postgres://u:secret@h/d"),
            "the database has no store of intents. If orders were paid before, look for their store, since with an empty one they are paid \
             again. For a new one run `pg intents --store URL migrate`"
        );
        assert_eq!(
            explained(&older(1), "my store.sqlite"),
            "the store of intents has schema version 1 and needs 3: run `pg intents --store 'my store.sqlite' migrate`"
        );
    }
}
