use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{state::size, *};

fn at(seconds: u64) -> Moment {
    Moment::from_millis(1_700_000_000_000 + seconds * 1000)
}

fn reply(code: &str) -> http::Response<Bytes> {
    let (status, body) = match code {
        "" => (200, r#"{"result":"OK"}"#.to_owned()),
        code => (400, format!(r#"{{"errorCode":"{code}","errorMessage":""}}"#)),
    };
    http::Response::builder().status(status).body(Bytes::from(body)).unwrap()
}

fn go(throttle: &mut Throttle, now: Moment) -> Ticket {
    match throttle.ask(now) {
        Permit::Go(ticket) => ticket,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_slot_is_free_a_minute_after_the_reply() {
    let mut throttle = Throttle::new(ThrottleLimits { per_minute: 2, ..ThrottleLimits::default() });
    let (a, b) = (go(&mut throttle, at(0)), go(&mut throttle, at(0)));
    throttle.answered(a, &reply(""), at(10));
    throttle.answered(b, &reply("108"), at(20));
    assert_eq!(throttle.ask(at(20)), Permit::WaitUntil(at(71)));
    let c = go(&mut throttle, at(71));
    throttle.unsent(c);
    let d = go(&mut throttle, at(71));
    throttle.lost(d, at(75));
    assert_eq!(throttle.ask(at(75)), Permit::WaitUntil(at(81)));
    let e = go(&mut throttle, at(81));
    throttle.answered(e, &reply(""), at(82));
    assert_eq!(throttle.ask(at(83)), Permit::WaitUntil(at(143)));
    drop(go(&mut throttle, at(143)));
    // 71 + 120 + 61: the dropped ticket counts as lost after the longest transit time.
    assert_eq!(throttle.ask(at(200)), Permit::WaitUntil(at(252)));
}

#[test]
fn one_credential_error_stops_everything_until_sending_is_resumed() {
    for code in ["102", "105", "123"] {
        let mut throttle = Throttle::new(ThrottleLimits::default());
        let (a, b) = (go(&mut throttle, at(0)), go(&mut throttle, at(0)));
        throttle.answered(a, &reply(code), at(1));
        // A reply to a request that was sent before does not open it again.
        throttle.answered(b, &reply(""), at(2));
        let stop = StopReason::Credentials(code.to_owned());
        assert_eq!(throttle.ask(at(80_000)), Permit::Stopped(stop.clone()));
        let mut throttle = Throttle::resume(&throttle.save()).unwrap();
        assert_eq!(throttle.stopped(), Some(&stop));
        assert_eq!(throttle.ask(at(3)), Permit::Stopped(stop));
        throttle.resume_sending(at(4));
        // One failure of five is used up, for a day.
        let tickets: Vec<_> = (0..4).map(|_| go(&mut throttle, at(4))).collect();
        assert_eq!(throttle.ask(at(4)), Permit::WaitUntil(at(124)));
        tickets.into_iter().for_each(|ticket| {
            throttle.answered(ticket, &reply(""), at(5));
        });
        let _tickets: Vec<_> = (0..4).map(|_| go(&mut throttle, at(86_401))).collect();
        assert_eq!(throttle.ask(at(86_401)), Permit::WaitUntil(at(86_521)));
        let _fifth = go(&mut throttle, at(86_402));
    }
}

#[test]
fn five_failures_are_enough_for_a_day_even_after_resume_sending() {
    let mut throttle = Throttle::new(ThrottleLimits::default());
    for second in 0..5 {
        let ticket = go(&mut throttle, at(second));
        throttle.answered(ticket, &reply("102"), at(second));
        throttle.resume_sending(at(second));
    }
    assert_eq!(throttle.ask(at(6)), Permit::WaitUntil(at(86_401)));
    let _one = go(&mut throttle, at(86_401));
}

#[test]
fn requests_lost_beside_a_refusal_count_as_failures_in_either_order() {
    for refused in [0, 4] {
        let mut throttle = Throttle::new(ThrottleLimits::default());
        let tickets: Vec<_> = (0..5).map(|_| go(&mut throttle, at(0))).collect();
        for (number, ticket) in tickets.into_iter().enumerate() {
            if number == refused {
                throttle.answered(ticket, &reply("102"), at(1));
            } else {
                throttle.lost(ticket, at(1));
            }
        }
        throttle.resume_sending(at(3));
        assert_eq!(throttle.ask(at(3)), Permit::WaitUntil(at(86_402)), "{refused}");
    }
}

#[test]
fn a_late_reply_that_accepts_the_credentials_ends_a_stop_without_replies() {
    let mut throttle = Throttle::new(ThrottleLimits::default());
    let mut tickets: Vec<_> = (0..5).map(|_| go(&mut throttle, at(0))).collect();
    assert_eq!(throttle.ask(at(121)), Permit::Stopped(StopReason::Unanswered));
    assert_eq!(throttle.answered(tickets.remove(0), &reply(""), at(125)), CredentialCheck::Accepted);
    assert_eq!(throttle.stopped(), None);
    let _sixth = go(&mut throttle, at(126));
}

#[test]
fn failures_of_old_credentials_do_not_count_against_new_ones() {
    let mut throttle = Throttle::new(ThrottleLimits::default());
    let (a, b, c) = (go(&mut throttle, at(0)), go(&mut throttle, at(0)), go(&mut throttle, at(0)));
    throttle.answered(a, &reply("102"), at(1));
    throttle.resume_sending(at(2));
    throttle.answered(b, &reply("102"), at(3));
    assert_eq!(throttle.stopped(), None);
    throttle.answered(c, &reply(""), at(3));
    let tickets: Vec<_> = (0..3).map(|_| go(&mut throttle, at(4))).collect();
    tickets.into_iter().for_each(|ticket| throttle.lost(ticket, at(5)));
    assert_eq!(throttle.ask(at(6)), Permit::Stopped(StopReason::Unanswered));
}

#[test]
fn lost_requests_count_until_the_credentials_are_accepted() {
    let mut throttle = Throttle::new(ThrottleLimits::default());
    for _ in 0..4 {
        let ticket = go(&mut throttle, at(0));
        throttle.lost(ticket, at(1));
    }
    let fifth = go(&mut throttle, at(2));
    assert_eq!(throttle.ask(at(2)), Permit::WaitUntil(at(122)));
    let mut unlucky = throttle.clone();
    throttle.answered(fifth, &reply(""), at(3));
    for second in 4..40 {
        let ticket = go(&mut throttle, at(second));
        throttle.lost(ticket, at(second));
    }
    // The same, but the reply to the fifth is lost as well.
    assert_eq!(unlucky.ask(at(122)), Permit::Stopped(StopReason::Unanswered));
    // Without resume_sending: once no lost request can have failed within the last day, the next one is safe.
    let mut unattended = Throttle::resume(&unlucky.save()).unwrap();
    assert_eq!(unattended.ask(at(86_522)), Permit::Stopped(StopReason::Unanswered));
    let _sixth = go(&mut unattended, at(86_523));
    unlucky.resume_sending(at(123));
    let _sixth = go(&mut unlucky, at(123));
}

#[test]
fn replies_that_are_not_the_services_count_as_lost() {
    let page = http::Response::new(Bytes::from_static(b"<html><body>The page cannot be shown</body></html>"));
    let mut throttle = Throttle::new(ThrottleLimits::default());
    for second in 0..5 {
        let ticket = go(&mut throttle, at(second));
        throttle.answered(ticket, &page, at(second));
    }
    assert_eq!(throttle.ask(at(5)), Permit::Stopped(StopReason::Unanswered));
}

/// A 401 with an unlisted code, and a proxy's page with 401. Neither says that the credentials are wrong (spec 1 §7).
fn bare_401s() -> [http::Response<Bytes>; 2] {
    let bodies: [&'static [u8]; 2] = [br#"{"errorCode":"148","errorMessage":"none found"}"#, b"<html>Sign in</html>"];
    bodies.map(|body| http::Response::builder().status(401).body(Bytes::from_static(body)).unwrap())
}

// spec: 1 §7: Which condition has HTTP 401 is not shown.
#[test]
fn another_401_does_not_stop_an_account_whose_credentials_were_accepted() {
    let mut throttle = Throttle::new(ThrottleLimits::default());
    let first = go(&mut throttle, at(0));
    throttle.answered(first, &reply(""), at(0));
    for second in 1..20 {
        for unlisted in bare_401s() {
            let ticket = go(&mut throttle, at(second));
            assert_eq!(throttle.answered(ticket, &unlisted, at(second)), CredentialCheck::Unknown);
            assert_eq!(throttle.stopped(), None);
        }
    }
    // A documented code still stops it at once.
    let refused = go(&mut throttle, at(20));
    throttle.answered(refused, &reply("102"), at(20));
    assert_eq!(throttle.stopped(), Some(&StopReason::Credentials("102".to_owned())));
}

#[test]
fn another_401_counts_as_unanswered_until_the_credentials_are_accepted() {
    for unlisted in bare_401s() {
        let mut throttle = Throttle::new(ThrottleLimits::default());
        for second in 0..5 {
            let ticket = go(&mut throttle, at(second));
            throttle.answered(ticket, &unlisted, at(second));
        }
        assert_eq!(throttle.ask(at(5)), Permit::Stopped(StopReason::Unanswered));
    }
}

#[test]
fn a_stop_without_replies_does_not_blame_the_credentials() {
    let text = StopReason::Unanswered.to_string();
    for said in ["without a readable reply", "check the address and the service", "when it is resumed", "day"] {
        assert!(text.contains(said), "{text}");
    }
    assert!(!text.contains("correct") && !text.contains("refused"), "{text}");
}

#[test]
fn the_wait_that_the_service_requests_is_kept() {
    for (code, until) in [("121", 72), ("936", 72), ("122", 312)] {
        let mut throttle = Throttle::new(ThrottleLimits::default()).with_dialect(crate::spoken::sandbox());
        let ticket = go(&mut throttle, at(10));
        throttle.answered(ticket, &reply(code), at(11));
        assert_eq!(throttle.ask(at(12)), Permit::WaitUntil(at(until)), "{code}");
        let _ticket = go(&mut throttle, at(until));
    }
}

#[test]
fn a_shorter_wait_does_not_end_a_longer_one() {
    for codes in [["122", "121"], ["121", "122"]] {
        let mut throttle = Throttle::new(ThrottleLimits::default());
        for ticket in codes.map(|code| (go(&mut throttle, at(0)), code)) {
            throttle.answered(ticket.0, &reply(ticket.1), at(10));
        }
        assert_eq!(throttle.ask(at(11)), Permit::WaitUntil(at(311)), "{codes:?}");
    }
}

#[test]
fn a_clock_that_was_set_back_causes_no_long_wait() {
    let mut throttle = Throttle::new(ThrottleLimits { per_minute: 1, ..ThrottleLimits::default() });
    let ticket = go(&mut throttle, at(1_000_000));
    throttle.answered(ticket, &reply("122"), at(1_000_000));
    let Permit::WaitUntil(until) = throttle.ask(at(0)) else { panic!("it is closed") };
    assert_eq!(until, at(301));
    let ticket = go(&mut throttle, at(301));
    throttle.lost(ticket, at(0));
    assert_eq!(throttle.ask(at(0)), Permit::WaitUntil(at(181)));
}

#[test]
fn zero_means_zero() {
    for limits in [
        ThrottleLimits { per_minute: 0, ..ThrottleLimits::default() },
        ThrottleLimits { in_flight: 0, ..ThrottleLimits::default() },
        ThrottleLimits { failures: 0, ..ThrottleLimits::default() },
    ] {
        assert_eq!(Throttle::new(limits).ask(at(0)), Permit::WaitUntil(Moment::from_millis(u64::MAX)));
    }
}

/// The fate of a request, in milliseconds after it was sent.
#[derive(Clone, Copy, Debug)]
enum Fate {
    NotSent,
    /// Executed at the first time, answered at the second.
    Answered(u64, u64),
    /// Executed at the first time or never, given up at the second.
    Lost(Option<u64>, u64),
}

fn fate() -> impl Strategy<Value = Fate> {
    let answered = |longest: u64| (0..longest, 0..longest).prop_map(|(way, back)| Fate::Answered(way, way + back));
    prop_oneof![
        1 => Just(Fate::NotSent),
        4 => answered(300),
        2 => answered(100_000),
        2 => (proptest::option::of(0_u64..120_000), 0_u64..100_000).prop_map(|(way, given_up)| Fate::Lost(way, given_up)),
    ]
}

/// Runs a client that sends whenever it may, and returns what the service receives, in order.
///
/// `wrong` says whether the credentials of a request that is executed at that time are wrong. It crashes after every
/// `crash` requests, and sending is resumed whenever it has stopped, unless it stopped for lost requests.
fn executed(limits: ThrottleLimits, fates: &[Fate], crash: usize, wrong: impl Fn(u64) -> bool) -> Vec<u64> {
    enum Due {
        Answer(Ticket, bool),
        GiveUp(Ticket),
    }
    let mut throttle = Throttle::new(limits);
    let (mut now, mut seen) = (1_000_000_000_000, Vec::new());
    let mut agenda: BTreeMap<(u64, usize), Due> = BTreeMap::new();
    for (number, fate) in fates.iter().enumerate() {
        let ticket = loop {
            let wake = match throttle.ask(Moment::from_millis(now)) {
                Permit::Go(ticket) => break ticket,
                Permit::WaitUntil(until) => until.millis(),
                Permit::Stopped(StopReason::Unanswered) if wrong(now) => return seen,
                Permit::Stopped(_) => {
                    throttle.resume_sending(Moment::from_millis(now));
                    now
                }
            };
            match agenda.first_key_value() {
                Some((&(due, _), _)) if due <= wake => {
                    let (_, event) = agenda.pop_first().unwrap();
                    now = now.max(due);
                    match event {
                        Due::Answer(ticket, true) => {
                            let check = throttle.answered(ticket, &reply("102"), Moment::from_millis(now));
                            assert_eq!(check, CredentialCheck::Refused);
                        }
                        Due::Answer(ticket, false) => {
                            let check = throttle.answered(ticket, &reply(""), Moment::from_millis(now));
                            assert_eq!(check, CredentialCheck::Accepted);
                        }
                        Due::GiveUp(ticket) => throttle.lost(ticket, Moment::from_millis(now)),
                    }
                }
                _ => now = now.max(wake),
            }
        };
        let held = throttle.state.flights.len() + throttle.state.slots.len();
        assert!(held <= size(limits.per_minute), "{held} slots");
        match *fate {
            Fate::NotSent => throttle.unsent(ticket),
            Fate::Answered(way, back) => {
                seen.push(now + way);
                agenda.insert((now + back, number), Due::Answer(ticket, wrong(now + way)));
            }
            Fate::Lost(way, given_up) => {
                seen.extend(way.map(|way| now + way));
                agenda.insert((now + given_up, number), Due::GiveUp(ticket));
            }
        }
        if crash > 0 && number % crash == crash - 1 {
            throttle = Throttle::resume(&SavedState::from_text(throttle.save().text())).unwrap();
            agenda.clear();
        }
    }
    seen.sort_unstable();
    seen
}

fn most_within(seen: &[u64], window: u64) -> usize {
    (0..seen.len())
        .map(|at| seen[at..].iter().take_while(|later| **later - seen[at] < window).count())
        .max()
        .unwrap_or(0)
}

proptest! {
    // spec: 1 §8, A142: The SDK's throttle keeps to the limit as the service counts it, even if requests are lost or
    //   arrive late.
    #[test]
    fn the_service_never_sees_more_than_it_allows_in_any_minute(
        fates in proptest::collection::vec(fate(), 1..120),
        per_minute in 1_u32..8,
        in_flight in 1_u32..10,
        crash in 0_usize..20,
    ) {
        let limits = ThrottleLimits { per_minute, in_flight, failures: 10, ..ThrottleLimits::default() };
        let seen = executed(limits, &fates, crash, |_| false);
        prop_assert!(most_within(&seen, 60_000) <= size(per_minute));
    }

    #[test]
    fn wrong_credentials_never_lock_the_address_out(
        fates in proptest::collection::vec(fate(), 1..60),
        crash in 0_usize..20,
    ) {
        let mut seen = executed(ThrottleLimits::default(), &fates, crash, |_| true);
        seen.sort_unstable();
        prop_assert!(most_within(&seen, 24 * 60 * 60 * 1000) <= 5, "{seen:?}");
    }
}

#[test]
fn slots_stay_in_order_whatever_is_lost_and_stored_in_between() {
    let mut throttle = Throttle::new(ThrottleLimits::unlimited());
    for second in 0..20 {
        let ticket = go(&mut throttle, at(second));
        if second % 3 == 0 {
            throttle.lost(ticket, at(second))
        } else {
            throttle.answered(ticket, &reply(""), at(second));
        }
    }
    let in_order = |throttle: &Throttle| throttle.state.slots.iter().is_sorted();
    assert!(in_order(&throttle) && throttle.state.slots.len() == 20);
    // Saved by a version that kept them in order of arrival.
    throttle.state.slots.make_contiguous().reverse();
    let saved = throttle.save();
    let mut throttle = Throttle::resume(&saved).unwrap();
    assert!(in_order(&throttle));
    // A clock that was set back shortens what it made too long, and ended entries are dropped.
    let _ticket = throttle.ask(Moment::from_millis(0));
    assert!(in_order(&throttle) && throttle.state.slots.iter().all(|free| *free <= Moment::from_millis(181_000)));
    let _ticket = throttle.ask(at(1000));
    // Only the earlier request is left, which was lost.
    assert_eq!(throttle.state.slots.len(), 1);
}

#[test]
fn saved_states_keep_their_form() {
    let examples = ("throttle.jsonl", include_str!("../../../tests/saved-states/throttle.jsonl"));
    crate::machine::saved::examples::check::<State>(examples, NAME, VERSION, &[]);
}
