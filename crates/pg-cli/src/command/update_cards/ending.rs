//! The end of a run: messages and exit code.

use std::{io, path::Path};

use indicatif::HumanCount;
use pg_hyper::{
    DriveError, LimitError,
    proto::machine::account_update::{BatchEnd, BatchResult, EndedBatch, Progress, Summary, UpdateEnd, UselessReply},
};
use pg_model::{Dialect, ErrorCode, Remedy, ResultCode};
use serde::Serialize;

use super::{
    input::{Input, Stretch},
    progress::{batches, counted, over},
    results::Results,
};
use crate::{
    failure::{Exit, Failure},
    output,
    refusal::{self, Refusal},
};

/// The maximum number of unfinished batches reported individually.
const TOLD: usize = 20;

/// The maximum number in the output for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    read: u64,
    duplicates: u64,
    answered: u64,
    updated: u64,
    unanswered: u64,
    refused: u64,
    doubtful: u64,
    failed: u64,
    strangers: u64,
    results: &'a str,
    unfinished: Vec<Unfinished>,
}

/// A batch without a result.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Unfinished {
    batch: u64,
    status: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    error: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
    cards: usize,
    #[serde(skip_serializing_if = "is_unknown")]
    first_line: u64,
    #[serde(skip_serializing_if = "is_unknown")]
    last_line: u64,
    #[serde(skip_serializing_if = "String::is_empty")]
    first_key: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    last_key: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
const fn is_unknown(line: &u64) -> bool {
    *line == 0
}

pub(super) fn is_complete(summary: &Summary) -> bool {
    summary.end == UpdateEnd::Complete
}

/// Reports the results. `trouble` is the last error, and what to do if sending was stopped for all processes. The next run does
/// not resume one that `is_forgotten`.
///
/// # Errors
/// If the run did not finish.
pub(super) fn tell(
    summary: &Summary,
    input: &Input,
    results: &Results,
    trouble: (Option<&DriveError>, Option<String>),
    is_forgotten: bool,
    dialect: &Dialect,
    json: bool,
) -> Result<Exit, Failure> {
    let unfinished = unfinished(summary, input, dialect)?;
    if is_complete(summary) {
        tell_counts(&summary.progress, &results.place());
    }
    for batch in unfinished.iter().take(TOLD) {
        output::say(&format!("pg: {}", batch.line()));
    }
    if unfinished.len() > TOLD {
        output::say(&format!("pg: and {} more like these", batches(unfinished.len() - TOLD)));
    }
    let advice = advice(&summary.progress);
    for advice in advice.iter().cloned().chain(explanations(&unfinished, dialect)) {
        output::say(&format!("pg: {advice}"));
    }
    if !is_complete(summary) {
        return Err(early(summary, trouble, go_on(input.path(), is_forgotten)));
    }
    let ended = match exit(&summary.progress) {
        Exit::Done => Ok(Exit::Done),
        exit => Err(Failure::new(exit, advice.join("; ")).logged()),
    };
    if json && !results.on_standard_output() {
        return output::result(&Report::of(&summary.progress, &results.name(), unfinished), ended);
    }
    ended
}

/// Returns the failure of a run that the user interrupted.
pub(super) fn interruption(progress: &Progress, path: Option<&Path>, is_forgotten: bool) -> Failure {
    let on_the_way = batches(progress.open_batches);
    let done = counted(over(progress), "card is done", "cards are done");
    let message = format!("interrupted: {done}, {on_the_way} in progress");
    Failure::new(Exit::Unknown, format!("{message}; {}", go_on(path, is_forgotten)))
}

/// Returns the failure of writing results. The input decides whether the run `can_go_on`.
pub(super) fn no_room(results: &Results, error: &io::Error, can_go_on: bool) -> Failure {
    let message = format!("cannot write {}: {error};", results.name());
    let advice = if !can_go_on {
        NO_GOING_ON.to_owned()
    } else if results.on_standard_output() {
        // A pipe takes rows that its reader may never read.
        format!(
            "rows that the reader did not take are lost: {GO_ON} after them; --restart with --output FILE submits every batch \
             a second time"
        )
    } else {
        format!("nothing is lost: {}{GO_ON}", remedy(error))
    };
    Failure::new(Exit::Unknown, format!("{message} {advice}"))
}

/// Returns the failure of storing the state.
pub(super) fn not_stored(error: &io::Error) -> Failure {
    Failure::new(Exit::Unknown, format!("{error}; {}{GO_ON}", remedy(error)))
}

/// What to do before the next run.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free disk space, then ",
        _ => "",
    }
}

const GO_ON: &str = "run the same command again to resume";
const NO_GOING_ON: &str = "a run from standard input cannot be resumed; a run of a file can";

/// The advice for a run of which nothing is stored.
const AGAIN: &str = "run the same command again";

fn go_on(path: Option<&Path>, is_forgotten: bool) -> &'static str {
    match path {
        None => NO_GOING_ON,
        Some(_) if is_forgotten => AGAIN,
        Some(_) => GO_ON,
    }
}

/// Returns the failure of a run that ended early.
fn early(summary: &Summary, (trouble, stop): (Option<&DriveError>, Option<String>), go_on: &str) -> Failure {
    let why = trouble.map_or_else(|| "no reply".to_owned(), ToString::to_string);
    match &summary.end {
        UpdateEnd::Refused(refused) => {
            let told = refusal::explained(refused);
            let is_key = *refused.code() == ErrorCode::INVALID_ACCOUNT_UPDATER_KEY;
            let check = if is_key { "; check PG_ACCOUNT_UPDATER_KEY" } else { "" };
            let stop = stop.filter(|_| refused.remedy() == Remedy::FixCredentials);
            let stop = stop.map_or_else(String::new, |stop| format!(", and no process of the account sends: {stop}"));
            let message = format!("{told}{check}; nothing more was sent{stop}; then {go_on}");
            Failure::new(Exit::Refused, message).refusal(Some(Refusal::from(refused)))
        }
        UpdateEnd::Unreachable => {
            let why = summary.useless.as_ref().map_or_else(|| format!("the service is unreachable ({why})"), of_no_use);
            Failure::new(Exit::NotReachable, format!("{why}; {go_on}"))
        }
        UpdateEnd::HeldBack => {
            let exit = match trouble {
                Some(DriveError::Store(_)) => Exit::Unknown,
                Some(DriveError::Limit(LimitError::Stopped(_))) => {
                    return Failure::new(Exit::Refused, format!("{why}; {}; then {go_on}", stop.unwrap_or_default()));
                }
                _ => Exit::NotReachable,
            };
            Failure::new(exit, format!("{why}; {go_on}"))
        }
        UpdateEnd::SourceChanged => Failure::misuse("the file is not the one that this run was started with"),
        _ => Failure::new(Exit::Unknown, format!("the run did not finish; {go_on}")),
    }
}

fn of_no_use(reply: &UselessReply) -> String {
    let name = format!("batch {}", reply.batch + 1);
    let (told, ask) = match &reply.batch_key {
        Some(key) => (
            format!("the replies to requests for the result of {name} (batchKey {key}) are not this result"),
            "; if it stays so, ask the operator",
        ),
        None => (format!("the replies to the submission of {name} do not accept it"), ""),
    };
    format!("{told}: the last had HTTP status {}{}{ask}", reply.status, elsewhere(reply.status))
}

/// What to check if a web server may have replied that is not the service.
const fn elsewhere(status: u16) -> &'static str {
    if matches!(status, 300..=399 | 404 | 405) { " (check the base URL)" } else { "" }
}

fn exit(progress: &Progress) -> Exit {
    if progress.doubtful + progress.failed + progress.strangers > 0 {
        Exit::Unknown
    } else if progress.refused > 0 {
        Exit::Refused
    } else {
        Exit::Done
    }
}

/// Returns the noun for the repeated keys.
const fn repeats(progress: &Progress) -> &'static str {
    if progress.duplicates == 1 { "a repeat" } else { "repeats" }
}

fn tell_counts(progress: &Progress, results: &str) {
    let mut said = format!("pg: {}", counted(progress.read, "card key", "card keys"));
    if progress.duplicates > 0 {
        said += &format!(", {} of them {}", HumanCount(progress.duplicates), repeats(progress));
    }
    let (answered, updated) = (HumanCount(progress.finished), HumanCount(progress.updated));
    output::say(&format!("{said}: {answered} answered, {updated} with a new card; {results}"));
}

/// Returns advice about missing results.
fn advice(progress: &Progress) -> Vec<String> {
    let mut said = Vec::new();
    if progress.unanswered > 0 {
        said.push(format!("{} got no answer (status unanswered)", counted(progress.unanswered, "key", "keys")));
    }
    if progress.refused > 0 {
        said.push(format!(
            "{} (status refused): one bad key is enough for its whole batch; put their rows, with the first line, in \
             a separate file, and run that with a smaller --batch-size",
            counted(progress.refused, "key was refused", "keys were refused")
        ));
    }
    if progress.doubtful > 0 {
        said.push(format!(
            "{} in doubt (status doubtful): the service may have their batches and may have created new cards; ask \
             the operator, or put their rows, with the first line, in a separate file and run that, which may create \
             new cards twice",
            counted(progress.doubtful, "key is", "keys are")
        ));
    }
    if progress.failed > 0 {
        said.push(format!(
            "{} no result (status failed or overdue): the service has their batches; ask the operator, with \
             the batch keys of the results",
            counted(progress.failed, "key has", "keys have")
        ));
    }
    if progress.strangers > 0 {
        said.push(format!(
            "{} left out, so new cards may be in no row: ask the operator, with the batch keys of the results",
            counted(progress.strangers, "entry of the results is", "entries of the results are")
        ));
    }
    said
}

/// Returns a report of the entries of a result that were left out, or of additional copies of the batch.
pub(super) fn strangers(batch: &BatchResult) -> Option<String> {
    let name = format!("batch {} (batchKey {})", batch.number + 1, batch.batch_key.as_ref()?);
    if batch.strangers > 0 {
        let entries = counted(batch.strangers as u64, "entry of its result is", "entries of its result are");
        return Some(format!("{name}: {entries} left out: the card key is not in the batch, or was answered before"));
    }
    let copies = u64::from(batch.submitted_again);
    (copies > 0).then(|| {
        format!(
            "{name}: submitted again {}, so the service may have it more than once",
            counted(copies, "time", "times")
        )
    })
}

/// The only documented reason (spec 1 §4.8). Duplicate keys were already removed.
const SAME_CARD: &str = "most likely two different card keys of the batch hold the same card. `pg call token/lookup \
                         cardKey=…` shows a key's cardUniqueIdentifier, which is the same for both; keep one key of \
                         each card, or run them in separate batches (--batch-size 1)";

/// Explains each code of refused batches once.
fn explanations(unfinished: &[Unfinished], dialect: &Dialect) -> Vec<String> {
    let mut unlisted: Vec<&str> = unfinished
        .iter()
        .filter(|batch| batch.status == "doubtful" && !batch.error.is_empty())
        .map(|batch| batch.error.as_str())
        .collect();
    unlisted.sort_unstable();
    unlisted.dedup();
    let refused_with = |code: &str| unfinished.iter().any(|batch| batch.status == "refused" && batch.error == code);
    let mut said = Vec::new();
    let code_for = |situation| dialect.error_for(situation).map(|entry| entry.code.as_str());
    for code in [Some(ResultCode::ERROR.as_str()), code_for("duplicate-card-keys")].into_iter().flatten() {
        if refused_with(code) {
            said.push(format!("{code}: {SAME_CARD}"));
        }
    }
    if let Some(code) = code_for("unknown-card-key").filter(|code| refused_with(code)) {
        said.push(format!(
            "{code}: the service has no card under one of the batch's keys; a number after the message is the key's position \
             in its batch"
        ));
    }
    said.extend(unlisted.into_iter().map(|code| {
        format!(
            "{code}: neither the documents nor the dialect list this code; if the operator says that it refuses a batch, add \
             an [[error]] entry with code {code:?} and its remedy to the dialect"
        )
    }));
    said
}

fn unfinished(summary: &Summary, input: &Input, dialect: &Dialect) -> Result<Vec<Unfinished>, Failure> {
    let mut ended: Vec<&EndedBatch> = summary.unfinished.iter().collect();
    ended.sort_by_key(|batch| batch.first);
    if ended.is_empty() {
        return Ok(Vec::new());
    }
    let places: Vec<_> = ended.iter().map(|batch| (batch.first, batch.end)).collect();
    let stretches = input
        .stretches(&places)
        .map_err(|error| Failure::new(Exit::Unknown, format!("cannot read the card keys again: {error}")))?;
    let stretches = stretches.unwrap_or_else(|| {
        output::say("pg: the file of card keys has changed: the results have the keys of these batches");
        vec![Stretch::default(); places.len()]
    });
    Ok(ended.into_iter().zip(stretches).map(|(batch, stretch)| Unfinished::of(batch, stretch, dialect)).collect())
}

/// The message of a refused batch. `result=ERROR` has no message; the documents give duplicated cards as its reason
/// (spec 1 §4.8); the dialect may have a code for them.
fn explained(code: &str, message: &str, dialect: &Dialect) -> String {
    const DUPLICATES: &str = "a batch fails as a whole when two of its card keys hold the same card";
    let is_duplicate = dialect.error_for("duplicate-card-keys").is_some_and(|entry| entry.code == *code);
    match message {
        "" if is_duplicate || code == ResultCode::ERROR.as_str() => DUPLICATES.to_owned(),
        message if is_duplicate => format!("{message}; {DUPLICATES}"),
        message => message.to_owned(),
    }
}

impl Unfinished {
    fn of(batch: &EndedBatch, stretch: Stretch, dialect: &Dialect) -> Self {
        let (status, error, message) = match &batch.how {
            BatchEnd::Refused { code, message } => ("refused", code.clone(), explained(code, message, dialect)),
            BatchEnd::Doubtful => {
                let told = |status| format!("(the reply had HTTP status {status}){}", elsewhere(status));
                ("doubtful", String::new(), batch.status.map(told).unwrap_or_default())
            }
            BatchEnd::DoubtfulRefusal { code, message } => ("doubtful", code.clone(), message.clone()),
            BatchEnd::Failed { code } => ("failed", code.clone(), String::new()),
            BatchEnd::Overdue => ("overdue", String::new(), String::new()),
            _ => ("unknown", String::new(), String::new()),
        };
        let Stretch { first_line, last_line, first_key, last_key } = stretch;
        let (batch, cards) = (batch.number + 1, batch.length);
        Self { batch, status, error, message, cards, first_line, last_line, first_key, last_key }
    }

    fn line(&self) -> String {
        let mut why = self.status.to_owned();
        for more in [&self.error, &self.message] {
            if !more.is_empty() {
                why = format!("{why} {more}");
            }
        }
        let cards = counted(self.cards as u64, "card", "cards");
        let place = if self.first_line == 0 {
            String::new()
        } else if self.cards == 1 {
            format!(", line {}, {}", self.first_line, self.first_key)
        } else {
            format!(", lines {} to {}, {} to {}", self.first_line, self.last_line, self.first_key, self.last_key)
        };
        format!("batch {} ({cards}{place}): {why}", self.batch)
    }
}

impl<'a> Report<'a> {
    const fn of(progress: &Progress, results: &'a str, unfinished: Vec<Unfinished>) -> Self {
        Self {
            read: progress.read,
            duplicates: progress.duplicates,
            answered: progress.finished,
            updated: progress.updated,
            unanswered: progress.unanswered,
            refused: progress.refused,
            doubtful: progress.doubtful,
            failed: progress.failed,
            strangers: progress.strangers,
            results,
            unfinished,
        }
    }
}
