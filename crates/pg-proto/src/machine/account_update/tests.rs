use std::{collections::BTreeMap, time::Duration};

use pg_model::CardKey;

use super::*;
use crate::{BaseUrl, Credentials, machine::Failure};

mod clocks;
mod crashes;
mod doubts;
mod ends;
mod events;
mod intake;

const API_KEY: &str = "canary-api-key";
const PASSWORD: &str = "canary-password";
const SHA_KEY: &str = "canary-sha-key";
const UPDATER_KEY: &str = "canary-updater-key";
/// 2024-05-01T12:00:00Z.
const NOON: Moment = Moment::from_millis(1_714_564_800_000);

type Reply = Result<(u16, String), Failure>;

fn account() -> Account {
    let credentials = Credentials::new(API_KEY, PASSWORD, SHA_KEY);
    Account::new(BaseUrl::parse("https://gateway.example").unwrap(), credentials).with_dialect(crate::spoken::sandbox())
}

fn plan() -> UpdatePlan {
    UpdatePlan::new(UPDATER_KEY).batch_size(2).outstanding(2).callback_url("https://shop.example/updated")
}

/// One machine with its service, source and owner.
struct World {
    machine: AccountUpdate,
    now: Moment,
    source: Vec<String>,
    /// Key, creation time and card keys of each batch that the service accepted.
    batches: Vec<(String, Moment, Vec<String>)>,
    results: BTreeMap<u64, BatchResult>,
    takes: usize,
    sent: Vec<String>,
    /// The fault of the request with this number, counted from 0.
    instead: BTreeMap<usize, Fault>,
    saves: Vec<SavedState>,
    /// How long the service processes a batch.
    works: Duration,
    steps: usize,
}

#[derive(Clone)]
enum Fault {
    /// It is executed, and the reply is lost.
    LoseReply,
    /// It is lost on the way.
    Lose(Failure),
    /// It is not executed, and this is the reply.
    Say(u16, &'static str),
    /// It is executed, and this is the reply.
    Garble(u16, &'static str),
}

impl World {
    fn new(plan: UpdatePlan, source: &[&str]) -> Self {
        let machine = AccountUpdate::new(account(), plan).unwrap();
        let source = source.iter().map(|&key| key.to_owned()).collect();
        let (batches, sent, saves, results) = Default::default();
        let works = Duration::from_secs(120);
        let instead = BTreeMap::new();
        Self { machine, now: NOON, source, batches, results, takes: 0, sent, instead, saves, works, steps: 0 }
    }

    fn with(mut self, faults: impl IntoIterator<Item = (usize, Fault)>) -> Self {
        self.instead = faults.into_iter().collect();
        self
    }

    fn input(&mut self, input: UpdateInput) -> Action<UpdateDemand, Summary> {
        self.step(Event::Input(input))
    }

    fn step(&mut self, event: Event<UpdateInput>) -> Action<UpdateDemand, Summary> {
        self.steps += 1;
        assert!(self.steps < 10_000, "it does not end");
        let action = self.machine.step(event, self.now, self.steps as u64 * 77);
        let (saved, shown) = (self.machine.save(), format!("{:?}", self.machine));
        for canary in [API_KEY, PASSWORD, SHA_KEY, UPDATER_KEY] {
            assert!(!saved.text().contains(canary) && !shown.contains(canary), "{saved} {shown}");
        }
        action
    }

    fn run(&mut self) -> Summary {
        self.run_from(Event::Begin)
    }

    fn run_from(&mut self, event: Event<UpdateInput>) -> Summary {
        let action = self.step(event);
        self.go_on(action)
    }

    fn go_on(&mut self, mut action: Action<UpdateDemand, Summary>) -> Summary {
        loop {
            let event = match self.answer(action) {
                Ok(event) => event,
                Err(summary) => return *summary,
            };
            action = self.step(event);
        }
    }

    /// Answers an action that is not the last one.
    fn next(&mut self, action: Action<UpdateDemand, Summary>) -> Action<UpdateDemand, Summary> {
        let event = self.answer(action).unwrap();
        self.step(event)
    }

    /// Performs the machine's action, and returns the next one.
    fn answer(&mut self, action: Action<UpdateDemand, Summary>) -> Result<Event<UpdateInput>, Box<Summary>> {
        Ok(match action {
            Action::Done(summary) => return Err(Box::new(summary)),
            Action::WaitUntil(moment) => {
                assert!(moment >= self.now && moment != UNTIL_THE_REPLY, "{moment:?}");
                self.now = moment;
                Event::Woken
            }
            Action::Ask(UpdateDemand::Keys { from, at_most }) => Event::Input(self.keys(from, at_most)),
            Action::Ask(UpdateDemand::Take(result)) => {
                self.takes += 1;
                if let Some(before) = self.results.insert(result.number, (*result).clone()) {
                    assert_eq!(before, *result);
                }
                Event::Input(UpdateInput::Taken(result.number))
            }
            Action::Send(request) => {
                self.saves.push(self.machine.save());
                match self.serve(&request) {
                    Ok((status, body)) => {
                        Event::Reply(http::Response::builder().status(status).body(Bytes::from(body)).unwrap())
                    }
                    Err(failure) => Event::Failed(failure),
                }
            }
        })
    }

    fn keys(&self, from: u64, at_most: usize) -> UpdateInput {
        let keys = self.source.iter().skip(from as usize).take(at_most).map(|key| CardKey::from(key.as_str()));
        UpdateInput::Keys { from, keys: keys.collect() }
    }

    fn serve(&mut self, request: &http::Request<Bytes>) -> Reply {
        let parameters: BTreeMap<_, _> = form_urlencoded::parse(request.body()).into_owned().collect();
        let text = |name: &str| parameters.get(name).cloned().unwrap_or_default();
        let path = request.uri().path().to_owned();
        let at = self.sent.len();
        self.sent.push(if path.contains("request") { text("cardKey") } else { text("batchKey") });
        let fault = self.instead.get(&at).cloned();
        match &fault {
            Some(Fault::Lose(failure)) => return Err(*failure),
            Some(Fault::Say(status, body)) => return Ok((*status, (*body).to_owned())),
            _ => {}
        }
        let usual =
            if path.contains("request") { self.submit(&text("cardKey")) } else { self.retrieve(&text("batchKey")) };
        match fault {
            Some(Fault::LoseReply) => Err(Failure::MaybeSent),
            Some(Fault::Garble(status, body)) => Ok((status, body.to_owned())),
            _ => usual,
        }
    }

    fn submit(&mut self, keys: &str) -> Reply {
        let key = format!("{:032}", self.batches.len() + 1);
        let keys: Vec<String> = keys.split(',').map(str::to_owned).collect();
        assert!(keys.len() <= 2);
        self.batches.push((key.clone(), self.now, keys));
        Ok((200, format!("<serviceResponse><result>OK</result><batchKey>{key}</batchKey></serviceResponse>")))
    }

    fn retrieve(&self, key: &str) -> Reply {
        match self.batches.iter().find(|(known, ..)| known == key) {
            None => Ok((400, error("183"))),
            Some((_, made, _)) if made.after(self.works) > self.now => Ok((400, error("182"))),
            Some((key, made, keys)) => Ok((200, finished(key, *made, keys))),
        }
    }

    fn crash(&mut self, saved: &SavedState, plan: UpdatePlan) {
        self.machine = AccountUpdate::resume(&SavedState::from_text(saved.text()), account(), plan).unwrap();
    }

    fn submissions(&self) -> Vec<&str> {
        self.sent.iter().map(String::as_str).filter(|sent| sent.len() != 32).collect()
    }
}

fn error(code: &str) -> String {
    format!("<serviceResponse><errorCode>{code}</errorCode><errorMessage>no</errorMessage></serviceResponse>")
}

/// A key that ends in `+` has a new card.
fn finished(key: &str, made: Moment, keys: &[String]) -> String {
    let entry = |key: &String| match key.strip_suffix('+') {
        Some(_) => format!(
            "<cardKeyDetail><oldCardKey>{key}</oldCardKey><response>700</response><cardKey>new-{key}</cardKey></cardKeyDetail>"
        ),
        None => format!("<cardKeyDetail><oldCardKey>{key}</oldCardKey><response>706</response></cardKeyDetail>"),
    };
    let entries: String = keys.iter().map(entry).collect();
    let seconds = made.millis() / 1000 % 86_400;
    let (day, hour, minute, second) = (
        1 + (made.millis() + 43_200_000 - NOON.millis()) / 86_400_000,
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
    );
    format!(
        "<serviceResponse><batchKey>{key}</batchKey><createdOn>2024-05-{day:02}T{hour:02}:{minute:02}:{second:02}+00:00</createdOn>\
         <cardKeyDetails>{entries}</cardKeyDetails></serviceResponse>"
    )
}

fn hint(key: &str, claimed: &[&str]) -> UpdateInput {
    let keys: Vec<String> = claimed.iter().map(|&key| key.to_owned()).collect();
    let request = http::Request::post("/updated").body(Bytes::from(finished(key, NOON, &keys))).unwrap();
    UpdateInput::Hint(UpdaterHint::read(&request).unwrap())
}

fn key_of(number: usize) -> String {
    format!("{number:032}")
}

#[test]
fn saved_states_keep_their_form() {
    let examples = ("account-update.jsonl", include_str!("../../../tests/saved-states/account-update.jsonl"));
    crate::machine::saved::examples::check::<State>(examples, NAME, VERSION, &["result", "last"]);
}
