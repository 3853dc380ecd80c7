//! `pg update-cards`: refreshes the stored cards of a file through the account updater, however long it takes.

mod callbacks;
mod durable;
mod ending;
mod gate;
mod input;
mod line;
mod progress;
mod results;
mod row;
mod run;
mod sharing;
mod state;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use pg_hyper::{
    Client, ClientBuilder,
    proto::{
        Account, BaseUrl,
        machine::{
            account_update::{DoubtfulPolicy, UpdatePlan},
            throttle::ThrottleLimits,
        },
    },
};
use pg_intents::FleetPlan;
use pg_model::{Encoding, format::MAX_CARD_KEYS, method::AuthScheme};

use self::{
    callbacks::Callbacks,
    gate::Gate,
    input::Input,
    results::{Results, Target, is_standard_output},
    row::Format,
    sharing::Sharing,
    state::{Keeper, State},
};
use crate::{
    account::{AccountFlags, Details, Setting},
    command::{self, interrupt::Interrupted, result_file},
    failure::{Exit, Failure},
    listen_address,
    transport::RedactingTransport,
};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Updates the stored cards of a file through the account updater
///
/// Skips duplicates, submits the other card keys in batches within the throttle, and writes a row with the service's
/// result for each. The state is kept in FILE.pg-state: you can stop the command at any moment, even by force, and run
/// it again to resume without submitting anything twice. A batch that the service may or may not have accepted is
/// reported at the end; with --listen, the service's callback settles it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg update-cards cards.txt                                     results in cards.txt.results.csv
  pg update-cards cards.csv --output new.json --format json     from the column cardKey
  pg update-cards cards.txt --listen 0.0.0.0:8490 --public-url https://shop.example/updated
  pg update-cards cards.txt --store intents.sqlite              within the limits of a fleet
  psql -qtAc 'select card_key from cards' | pg update-cards - > results.csv

Exit codes: 0 every card is answered or listed as unanswered, 1 some batches or all requests were refused,
2 misuse, 3 not reachable, 4 an outcome is unknown: batches in doubt, or an interruption.")]
pub(crate) struct Arguments {
    /// One card key per line, or a CSV with a column cardKey; empty lines and lines that begin with # are skipped; - reads
    /// stdin, at most 1 GiB, and such a run cannot be resumed
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The file for the results, - for stdout [default: FILE.results.csv or .json; - when FILE is -]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The format of the results [default: by the name of the output, else csv; json with --json]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Listens for callbacks on this address: batches are retrieved sooner, and doubtful ones are settled
    #[arg(long, value_name = "ADDRESS", conflicts_with = "callback_url", value_parser = listen_address::parse)]
    listen: Option<SocketAddr>,
    /// The URL by which the service reaches --listen, usually of a proxy with a certificate
    #[arg(long, value_name = "URL", requires = "listen", value_parser = base_url)]
    public_url: Option<BaseUrl>,
    /// Another URL for callbacks: your own program, or `pg listen`
    #[arg(long, value_name = "URL", value_parser = listen_address::url)]
    callback_url: Option<String>,
    /// Requests per minute that the service allows; with --store the same number as the fleet
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    per_minute: u32,
    /// Shares the limit per minute and the stop after wrong credentials with all processes that use this store of
    /// intents: a SQLite file, or postgres://user@host:port/database
    #[arg(long, value_name = "FILE|URL")]
    store: Option<String>,
    /// The account's name in the fleet that uses --store (`Account::identity`), or the whole account as `pg intents` shows it
    #[arg(long, value_name = "NAME", requires = "store", value_parser = crate::account::name())]
    identity: Option<String>,
    /// Resubmits batches that the service may already have accepted; the service may then have them twice
    #[arg(long)]
    submit_again: bool,
    /// Discards the stored state and starts again, overwriting earlier results
    #[arg(long)]
    restart: bool,
    /// Confirms that the earlier run was for this account, although the service's address or PG_API_KEY has changed
    /// since. A run cannot be resumed under another account, which would not find the run's batches
    #[arg(long)]
    same_account: bool,
    /// Card keys per batch; one unknown key makes the service refuse its whole batch
    #[arg(long, value_name = "N", default_value_t = MAX_CARD_KEYS, value_parser = batch_size)]
    batch_size: usize,
    /// Batches that the service processes at the same time
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..))]
    batches: u16,
    /// Delay between the submission of a batch and the first retrieval; later retrievals are less frequent
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    poll: u64,
    /// How long a batch may take before it counts as lost
    #[arg(long, value_name = "HOURS", default_value_t = 72, value_parser = clap::value_parser!(u32).range(1..=8_760))]
    patience: u32,
    /// How long to wait for a callback that settles a doubtful batch; the service takes about a day
    #[arg(long, value_name = "HOURS", default_value_t = 26, requires = "listen", value_parser = clap::value_parser!(u32).range(..=8_760))]
    doubt: u32,
    /// How many times in a row the service may be unreachable before the run ends, with pauses of up to a minute; the run can be
    /// resumed
    #[arg(long, value_name = "N", default_value_t = 30)]
    attempts: u32,
    /// Time limit of a request
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    #[command(flatten)]
    account: AccountFlags,
}

/// A run before its start.
struct Ready {
    input: Input,
    keeper: Keeper,
    /// Its content when the file was read.
    state: State,
    results: Results,
    /// How many hours to wait for a callback that settles a doubt.
    doubt: u32,
    /// How many times in a row the service may be unreachable.
    attempts: u32,
    /// The state belongs to this account, whatever address it was saved for.
    same_account: bool,
}

pub(crate) fn run(mut arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    let flags = std::mem::take(&mut arguments.account);
    if let Some(output) = &arguments.output {
        let (dialect, profiles) = flags.files();
        for (file, what) in [(dialect, "the file of --dialect"), (profiles, "the file of profiles")] {
            file.map_or(Ok(()), |file| results::check_apart(output, file, what))?;
        }
    }
    let details = Details::gather(flags)?;
    let account = details.account(AuthScheme::Signed, Encoding::Json)?;
    let updater_key = details.require(Setting::AccountUpdaterKey)?;
    // Whether its addresses are safe to send credentials to.
    Client::new(account.clone()).map_err(|error| Failure::misuse(format!("{error}: use an https address")))?;
    let api_key = details.require(Setting::ApiKey)?;
    command::block_on(async {
        let mut interrupted = Interrupted::listen()?;
        let prepared = async {
            let file = arguments.file.clone();
            // Standard input may stay open for ever, and a file may be very long.
            let input = tokio::task::spawn_blocking(move || Input::open(&file)).await;
            let input = input.map_err(|error| Failure::misuse(format!("cannot read the card keys: {error}")))??;
            let (mut state, is_old) = arguments.state(&input, api_key, json)?;
            if !is_old {
                input.check_new()?;
            }
            let callbacks = arguments.callbacks(&mut state).await?;
            let sharing = arguments.sharing(&account).await?;
            Ok::<_, Failure>((input, (state, is_old), callbacks, sharing))
        };
        let (input, (state, is_old), callbacks, sharing) = tokio::select! {
            biased;
            () = interrupted.next() => {
                return Err(Failure::new(Exit::Unknown, "interrupted: nothing was sent; run the same command again"));
            }
            prepared = prepared => prepared?,
        };
        let plan = arguments.plan(updater_key, &callbacks);
        let gate = Gate::new(RedactingTransport::new(Duration::from_secs(arguments.timeout), &details)?);
        let client = sharing.with(arguments.client(account.clone(), gate.clone()));
        let ready = arguments.ready(input, state, is_old)?;
        run::run(ready, client, plan, callbacks, (gate, sharing), interrupted, json).await
    })
}

impl Arguments {
    /// Returns the state that an earlier run has stored, or a new state; and whether it was stored.
    fn state(&self, input: &Input, api_key: &str, json: bool) -> Result<(State, bool), Failure> {
        let output = self.output.clone().unwrap_or_else(|| self.usual_output(input, json));
        if let Some(path) = input.path() {
            let state = state::path_beside(path);
            results::check_apart(&output, path, "the input")?;
            results::check_apart(&output, &durable::new_of(&state), "a part of the state file")?;
            results::check_apart(&output, &state, "the state file")?;
        }
        self.check_store(&output, input)?;
        let format = self.format.unwrap_or_else(|| usual_format(&output, json));
        let output = results::absolute(output);
        if input.path().is_some() && output.to_str().is_none() {
            let name = output.display();
            let problem =
                "is not valid UTF-8, and cannot be stored for a resumption; choose another file with --output";
            return Err(Failure::misuse(format!("{name}: the name of the file of results {problem}")));
        }
        let new = State::new(input, state::print_of_account(api_key), output, format);
        let Some(path) = input.path().map(state::path_beside).filter(|_| !self.restart) else {
            return Ok((new, false));
        };
        match State::read(&path)? {
            Some(old) if old.is_over(&new) => Ok((new, false)),
            Some(mut old) => {
                old.check(&new, self.same_account, self.output.is_some(), self.format.is_some())?;
                old.account = new.account;
                // The files of the run may have been moved together. Results of another name may be those of another run.
                let is_moved = !old.output.exists() && old.output.file_name() == new.output.file_name();
                if self.output.is_none() && is_moved && new.output.exists() {
                    old.output = new.output;
                }
                Ok((old, true))
            }
            None => Ok((new, false)),
        }
    }

    /// Checks that the run overwrites no part of the store of intents.
    fn check_store(&self, output: &Path, input: &Input) -> Result<(), Failure> {
        let Some(store) = self.store.as_deref().filter(|store| !store.contains("://")) else { return Ok(()) };
        // SQLite keeps the latest payments beside the file.
        for part in ["", "-wal", "-shm", "-journal"].map(|ending| PathBuf::from(format!("{store}{ending}"))) {
            results::check_apart(output, &part, "the store of intents, or a part of it")?;
            let state = input.path().map(state::path_beside);
            if state.is_some_and(|state| result_file::located(&state) == result_file::located(&part)) {
                return Err(Failure::misuse(format!(
                    "--store {store} is the state file of this run; choose another store"
                )));
            }
        }
        Ok(())
    }

    fn usual_output(&self, input: &Input, json: bool) -> PathBuf {
        let ending = self.format.unwrap_or(if json { Format::Json } else { Format::Csv }).name();
        input.path().map_or_else(|| "-".into(), |path| durable::beside(path, &format!(".results.{ending}")))
    }

    /// Stores the state before anything is written or sent. Files that cannot be written are reported before that.
    fn ready(&self, input: Input, state: State, is_old: bool) -> Result<Ready, Failure> {
        let may_overwrite = self.restart || is_old;
        if !may_overwrite {
            results::check_unused(&state.output)?;
        }
        let target = match state.finished {
            true => Target::Finished(state.output.clone()),
            false => Target::open(&state.output, state.format, state.written)?,
        };
        let keeper = Keeper::new(input.path().map(state::path_beside), state.clone());
        keeper.keep_as_it_is().map_err(|error| {
            let advice = if is_old {
                "the run is kept: free disk space, then run the same command again to resume (a copy of the file elsewhere \
                 would submit its batches twice)"
            } else {
                "without it an interrupted run cannot be resumed: free disk space, or copy the file to a writable folder"
            };
            Failure::misuse(format!("{error}; {advice}"))
        })?;
        let results = Results::begin(target, state.format, state.written).inspect_err(|_| {
            if !is_old {
                // Nothing was sent, so no later run needs the state.
                drop(keeper.forget());
            }
        })?;
        keeper.change(|state| state.written = results.written());
        let Self { doubt, attempts, same_account, .. } = *self;
        Ok(Ready { input, keeper, state, results, doubt, attempts, same_account })
    }

    async fn callbacks(&self, state: &mut State) -> Result<Callbacks, Failure> {
        match self.listen {
            Some(address) => Callbacks::listen(address, self.public_url.as_ref(), state).await,
            None => Ok(Callbacks::elsewhere(self.callback_url.clone())),
        }
    }

    fn plan(&self, updater_key: &str, callbacks: &Callbacks) -> UpdatePlan {
        let policy = if self.submit_again { DoubtfulPolicy::SubmitAgain } else { DoubtfulPolicy::Report };
        // Callbacks to another URL settle no doubts here.
        let doubt = if callbacks.come_here() { HOUR * self.doubt } else { Duration::ZERO };
        let first = Duration::from_secs(self.poll);
        let plan = UpdatePlan::new(updater_key)
            .batch_size(self.batch_size)
            .outstanding(usize::from(self.batches))
            .doubtful(policy, doubt)
            .polls(first, first * 15)
            .patience(HOUR * self.patience)
            .attempts(self.attempts);
        match &callbacks.url {
            Some(url) => plan.callback_url(url.as_str()),
            None => plan,
        }
    }

    async fn sharing(&self, account: &Account) -> Result<Sharing, Failure> {
        let Some(store) = &self.store else { return Ok(Sharing::none()) };
        let plan = FleetPlan::new("update-cards").per_minute(self.per_minute);
        // Without a name, runs share limits under the fingerprint of the API key.
        let name = self.identity.clone().unwrap_or_else(|| account.name_or_fingerprint());
        let account = account.clone().identity(&*name);
        // FleetPlan::stored_as of the fleet.
        let plan =
            if Account::is_bound_identity(&name) { plan.stored_as(account.bound_identity(), name) } else { plan };
        Sharing::over(store, &account, plan).await
    }

    fn client(&self, account: Account, gate: Gate) -> Client<Gate> {
        // With a store, the shared limit is the only one, so that a wait for it ends when sending is stopped.
        let own = if self.store.is_some() { u32::MAX } else { self.per_minute };
        ClientBuilder::with_transport(account, gate).limits(ThrottleLimits::default().per_minute(own)).build()
    }
}

fn usual_format(output: &Path, json: bool) -> Format {
    match output.extension().and_then(|extension| extension.to_str()) {
        Some("json") => Format::Json,
        Some("csv") => Format::Csv,
        _ if json && is_standard_output(output) => Format::Json,
        _ => Format::Csv,
    }
}

fn base_url(text: &str) -> Result<BaseUrl, String> {
    BaseUrl::parse(text).map_err(|error| error.to_string())
}

fn batch_size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(size @ 1..=MAX_CARD_KEYS) => Ok(size),
        _ => Err(format!("expected 1 to {MAX_CARD_KEYS}, the service's limit")),
    }
}
