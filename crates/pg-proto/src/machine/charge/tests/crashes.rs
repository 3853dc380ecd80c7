use super::*;

#[test]
fn after_a_crash_the_request_counts_as_sent_and_a_refusal_proves_nothing_about_it() {
    let crashed = |request| Drive::begin(ChargeBounds::default()).sends("auth").crash(request).sends("lookup");
    assert!(matches!(crashed(None).then(ok(&list(&[transaction("600")]))).ends(), ChargeOutcome::Approved(_)));
    let again = crashed(Some(request())).then(ok(EMPTY)).sends("auth").then(refused("108")).sends("lookup");
    assert!(matches!(again.then(ok(EMPTY)).doubts(), UnknownReason::Refused(_)));
    // So does one that follows an answered request: the request of this run may have another card.
    let waiting = Drive::begin(ChargeBounds::default()).sends("auth").then(refused("936")).crash(Some(request()));
    let again = waiting.waits(Duration::from_millis(60_500)).sends("auth").then(refused("108")).sends("lookup");
    assert!(matches!(again.then(ok(EMPTY)).doubts(), UnknownReason::Refused(_)));
    // Without the request it cannot send again.
    let mut drive = crashed(None).then(ok(EMPTY));
    for number in 0..7 {
        drive = drive
            .waits(Duration::from_millis(500 << number).min(Duration::from_secs(15)))
            .sends("lookup")
            .then(ok(EMPTY));
    }
    assert_eq!(drive.doubts(), UnknownReason::NothingFound);
    // Attempts are counted over all runs.
    let bounds = ChargeBounds { attempts: 1, lookups: 1, ..ChargeBounds::default() };
    let drive = Drive::begin(bounds).sends("auth").crash(Some(request())).sends("lookup").then(ok(EMPTY));
    assert_eq!(drive.doubts(), UnknownReason::NothingFound);
    // Long after its deadline, a resumed charge makes one lookup.
    let mut drive = Drive::begin(ChargeBounds::default()).sends("auth");
    drive.now = drive.now.after(Duration::from_secs(100_000));
    let drive = drive.crash(Some(request())).sends("lookup");
    let drive = drive.then(ok(EMPTY));
    // Also if the earlier run had made it: the service may list the payment by now.
    let drive = drive.crash(None).sends("lookup").then(Event::Failed(Failure::MaybeSent));
    assert_eq!(drive.doubts(), UnknownReason::NotLookedUp);
}

#[test]
fn a_charge_that_ended_unsaved_after_a_reply_that_forbids_another_send_sends_none_when_resumed() {
    for code in ["119", "950"] {
        let bounds = ChargeBounds { lookups: 1, ..ChargeBounds::default() };
        let paying =
            Drive::begin(bounds).then(Event::Failed(Failure::MaybeSent)).pauses(0).then(ok(EMPTY)).sends("auth");
        let saved = SavedState::from_text(paying.charge.save().text());
        let why = paying.then(refused(code)).doubts();
        assert!(matches!(why, UnknownReason::NoResponse(_) | UnknownReason::ReferenceUsed(_)), "{why:?}");
        let resumed = Charge::resume(&saved, account(), Some(request())).unwrap();
        let why = Drive::of(resumed, NOW).sends("lookup").then(ok(EMPTY)).doubts();
        assert!(matches!(why, UnknownReason::NothingFound), "{why:?}");
    }
}

#[test]
fn resuming_an_unsent_charge_does_not_send_it() {
    let drive = Drive::begin(ChargeBounds::default()).sends("auth").then(Event::Failed(Failure::HeldBack));
    assert_eq!(drive.crash(Some(request())).ends(), ChargeOutcome::NotSent);
}
