use super::*;

#[test]
fn a_payment_found_by_the_lookup_is_the_outcome() {
    let paid = transaction("600", "Auth", "GBP");
    let declined = transaction("901", "Auth", "GBP");
    let mut run = Run::at(Phase::LookingUp, plan());
    assert!(matches!(run.say(&found(std::slice::from_ref(&paid))).ended(), ThreeDSecureOutcome::Approved(_)));
    let mut run = Run::at(Phase::LookingUp, plan());
    assert!(matches!(run.say(&found(std::slice::from_ref(&declined))).ended(), ThreeDSecureOutcome::Declined(_)));
    let mut run = Run::at(Phase::LookingUp, plan());
    assert!(matches!(run.say(&found(&[declined, paid])).ended(), ThreeDSecureOutcome::Approved(_)));
}

#[test]
fn the_check_and_another_reference_are_no_payment() {
    let other = transaction("600", "Auth", "GBP").replace("order-7", "order-8");
    for strange in [found(&[]), found(&[other]), "<serviceResponse/>".into()] {
        let mut run = Run::at(Phase::LookingUp, plan());
        assert_eq!(run.say(&strange).wait().method(), "lookup");
    }
}

#[test]
fn nothing_found_proves_nothing() {
    let mut run = Run::at(Phase::LookingUp, plan());
    for _ in 0..8 {
        run.wait().say(&found(&[]));
    }
    let ThreeDSecureOutcome::Unknown { reconcile, why } = run.ended() else { panic!() };
    let lookup = reconcile.transaction().unwrap();
    assert_eq!(lookup.unique_merchant_reference.as_ref().unwrap().as_str(), "order-7");
    assert_eq!(*why, UnknownReason::NothingFound);
    let mut run = Run::at(Phase::LookingUp, plan());
    for _ in 0..4 {
        run.wait().refuse("943").wait().fail(Failure::MaybeSent);
    }
    assert!(matches!(run.ended(), ThreeDSecureOutcome::Unknown { why: UnknownReason::NotLookedUp, .. }));
}

#[test]
fn a_payment_that_appears_late_is_found() {
    let mut run = Run::at(Phase::LookingUp, plan());
    run.say(&found(&[])).wait().refuse("121").wait().fail(Failure::NotSent).wait();
    assert!(matches!(run.say(&found(&[transaction("600", "Auth", "GBP")])).ended(), ThreeDSecureOutcome::Approved(_)));
}

#[test]
fn impossible_lookups_are_unknown() {
    let paid = transaction("600", "Auth", "GBP");
    let why = |run: &mut Run| match run.ended() {
        ThreeDSecureOutcome::Unknown { why, .. } => why.clone(),
        other => panic!("{other:?}"),
    };
    let mut run = Run::at(Phase::LookingUp, plan());
    assert!(matches!(why(run.say(&found(&[paid.clone(), paid]))), UnknownReason::Several(keys) if keys.len() == 2));
    let mut run = Run::at(Phase::LookingUp, plan());
    assert!(matches!(
        why(run.say(&found(&[transaction("600", "PreAuth", "GBP")]))),
        UnknownReason::OtherPayment(_, "type")
    ));
    let mut run = Run::at(Phase::LookingUp, plan());
    assert!(matches!(
        why(run.say(&found(&[transaction("600", "Auth", "EUR")]))),
        UnknownReason::OtherPayment(_, "currency")
    ));
    assert!(matches!(why(Run::at(Phase::LookingUp, plan()).refuse("102")), UnknownReason::Credentials(_)));
    assert!(matches!(why(Run::at(Phase::LookingUp, plan()).refuse("101")), UnknownReason::LookupRefused(_)));
    assert_eq!(why(Run::at(Phase::LookingUp, plan()).fail(Failure::HeldBack)), UnknownReason::HeldBack);
    let mut run = Run::at(Phase::LookingUp, plan());
    for _ in 0..3 {
        run.wait().say(&found(&[transaction("777", "Auth", "GBP")]));
    }
    assert!(matches!(why(&mut run), UnknownReason::UnknownStatus(_)));
    let mut run = Run::at(Phase::LookingUp, ThreeDSecurePlan { lookups: 1, ..plan() });
    assert!(matches!(why(run.fail(Failure::MaybeSent)), UnknownReason::NotLookedUp));
    let mut run = Run::at(Phase::LookingUp, ThreeDSecurePlan { lookups: 1, ..plan() });
    assert!(matches!(why(run.say("<html>")), UnknownReason::LookupUnreadable(_)));
    let mut run = Run::at(Phase::Authorising, ThreeDSecurePlan { lookups: 0, ..plan() });
    assert!(matches!(why(run.fail(Failure::MaybeSent)), UnknownReason::NotLookedUp));
}

#[test]
fn after_a_crash_it_looks_again() {
    let mut run = Run::at(Phase::LookingUp, plan());
    assert_eq!(run.crash().method(), "lookup");
    assert_eq!(run.payments(), 1);
}

/// A transaction with an amount; the order is for 499.
fn of_value(code: &str, value: &str) -> String {
    format!("{}<transactionValue>{value}</transactionValue>", transaction(code, "Auth", "GBP"))
}

#[test]
fn a_payment_of_another_amount_is_not_ours() {
    let mut run = Run::at(Phase::LookingUp, plan());
    assert!(matches!(run.say(&found(&[of_value("600", "499")])).ended(), ThreeDSecureOutcome::Approved(_)));
    for code in ["600", "901"] {
        let mut run = Run::at(Phase::LookingUp, plan());
        run.say(&found(&[of_value(code, "498")]));
        let ThreeDSecureOutcome::Unknown { why, .. } = run.ended() else { panic!("{:?}", run.ended()) };
        assert!(matches!(why, UnknownReason::OtherPayment(_, "amount")), "{why:?}");
    }
    // The reply to the payment itself.
    let mut run = Run::at(Phase::Authorising, plan());
    run.say(&format!("<serviceResponse>{}</serviceResponse>", of_value("600", "498")));
    let ThreeDSecureOutcome::Unknown { why, .. } = run.ended() else { panic!("{:?}", run.ended()) };
    assert!(matches!(why, UnknownReason::OtherPayment(_, "amount")), "{why:?}");
}

#[test]
fn a_state_of_an_earlier_version_takes_the_amount_from_its_owner() {
    let run = Run::at(Phase::LookingUp, plan());
    let saved = run.machine.save().text().to_owned();
    let earlier = saved.replace("\"total\":499,", "");
    assert_ne!(earlier, saved);
    let resumed = || ThreeDSecure::resume(&SavedState::from_text(earlier.as_str()), account()).unwrap();
    let ended = |machine: ThreeDSecure| {
        let mut run = Run::of(machine);
        run.step(Event::Begin).say(&found(&[of_value("600", "498")]));
        run.ended().clone()
    };
    // Without an amount the machine compares reference, type and currency, and returns no amount.
    assert_eq!(resumed().amount(), None);
    assert!(matches!(ended(resumed()), ThreeDSecureOutcome::Approved(_)));
    assert!(matches!(ended(resumed().compare_amount(498)), ThreeDSecureOutcome::Approved(_)));
    let stated = resumed().compare_amount(499);
    assert_eq!(stated.save().text(), saved, "it is saved with the amount from now on");
    let ThreeDSecureOutcome::Unknown { why, .. } = ended(stated.compare_amount(498)) else { panic!("another amount") };
    assert!(matches!(why, UnknownReason::OtherPayment(_, "amount")), "{why:?}");
}
