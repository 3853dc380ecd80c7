//! Machines of some kinds with one fault.

use std::{ops::ControlFlow, sync::Arc, time::Duration};

use bytes::Bytes;
use http::Response;
use pg_model::{AccountUpdaterBatch, ApiRequest, ErrorCode, StatusCode, TransactionLookup, decode};
use pg_proto::machine::{Event, Failure, Moment};

use super::Planted;
use crate::{
    conduct::ClientBehaviour,
    job::{Job, Kind},
    run::{Claim, OwnerEvent, Run, Step},
    scenario::Disturbance,
    spoken::{PENDING, with_status},
};

/// The fault. The defaults are correct.
#[derive(Clone, Copy)]
pub(super) struct Twist {
    /// The machines that have it.
    pub(super) of: fn(Kind) -> bool,
    /// The misread event, or the wrong step.
    pub(super) hears: fn(Event) -> ControlFlow<Step, Event>,
    /// What they do at once when they get an input.
    pub(super) told: fn(&OwnerEvent) -> Option<Step>,
    /// What they do instead of the correct step.
    pub(super) does: fn(&Job, Step, Moment) -> Step,
    /// What they save in addition to their state.
    pub(super) stores: fn(&Job) -> String,
}

impl Twist {
    /// No fault.
    pub(super) const NONE: Self = Self {
        of: |_| false,
        hears: ControlFlow::Continue,
        told: |_| None,
        does: |_, step, _| step,
        stores: |_| String::new(),
    };
}

impl ClientBehaviour for Twist {
    fn drive(&self, job: &Job, run: Box<dyn Run>) -> Box<dyn Run> {
        if (self.of)(job.kind) { Box::new(Twisted { run, job: job.clone(), twist: *self }) } else { run }
    }
}

struct Twisted {
    run: Box<dyn Run>,
    job: Job,
    twist: Twist,
}

impl Run for Twisted {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        match (self.twist.hears)(event) {
            ControlFlow::Break(step) => step,
            ControlFlow::Continue(event) => (self.twist.does)(&self.job, self.run.step(event, now, random), now),
        }
    }

    fn told(&mut self, what: &OwnerEvent, now: Moment, random: u64) -> Option<Step> {
        if let Some(step) = (self.twist.told)(what) {
            return Some(step);
        }
        let step = self.run.told(what, now, random)?;
        Some((self.twist.does)(&self.job, step, now))
    }

    fn save(&self) -> String {
        format!("{}{}", self.run.save(), (self.twist.stores)(&self.job))
    }

    fn shown(&self) -> String {
        self.run.shown()
    }
}

/// Ends at once with a claim if an event is a reply with this error; otherwise continues correctly.
pub(super) fn ends_when_refused_with(event: Event, code: &str, claim: Claim) -> ControlFlow<Step, Event> {
    let refused = matches!(&event, Event::Reply(reply) if {
        let body = String::from_utf8_lossy(reply.body());
        body.contains(&format!("\"errorCode\":\"{code}\"")) || body.contains(&format!("<errorCode>{code}<"))
    });
    if refused { ControlFlow::Break(Step::Ended(claim)) } else { ControlFlow::Continue(event) }
}

/// A request without a reply counts as one that never left.
pub(super) const TAKES_LOST_FOR_UNSENT: Planted = Planted::new(
    "a request that may have arrived counts as not sent",
    "claims are true",
    300,
    &Twist { of: |_| true, hears: |event| ControlFlow::Continue(lost_is_unsent(event)), ..Twist::NONE },
);

fn lost_is_unsent(event: Event) -> Event {
    match event {
        Event::Failed(Failure::MaybeSent) => Event::Failed(Failure::NotSent),
        other => other,
    }
}

/// The refusal of a used reference counts as a refusal of the payment that used it.
pub(super) const USED_UP_IS_REFUSED: Planted = Planted::new(
    "a used reference counts as a refused payment",
    "claims are true",
    300,
    &Twist {
        of: Kind::charges,
        hears: |event| ends_when_refused_with(event, "950", Claim::Refused { for_good: true }),
        ..Twist::NONE
    },
);

/// The refusal of one copy counts as a refusal of every copy, although another one used up the amount.
pub(super) const ONE_COPY_IS_EVERY_COPY: Planted = Planted::new(
    "the refusal of a second copy counts as one of the first",
    "follow-ups are what they claim",
    1_000,
    &Twist {
        of: |kind| matches!(kind, Kind::Capture | Kind::Cancel | Kind::Refund),
        hears: |event| {
            ["107", "952", "953"]
                .iter()
                .try_fold(event, |event, code| ends_when_refused_with(event, code, Claim::Refused { for_good: false }))
        },
        ..Twist::NONE
    },
)
.needs(Disturbance::Duplicates);

/// The decline of one copy counts as a decline of every copy, although the bank declined it because of another one.
pub(super) const ONE_DECLINE_IS_EVERY_COPY: Planted = Planted::new(
    "the decline of a second copy counts as one of the first",
    "follow-ups are what they claim",
    1_000,
    &Twist {
        of: |kind| matches!(kind, Kind::Capture | Kind::Cancel | Kind::Refund),
        hears: |event| {
            let declined = matches!(&event, Event::Reply(reply) if is_decline(&String::from_utf8_lossy(reply.body())));
            if declined { ControlFlow::Break(Step::Ended(Claim::Declined)) } else { ControlFlow::Continue(event) }
        },
        ..Twist::NONE
    },
)
.needs(Disturbance::Declines);

/// Whether a reply of either version says that the bank declined.
fn is_decline(body: &str) -> bool {
    ["\"transactionStatusCode\":\"901\"", "<transactionStatusCode>901<", "<status>0<"]
        .iter()
        .any(|text| body.contains(text))
}

/// A bank that does not answer counts as a decline.
pub(super) const NO_RESPONSE_IS_A_DECLINE: Planted = Planted::new(
    "no response from the bank counts as a decline",
    "claims are true",
    300,
    &Twist { of: Kind::charges, hears: |event| ends_when_refused_with(event, "119", Claim::Declined), ..Twist::NONE },
);

/// A bank that does not answer counts as one that charged nothing.
pub(super) const NO_RESPONSE_IS_NOT_CHARGED: Planted = Planted::new(
    "no response from the bank counts as not charged",
    "claims are true",
    300,
    &Twist {
        of: Kind::charges,
        hears: |event| ends_when_refused_with(event, "119", Claim::Refused { for_good: true }),
        ..Twist::NONE
    },
);

/// A proxy's page counts as a refusal of the service.
pub(super) const UNREADABLE_IS_A_DECLINE: Planted = Planted::new(
    "an unreadable reply counts as a refusal",
    "claims are true",
    300,
    &Twist { of: Kind::charges, hears: believes_a_page, ..Twist::NONE },
);

fn believes_a_page(event: Event) -> ControlFlow<Step, Event> {
    let page = matches!(&event, Event::Reply(reply) if reply.body().starts_with(b"<html>"));
    if page { ControlFlow::Break(Step::Ended(Claim::Refused { for_good: true })) } else { ControlFlow::Continue(event) }
}

/// An error code that neither the documents nor the dialect list is trusted: the payment counts as refused.
pub(super) const UNKNOWN_REFUSAL_IS_TRUSTED: Planted = Planted::new(
    "an unlisted error code is trusted",
    "claims are true",
    600,
    &Twist { of: Kind::charges, hears: believes_any_code, ..Twist::NONE },
)
.in_other_dialects();

fn believes_any_code(event: Event) -> ControlFlow<Step, Event> {
    let refused = matches!(&event, Event::Reply(reply) if {
        let body = String::from_utf8_lossy(reply.body());
        let code = ["\"errorCode\":\"", "<errorCode>"].iter().find_map(|before| body.split(before).nth(1));
        let code = code.and_then(|rest| rest.split(['"', '<']).next()).map(ErrorCode::from);
        !reply.status().is_server_error() && code.is_some_and(|code| code.message().is_none())
    });
    if refused {
        ControlFlow::Break(Step::Ended(Claim::Refused { for_good: true }))
    } else {
        ControlFlow::Continue(event)
    }
}

/// A status that the dialect lists as pending counts as final.
pub(super) const PENDING_IS_FINAL: Planted = Planted::new(
    "a pending status counts as final",
    "claims are true",
    400,
    &Twist { of: Kind::charges, hears: no_more_lookups, ..Twist::NONE },
)
.in_other_dialects();

fn no_more_lookups(event: Event) -> ControlFlow<Step, Event> {
    let pending = matches!(&event, Event::Reply(reply) if {
        let body = String::from_utf8_lossy(reply.body());
        body.contains(&format!("\"transactionStatusCode\":\"{PENDING}\""))
            || body.contains(&format!("<transactionStatusCode>{PENDING}<"))
    });
    if pending { ControlFlow::Break(Step::Ended(Claim::Declined)) } else { ControlFlow::Continue(event) }
}

/// A charge accepts any approved payment under its reference, whatever its amount, currency and type.
pub(super) const TAKES_ANOTHER_AMOUNT: Planted = Planted::new(
    "any approved payment under the reference counts as the charge",
    "claims are true",
    400,
    &Twist { of: Kind::charges, hears: any_approved_payment, ..Twist::NONE },
)
.needs(Disturbance::SharedReferences);

fn any_approved_payment(event: Event) -> ControlFlow<Step, Event> {
    let Event::Reply(reply) = &event else { return ControlFlow::Continue(event) };
    let found = decode::<<TransactionLookup as ApiRequest>::Reply>(reply.body()).ok();
    let found = found.and_then(|found| found.record.transactions.into_iter().next());
    match found.filter(|found| found.transaction_status_code == "600") {
        Some(found) => {
            ControlFlow::Break(Step::Ended(Claim::Approved { key: found.transaction_key.as_str().to_owned() }))
        }
        None => ControlFlow::Continue(event),
    }
}

/// A machine with an unknown outcome waits forever.
pub(super) const NEVER_GIVES_UP: Planted = Planted::new(
    "a machine waits forever for an unknown outcome",
    "every world ends",
    300,
    &Twist {
        of: Kind::charges,
        does: |_, step, now| match step {
            Step::Ended(Claim::Unknown { .. }) => Step::WaitUntil(now.after(Duration::from_secs(1))),
            other => other,
        },
        ..Twist::NONE
    },
);

/// What a callback says of a batch counts, not what is retrieved.
pub(super) const BELIEVES_A_CALLBACK: Planted = Planted::new(
    "a callback is trusted in place of the retrieved batch",
    "updates are what the service answered",
    500,
    &BelievesACallback,
)
.needs(Disturbance::Forgeries);

struct BelievesACallback;

impl ClientBehaviour for BelievesACallback {
    fn drive(&self, job: &Job, run: Box<dyn Run>) -> Box<dyn Run> {
        if job.kind == Kind::Update { Box::new(Believing { run, claimed: Vec::new() }) } else { run }
    }
}

struct Believing {
    run: Box<dyn Run>,
    claimed: Vec<AccountUpdaterBatch>,
}

impl Believing {
    /// The first callback about a batch decides its result.
    fn instead(&self, step: Step) -> Step {
        let Step::Take(result) = step else { return step };
        let claimed = self.claimed.iter().find(|claimed| result.batch_key.as_ref() == Some(&claimed.batch_key));
        let mut believed = (*result).clone();
        for entry in &mut believed.entries {
            let said = claimed.and_then(|claimed| {
                claimed.card_key_details.iter().find(|said| said.old_card_key == entry.old_card_key)
            });
            if let Some(said) = said {
                entry.clone_from(said);
            }
        }
        Step::Take(Arc::new(believed))
    }
}

impl Run for Believing {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        let step = self.run.step(event, now, random);
        self.instead(step)
    }

    fn told(&mut self, what: &OwnerEvent, now: Moment, random: u64) -> Option<Step> {
        if let OwnerEvent::Hint(hint) = what {
            self.claimed.push(hint.claimed().clone());
        }
        let step = self.run.told(what, now, random)?;
        Some(self.instead(step))
    }

    fn save(&self) -> String {
        self.run.save()
    }

    fn shown(&self) -> String {
        self.run.shown()
    }
}

/// A machine reads that the customer was authenticated although the customer failed.
pub(super) const TAKES_FAILED_FOR_PASSED: Planted = Planted::new(
    "a machine takes a failed authentication for a passed one",
    "only an authenticated customer pays",
    300,
    &Twist {
        of: |kind| kind == Kind::ThreeDSecure,
        hears: |event| ControlFlow::Continue(failed_is_passed(event)),
        ..Twist::NONE
    },
);

fn failed_is_passed(event: Event) -> Event {
    match event {
        Event::Reply(reply) => {
            let [failed, passed] =
                [StatusCode::THREE_D_SECURE_FAILED, StatusCode::THREE_D_SECURE_SUCCESS].map(|code| code.to_string());
            let shifted = with_status(reply, &failed, &passed).map(|body| {
                let text =
                    String::from_utf8_lossy(&body).replace("\"liabilityShift\":\"N\"", "\"liabilityShift\":\"Y\"");
                text.replace("<liabilityShift>N<", "<liabilityShift>Y<").into()
            });
            Event::Reply(shifted)
        }
        other => other,
    }
}

/// A callback or a browser that names a payment is trusted without a lookup.
pub(super) const BELIEVES_A_SUCCESS_PAGE: Planted = Planted::new(
    "a callback or a success page that names a payment is trusted",
    "checkouts are what they claim",
    300,
    &Twist {
        of: |kind| kind == Kind::Checkout,
        told: |what| match what {
            OwnerEvent::Paid(key) => Some(Step::Ended(Claim::Approved { key: key.clone() })),
            _ => None,
        },
        ..Twist::NONE
    },
);

/// A checkout lapses when its time is over or it is withdrawn, but its token stays valid.
pub(super) const LEAVES_A_TOKEN_OPEN: Planted = Planted::new(
    "a checkout lapses without its token being cancelled",
    "checkouts stay what they claim",
    300,
    &Twist { of: |kind| kind == Kind::Checkout, does: |_, step, _| leaves_out("/canceltoken", step), ..Twist::NONE },
);

/// A checkout lapses when its token is cancelled, without a search for an unreported payment.
pub(super) const SEARCHES_FOR_NOTHING: Planted = Planted::new(
    "a checkout lapses without a search for its payment",
    "checkouts are what they claim",
    500,
    &Twist {
        of: |kind| kind == Kind::Checkout,
        does: |_, step, _| leaves_out("/transaction/lookup", step),
        ..Twist::NONE
    },
);

/// A checkout takes an object or a page without a list, in place of its search, for an empty list.
pub(super) const TAKES_NO_LIST_FOR_AN_EMPTY_ONE: Planted = Planted::new(
    "a reply without a list counts as an empty search",
    "checkouts are what they claim",
    2_000,
    &Twist {
        of: |kind| kind == Kind::Checkout,
        hears: |event| ControlFlow::Continue(no_list_is_empty(event)),
        ..Twist::NONE
    },
)
.needs(Disturbance::Garbling);

fn no_list_is_empty(event: Event) -> Event {
    match event {
        Event::Reply(reply) if reply.body() == "{}" || reply.body().starts_with(b"<html>") => {
            Event::Reply(Response::new(Bytes::from_static(br#"{"transactions":{}}"#)))
        }
        other => other,
    }
}

/// A checkout whose token has expired by the shop's own clock ends as lapsed, without asking the service.
pub(super) const TRUSTS_ITS_CLOCK: Planted = Planted::new(
    "a token counts as expired by the shop's own clock",
    "checkouts stay what they claim",
    1_000,
    &Twist {
        of: |kind| kind == Kind::Checkout,
        does: |job, step, now| match job.expires {
            Some(expires) if now.millis() / 1_000 >= expires => leaves_out("/canceltoken", step),
            _ => step,
        },
        ..Twist::NONE
    },
)
.needs(Disturbance::ClockJumps);

/// A batch whose submission got no reply is submitted again as if it had never left.
pub(super) const SUBMITS_A_BATCH_AGAIN: Planted = Planted::new(
    "a batch without a reply is resubmitted",
    "updates are what the service answered",
    500,
    &Twist {
        of: |kind| kind == Kind::Update,
        hears: |event| ControlFlow::Continue(lost_is_unsent(event)),
        ..Twist::NONE
    },
);

/// The saved state of a machine contains the card.
pub(super) const STORES_THE_CARD: Planted = Planted::new(
    "the card is saved with the machine",
    "secrets stay secret",
    20,
    &Twist { of: Kind::charges, stores: |job| job.card.number.to_owned(), ..Twist::NONE },
);

/// Ends when the request's path would be this one.
fn leaves_out(path: &str, step: Step) -> Step {
    match step {
        Step::Send(request) if request.uri().path().contains(path) => Step::Ended(Claim::Lapsed),
        other => other,
    }
}
