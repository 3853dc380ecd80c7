//! Tests machines that are stopped at any step, and damaged states.

use bytes::Bytes;
use http::Response;
use pg_model::CardKey;
use pg_proto::machine::{
    Action, Event, Failure, Machine, Moment,
    account_update::UpdateInput,
    charge::ChargeBounds,
    checkout::CheckoutInput,
    three_d_secure::{ThreeDSecureInput, ThreeDSecurePlan},
};

use crate::{
    dice::Dice,
    kinds::{self, KINDS, LOST, REPLIES},
    secrets::no_credentials,
};

/// More steps than any machine needs, however often it is stopped and whatever it receives.
const MOST_STEPS: usize = 60;

/// Resumes any machine from any text: the text is refused, or the machine continues.
pub fn saved(input: &[u8]) {
    let Some((first, text)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let kind = &KINDS[usize::from(*first) % KINDS.len()];
    let lived = (kind.live)(text);
    assert_eq!(lived, (kind.live)(text), "{} is resumed once and not twice", kind.name);
}

/// Sends a machine any events and stops it at any step. Its own states can be resumed, and no resumed state pays again.
pub fn machines(input: &[u8]) {
    let mut dice = Dice::new(input);
    // A payment that the service has certainly refused or not received may be sent again.
    let most = 2 * ChargeBounds::default().attempts;
    match dice.below(5) {
        0 => live(&mut dice, kinds::new_charge(), kinds::charge, most, |_| None),
        1 => live(
            &mut dice,
            kinds::new_three_d_secure(),
            kinds::three_d_secure,
            2 * ThreeDSecurePlan::default().attempts,
            |dice| {
                use ThreeDSecureInput::{Closed, Proceed, Returned, Stop};
                Some(dice.one_of(&[Returned, Closed, Proceed, Stop]))
            },
        ),
        2 => live(&mut dice, kinds::new_checkout(), kinds::checkout, most, |dice| {
            Some(if dice.flag() { CheckoutInput::Cancel } else { CheckoutInput::Reported(dice.text(8)) })
        }),
        3 => live(&mut dice, kinds::new_update(), kinds::update, most, |dice| {
            let keys = |dice: &mut Dice<'_>| (0..dice.below(4)).map(|_| CardKey::from(dice.text(3))).collect();
            Some(match dice.below(3) {
                0 => UpdateInput::Taken(dice.below(4) as u64),
                _ => UpdateInput::Keys { from: dice.below(6) as u64, keys: keys(dice) },
            })
        }),
        _ => live(&mut dice, kinds::new_retry(), kinds::retry, most, |_| None),
    }
}

fn live<M: Machine>(
    dice: &mut Dice<'_>,
    mut machine: M,
    resume: fn(&str) -> Option<M>,
    most: u32,
    input: fn(&mut Dice<'_>) -> Option<M::Input>,
) {
    let (mut now, mut event) = (Moment::from_millis(1_700_000_000_000), Event::Begin);
    let (mut payments, mut charged) = (0, false);
    for _ in 0..MOST_STEPS {
        let action = machine.step(event, now, dice.number());
        let state = machine.save();
        no_credentials(state.text());
        let Some(resumed) = resume(state.text()) else { panic!("its own state is not resumed: {state}") };
        let again = resumed.save();
        let Some(twice) = resume(again.text()) else { panic!("resumed, it is not resumed: {again}") };
        assert_eq!(again.text(), twice.save().text(), "resuming changes what was resumed");
        let stopped = dice.below(5) == 4;
        event = match action {
            Action::Send(request) => {
                let pays = pays(request.uri().path());
                assert!(!(pays && charged), "a payment after an approved one: {}", request.uri());
                payments += u32::from(pays);
                assert!(payments <= most, "{payments} payments were sent");
                answer(dice)
            }
            Action::WaitUntil(until) => {
                now = if dice.flag() {
                    until.max(now)
                } else {
                    now.after(std::time::Duration::from_millis(dice.number() >> 40))
                };
                Event::Woken
            }
            Action::Ask(_) => match input(dice) {
                Some(input) if dice.below(4) > 0 => Event::Input(input),
                _ => Event::Woken,
            },
            Action::Done(outcome) => {
                charged |= M::label(&outcome) == "approved";
                if dice.is_used_up() {
                    return;
                }
                machine = resumed;
                event = Event::Begin;
                continue;
            }
        };
        if stopped {
            (machine, event) = (resumed, Event::Begin);
        }
    }
}

/// Whether a request makes a payment.
fn pays(path: &str) -> bool {
    ["auth", "preauth"].iter().any(|name| path.split('/').any(|part| part.starts_with(name)))
}

fn answer<I>(dice: &mut Dice<'_>) -> Event<I> {
    let text = match dice.below(4) {
        0 => dice.one_of(&[LOST, "not sent", "held back"]).to_owned(),
        1 => dice.text(80),
        _ => dice.one_of(&REPLIES).to_owned(),
    };
    match &*text {
        LOST => Event::Failed(Failure::MaybeSent),
        "not sent" => Event::Failed(Failure::NotSent),
        "held back" => Event::Failed(Failure::HeldBack),
        body => {
            let status = dice.one_of(&[200, 200, 200, 400, 401, 500, 503, 302]);
            let mut response = Response::new(Bytes::copy_from_slice(body.as_bytes()));
            *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
            Event::Reply(response)
        }
    }
}
