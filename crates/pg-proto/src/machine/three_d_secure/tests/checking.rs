use super::*;
use crate::machine::three_d_secure::checking::{AuthenticationClass, classify};

#[test]
fn every_end_of_a_challenge_is_distinct_and_none_pays() {
    for (code, expected) in [
        ("608", ThreeDSecureOutcome::Failed),
        ("921", ThreeDSecureOutcome::Abandoned),
        ("922", ThreeDSecureOutcome::TimedOut),
    ] {
        // For every policy, and whatever shift the reply states.
        for shift in ["N", "Y"] {
            let mut run = Run::at(Phase::Checking, with(NoLiabilityShift::Proceed));
            assert_eq!(*run.say(&status(code, shift)).ended(), expected);
            assert_eq!(run.payments(), 0);
        }
    }
}

#[test]
fn only_a_shift_pays_unasked() {
    // The shift is the result of the challenge (spec 2 §3.3): no document defines a code of it.
    for code in ["607", "600", "777", "920", "923"] {
        for policy in [NoLiabilityShift::Ask, NoLiabilityShift::End, NoLiabilityShift::Proceed] {
            let mut run = Run::at(Phase::Checking, with(policy));
            assert_eq!(run.say(&status(code, "Y")).method(), "auth3DSecure", "{code} {policy:?}");
        }
    }
    for (code, shift) in [("607", "N"), ("923", "N"), ("777", "N"), ("600", "N"), ("923", "")] {
        let mut run = Run::at(Phase::Checking, plan());
        assert!(matches!(run.say(&status(code, shift)).asked(), ThreeDSecureDemand::Decide { .. }), "{code} {shift}");
        let mut run = Run::at(Phase::Checking, with(NoLiabilityShift::End));
        assert!(matches!(run.say(&status(code, shift)).ended(), ThreeDSecureOutcome::NotShifted(_)));
        let mut run = Run::at(Phase::Checking, with(NoLiabilityShift::Proceed));
        run.say(&status(code, shift));
        if ["607", "923"].contains(&code) {
            assert_eq!(run.method(), "auth3DSecure");
        } else {
            // The customer may not have finished, or may have failed.
            assert!(matches!(run.ended(), ThreeDSecureOutcome::NotShifted(_)), "{code} {shift}");
        }
    }
}

// spec: 2 §3.3, A106: The shift decides. Without a dialect only 607 and 608 have a meaning besides.
#[test]
fn without_a_dialect_no_unfinished_or_failed_challenge_pays() {
    use pg_model::{AuthenticationStatus, Dialect, decode};

    for (code, shift, expected) in [
        ("607", "Y", AuthenticationClass::Authenticated),
        ("607", "N", AuthenticationClass::Unshifted),
        ("608", "N", AuthenticationClass::Failed),
        ("608", "Y", AuthenticationClass::Failed),
        ("920", "N", AuthenticationClass::Unlisted),
        ("600", "Y", AuthenticationClass::Authenticated),
        ("921", "Y", AuthenticationClass::Authenticated),
        ("921", "N", AuthenticationClass::Unlisted),
        ("921", "", AuthenticationClass::NoResult),
        ("607", "", AuthenticationClass::NoResult),
        ("600", "y", AuthenticationClass::NoResult),
        ("608", "", AuthenticationClass::Failed),
    ] {
        let reply = decode::<AuthenticationStatus>(status(code, shift).as_bytes()).unwrap();
        assert_eq!(classify(&reply.record, &Dialect::documented()), expected, "{code} {shift}");
    }
}

/// A service may answer every status request with one code. Its entry then means the customers whose liability is not shifted.
#[test]
fn an_entry_of_a_dialect_keeps_no_shifted_customer_from_paying() {
    use pg_model::{
        AuthenticationStatus, Dialect, decode,
        dialect::{AuthenticationEntry, AuthenticationState},
    };

    for (code, means, without_shift) in [
        ("607", AuthenticationState::Pending, AuthenticationClass::Pending),
        ("607", AuthenticationState::NotEnrolled, AuthenticationClass::Unshifted),
        ("600", AuthenticationState::Authenticated, AuthenticationClass::Unshifted),
    ] {
        let mut dialect = Dialect::documented();
        dialect.authentication.push(AuthenticationEntry::new(code, means, 106));
        for (shift, expected) in [("Y", AuthenticationClass::Authenticated), ("N", without_shift)] {
            let reply = decode::<AuthenticationStatus>(status(code, shift).as_bytes()).unwrap();
            assert_eq!(classify(&reply.record, &dialect), expected, "{code} {means:?} {shift}");
        }
    }
}

// spec: 2 §3.3, §4.4: The result of the challenge is liabilityShift Y or N. The reply to the initiation has none, and the same code.
#[test]
fn the_reply_to_the_initiation_delivered_twice_is_no_result() {
    for policy in [NoLiabilityShift::Ask, NoLiabilityShift::End, NoLiabilityShift::Proceed] {
        let mut run = Run::at(Phase::Checking, with(policy));
        assert_eq!(run.say(&initiated()).wait().method(), "getAuthenticationStatus", "{policy:?}");
        assert_eq!(run.say(&status("607", "Y")).method(), "auth3DSecure", "{policy:?}");
    }
}

#[test]
fn a_status_without_a_result_is_requested_again_up_to_a_limit_and_never_pays() {
    for (code, shift) in [("607", ""), ("777", ""), ("600", "y")] {
        for policy in [NoLiabilityShift::Ask, NoLiabilityShift::End, NoLiabilityShift::Proceed] {
            let mut run = Run::at(Phase::Checking, with(policy));
            for _ in 0..7 {
                assert_eq!(run.say(&status(code, shift)).wait().method(), "getAuthenticationStatus");
            }
            let end = run.say(&status(code, shift)).ended();
            assert_eq!(*end, ThreeDSecureOutcome::NotSent(NotSentReason::NoResult), "{code} {shift} {policy:?}");
            assert_eq!(run.payments(), 0);
        }
    }
}

/// A decision that arrived during the request is kept until there is a result.
#[test]
fn a_decision_waits_for_a_result() {
    let mut run = Run::at(Phase::Deciding, plan());
    run.crash().say(&initiated()).input(ThreeDSecureInput::Proceed).wait();
    run.say(&initiated()).wait().say(&status("923", "N"));
    assert_eq!(run.method(), "auth3DSecure");
}

#[test]
fn a_question_is_repeated_after_any_failure_up_to_a_limit() {
    for failure in [Some(Failure::NotSent), Some(Failure::MaybeSent), None] {
        let mut run = Run::at(Phase::Checking, plan());
        for _ in 0..7 {
            match failure {
                Some(failure) => run.fail(failure),
                None => run.refuse("121"),
            };
            assert_eq!(run.wait().method(), "getAuthenticationStatus");
        }
        run.say("garbage");
        assert_eq!(*run.ended(), ThreeDSecureOutcome::NotSent(NotSentReason::Unreachable));
    }
    assert!(matches!(Run::at(Phase::Checking, plan()).refuse("102").ended(), ThreeDSecureOutcome::Refused(_)));
    // An unlisted code may mean that the authentication was paid before.
    let asked = || {
        let mut run = Run::at(Phase::Checking, plan());
        assert_eq!(run.refuse("777").wait().method(), "lookup");
        run
    };
    let paid = found(&[transaction("600", "Auth", "GBP")]);
    assert!(matches!(asked().say(&paid).ended(), ThreeDSecureOutcome::Approved(_)));
    let mut run = asked();
    for _ in 0..8 {
        assert_eq!(run.wait().method(), "lookup");
        run.say(&found(&[]));
    }
    assert!(matches!(run.ended(), ThreeDSecureOutcome::Unknown { .. }));
    let mut run = Run::at(Phase::Checking, plan());
    assert_eq!(*run.fail(Failure::HeldBack).ended(), ThreeDSecureOutcome::NotSent(NotSentReason::HeldBack));
}

/// A payment of a forgotten machine may have ended the authentication.
#[test]
fn an_authentication_that_is_no_longer_known_is_looked_up() {
    for code in ["960", "129", "136"] {
        let mut run = Run::at(Phase::Checking, plan());
        assert_eq!(run.refuse(code).wait().method(), "lookup", "{code}");
        run.say(&found(&[transaction("600", "Auth", "GBP")]));
        assert!(matches!(run.ended(), ThreeDSecureOutcome::Approved(_)), "{code}");

        let mut run = Run::at(Phase::Checking, plan());
        run.refuse(code).wait().say(&found(&[]));
        let ThreeDSecureOutcome::Refused(refused) = run.ended() else { panic!("{code} {:?}", run.ended()) };
        assert_eq!((refused.code().as_str(), run.payments()), (code, 0));
    }
}

#[test]
fn after_a_crash_it_asks_again() {
    assert_eq!(Run::at(Phase::Checking, plan()).crash().method(), "getAuthenticationStatus");
}

#[test]
fn while_a_reply_is_awaited_nothing_is_sent() {
    let mut run = Run::at(Phase::Checking, plan());
    for input in [ThreeDSecureInput::Returned, ThreeDSecureInput::Closed, ThreeDSecureInput::Proceed] {
        run.input(input);
        assert!(matches!(run.last, Some(Action::WaitUntil(UNTIL_THE_REPLY))));
    }
    run.step(Event::Woken).step(Event::Begin);
    assert!(matches!(run.last, Some(Action::WaitUntil(UNTIL_THE_REPLY))));
}

#[test]
fn closing_the_challenge_during_a_wait_abandons_it() {
    let mut run = Run::at(Phase::Checking, plan());
    run.refuse("121").input(ThreeDSecureInput::Closed).wait().say(&status("920", "N"));
    assert_eq!(*run.ended(), ThreeDSecureOutcome::Abandoned);
}

/// Its own record has no payment, so only a lookup can tell.
#[test]
fn an_authentication_that_was_used_before_is_looked_up_after_a_crash_too() {
    let mut run = Run::at(Phase::Checking, plan());
    assert_eq!(run.refuse("962").wait().method(), "lookup");
    run.fail(Failure::HeldBack);
    assert!(matches!(run.ended(), ThreeDSecureOutcome::Unknown { .. }));
    assert_eq!(run.crash().method(), "lookup");
}
