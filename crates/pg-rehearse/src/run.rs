//! Runs the drills of a plan, several at a time.

use std::{collections::BTreeSet, future::Future, path::PathBuf, sync::Arc};

use tokio::{sync::Semaphore, task::JoinSet};

use crate::{
    adapter::{self, Environment, Guard},
    catalogue,
    certificates::Authority,
    clock::{self, Clock},
    drill::Severity,
    finding::Verdict,
    house::Card,
    marks::{self, Marks},
    plan::{Job, Plan, Way},
    report::{Outcome, Report, baseline::Known},
    shop::{self, Call, Silent},
    stage::{Setting, Stage, Troupe},
    story::{self, Scene, search},
    wire::{On, Seat},
};

/// The time limit of the preparation: a build may download its libraries.
const PREPARATION: std::time::Duration = std::time::Duration::from_secs(600);
/// How long a shop that may have ended is waited for.
const ANSWERS_WITHIN: std::time::Duration = std::time::Duration::from_secs(1);

/// The options of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Only these drills or families; all if the list is empty.
    pub only: Vec<String>,
    /// Not these drills or families.
    pub skip: Vec<String>,
    /// The same seed gives the same verdicts, except of a shop that works in the background.
    pub seed: u64,
    /// The number of drills that run at the same time.
    pub jobs: usize,
    /// The number of runs of each drill; the worst verdict counts.
    pub repeat: u32,
    /// Failures below this severity do not count for the exit code.
    pub threshold: Severity,
    /// Failures that are known: lines of [`Report::baseline`] without their comments, or drills and families.
    pub baseline: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            only: Vec::new(),
            skip: Vec::new(),
            seed: 1,
            jobs: 8,
            repeat: 1,
            threshold: Severity::Low,
            baseline: Vec::new(),
        }
    }
}

/// Why no drill ran.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An option names a drill or a family that does not exist.
    #[error("{0}")]
    UnknownDrill(String),
    /// The options leave no drill to run.
    #[error("no drill is left after --only and --skip; `pg rehearse drills` lists all drills")]
    NoDrill,
    /// The integration could not be started, or made no claim.
    #[error("the integration could not be run: {0}")]
    NotRunnable(String),
    /// A resource of this machine is missing.
    #[error("{0}")]
    Machine(String),
}

/// Ends a run early: any future, for example one that waits for Ctrl-C.
pub trait Cancelled: Future<Output = ()> + Send {}

impl<F: Future<Output = ()> + Send> Cancelled for F {}

/// Runs the drills, and passes each outcome to `progress`. If `cancelled` completes first, the report has the drills
/// that ran and the names of the others, and no process is left running.
///
/// # Errors
/// [`RunError`] if no drill could run.
pub async fn run(
    plan: Plan,
    options: &Options,
    mut progress: impl FnMut(&Outcome),
    cancelled: impl Cancelled,
) -> Result<Report, RunError> {
    let (drills, known) = (chosen(options)?, Arc::new(known(&options.baseline)?));
    let clock = Clock::start();
    let authority = Authority::new().map_err(RunError::Machine)?;
    let run = base36(u64::try_from(clock::unix_millis()).unwrap_or_default());
    let guard = Arc::new(Guard::start().map_err(RunError::Machine)?);
    let seat = plan.is_shop().then(|| Seat::take(plan.listen));
    let output = plan.shop.as_ref().map(|_| tempfile::NamedTempFile::new()).transpose();
    let output = output.map_err(|error| RunError::Machine(format!("cannot keep the output of the shop: {error}")))?;
    let logs = Marks::of(&search::logs(&plan));
    let mut troupe = Troupe {
        plan,
        seat,
        output,
        given: Arc::default(),
        logs,
        authority,
        guard,
        seed: options.seed,
        run,
        ways: vec![Way::SessionKey],
        refused: Vec::new(),
    };
    let mut report = Report {
        seed: options.seed,
        threshold: options.threshold,
        outcomes: Vec::new(),
        interrupted: false,
        not_run: drills.iter().map(|scene| &scene.drill).collect(),
        milliseconds: 0,
        charged_by: Vec::new(),
    };
    tokio::pin!(cancelled);
    let flooded = flooded(troupe.output.as_ref().map(|output| output.path().to_owned()));
    tokio::pin!(flooded);
    let mut shop = tokio::select! {
        shop = set_up(&troupe) => shop?,
        why = &mut flooded => return Err(why),
        () = &mut cancelled => {
            report.interrupted = true;
            return Ok(report);
        }
    };
    if troupe.plan.has(Job::Charge) && drills.iter().any(|scene| scene.charges()) {
        let tried = tokio::select! {
            tried = try_ways(troupe) => tried?,
            why = &mut flooded => return Err(why),
            () = &mut cancelled => {
                report.interrupted = true;
                return Ok(report);
            }
        };
        troupe = tried;
        report.charged_by = troupe.ways.iter().map(|way| way.name()).collect();
    }
    let troupe = Arc::new(troupe);
    let mut playing = play_all(&troupe, &known, &drills, options);
    loop {
        let ended = tokio::select! {
            ended = playing.join_next() => ended,
            why = &mut flooded => return Err(why),
            () = &mut cancelled => {
                report.interrupted = !report.not_run.is_empty();
                playing.shutdown().await;
                break;
            }
        };
        match ended {
            None => break,
            Some(Ok(mut outcome)) => {
                if let Some(ended) = gone(shop.as_mut(), &troupe.plan, &outcome).await {
                    outcome.shop_ended(&ended);
                    outcome.known = known.knows(&outcome);
                }
                progress(&outcome);
                report.not_run.retain(|drill| drill.id != outcome.drill.id);
                report.outcomes.push(outcome);
            }
            Some(Err(error)) => return Err(RunError::Machine(format!("internal error in a drill: {error}"))),
        }
    }
    report.outcomes.sort_by_key(|outcome| (outcome.drill.family, outcome.drill.id));
    report.milliseconds = clock.millis();
    Ok(report)
}

/// Starts all drills with the given concurrency, those about the whole rehearsal last, or one at a time if a shop has one address for the service.
fn play_all(
    troupe: &Arc<Troupe>,
    known: &Arc<Known>,
    drills: &[&'static Scene],
    options: &Options,
) -> JoinSet<Outcome> {
    let places = Arc::new(Semaphore::new(options.jobs.max(1)));
    let shop = Arc::new(Semaphore::new(1));
    let repeat = options.repeat.max(1);
    let mut playing = JoinSet::new();
    let (last, first): (Vec<_>, Vec<_>) = drills.iter().copied().partition(|scene| scene.is_about_all());
    for scene in first.into_iter().chain(last) {
        let (troupe, known) = (Arc::clone(troupe), Arc::clone(known));
        let (places, shop) = (Arc::clone(&places), Arc::clone(&shop));
        playing.spawn(async move {
            // The semaphore is never closed.
            let _alone = if troupe.plan.calls_shop(scene.drill.job()) { shop.acquire().await.ok() } else { None };
            let _place = places.acquire().await.ok();
            let play = async |round| {
                let mut outcome = story::play(&troupe, scene, round).await;
                outcome.known = known.knows(&outcome);
                outcome
            };
            let mut worst = play(0).await;
            for round in 1..repeat {
                let next = play(round).await;
                if next.badness() > worst.badness() {
                    worst = next;
                }
            }
            worst
        });
    }
    playing
}

/// Returns the drills that the options name.
fn chosen(options: &Options) -> Result<Vec<&'static Scene>, RunError> {
    let (only, skip) = (named(&options.only, "--only")?, named(&options.skip, "--skip")?);
    let wanted = |scene: &&'static Scene| {
        let id = scene.drill.id;
        (options.only.is_empty() || only.contains(id)) && !skip.contains(id)
    };
    let chosen: Vec<_> = catalogue::scenes().filter(wanted).collect();
    if chosen.is_empty() { Err(RunError::NoDrill) } else { Ok(chosen) }
}

/// Returns the failures that the lines of a baseline name.
fn known(lines: &[String]) -> Result<Known, RunError> {
    let line = |line: &String| {
        let (drill, failure) = line.split_once(':').map_or((&**line, None), |(drill, name)| (drill, Some(name)));
        Ok((named(&[drill.to_owned()], "the baseline")?, failure.map(ToOwned::to_owned)))
    };
    lines.iter().map(line).collect::<Result<_, _>>().map(Known::new)
}

fn named(names: &[String], option: &str) -> Result<BTreeSet<&'static str>, RunError> {
    let mut found = BTreeSet::new();
    for name in names {
        let before = found.len();
        for drill in catalogue::drills() {
            if drill.id.eq_ignore_ascii_case(name) || drill.family.name() == name {
                found.insert(drill.id);
            }
        }
        if found.len() == before && catalogue::drills().all(|drill| !drill.id.eq_ignore_ascii_case(name)) {
            let known =
                catalogue::drills().map(|drill| drill.id).chain(catalogue::drills().map(|drill| drill.family.name()));
            let meant = crate::nearest::did_you_mean(name, known);
            return Err(RunError::UnknownDrill(format!(
                "{option}: there is no drill or family {name}{meant}; `pg rehearse drills` lists them"
            )));
        }
    }
    Ok(found)
}

/// Charges once in each form, without faults, to find out which forms the integration supports.
async fn try_ways(mut troupe: Troupe) -> Result<Troupe, RunError> {
    if let Some(ways) = troupe.plan.with.clone().filter(|ways| !ways.is_empty()) {
        troupe.ways = ways;
        return Ok(troupe);
    }
    let drill = catalogue::drills().find(|drill| drill.job() == Job::Charge);
    let Some(drill) = drill else { return Ok(troupe) };
    troupe.ways = Way::ALL.to_vec();
    let troupe = Arc::new(troupe);
    let (mut taken, mut claimed, mut refused, mut trouble) = (Vec::new(), Vec::new(), Vec::new(), String::new());
    for (round, way) in (1000..).zip(Way::ALL) {
        let mut stage = Stage::set(&troupe, drill, round, Setting::plain()).await.map_err(RunError::NotRunnable)?;
        let card = Card::new(&stage.dice.card_number(), "314");
        let source = stage.source(way, &card).map_err(RunError::Machine)?;
        let line = story::charge::input(&stage, 998, "GBP", &source);
        let ran = stage.run(Job::Charge, &line).await;
        let charged = stage.entries().map_err(RunError::Machine)?.iter().any(crate::books::Entry::is_charge);
        if let Some(refusal) = refusal(&stage, way).filter(|_| !charged) {
            refused.push(refusal);
        }
        match ran.claim {
            Some(_) if charged => taken.push(way),
            Some(_) => claimed.push(way),
            None if trouble.is_empty() => trouble = stage.wire().told(&ran.trouble()),
            None => {}
        }
    }
    if taken.is_empty() && claimed.is_empty() {
        return Err(RunError::NotRunnable(trouble));
    }
    // An integration that claims a payment without charging is judged by the drills, not trusted here.
    let ways = if taken.is_empty() { claimed } else { taken };
    refused.retain(|_| ways.len() < Way::ALL.len());
    let mut troupe = Arc::into_inner(troupe).ok_or_else(|| RunError::Machine("a trial is still running".to_owned()))?;
    troupe.ways = ways;
    troupe.refused = refused;
    Ok(troupe)
}

/// Returns how the service refused the payment of a trial, if one was sent.
fn refusal(stage: &Stage, way: Way) -> Option<String> {
    let exchanges = stage.exchanges();
    let last = exchanges.iter().rev().find(|one| one.is(On::Payment))?;
    let status = last.status.map_or_else(|| "no reply".to_owned(), |status| format!("HTTP {status}"));
    let error = last.error.as_ref().map_or_else(String::new, |code| format!(", error {code}"));
    let (way, refused) = (way.name(), format!("{status}{error}"));
    Some(format!(
        "a charge by {way} was tried, and refused with {refused}; {way} is not rehearsed. If the integration does not support it, leave it out: set `with` under [jobs.charge]"
    ))
}

/// Prepares a run.
async fn set_up(troupe: &Troupe) -> Result<Option<adapter::Group>, RunError> {
    prepare(troupe).await?;
    refuse_another(&troupe.plan).await?;
    let mut shop = start_shop(troupe).await?;
    let ended = shop.as_mut().and_then(adapter::Group::ended).filter(|status| !status.success());
    ended.map_or(Ok(shop), |status| {
        let why = format!("the shop {}, and another program answers in its place", adapter::how(status));
        Err(RunError::NotRunnable(why))
    })
}

/// Refuses a plan whose shop seems to be ready before it is started: the drills would test another program.
async fn refuse_another(plan: &Plan) -> Result<(), RunError> {
    let Some((_, Some(ready))) = &plan.shop else { return Ok(()) };
    let answer = shop::send(Call::raw_page(ready, ""), ANSWERS_WITHIN).await;
    // A proxy may answer with an error while the shop is not there.
    if !answer.is_ok_and(|seen| seen.status < 500) {
        return Ok(());
    }
    Err(RunError::NotRunnable(format!(
        "another program answers at {ready} before the shop is started: end it, or, if it is the shop, remove [shop] from the plan"
    )))
}

/// Returns the environment of a command outside of drills.
fn surroundings(troupe: &Troupe) -> Result<Environment, RunError> {
    let mut dice = crate::dice::Dice::new(troupe.seed, "shop", 0);
    let house = crate::house::House::open(&mut dice, true).map_err(RunError::Machine)?;
    Ok(Environment {
        base: format!("http://{}", troupe.plan.listen),
        account: house.account,
        certificates: Some(troupe.authority.file.path().to_owned()),
        directory: std::env::temp_dir(),
        folder: troupe.plan.folder.clone(),
        timeout: troupe.plan.timeout,
        guard: Arc::clone(&troupe.guard),
    })
}

/// Runs the command that the plan names under `prepare`.
async fn prepare(troupe: &Troupe) -> Result<(), RunError> {
    let Some(command) = &troupe.plan.prepare else { return Ok(()) };
    let environment = Environment { timeout: PREPARATION, certificates: None, ..surroundings(troupe)? };
    let prepared = adapter::prepare(command, &environment).await;
    prepared.map_err(|why| RunError::NotRunnable(format!("prepare ({}): {why}", command.join(" "))))
}

/// Starts the shop of the plan, and waits until it is ready.
async fn start_shop(troupe: &Troupe) -> Result<Option<adapter::Group>, RunError> {
    let Some((command, ready)) = &troupe.plan.shop else { return Ok(None) };
    let environment = surroundings(troupe)?;
    let mut shop = adapter::start(command, &environment, troupe.output.as_ref().map(tempfile::NamedTempFile::as_file))
        .map_err(RunError::NotRunnable)?;
    let Some(ready) = ready else { return Ok(Some(shop)) };
    let clock = Clock::start();
    loop {
        let told = match shop::send(Call::raw_page(ready, ""), troupe.plan.timeout).await {
            // A shop may listen before it is ready, or a proxy before the shop listens.
            Ok(seen) if seen.status >= 500 => format!("answers HTTP {}", seen.status),
            Ok(_) => return Ok(Some(shop)),
            Err(_) => "did not answer".to_owned(),
        };
        let ended = shop.ended();
        // A command that starts the shop in the background ends with code 0.
        if let Some(status) = ended.filter(|status| !status.success()) {
            let ended = adapter::how(status);
            let why = format!("the shop {ended} before it answered at {ready}; start it manually to see why");
            return Err(RunError::NotRunnable(why));
        }
        if clock.elapsed() > troupe.plan.timeout {
            let ended = ended.map_or("", |_| "exited with code 0 and ");
            return Err(RunError::NotRunnable(format!(
                "the shop {ended}{told} at {ready} within {} seconds; start it manually to see why, or raise timeout_seconds",
                troupe.plan.timeout.as_secs()
            )));
        }
        clock::pause(std::time::Duration::from_millis(50)).await;
    }
}

/// Ends when the shop has printed more than a search reads: a shop that prints in a loop would fill the disk.
async fn flooded(output: Option<PathBuf>) -> RunError {
    let Some(output) = output else { return std::future::pending().await };
    while !std::fs::metadata(&output).is_ok_and(|file| file.len() > marks::MOST) {
        clock::pause(std::time::Duration::from_millis(50)).await;
    }
    let why = format!("the shop printed more than {} MiB, and was ended", marks::MOST >> 20);
    RunError::NotRunnable(why)
}

/// Returns how the shop of the plan has ended, if it took part in the drill. A command that started it in the background
/// ends with code 0 while the shop answers.
async fn gone(shop: Option<&mut adapter::Group>, plan: &Plan, outcome: &Outcome) -> Option<String> {
    let shop = shop.filter(|_| plan.calls_shop(outcome.drill.job()))?;
    // The connections of a program close a moment before it has ended.
    let mut looks = if outcome.verdict == Verdict::Broken { 20 } else { 0 };
    let status = loop {
        match shop.ended() {
            Some(status) => break status,
            None if looks > 0 => clock::pause(std::time::Duration::from_millis(25)).await,
            None => return None,
        }
        looks -= 1;
    };
    let how = adapter::how(status);
    if !status.success() {
        return Some(how);
    }
    let Some(ready) = plan.shop.as_ref()?.1.as_ref() else {
        return Some(format!("{how}, and the plan has no `ready` that says whether it runs in the background"));
    };
    let silent = shop::send(Call::raw_page(ready, ""), ANSWERS_WITHIN).await.err()?;
    // A shop that is slow has not ended.
    matches!(silent, Silent::Closed(_)).then(|| format!("{how} and does not answer at {ready}"))
}

fn base36(mut number: u64) -> String {
    let mut text = Vec::new();
    while number > 0 {
        text.push(b"0123456789abcdefghijklmnopqrstuvwxyz"[usize::try_from(number % 36).unwrap_or(0)]);
        number /= 36;
    }
    text.iter().rev().map(|&letter| char::from(letter)).collect()
}
