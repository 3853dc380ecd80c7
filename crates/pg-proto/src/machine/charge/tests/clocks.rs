//! Clocks that jump, and clocks that were ahead.

use super::*;

const YEAR: Duration = Duration::from_secs(365 * 86_400);

#[test]
fn a_clock_jump_neither_extends_the_wait_nor_changes_the_outcome() {
    let mut drive = Drive::begin(ChargeBounds::default()).then(Event::Failed(Failure::MaybeSent));
    drive.now = Moment::from_millis(5);
    let drive = drive.then(Event::Woken);
    assert!(matches!(drive.action, Action::WaitUntil(until) if until.millis() == 505), "{:?}", drive.action);
    let mut drive = Drive::begin(ChargeBounds::default()).sends("auth");
    drive.now = drive.now.after(Duration::from_secs(1_000_000));
    // After its deadline, with a request whose result is unknown: one lookup, then the outcome is unknown.
    let drive = drive.then(Event::Failed(Failure::MaybeSent)).sends("lookup");
    assert_eq!(drive.then(ok(EMPTY)).doubts(), UnknownReason::NothingFound);
}

/// An interrupted charge does not pay after its time limit, whatever the clock showed at the start.
#[test]
fn a_charge_that_began_while_the_clock_was_ahead_does_not_pay_after_its_time() {
    let ahead = || {
        let mut drive = Drive::of(Charge::new(account(), request(), ChargeBounds::default()).unwrap(), NOW.after(YEAR))
            .sends("auth");
        drive.now = NOW.after(Duration::from_secs(12 * 3_600));
        drive
    };
    let drive = ahead().crash(Some(request())).sends("lookup");
    assert_eq!(drive.then(ok(EMPTY)).doubts(), UnknownReason::NothingFound);
    // Restarted at once, then interrupted for hours.
    let mut drive = ahead().crash(Some(request())).sends("lookup");
    drive.now = drive.now.after(Duration::from_secs(12 * 3_600));
    let drive = drive.crash(Some(request())).sends("lookup");
    assert_eq!(drive.then(ok(EMPTY)).doubts(), UnknownReason::NothingFound);
    // While the process runs, its clock is set back: the time limit counts from then on.
    let mut drive = ahead().then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
    drive.now = drive.now.after(Duration::from_secs(12 * 3_600));
    assert_eq!(drive.then(ok(EMPTY)).doubts(), UnknownReason::NothingFound);
}

/// Clocks differ by seconds, and bounds may be changed between two runs.
#[test]
fn a_small_correction_of_the_clock_ends_no_charge() {
    let mut drive = Drive::begin(ChargeBounds::default()).sends("auth");
    drive.now = Moment::from_millis(NOW.millis() - 30_000);
    let mut drive = drive.crash(Some(request())).sends("lookup").then(ok(EMPTY)).sends("auth");
    assert_eq!(drive.charge.state.deadline, Some(drive.now.after(Duration::from_secs(600))));
    let shorter = ChargeBounds { within: Duration::from_secs(60), ..ChargeBounds::default() };
    drive.charge = Charge::resume(&drive.charge.save(), account(), Some(request())).unwrap().bounds(shorter);
    let drive = drive.then(Event::Begin).sends("lookup").then(ok(EMPTY)).sends("auth");
    assert_eq!(drive.charge.state.deadline, Some(drive.now.after(Duration::from_secs(60))));
}
