use super::*;
use crate::adapter::End;

fn ran(claim: &str) -> Ran {
    Ran::new(End::Done(0), format!("{{\"claim\": \"{claim}\"}}\n"), String::new())
}

fn charge_entry(key: &str) -> Entry {
    Entry {
        key: key.into(),
        kind: "Auth".into(),
        approved: true,
        status: "600".into(),
        amount: 998,
        currency: "GBP".into(),
        reference: "o-1".into(),
    }
}

fn payment(reference: &str) -> Exchange {
    Exchange {
        method: "transaction/auth".into(),
        parameters: vec![("uniqueMerchantReference".into(), reference.into())],
        ..Exchange::default()
    }
}

fn kinds(expect: Expect, ran: &[Ran], entries: &[Entry], exchanges: &[Exchange]) -> Vec<&'static str> {
    let evidence = Evidence { ran, together: false, entries, exchanges, amount: 998, currency: "GBP" };
    charge(expect, &evidence).iter().map(|finding| finding.kind).collect()
}

#[test]
fn each_false_claim_about_money_is_detected_and_true_ones_pass() {
    let lookup = || Exchange { method: "transaction/lookup".into(), ..payment("o-1") };
    let one = [charge_entry("a")];
    let two = [charge_entry("a"), charge_entry("b")];
    assert_eq!(kinds(Expect::Settled, &[ran("paid")], &one, &[payment("o-1")]), Vec::<&str>::new());
    assert_eq!(kinds(Expect::Settled, &[ran("paid")], &two, &[payment("o-1")]), ["charged-twice"]);
    assert_eq!(kinds(Expect::Settled, &[ran("paid")], &[], &[payment("o-1")]), ["unpaid-but-said-paid"]);
    assert_eq!(kinds(Expect::Settled, &[ran("declined")], &one, &[payment("o-1")]), ["charged-but-said-unpaid"]);
    assert_eq!(kinds(Expect::Settled, &[ran("unknown")], &one, &[payment("o-1")]), ["never-looked-up"]);
    assert_eq!(kinds(Expect::Settled, &[ran("unknown")], &one, &[payment("o-1"), lookup()]), Vec::<&str>::new());
    assert_eq!(
        kinds(Expect::Settled, &[ran("paid")], &one, &[payment("o-1"), payment("o-1-retry")]),
        ["new-reference"]
    );
    let reserved = || Entry { kind: "PreAuth".into(), ..charge_entry("a") };
    let captured = Entry { kind: "Capture".into(), ..charge_entry("b") };
    assert_eq!(kinds(Expect::Sale, &[ran("paid")], &[reserved()], &[payment("o-1")]), ["reserved-but-said-paid"]);
    assert_eq!(kinds(Expect::Sale, &[ran("paid")], &[reserved(), captured], &[payment("o-1")]), Vec::<&str>::new());
    let part = || Entry { kind: "Capture".into(), amount: 1, ..charge_entry("b") };
    let rest = Entry { amount: 997, ..part() };
    let cancelled = Entry { kind: "CancelPreAuth".into(), ..charge_entry("b") };
    let after = |entries: &[Entry], claim| kinds(Expect::Settled, &[ran(claim)], entries, &[payment("o-1"), lookup()]);
    assert_eq!(after(&[reserved(), part()], "paid"), ["wrong-amount"]);
    assert_eq!(after(&[reserved(), part(), rest], "paid"), Vec::<&str>::new());
    assert_eq!(after(&[reserved(), part()], "unknown"), Vec::<&str>::new());
    assert_eq!(after(&[reserved(), cancelled], "paid"), ["unpaid-but-said-paid"]);
    assert_eq!(kinds(Expect::Undocumented, &[ran("paid")], &one, &[payment("o-1")]), ["undocumented-status"]);
    // The status of an authentication shows no payment.
    let status = Exchange { method: "transaction/getAuthenticationStatus".into(), ..Exchange::default() };
    assert_eq!(kinds(Expect::Settled, &[ran("unknown")], &one, &[payment("o-1"), status]), ["never-looked-up"]);
    let another = |claim| kinds(Expect::Another, &[ran(claim)], &one, &[payment("o-1"), lookup()]);
    assert_eq!((another("paid"), another("unknown")), (vec!["another-payment"], vec![]));
    assert_eq!(kinds(Expect::Sale, &[ran("not-charged")], &[], &[payment("o-1")]), ["sale-lost"]);
    let gateway = |claim, entries: &[Entry]| kinds(Expect::Unproven, &[ran(claim)], entries, &[payment("o-1")]);
    assert_eq!((gateway("not-charged", &[]), gateway("paid", &one)), (vec!["unproven"], vec![]));
    assert_eq!(gateway("unknown", &[]), ["never-looked-up"]);
}

/// A refund needs the key of the capture (spec 2 §3.2).
#[test]
fn a_claim_may_name_the_capture_of_its_order_and_no_other_transaction() {
    let named = |key: &str| {
        let claim = format!("{{\"claim\": \"paid\", \"transactionKey\": \"{key}\"}}\n");
        let ran = [Ran::new(End::Done(0), claim, String::new())];
        let reserved = Entry { kind: "PreAuth".into(), ..charge_entry("a") };
        let captured = Entry { kind: "Capture".into(), ..charge_entry("b") };
        kinds(Expect::Settled, &ran, &[reserved, captured], &[payment("o-1")])
    };
    assert_eq!((named("a"), named("b"), named("c")), (vec![], vec![], vec!["wrong-key"]));
}

#[test]
fn only_a_payment_that_was_sent_is_declined() {
    let told = |sent: &[Exchange]| kinds(Expect::Decline, &[ran("unknown")], &[], sent);
    assert_eq!((told(&[]), told(&[payment("o-1")])), (vec!["nothing-sent"], vec!["decline-not-read"]));
}

#[test]
fn money_that_was_given_back_is_not_paid_and_no_charge_that_stays() {
    let refund = |amount| Entry { kind: "Refund".into(), amount, ..charge_entry("b") };
    let after = |entries: &[Entry], claim| kinds(Expect::Settled, &[ran(claim)], entries, &[payment("o-1")]);
    assert_eq!(after(&[charge_entry("a"), refund(998)], "paid"), ["refunded"]);
    assert_eq!(after(&[charge_entry("a"), refund(1)], "paid"), ["refunded"]);
    assert_eq!(after(&[charge_entry("a"), refund(998)], "not-charged"), ["charged-and-refunded"]);
    assert_eq!(after(&[charge_entry("a"), refund(997)], "not-charged"), ["charged-but-said-unpaid"]);
    let capture = || Entry { kind: "Capture".into(), ..charge_entry("c") };
    assert_eq!(unasked(&[capture()], &["Capture"]), None);
    assert_eq!(unasked(&[capture(), charge_entry("a")], &["Capture"]).unwrap().kind, "charged-twice");
    assert_eq!(unasked(&[capture(), refund(1)], &["Capture"]).unwrap().kind, "other-movement");
}

#[test]
fn a_lookup_counts_if_it_asks_for_the_payment_and_the_service_does_not_refuse_it() {
    let with = |name: &str, value: &str| Exchange {
        method: "transaction/lookup".into(),
        parameters: vec![(name.into(), value.into())],
        ..Exchange::default()
    };
    let told =
        |lookup: Exchange| kinds(Expect::Settled, &[ran("unknown")], &[charge_entry("a")], &[payment("o-1"), lookup]);
    let refused = |act| Exchange { error: Some("101".into()), act, ..with("uniqueMerchantReference", "o-1") };
    assert_eq!(told(with("uniqueMerchantReference", "o-1")), Vec::<&str>::new());
    assert_eq!(told(with("transactionKey", "a")), Vec::<&str>::new());
    assert_eq!(told(refused(Some(crate::wire::Act::DropReply))), Vec::<&str>::new());
    for lookup in [with("uniqueMerchantReference", "shop/o-1"), with("transactionKey", "x"), refused(None)] {
        assert_eq!(told(lookup), ["never-looked-up"]);
    }
    // The parameters of a payment that was cut are not known.
    let cut = Exchange { parameters: Vec::new(), ..payment("") };
    let found = kinds(Expect::Settled, &[ran("unknown")], &[], &[cut, with("uniqueMerchantReference", "o-2")]);
    assert_eq!(found, Vec::<&str>::new());
}

#[test]
fn concurrent_lookups_of_two_payments_do_not_affect_each_other() {
    let found = Exchange { method: "transaction/lookup".into(), showed_payment: true, ..payment("o-1") };
    let exchanges = [payment("o-1"), found];
    let entries = [charge_entry("a")];
    let found_in = |together, claims: [&str; 2]| {
        let ran = claims.map(ran);
        let evidence =
            Evidence { ran: &ran, together, entries: &entries, exchanges: &exchanges, amount: 998, currency: "GBP" };
        charge(Expect::Settled, &evidence).iter().map(|finding| finding.kind).collect::<Vec<_>>()
    };
    assert_eq!(found_in(true, ["paid", "unknown"]), Vec::<&str>::new());
    assert_eq!(found_in(true, ["unknown", "unknown"]), ["found-and-unknown"]);
    assert!(found_in(false, ["paid", "unknown"]).contains(&"found-and-unknown"));
}

#[test]
fn an_adapter_without_a_claim_is_broken_and_no_payment_failure() {
    let crashed = Ran::new(End::Done(1), "Traceback".into(), "KeyError".into());
    let one = [charge_entry("a")];
    assert_eq!(kinds(Expect::Settled, std::slice::from_ref(&crashed), &one, &[payment("o-1")]), ["adapter"]);
    // What an earlier run has claimed was believed.
    let both = [ran("not-charged"), crashed];
    assert_eq!(kinds(Expect::Settled, &both, &one, &[payment("o-1")]), ["charged-but-said-unpaid", "adapter"]);
}
