//! A clock that was ahead.

use super::*;

/// An operation whose request certainly was not sent is sent again, but not after its time.
#[test]
fn a_retry_that_began_while_the_clock_was_ahead_does_not_send_after_its_time() {
    let mut retry = capture();
    let ahead = NOW.after(Duration::from_secs(365 * 86_400));
    begin(&mut retry, ahead);
    assert!(matches!(retry.step(Event::Failed(Failure::NotSent), ahead, 0), Action::WaitUntil(_)));
    let request = CapturePreauth::new("0123456789abcdef0123456789abcdef");
    let mut resumed = Retry::resume(&retry.save(), account(), request).unwrap();
    let mut action = resumed.step(Event::Begin, NOW, 0);
    if let Action::WaitUntil(until) = action {
        action = resumed.step(Event::Woken, until, 0);
    }
    assert!(matches!(done(action), RetryOutcome::NotSent));
}
