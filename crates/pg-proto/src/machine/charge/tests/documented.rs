//! A client that knows only the documents, and a service that makes its own decisions. It reports what it saw and what
//! would settle the outcome. It never reports that nothing was charged if something may have been.

use pg_model::{Dialect, dialect::StatusEntry};

use super::*;

fn begin(bounds: ChargeBounds) -> Drive {
    let account = account().with_dialect(Dialect::documented());
    Drive::of(Charge::new(account, request(), bounds).unwrap(), NOW)
}

/// A refusal with this status, whose code no document lists.
fn unknown_code(status: u16) -> Event {
    reply(status, r#"{"errorCode":"777","traceCode":"1","errorMessage":"Conflict"}"#)
}

#[test]
fn a_status_that_no_document_lists_is_no_decline() {
    let bounds = ChargeBounds { lookups: 1, ..ChargeBounds::default() };
    let drive = begin(bounds).then(ok(&transaction("901"))).pauses(0).sends("lookup");
    let why = drive.then(ok(&list(&[transaction("901")]))).doubts();
    assert!(matches!(why, UnknownReason::UnknownStatus(_)), "{why}");
    assert!(why.to_string().contains("901") && why.to_string().contains("[[declined]]"), "{why}");
    let drive = begin(bounds).then(ok(&transaction("600")));
    assert!(matches!(drive.ends(), ChargeOutcome::Approved(_)));
}

/// A charge under a dialect that lists 601 as declined.
fn speaking(errors: &str) -> Drive {
    let text = format!("[[declined]]\ncode = \"601\"\nassumption = 11\n{errors}");
    let account = account().with_dialect(Dialect::from_toml(&text).unwrap());
    let bounds = ChargeBounds { lookups: 4, ..ChargeBounds::default() };
    Drive::of(Charge::new(account, request(), bounds).unwrap(), NOW).sends("auth")
}

fn listed(code: &str) -> Event {
    ok(&list(&[transaction(code)]))
}

/// A service that answers a used reference like a declined payment. Nothing shows the client whether the network delivered the
/// payment twice.
// spec: 2 §4.3, A141: A decline answers the first copy only if lookups list it and every request was answered, or if the dialect
//   names the error of a used reference.
#[test]
fn a_decline_may_be_the_reply_to_a_second_copy_of_an_approved_payment() {
    let declined = || speaking("").then(ok(&transaction("601"))).pauses(0).sends("lookup");
    let twice = || declined().then(listed("601")).pauses(1).sends("lookup").then(listed("601")).pauses(2);
    assert!(matches!(declined().then(listed("600")).ends(), ChargeOutcome::Approved(_)));
    assert!(matches!(twice().sends("lookup").then(listed("600")).ends(), ChargeOutcome::Approved(_)));
    assert!(matches!(twice().sends("lookup").then(listed("601")).ends(), ChargeOutcome::Declined(_)));
    let mut drive = declined();
    for pause in 1..4 {
        drive = drive.then(ok(EMPTY)).pauses(pause).sends("lookup");
    }
    let why = drive.then(ok(EMPTY)).doubts();
    assert!(matches!(&why, UnknownReason::DeclineUnconfirmed(seen) if seen.transaction_status_code == "601"), "{why}");
    assert!(why.to_string().contains("duplicate-unique-reference"), "{why}");
    // The ordinary case makes no lookup.
    let named = "[[error]]\ncode = \"125\"\nsituations = [\"duplicate-unique-reference\"]\nassumption = 92\n";
    assert!(matches!(speaking(named).then(ok(&transaction("601"))).ends(), ChargeOutcome::Declined(_)));
    let lost = speaking(named).then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
    assert!(matches!(lost.then(listed("601")).ends(), ChargeOutcome::Declined(_)));
}

/// Whether the bank has executed a payment that was answered with 119 shows later.
#[test]
fn a_payment_that_was_answered_without_a_reply_of_the_bank_has_no_answer() {
    let mut drive = speaking("").then(refused("119")).pauses(0).sends("lookup");
    for pause in 1..3 {
        drive = drive.then(listed("601")).pauses(pause).sends("lookup");
    }
    let why = drive.then(listed("601")).doubts();
    assert!(matches!(&why, UnknownReason::DeclineUnconfirmed(seen) if seen.transaction_status_code == "601"), "{why}");
}

/// Only a dialect says that HTTP 404 is an empty lookup.
#[test]
fn http_404_of_a_lookup_permits_no_second_payment_under_the_documents_alone() {
    let lost = begin(ChargeBounds::default()).then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
    let why = lost.then(unknown_code(404)).doubts();
    assert!(matches!(&why, UnknownReason::LookupRefused(refused) if refused.http_status == 404), "{why}");
}

/// A service that also records such a rejection, so that lookups list it while the bank decides on the first copy.
// spec: 2 §4.3, A141: A listed decline does not end a charge as declined while a request has no answer.
#[test]
fn a_listed_decline_may_be_the_rejection_of_a_second_copy() {
    let lost = || speaking("").then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
    let rejected = || lost().then(ok(EMPTY)).sends("auth").then(ok(&transaction("601"))).pauses(1).sends("lookup");
    let mut drive = rejected();
    for pause in 2..4 {
        drive = drive.then(listed("601")).pauses(pause).sends("lookup");
    }
    let why = drive.then(listed("601")).doubts();
    assert!(matches!(&why, UnknownReason::DeclineUnconfirmed(seen) if seen.transaction_status_code == "601"), "{why}");
    // The bank has approved the first copy: one payment was made.
    let both = || ok(&list(&[transaction("601"), transaction("600")]));
    let drive = rejected().then(listed("601")).pauses(2).sends("lookup");
    for drive in [drive, rejected().crash(Some(request())).sends("lookup")] {
        let ChargeOutcome::Approved(paid) = drive.then(both()).ends() else { panic!("one payment") };
        assert_eq!(paid.transaction_status_code, "600");
    }
    // The second copy may be one of the network, or of an earlier run.
    for (mut drive, first) in [(lost(), 1), (speaking("").crash(None).sends("lookup"), 0)] {
        for pause in [first, first + 1] {
            drive = drive.then(listed("601")).pauses(pause).sends("lookup");
        }
        assert!(matches!(drive.then(listed("601")).doubts(), UnknownReason::DeclineUnconfirmed(_)));
    }
    // A crash after the answer forgets no answer.
    let mut drive = speaking("").then(ok(&transaction("601"))).pauses(0).crash(None);
    for pause in [1, 2] {
        drive = drive.sends("lookup").then(listed("601")).pauses(pause);
    }
    assert!(matches!(drive.sends("lookup").then(listed("601")).ends(), ChargeOutcome::Declined(_)));
}

/// A proxy or a connection may deliver the answer to another lookup. It is no reason to send the payment again: the service may
/// execute a used reference once more.
#[test]
fn a_list_of_other_references_answers_another_lookup() {
    let other = || ok(&list(&[r#"{"transactionStatusCode":"600","uniqueMerchantReference":"order-8"}"#.to_owned()]));
    let lost = |lookups| {
        let bounds = ChargeBounds { lookups, ..ChargeBounds::default() };
        begin(bounds).then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup").then(other())
    };
    let again = lost(2).pauses(1).sends("lookup");
    assert!(matches!(again.then(ok(&list(&[transaction("600")]))).ends(), ChargeOutcome::Approved(_)));
    lost(2).pauses(1).sends("lookup").then(ok(EMPTY)).sends("auth");
    assert_eq!(lost(1).doubts(), UnknownReason::NotLookedUp);
}

#[test]
fn three_lookups_in_a_row_with_the_same_unlisted_status_are_enough() {
    let mut drive = begin(ChargeBounds { lookups: 100, ..ChargeBounds::default() }).then(ok(&transaction("650")));
    for pause in 0..3 {
        drive = drive.pauses(pause).sends("lookup").then(ok(&list(&[transaction("650")])));
    }
    let why = drive.doubts();
    assert!(matches!(&why, UnknownReason::UnknownStatus(seen) if seen.transaction_status_code == "650"), "{why}");
}

#[test]
fn a_status_that_the_dialect_lists_as_pending_is_looked_up_until_the_bounds_end() {
    let begin = || {
        let mut dialect = Dialect::documented();
        dialect.pending.push(StatusEntry::new("650", 11));
        let bounds = ChargeBounds { lookups: 5, ..ChargeBounds::default() };
        Drive::of(Charge::new(account().with_dialect(dialect), request(), bounds).unwrap(), NOW)
    };
    let mut drive = begin().then(ok(&transaction("650")));
    for pause in 0..5 {
        drive = drive.pauses(pause).sends("lookup").then(ok(&list(&[transaction("650")])));
    }
    let why = drive.doubts();
    assert!(matches!(&why, UnknownReason::Pending(seen) if seen.transaction_status_code == "650"), "{why}");
    let drive = begin().then(ok(&transaction("650"))).pauses(0).sends("lookup");
    assert!(matches!(drive.then(ok(&list(&[transaction("600")]))).ends(), ChargeOutcome::Approved(_)));
}

#[test]
fn a_code_that_no_document_lists_is_never_a_refusal_whatever_its_http_status() {
    for status in [400, 401, 403, 404, 409, 422] {
        let drive = begin(ChargeBounds::default()).then(unknown_code(status)).sends("lookup");
        let why = drive.then(ok(EMPTY)).doubts();
        assert!(matches!(&why, UnknownReason::Refused(refused) if !refused.is_known()), "{status} {why}");
        assert!(why.to_string().contains("[[error]] entry with code \"777\""), "{why}");
        // The payment that used the reference is still found.
        let drive = begin(ChargeBounds::default()).then(unknown_code(status)).sends("lookup");
        assert!(matches!(drive.then(ok(&list(&[transaction("600")]))).ends(), ChargeOutcome::Approved(_)), "{status}");
    }
}

#[test]
fn only_a_reason_in_the_request_itself_is_a_refusal() {
    for code in ["103", "104", "108", "110", "120"] {
        assert!(
            matches!(begin(ChargeBounds::default()).then(refused(code)).ends(), ChargeOutcome::Refused(_)),
            "{code}"
        );
    }
    // The documents do not say that a lookup shows the payment of an earlier copy.
    for code in ["106", "107", "109", "111", "129", "136"] {
        let drive = begin(ChargeBounds::default()).then(refused(code)).sends("lookup").then(ok(EMPTY));
        assert!(matches!(drive.doubts(), UnknownReason::Refused(_)), "{code}");
    }
}

#[test]
fn after_a_lost_reply_the_payment_is_sent_again_under_its_reference() {
    let drive = begin(ChargeBounds::default()).then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
    assert!(matches!(
        drive.then(ok(EMPTY)).sends("auth").then(ok(&transaction("600"))).ends(),
        ChargeOutcome::Approved(_)
    ));
    // A lookup refused with an unlisted code proves nothing.
    let drive = begin(ChargeBounds::default()).then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
    assert!(matches!(drive.then(unknown_code(400)).doubts(), UnknownReason::LookupRefused(_)));
}

/// HTTP 404 is this service's empty lookup, but a lookup that is denied finds nothing either.
#[test]
fn a_denied_lookup_is_not_an_empty_one_whatever_its_http_status() {
    let text = "[lookup]\nnothing = \"not-found\"\nimmediate = true\n";
    for (code, empty) in [("106", false), ("103", false), ("102", false), ("125", true), ("777", true)] {
        let account = account().with_dialect(Dialect::from_toml(text).unwrap());
        let drive = Drive::of(Charge::new(account, request(), ChargeBounds::default()).unwrap(), NOW);
        let denied = format!(r#"{{"errorCode":"{code}","traceCode":"","errorMessage":""}}"#);
        let ended = drive.then(refused("111")).sends("lookup").then(reply(404, &denied)).ends();
        assert_eq!(matches!(ended, ChargeOutcome::Refused(_)), empty, "{code}: {ended:?}");
        assert_eq!(matches!(ended, ChargeOutcome::Unknown { .. }), !empty, "{code}: {ended:?}");
    }
    // A code that only the dialect lists.
    for (remedy, empty) in
        [("fix-credentials", false), ("ask-operator", false), ("fix-request", true), ("look-up", true)]
    {
        let text = format!("{text}[[error]]\ncode = \"779\"\nremedy = \"{remedy}\"\nassumption = 57\n");
        let account = account().with_dialect(Dialect::from_toml(&text).unwrap());
        let drive = Drive::of(Charge::new(account, request(), ChargeBounds::default()).unwrap(), NOW);
        let denied = r#"{"errorCode":"779","traceCode":"","errorMessage":""}"#;
        let ended = drive.then(refused("111")).sends("lookup").then(reply(404, denied)).ends();
        assert_eq!(matches!(ended, ChargeOutcome::Refused(_)), empty, "{remedy}: {ended:?}");
    }
}

#[test]
fn the_dialect_of_a_lookup_settles_a_refusal() {
    for (nothing, found, status) in [
        ("empty-list", EMPTY, 200),
        ("error", r#"{"errorCode":"777","traceCode":"","errorMessage":""}"#, 400),
        ("not-found", r#"{"errorCode":"778","traceCode":"","errorMessage":""}"#, 404),
        ("not-found", r#"{"transactions":{}}"#, 404),
    ] {
        for immediate in [true, false] {
            let text = format!(
                "[lookup]\nnothing = \"{nothing}\"\nimmediate = {immediate}\n[[error]]\ncode = \"777\"\n\
                 situations = [\"unknown-transaction-key\"]\nremedy = \"fix-request\"\nassumption = 57\n"
            );
            let account = account().with_dialect(Dialect::from_toml(&text).unwrap());
            let drive = Drive::of(Charge::new(account, request(), ChargeBounds::default()).unwrap(), NOW);
            let drive = drive.then(refused("111")).sends("lookup").then(reply(status, found));
            let ended = drive.ends();
            assert_eq!(matches!(ended, ChargeOutcome::Refused(_)), immediate, "{nothing} {immediate}: {ended:?}");
        }
    }
}

/// A proxy answers with 404 too.
// spec: 2 §4.4, A43: HTTP 404 proves that there is no payment only if the body is the service's
#[test]
fn http_404_of_a_proxy_is_no_empty_lookup() {
    let text = "[lookup]\nnothing = \"not-found\"\nimmediate = true\n";
    for (body, is_unreadable) in [
        ("<html><h1>404 Not Found</h1></html>", true),
        ("<html>404 Not Found</html>", true),
        ("default backend - 404", true),
        (r#"{"message":"no Route matched with those values"}"#, true),
        (r#"{"message":"there is no route to transactions"}"#, true),
        ("{}", true),
        ("<serviceResponse/>", true),
        (r#"{"transactions":null}"#, true),
        ("", false),
    ] {
        let account = account().with_dialect(Dialect::from_toml(text).unwrap());
        let bounds = ChargeBounds { lookups: 1, ..ChargeBounds::default() };
        let drive = Drive::of(Charge::new(account, request(), bounds).unwrap(), NOW);
        let why = drive.then(refused("111")).sends("lookup").then(reply(404, body)).doubts();
        assert_eq!(matches!(why, UnknownReason::LookupUnreadable(_)), is_unreadable, "{body}: {why:?}");
    }
}

/// A proxy, or a gateway without its service, answers every request with an empty object and HTTP 200.
// spec: 2 §4.4, A43: a body that names no list is no empty lookup
#[test]
fn a_reply_that_names_no_list_is_no_empty_lookup() {
    let text = "[lookup]\nnothing = \"empty-list\"\nimmediate = true\n";
    let refused_after = |found: &str| {
        let account = account().with_dialect(Dialect::from_toml(text).unwrap());
        let bounds = ChargeBounds { lookups: 1, ..ChargeBounds::default() };
        let drive = Drive::of(Charge::new(account, request(), bounds).unwrap(), NOW);
        drive.then(refused("111")).sends("lookup").then(reply(200, found)).ends()
    };
    for body in [
        "{}",
        "<serviceResponse/>",
        "<serviceResponse></serviceResponse>",
        r#"{"transactions":null}"#,
        r#"{"transactions":""}"#,
        r#"{"transactions":[null]}"#,
        r#"{"cardKeyDetails":{}}"#,
    ] {
        let ended = refused_after(body);
        let ChargeOutcome::Unknown { why: UnknownReason::LookupUnreadable(why), .. } = &ended else {
            panic!("{body}: {ended:?}")
        };
        assert!(why.to_string().contains("has no list called transactions"), "{why}");
    }
    for body in [
        r#"{"transactions":{}}"#,
        r#"{"transactions":[]}"#,
        "<serviceResponse><transactions/></serviceResponse>",
        "<serviceResponse><transactions></transactions></serviceResponse>",
    ] {
        assert!(matches!(refused_after(body), ChargeOutcome::Refused(_)), "{body}");
    }
    // Nor is it a reason to pay again.
    let drive = begin(ChargeBounds::default()).then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
    drive.then(ok("{}")).pauses(1).sends("lookup");
}

/// The service rejects and records a second copy like a declined payment, while the bank decides on the first one.
// spec: 2 §4.3, A141: A listed decline with another key than the reply is that of another copy.
#[test]
fn a_listed_decline_is_that_of_the_answered_copy_only_if_it_has_its_key() {
    let looked = |crashes: bool, key: &str| {
        let declined = || ok(&list(&[transaction("601").replace(r#""key""#, key)]));
        let mut drive = speaking("").then(ok(&transaction("655"))).pauses(0).sends("lookup");
        if crashes {
            drive = drive.crash(None).sends("lookup");
        }
        for pause in 1..3 {
            drive = drive.then(declined()).pauses(pause).sends("lookup");
        }
        drive.then(declined())
    };
    for crashes in [false, true] {
        let why = looked(crashes, r#""rejected""#).doubts();
        assert!(matches!(why, UnknownReason::DeclineUnconfirmed(_)), "{why}");
        assert!(matches!(looked(crashes, r#""key""#).ends(), ChargeOutcome::Declined(_)));
    }
}
