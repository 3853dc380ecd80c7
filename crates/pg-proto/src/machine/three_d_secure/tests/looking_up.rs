use super::*;

#[test]
fn what_it_finds_is_the_outcome() {
    let paid = transaction("600", "Auth", "GBP");
    let declined = transaction("901", "Auth", "GBP");
    let mut run = Run::at(Phase::LookingUp, plan());
    assert!(matches!(run.say(&found(std::slice::from_ref(&paid))).ended(), ThreeDSecured::Approved(_)));
    let mut run = Run::at(Phase::LookingUp, plan());
    assert!(matches!(run.say(&found(std::slice::from_ref(&declined))).ended(), ThreeDSecured::Declined(_)));
    let mut run = Run::at(Phase::LookingUp, plan());
    assert!(matches!(run.say(&found(&[declined, paid])).ended(), ThreeDSecured::Approved(_)));
}

#[test]
fn the_check_another_kind_and_another_reference_are_no_payment() {
    let other = transaction("600", "Auth", "GBP").replace("order-7", "order-8");
    for strange in
        [found(&[]), found(&[transaction("600", "PreAuth", "GBP")]), found(&[other]), "<serviceResponse/>".into()]
    {
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
    let ThreeDSecured::Unknown { reconcile, why } = run.ended() else { panic!() };
    assert_eq!(reconcile.unique_merchant_reference.as_ref().unwrap().as_str(), "order-7");
    assert_eq!(*why, Doubt::NothingFound);
    let mut run = Run::at(Phase::LookingUp, plan());
    for _ in 0..4 {
        run.wait().refuse("943").wait().fail(Failure::MaybeSent);
    }
    assert!(matches!(run.ended(), ThreeDSecured::Unknown { why: Doubt::NotLookedUp, .. }));
}

#[test]
fn a_payment_that_appears_late_is_found() {
    let mut run = Run::at(Phase::LookingUp, plan());
    run.say(&found(&[])).wait().refuse("121").wait().fail(Failure::NotSent).wait();
    assert!(matches!(run.say(&found(&[transaction("600", "Auth", "GBP")])).ended(), ThreeDSecured::Approved(_)));
}

#[test]
fn what_cannot_be_is_unknown() {
    let paid = transaction("600", "Auth", "GBP");
    let why = |run: &mut Run| match run.ended() {
        ThreeDSecured::Unknown { why, .. } => why.clone(),
        other => panic!("{other:?}"),
    };
    let mut run = Run::at(Phase::LookingUp, plan());
    assert!(matches!(why(run.say(&found(&[paid.clone(), paid]))), Doubt::Several(keys) if keys.len() == 2));
    let mut run = Run::at(Phase::LookingUp, plan());
    assert!(matches!(why(run.say(&found(&[transaction("600", "Auth", "EUR")]))), Doubt::OtherPayment(_, "currency")));
    assert!(matches!(why(Run::at(Phase::LookingUp, plan()).refuse("102")), Doubt::Credentials(_)));
    assert!(matches!(why(Run::at(Phase::LookingUp, plan()).refuse("101")), Doubt::LookupRefused(_)));
    assert_eq!(why(Run::at(Phase::LookingUp, plan()).fail(Failure::HeldBack)), Doubt::HeldBack);
    let mut run = Run::at(Phase::LookingUp, plan());
    for _ in 0..8 {
        run.wait().say(&found(&[transaction("777", "Auth", "GBP")]));
    }
    assert!(matches!(why(&mut run), Doubt::UnknownStatus(_)));
    let mut run = Run::at(Phase::LookingUp, ThreeDSecurePlan { lookups: 1, ..plan() });
    assert!(matches!(why(run.fail(Failure::MaybeSent)), Doubt::NotLookedUp));
    let mut run = Run::at(Phase::Authorising, ThreeDSecurePlan { lookups: 0, ..plan() });
    assert!(matches!(why(run.fail(Failure::MaybeSent)), Doubt::NotLookedUp));
}

#[test]
fn after_a_crash_it_looks_again() {
    let mut run = Run::at(Phase::LookingUp, plan());
    assert_eq!(run.crash().method(), "lookup");
    assert_eq!(run.payments(), 1);
}
