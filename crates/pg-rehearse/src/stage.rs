//! The environment of one drill: its service, its wire, the folder of its order, and the integration.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    adapter::{self, Environment, Guard, Ran},
    books::{Books, Entry},
    certificates::Authority,
    clock::{self, Clock},
    dice::Dice,
    drill::Drill,
    finding::{Finding, Lane},
    house::{Card, House, SetupError, text},
    marks::Marks,
    plan::{Job, Means, Plan, Way},
    report::Outcome,
    shop::{self, Call, Seen, Silent},
    wire::{Door, Exchange, Given, Laid, LateAt, On, Own, Rule, Seat, Wire},
};

/// How long an integration may take to ask the service about a callback or a customer who comes back.
pub(crate) const CONFIRMED_WITHIN: Duration = Duration::from_millis(1500);
/// How long a running shop may take to act on what it has found, after its page has been sent.
const ACTS_WITHIN: Duration = Duration::from_millis(250);

/// Shared by all drills of a run.
pub(crate) struct Troupe {
    pub(crate) plan: Plan,
    /// The address of the service for a shop.
    pub(crate) seat: Option<Seat>,
    /// The output of the shop that the plan starts.
    pub(crate) output: Option<tempfile::NamedTempFile>,
    /// What the drills of a shop have given to it.
    pub(crate) given: Arc<Given>,
    /// What the logs of the plan had before.
    pub(crate) logs: Marks,
    pub(crate) authority: Authority,
    pub(crate) guard: Arc<Guard>,
    pub(crate) seed: u64,
    /// Distinguishes this run's orders from those of other runs, which an integration may remember.
    pub(crate) run: String,
    /// The forms of a charge; the first form is used unless a drill requires another.
    pub(crate) ways: Vec<Way>,
    /// The forms with which a payment was sent and refused, and how.
    pub(crate) refused: Vec<String>,
}

/// Account settings that replace those of the integration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credentials {
    Right,
    WrongKey,
    WrongPassword,
    WrongShaKey,
}

/// One drill in progress.
pub(crate) struct Stage {
    pub(crate) troupe: Arc<Troupe>,
    pub(crate) drill: &'static Drill,
    pub(crate) house: House,
    pub(crate) dice: Dice,
    pub(crate) order: String,
    /// The part of the order's name by which its requests are told from those of other drills.
    own: String,
    pub(crate) clock: Clock,
    laid: Laid,
    directory: TempDir,
    before: Books,
    credentials: Credentials,
    given: Arc<Given>,
    ran: Vec<Ran>,
    /// The number of runs and of requests before the current part.
    before_part: (usize, usize),
    found: Mutex<Vec<Finding>>,
}

/// The parameters of a stage.
pub(crate) struct Setting {
    pub(crate) rules: Vec<Rule>,
    pub(crate) door: Door,
    pub(crate) credentials: Credentials,
}

impl Setting {
    pub(crate) fn plain() -> Self {
        Self::with(&[])
    }

    /// Only these faults of requests.
    pub(crate) fn with(rules: &[Rule]) -> Self {
        Self { rules: rules.to_vec(), door: Door::Plain, credentials: Credentials::Right }
    }
}

impl Stage {
    pub(crate) async fn set(
        troupe: &Arc<Troupe>,
        drill: &'static Drill,
        round: u32,
        setting: Setting,
    ) -> Result<Self, SetupError> {
        let mut dice = Dice::new(troupe.seed, drill.id, round);
        let clock = Clock::start();
        let shop = troupe.plan.calls_shop(drill.job());
        let house = House::open(&mut dice, shop)?;
        let seat = if shop { troupe.seat.as_ref() } else { None };
        let order =
            format!("o-{}-{}{}", drill.id, troupe.run, if round == 0 { String::new() } else { round.to_string() });
        // Drills of commands have services of their own, and run at the same time.
        let given = if shop { Arc::clone(&troupe.given) } else { Arc::default() };
        let own = Own { run: format!("-{}", troupe.run), order: order.clone(), given: Arc::clone(&given) };
        let laid = match Wire::lay(house.clone(), setting.rules.clone(), setting.door.clone(), seat, clock).await {
            // A page need not use the service.
            Err(_) if shop && drill.job() == Job::OpenRedirect => {
                Wire::lay(house.clone(), setting.rules, setting.door, None, clock).await?
            }
            laid => laid?,
        };
        laid.wire.belongs_to(own);
        let directory = folder()?;
        let before = Books::read(&house)?;
        Ok(Self {
            troupe: Arc::clone(troupe),
            drill,
            house,
            dice,
            own: order.clone(),
            order,
            clock,
            laid,
            directory,
            before,
            credentials: setting.credentials,
            given,
            ran: Vec::new(),
            before_part: (0, 0),
            found: Mutex::default(),
        })
    }

    pub(crate) fn wire(&self) -> &Arc<Wire> {
        &self.laid.wire
    }

    /// Begins the next part of a drill that has several, one order each: `ran` and `exchanges` are those of this part.
    pub(crate) fn begin_part(&mut self, name: &str, at: usize, rules: &[Rule]) {
        if at > 0 {
            self.order = format!("{name}-{}", at + 1);
        }
        self.before_part = (self.ran.len(), self.wire().exchanges().len());
        self.wire().set_faults(rules);
    }

    /// The same for a part with a name, for its findings and the timeline; empty if it is the only one.
    pub(crate) fn begin_named(&mut self, name: &str, at: usize, rules: &[Rule], part: &str) {
        self.begin_part(name, at, rules);
        if !part.is_empty() {
            self.wire().note(Lane::Wire, Lane::Wire, format!("part {}: {part}", at + 1));
        }
    }

    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.wire().exchanges().split_off(self.before_part.1)
    }

    /// Whether the integration looks something up, now or shortly, after this number of requests. It has the reply then.
    pub(crate) async fn asked_since(&self, before: usize) -> bool {
        self.has_asked(before, |one| one.is(On::Lookup)).await
    }

    /// The same about the payment with this key. A shop may still look up the key that it was given before.
    pub(crate) async fn asked_about(&self, key: &str, before: usize) -> bool {
        self.has_asked(before, |one| one.is_lookup_of(key)).await
    }

    async fn has_asked(&self, before: usize, is_meant: impl Fn(&Exchange) -> bool) -> bool {
        let clock = Clock::start();
        loop {
            let exchanges = self.exchanges();
            let lookups: Vec<&Exchange> = exchanges.iter().skip(before).filter(|one| is_meant(one)).collect();
            if lookups.iter().any(|one| one.status.is_some()) || clock.elapsed() > CONFIRMED_WITHIN {
                return !lookups.is_empty();
            }
            clock::pause(Duration::from_millis(25)).await;
        }
    }

    /// Returns the error with which the service itself refuses each lookup after this number of requests.
    pub(crate) fn refused_since(&self, before: usize) -> Option<String> {
        let exchanges = self.exchanges();
        let mut lookups = exchanges.iter().skip(before).filter(|one| one.looks_up_payment());
        let refusal = lookups.next()?.refusal()?.to_owned();
        lookups.all(|one| one.refusal().is_some()).then_some(refusal)
    }

    /// Whether it has done so.
    pub(crate) fn has_asked_about(&self, key: &str, before: usize) -> bool {
        self.exchanges().iter().skip(before).any(|one| one.is_lookup_of(key))
    }

    /// The same, and lets a running shop act on what it has found.
    pub(crate) async fn settled_since(&self, job: Job, key: &str, before: usize) -> bool {
        if matches!(self.troupe.plan.jobs.get(&job), Some(Means::Command(_))) {
            // It has ended.
            return self.has_asked_about(key, before);
        }
        let asked = self.asked_about(key, before).await;
        if asked {
            clock::pause(ACTS_WITHIN).await;
        }
        asked
    }

    pub(crate) fn ran(&self) -> &[Ran] {
        &self.ran[self.before_part.0..]
    }

    pub(crate) fn directory(&self) -> &std::path::Path {
        self.directory.path()
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.troupe.plan.timeout
    }

    /// Returns the entries that the drill has added to the ledger.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, SetupError> {
        Ok(Books::read(&self.house)?.since(&self.before))
    }

    /// Marks the current ledger entries as part of the preparation.
    pub(crate) fn prepared(&mut self) -> Result<(), SetupError> {
        self.before = Books::read(&self.house)?;
        Ok(())
    }

    /// Deletes the integration's state of the order.
    pub(crate) fn forget(&mut self) -> Result<(), SetupError> {
        self.directory = folder()?;
        self.wire().note(Lane::Integration, Lane::Integration, "the order's folder is deleted");
        Ok(())
    }

    /// Returns the form of a charge that the drill requires, if the integration supports it.
    pub(crate) fn way(&self, wanted: Option<Way>) -> Option<Way> {
        match wanted {
            None => self.troupe.ways.first().copied().or(Some(Way::SessionKey)),
            Some(way) => self.troupe.ways.contains(&way).then_some(way),
        }
    }

    /// Returns the card for a charge: a session with a card, a stored card, or the card itself.
    pub(crate) fn source(&mut self, way: Way, card: &Card) -> Result<(&'static str, Value), SetupError> {
        let source = match way {
            Way::SessionKey => json!(self.house.session(card, "json")?.0),
            Way::CardKey => json!(self.house.card_key(card)?),
            Way::Card => json!({
                "number": card.number,
                "expiryMonth": card.month,
                "expiryYear": card.year,
                "cv2": card.cv2,
            }),
        };
        self.prepared()?;
        Ok((way.name(), source))
    }

    pub(crate) fn environment(&self) -> Environment {
        let mut account = self.house.account.clone();
        let wrong = |secret: &str| secret.chars().rev().collect::<String>();
        match self.credentials {
            Credentials::Right => {}
            Credentials::WrongKey => account.api_key = wrong(&account.api_key),
            Credentials::WrongPassword => account.api_password = wrong(&account.api_password),
            Credentials::WrongShaKey => account.sha_key = wrong(&account.sha_key),
        }
        Environment {
            base: self.laid.base.clone(),
            account,
            certificates: Some(self.troupe.authority.file.path().to_owned()),
            directory: self.directory.path().to_owned(),
            folder: self.troupe.plan.folder.clone(),
            timeout: self.timeout(),
            guard: Arc::clone(&self.troupe.guard),
        }
    }

    /// Runs a job of the integration.
    pub(crate) async fn run(&mut self, job: Job, input: &Value) -> Ran {
        let ran = self.run_once(job, input).await;
        self.ran.push(ran.clone());
        ran
    }

    /// Runs a job in two workers at once.
    pub(crate) async fn run_together(&mut self, job: Job, inputs: [&Value; 2]) {
        let (one, other) = tokio::join!(self.run_once(job, inputs[0]), self.run_once(job, inputs[1]));
        self.ran.extend([one, other]);
    }

    async fn run_once(&self, job: Job, input: &Value) -> Ran {
        let Some(means) = self.troupe.plan.jobs.get(&job) else {
            return Ran::new(
                adapter::End::NotStarted(format!("the plan has no job {}", job.name())),
                String::new(),
                String::new(),
            );
        };
        let attempt = input["attempt"].as_u64().map_or_else(String::new, |attempt| format!(", attempt {attempt}"));
        let wire = self.wire();
        wire.note(Lane::Integration, Lane::Integration, format!("started: {}{attempt}", job.name()));
        wire.start().await;
        self.given.take(input, &self.own);
        let killed = wire.kill.notified();
        let ran = adapter::run(means, &self.environment(), input, killed).await;
        let told = ran.claim.map_or_else(|| ran.trouble(), |claim| format!("claims {}", claim.name()));
        wire.note(Lane::Integration, Lane::Integration, told);
        ran
    }

    /// Delivers the delayed requests now, also those that waited for a lookup that was never made.
    pub(crate) fn arrive_late(&self) {
        self.wire().arrive_late(LateAt::AfterLookup);
        self.wire().arrive_late(LateAt::AfterClaim);
    }

    /// Calls a page of the shop, or the command in its place.
    pub(crate) async fn visit(&self, job: Job, call: Call) -> Result<Seen, Silent> {
        self.given.take_call(&call, &self.own);
        match self.troupe.plan.jobs.get(&job) {
            Some(Means::Command(_)) => {
                let parameters: serde_json::Map<String, Value> = call
                    .url
                    .split_once('?')
                    .map(|(_, query)| form_urlencoded::parse(query.as_bytes()))
                    .into_iter()
                    .flatten()
                    .map(|(name, value)| (name.into_owned(), Value::from(value.into_owned())))
                    .collect();
                let body = String::from_utf8_lossy(&call.body).into_owned();
                let input = json!({"job": job.name(), "url": call.url, "parameters": parameters, "body": body});
                let ran = self.run_once(job, &input).await;
                let status = ran.answer.get("status").and_then(Value::as_u64);
                // A program that fails without an answer has crashed: PHP prints its fatal errors on standard output.
                let answered = status.is_some() || ran.claim.is_some();
                match ran.end {
                    adapter::End::Done(code) if code == 0 || answered => {
                        let status = status.and_then(|status| u16::try_from(status).ok()).unwrap_or(200);
                        Ok(Seen { status, body: ran.stdout, ..Seen::default() })
                    }
                    adapter::End::Done(_) => {
                        let advice = "to refuse a request, print {\"status\": 400} as the last line";
                        Err(Silent::Crashed { why: format!("{}; {advice}", ran.trouble()), printed: ran.stdout })
                    }
                    adapter::End::Signalled(_) => Err(Silent::Crashed { why: ran.trouble(), printed: ran.stdout }),
                    adapter::End::TimedOut => Err(Silent::TimedOut),
                    _ => Err(Silent::Closed(ran.trouble())),
                }
            }
            // The success page of many shops settles the order, and redirects to the page of the order; their return page
            // keeps the card's data in the session, and redirects to the page that shows it.
            _ if matches!(job, Job::CheckoutReturn | Job::OpenRedirect) => shop::browse(call, self.timeout()).await,
            _ => shop::send(call, self.timeout()).await,
        }
    }

    /// Notes what a browser got: the redirects, and the page.
    pub(crate) fn note_page(&self, seen: &Seen) {
        for one in seen.all() {
            let to = one.location().map_or_else(String::new, |to| format!(", to {to}"));
            let told = format!("HTTP {}, {} bytes{to}", one.status, one.body.len());
            self.wire().note(Lane::Integration, Lane::Wire, told);
        }
    }

    /// Returns the address of a page of the shop.
    pub(crate) fn address(&self, job: Job) -> String {
        match self.troupe.plan.jobs.get(&job) {
            Some(Means::Url(url)) => url.clone(),
            _ => format!("http://localhost/{}", job.name()),
        }
    }

    /// Returns an outcome with all observations, not yet judged.
    pub(crate) fn outcome(&self) -> Outcome {
        let mut outcome = Outcome::empty(self.drill, crate::finding::Verdict::Passed);
        outcome.claims = self
            .ran
            .iter()
            .map(|ran| ran.claim.map_or_else(|| self.wire().told(&ran.trouble()), |claim| claim.name().to_owned()))
            .collect();
        outcome.ledger = self.entries().unwrap_or_default().iter().map(Entry::told).collect();
        outcome.events = self.wire().events();
        outcome.milliseconds = self.clock.millis();
        outcome
    }

    /// Keeps findings for the verdict, each once.
    pub(crate) fn found(&self, findings: Vec<Finding>) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        for finding in findings {
            if !found.contains(&finding) {
                found.push(finding);
            }
        }
    }

    /// Returns the verdict, with masked findings.
    pub(crate) fn judged(&self, mut findings: Vec<Finding>) -> Outcome {
        findings.append(&mut self.found.lock().unwrap_or_else(PoisonError::into_inner));
        for finding in &mut findings {
            finding.text = self.wire().told(&finding.text);
        }
        self.outcome().judged(findings)
    }
}

fn folder() -> Result<TempDir, SetupError> {
    tempfile::Builder::new().prefix("pg-rehearse-").tempdir().map_err(text)
}
