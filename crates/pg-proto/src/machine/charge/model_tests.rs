//! Explores every run of a charge against every service that fits in a short sequence of events. The events are: what
//! the network does to a request and its reply, when copies of earlier requests are executed, the state of the service,
//! and where the client crashes. Each outcome is compared with the ledger, and with what remaining copies can still do
//! to it.

use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use pg_model::{AuthCardKey, Currency, Item, Order};

use super::*;
use crate::{
    BaseUrl, Credentials,
    machine::{Backoff, Failure},
};

/// What the ledger holds under the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Ledger {
    Free,
    Approved,
    Declined,
    /// A status that no table lists.
    Odd,
    /// Used up by a request that the bank did not answer.
    Silent,
    /// Used up by a refused request.
    Spent,
    /// The bank decides on the first copy, which lookups do not list yet. It will approve it.
    AtTheBank,
    /// The same, and a rejected copy was recorded like a declined payment.
    Rejected,
    /// An approved payment, and a rejected copy of it.
    Both,
}

/// Why the service refuses a payment before it checks the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Mood {
    Takes,
    /// 108 from the start, for the request that the charge was created with.
    FirstWrong,
    /// 108 from the start, for another request that it was resumed with.
    OtherWrong,
    /// 136: permanent.
    Expired,
    /// 942: temporary.
    Disabled,
    /// 936: temporary.
    Throttled,
    /// 102: also for the lookup.
    Locked,
}

/// The service, and the copies that may still be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct World {
    ledger: Ledger,
    mood: Mood,
    /// A refused request uses the reference up, and the service checks for a used reference first (the strictest
    /// reading of spec 2 §4.3).
    strict: bool,
    /// A used reference is answered and recorded like a declined payment, and the dialect names no error of used references.
    like_a_decline: bool,
    /// A request of the first run has left, or of a resumed run.
    copies: bool,
    later_copies: bool,
    /// The charge was resumed with another request than it was created with.
    other_request: bool,
    /// The client does not know the result of a request.
    open: bool,
    /// Something happened that Refused does not cover: a temporary reason has ended.
    passed: bool,
    crashes: u8,
}

impl World {
    /// Returns the code of the reply if a copy is executed now.
    fn execute(&mut self, verdict: Ledger, first: bool) -> &'static str {
        let used = self.ledger != Ledger::Free;
        let again = if self.like_a_decline { "901" } else { "950" };
        let refusal = match self.mood {
            Mood::Throttled => return "936",
            Mood::Locked => return "102",
            _ if self.strict && used => again,
            Mood::FirstWrong if first => "108",
            Mood::OtherWrong if !first => "108",
            Mood::Expired => "136",
            Mood::Disabled => "942",
            Mood::FirstWrong | Mood::OtherWrong | Mood::Takes if used => again,
            Mood::FirstWrong | Mood::OtherWrong | Mood::Takes => "",
        };
        if !refusal.is_empty() {
            match self.ledger {
                Ledger::Free if self.strict => self.ledger = Ledger::Spent,
                Ledger::Approved if refusal == "901" => self.ledger = Ledger::Both,
                Ledger::AtTheBank if refusal == "901" => self.ledger = Ledger::Rejected,
                _ => {}
            }
            return refusal;
        }
        self.ledger = verdict;
        match verdict {
            Ledger::Approved => "600",
            Ledger::Declined => "901",
            Ledger::Odd => "655",
            _ => "119",
        }
    }

    /// Whether a copy can still charge at any later time.
    fn may_still_charge(&self) -> bool {
        let by = |first: bool| match self.mood {
            Mood::Expired => false,
            Mood::FirstWrong => !first,
            Mood::OtherWrong => first,
            // A temporary reason is covered only while it lasts.
            Mood::Disabled | Mood::Locked => false,
            Mood::Takes | Mood::Throttled => true,
        };
        let first = self.copies && by(true);
        let later = self.later_copies && by(!self.other_request);
        self.ledger == Ledger::Free && (first || later)
    }

    /// Everything that may happen between two requests: a copy is executed, or the state of the service changes.
    fn drifts(self) -> Vec<Self> {
        let mut drifts = vec![self];
        // A refusal that is looked up while the bank decides is a limit of the charge.
        let is_decided = !matches!(self.ledger, Ledger::AtTheBank | Ledger::Rejected);
        for mood in [Mood::Expired, Mood::Disabled, Mood::Throttled, Mood::Locked] {
            if self.mood == Mood::Takes && is_decided {
                drifts.push(Self { mood, ..self });
            }
        }
        if matches!(self.mood, Mood::Disabled | Mood::Throttled | Mood::Locked) {
            drifts.push(Self { mood: Mood::Takes, passed: self.passed || self.mood != Mood::Throttled, ..self });
        }
        match self.ledger {
            Ledger::AtTheBank => drifts.push(Self { ledger: Ledger::Approved, ..self }),
            Ledger::Rejected => drifts.push(Self { ledger: Ledger::Both, ..self }),
            _ => {}
        }
        let mut verdicts = vec![Ledger::Approved, Ledger::Declined, Ledger::Odd, Ledger::Silent];
        verdicts.extend(self.like_a_decline.then_some(Ledger::AtTheBank));
        for mut drift in drifts.clone() {
            for (about, first) in [(self.copies, true), (self.later_copies, !self.other_request)] {
                for verdict in verdicts.iter().copied() {
                    if about {
                        let before = drift.ledger;
                        let _ = drift.execute(verdict, first);
                        drifts.push(drift);
                        drift.ledger = before;
                    }
                }
            }
        }
        let mut once = HashSet::new();
        drifts.retain(|drift| once.insert(*drift));
        drifts
    }
}

fn account(like_a_decline: bool) -> Arc<Account> {
    let mut dialect = (*crate::spoken::sandbox()).clone();
    dialect.errors.retain(|entry| !like_a_decline || entry.situations != ["duplicate-unique-reference"]);
    let base = BaseUrl::parse("https://gateway.example").unwrap();
    Arc::new(Account::new(base, Credentials::new("key", "password", "sha")).with_dialect(dialect))
}

fn request(card_key: &str) -> AuthCardKey {
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
    AuthCardKey::new(card_key, order)
}

fn reply(code: &str) -> http::Response<Bytes> {
    let (status, body) = match code {
        "600" | "901" | "655" => (200, transaction(code)),
        "102" => (401, error(code)),
        _ => (400, error(code)),
    };
    http::Response::builder().status(status).body(Bytes::from(body)).unwrap()
}

fn transaction(code: &str) -> String {
    format!(r#"{{"transactionStatusCode":"{code}","transactionType":"Auth","transactionKey":"k"}}"#)
}

fn error(code: &str) -> String {
    format!(r#"{{"errorCode":"{code}","traceCode":"1","errorMessage":"m"}}"#)
}

fn listed(world: &World) -> http::Response<Bytes> {
    let code = match world.ledger {
        _ if matches!(world.mood, Mood::Locked | Mood::Throttled) => {
            return reply(if world.mood == Mood::Locked { "102" } else { "936" });
        }
        Ledger::Free | Ledger::Silent | Ledger::Spent | Ledger::AtTheBank => {
            return http::Response::new(Bytes::from_static(br#"{"transactions":[]}"#));
        }
        Ledger::Approved => "600",
        Ledger::Declined | Ledger::Rejected => "901",
        Ledger::Odd => "655",
        Ledger::Both => {
            let both = format!(r#"{{"transactions":[{},{}]}}"#, transaction("901"), transaction("600"));
            return http::Response::new(Bytes::from(both));
        }
    };
    http::Response::new(Bytes::from(format!(r#"{{"transactions":{{"0":{}}}}}"#, transaction(code))))
}

fn copy(charge: &Charge<AuthCardKey>) -> Charge<AuthCardKey> {
    Charge {
        account: Arc::clone(&charge.account),
        request: charge.request.clone(),
        state: charge.state.clone(),
        in_flight: charge.in_flight,
        earlier_within: charge.earlier_within,
        unsettled: charge.unsettled.clone(),
        unreadable: None,
        ended: charge.ended.clone(),
    }
}

struct Explorer {
    /// Visited combinations: a request leaves in this state of the machine and the world.
    known: HashSet<(String, World, bool, (bool, u32))>,
    ends: BTreeSet<&'static str>,
}

impl Explorer {
    fn go(&mut self, mut charge: Charge<AuthCardKey>, world: World, event: Event, now: Moment, depth: usize) {
        assert!(depth < 60, "it does not end: {charge:?} {world:?}");
        match charge.step(event, now, 0) {
            Action::Done(outcome) => self.judge(&outcome, &world, &charge),
            Action::WaitUntil(until) => {
                let at = until.max(now);
                self.go(charge, world, Event::Woken, at, depth + 1);
            }
            Action::Send(sent) => {
                let paying = sent.uri().path().contains("authCardKey");
                let key = (charge.save().text().to_owned(), world, charge.request.is_some(), charge.unsettled.state());
                if self.known.insert(key) {
                    self.send(&charge, world, paying, now, depth);
                }
            }
            Action::Ask(never) => match never {},
        }
    }

    /// Explores everything that may happen to a request that leaves now.
    fn send(&mut self, charge: &Charge<AuthCardKey>, world: World, paying: bool, now: Moment, depth: usize) {
        let failed = |failure| Event::Failed(failure);
        self.go(copy(charge), world, failed(Failure::NotSent), now, depth + 1);
        self.go(copy(charge), world, failed(Failure::HeldBack), now, depth + 1);
        self.go(copy(charge), world, failed(Failure::Superseded), now, depth + 1);
        self.crash(charge, world, now, depth);
        let resumed = world.crashes > 0;
        let world = World {
            copies: world.copies || paying && !resumed,
            later_copies: world.later_copies || paying && resumed,
            ..world
        };
        for world in world.drifts() {
            if paying {
                // It never arrives, or arrives later, or was executed above and its reply is lost.
                let lost = World { open: true, ..world };
                self.go(copy(charge), lost, failed(Failure::MaybeSent), now, depth + 1);
                self.crash(charge, lost, now, depth);
                for verdict in [Ledger::Approved, Ledger::Declined, Ledger::Odd, Ledger::Silent] {
                    let mut world = world;
                    let code = world.execute(verdict, !world.other_request);
                    for world in world.drifts() {
                        self.go(copy(charge), world, Event::Reply(reply(code)), now, depth + 1);
                    }
                }
            } else {
                self.go(copy(charge), world, failed(Failure::MaybeSent), now, depth + 1);
                let found = listed(&world);
                for world in world.drifts() {
                    self.go(copy(charge), world, Event::Reply(found.clone()), now, depth + 1);
                }
            }
        }
    }

    /// Crashes the client after it saved the machine, before or after the request left.
    fn crash(&mut self, charge: &Charge<AuthCardKey>, mut world: World, now: Moment, depth: usize) {
        if world.crashes > 0 {
            return;
        }
        world.crashes += 1;
        let saved = SavedState::from_text(charge.save().text());
        for card in [None, Some("first"), Some("second")] {
            let resumed = Charge::resume(&saved, account(world.like_a_decline), card.map(request)).unwrap();
            let world = World { other_request: card == Some("second"), ..world };
            self.go(resumed, world, Event::Begin, now, depth + 1);
        }
    }

    fn judge(&mut self, outcome: &ChargeOutcome, world: &World, charge: &Charge<AuthCardKey>) {
        let fits = match outcome {
            ChargeOutcome::Approved(_) => matches!(world.ledger, Ledger::Approved | Ledger::Both),
            // The network has delivered an answered request twice: no client can see that the lookups list its second copy.
            ChargeOutcome::Declined(_) if !world.open && matches!(world.ledger, Ledger::Rejected | Ledger::Both) => {
                true
            }
            ChargeOutcome::Declined(_) => world.ledger == Ledger::Declined,
            ChargeOutcome::NotSent => !world.copies && !world.later_copies && world.ledger == Ledger::Free,
            ChargeOutcome::Refused(refused) => {
                let vouched = refused.scope() != RefusalScope::WhileItLasts || world.open || !world.passed;
                let charged = matches!(world.ledger, Ledger::Approved | Ledger::Odd | Ledger::Both);
                !vouched || !charged && !world.may_still_charge()
            }
            ChargeOutcome::Unknown { .. } => true,
        };
        assert!(fits, "{outcome:?} is not what {world:?} holds, after {charge:?}");
        self.ends.insert(match outcome {
            ChargeOutcome::Approved(_) => "Approved",
            ChargeOutcome::Declined(_) => "Declined",
            ChargeOutcome::Refused(_) => "Refused",
            ChargeOutcome::NotSent => "NotSent",
            ChargeOutcome::Unknown { .. } => "Unknown",
        });
    }
}

// spec: 2 §4.4, A140: A payment that a lookup finds settles a charge; an empty lookup settles it only if no copy of the
//   request can still be executed.
#[test]
fn no_claim_contradicts_the_ledger_or_any_future_of_it() {
    let none = Backoff { first: Duration::ZERO, longest: Duration::ZERO };
    let mut explorer = Explorer { known: HashSet::new(), ends: BTreeSet::new() };
    use Mood::{Disabled, Expired, FirstWrong, Locked, OtherWrong, Takes, Throttled};
    let lenient =
        [Takes, FirstWrong, OtherWrong, Expired, Disabled, Throttled, Locked].map(|mood| (mood, false, false));
    let strict = [FirstWrong, Expired, Disabled].map(|mood| (mood, true, false));
    let like_a_decline = [(Takes, false, true), (Disabled, true, true)];
    for (mood, strict, like_a_decline) in lenient.into_iter().chain(strict).chain(like_a_decline) {
        let bounds = ChargeBounds { attempts: 2, lookups: 3, pauses: none, ..ChargeBounds::default() };
        let charge = Charge::new(account(like_a_decline), request("first"), bounds).unwrap();
        let world = World {
            ledger: Ledger::Free,
            mood,
            strict,
            like_a_decline,
            copies: false,
            later_copies: false,
            other_request: false,
            open: false,
            passed: false,
            crashes: 0,
        };
        explorer.go(charge, world, Event::Begin, Moment::from_millis(1_000), 0);
    }
    assert_eq!(Vec::from_iter(explorer.ends), ["Approved", "Declined", "NotSent", "Refused", "Unknown"]);
    // The exploration did not end early.
    assert!(explorer.known.len() > 10_000, "{}", explorer.known.len());
}
