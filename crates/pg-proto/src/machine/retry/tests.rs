use bytes::Bytes;
use pg_model::{
    Auth, AuthSessionKey, CancelPreauth, CapturePreauth, CardDetails, Currency, DeleteToken, Dialect, EnterpriseCancel,
    EnterpriseCapture, EnterpriseRefund, Item, Order, Outcome, Refund, Repeat, TokenLookup, TransactionLookup,
};

use super::*;
use crate::{BaseUrl, Credentials, EnterpriseCredentials};

mod clocks;
mod copies;

const NOW: Moment = Moment::from_millis(1_700_000_000_000);

fn account() -> Account {
    Account::new(BaseUrl::parse("https://gateway.example").unwrap(), Credentials::new("key", "password", "sha"))
        .with_dialect(crate::spoken::sandbox())
}

fn lookup(again: u32) -> Retry<TokenLookup> {
    let bounds = RetryBounds { again, ..RetryBounds::default() };
    Retry::new(account(), TokenLookup::new().card_key("card-key"), bounds).unwrap()
}

fn capture() -> Retry<CapturePreauth> {
    let request = CapturePreauth::new("0123456789abcdef0123456789abcdef");
    Retry::new(account(), request, RetryBounds::default()).unwrap()
}

fn payment() -> Retry<AuthSessionKey> {
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
    Retry::new(account(), AuthSessionKey::new("0123456789abcdef0123456789abcdef", order), RetryBounds::default())
        .unwrap()
}

fn answer(status: u16, body: &str) -> Event {
    Event::Reply(http::Response::builder().status(status).body(Bytes::copy_from_slice(body.as_bytes())).unwrap())
}

fn error(status: u16, code: &str) -> Event {
    answer(status, &format!(r#"{{"errorCode":"{code}","errorMessage":""}}"#))
}

fn begin<M: ApiRequest<Output: Clone>>(retry: &mut Retry<M>, now: Moment) {
    assert!(matches!(retry.step(Event::Begin, now, 0), Action::Send(_)));
}

fn done<D: fmt::Debug, O: fmt::Debug>(action: Action<D, O>) -> O {
    match action {
        Action::Done(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

fn wait<D: fmt::Debug, O: fmt::Debug>(action: Action<D, O>) -> Duration {
    match action {
        Action::WaitUntil(until) => until.since(NOW),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_safe_method_is_retried_until_a_reply_arrives() {
    let failures = [
        (Event::Failed(Failure::MaybeSent), 500),
        (Event::Failed(Failure::NotSent), 500),
        (answer(200, "<html>"), 500),
        (error(500, "999"), 500),
        (error(400, "182"), 500),
        (error(403, "121"), 60_500),
        (error(403, "122"), 300_500),
    ];
    for (failure, pause) in failures {
        let mut retry = lookup(1);
        begin(&mut retry, NOW);
        let pause = Duration::from_millis(pause);
        assert_eq!(wait(retry.step(failure, NOW, 0)), pause);
        // An early wake-up and an unexpected reply send nothing.
        assert_eq!(wait(retry.step(Event::Woken, NOW, 0)), pause);
        assert_eq!(wait(retry.step(error(400, "102"), NOW, 0)), pause);
        assert!(matches!(retry.step(Event::Woken, NOW.after(pause), 0), Action::Send(_)));
        let outcome = done(retry.step(answer(200, r#"{"cardKeyDetails":{}}"#), NOW.after(pause), 0));
        assert!(matches!(outcome, RetryOutcome::Answered(_)), "{outcome:?}");
        assert!(matches!(done(retry.step(Event::Begin, NOW, 0)), RetryOutcome::Answered(_)));
    }
}

#[test]
fn requests_with_a_final_refusal_are_not_resent() {
    for code in ["102", "108", "106", "777", "125"] {
        let mut retry = lookup(3);
        begin(&mut retry, NOW);
        assert!(matches!(done(retry.step(error(400, code), NOW, 0)), RetryOutcome::Refused(_)), "{code}");
    }
}

#[test]
fn zero_means_zero() {
    let mut retry = lookup(0);
    begin(&mut retry, NOW);
    assert_eq!(done(retry.step(Event::Failed(Failure::NotSent), NOW, 0)), RetryOutcome::NotSent);
    let mut retry = lookup(0);
    begin(&mut retry, NOW);
    let outcome = done(retry.step(Event::Failed(Failure::MaybeSent), NOW, 0));
    assert_eq!(outcome, RetryOutcome::Unknown { reconcile: Reconcile::AskOperator, why: UnknownReason::NoReply });
    let mut retry = lookup(0);
    begin(&mut retry, NOW);
    let mut resumed = Retry::resume(&retry.save(), account(), TokenLookup::new().card_key("card-key")).unwrap();
    assert!(matches!(done(resumed.step(Event::Begin, NOW, 0)), RetryOutcome::Unknown { .. }));
}

#[test]
fn other_methods_are_sent_again_only_when_nothing_left() {
    let mut retry = capture();
    begin(&mut retry, NOW);
    let pause = wait(retry.step(Event::Failed(Failure::NotSent), NOW, 0));
    assert!(matches!(retry.step(Event::Woken, NOW.after(pause), 0), Action::Send(_)));
    let mut held =
        Retry::resume(&capture().save(), account(), CapturePreauth::new("0123456789abcdef0123456789abcdef")).unwrap();
    begin(&mut held, NOW);
    assert_eq!(done(held.step(Event::Failed(Failure::HeldBack), NOW, 0)), RetryOutcome::NotSent);
    let mut superseded = capture();
    begin(&mut superseded, NOW);
    let outcome = done(superseded.step(Event::Failed(Failure::Superseded), NOW, 0));
    assert!(matches!(outcome, RetryOutcome::Unknown { why: UnknownReason::Superseded, .. }), "{outcome}");
    let mut resumed =
        Retry::resume(&superseded.save(), account(), CapturePreauth::new("0123456789abcdef0123456789abcdef")).unwrap();
    let outcome = done(resumed.step(Event::Begin, NOW, 0));
    assert!(matches!(outcome, RetryOutcome::Unknown { .. }), "{outcome}");
    for (event, unknown) in [
        (Event::Failed(Failure::MaybeSent), true),
        (answer(200, ""), true),
        (error(500, "999"), true),
        (error(400, "119"), true),
        // A copy that the network made may have been executed before: it used up the amount, the reservation, or the
        // requests of this minute.
        (error(400, "107"), true),
        (error(400, "952"), true),
        (error(400, "951"), true),
        (error(403, "936"), true),
        (error(403, "121"), true),
        (answer(200, r#"{"transactionStatusCode":"901"}"#), true),
        // For these reasons every copy is refused.
        (error(400, "937"), false),
        (error(400, "943"), false),
        (error(401, "102"), false),
        (error(403, "106"), false),
    ] {
        let mut retry = capture();
        begin(&mut retry, NOW);
        let outcome = done(retry.step(event, NOW, 0));
        assert_eq!(
            matches!(outcome, RetryOutcome::Unknown { reconcile: Reconcile::AskOperator, .. }),
            unknown,
            "{outcome:?}"
        );
        assert_eq!(matches!(outcome, RetryOutcome::Refused(_)), !unknown, "{outcome:?}");
    }
}

/// Sends the request and returns the outcome of this reply.
fn outcome_of<M: ApiRequest<Output: Clone + fmt::Debug>>(request: M, body: &str) -> RetryOutcome<M::Output> {
    let mut retry = Retry::new(with_enterprise(account()), request, RetryBounds::default()).unwrap();
    begin(&mut retry, NOW);
    done(retry.step(answer(200, body), NOW, 0))
}

fn with_enterprise(account: Account) -> Account {
    account.enterprise(
        BaseUrl::parse("https://gateway.example/enterprise").unwrap(),
        EnterpriseCredentials::new("k".repeat(32), "p".repeat(32)),
    )
}

/// Returns the field in which the reply to the request differs; `None` if it was accepted.
#[track_caller]
fn other<M: ApiRequest<Output: Clone + fmt::Debug>>(request: M, body: &str) -> Option<&'static str> {
    match outcome_of(request, body) {
        RetryOutcome::Answered(_) => None,
        RetryOutcome::Unknown { why: UnknownReason::OtherReply(field, _), .. } => Some(field),
        other => panic!("{other:?}"),
    }
}

// spec: 2 §2.3; 2 §4.3
#[test]
fn the_reply_to_another_request_is_no_reply_to_an_operation() {
    let key = "0123456789abcdef0123456789abcdef";
    let reply = |fields: &str| format!(r#"{{"transactionStatusCode":"600"{fields}}}"#);
    let refund = || Refund::new(key).transaction_value(400);
    for (fields, field) in [
        ("", None),
        (r#","transactionType":"Refund","transactionValue":"400","currency":"GBP","merchantReference":"a""#, None),
        (r#","transactionType":"refund""#, None),
        // The reference of the original.
        (r#","transactionType":"Refund","uniqueMerchantReference":"order-7""#, None),
        (r#","transactionType":"Auth""#, Some("type")),
        (r#","transactionType":"Capture""#, Some("type")),
        (r#","transactionType":"Refund","transactionValue":"401""#, Some("amount")),
        (r#","transactionType":"Refund","transactionValue":"400.00""#, Some("amount")),
    ] {
        assert_eq!(other(refund(), &reply(fields)), field, "{fields}");
    }
    assert_eq!(other(Refund::new(key), &reply(r#","transactionValue":"401""#)), None, "all of it");
    let named = || Refund::new(key).unique_merchant_reference("refund-7");
    let other_reference = reply(r#","uniqueMerchantReference":"refund-8""#);
    assert_eq!(other(named(), &other_reference), Some("uniqueMerchantReference"));
    let is = |kind: &str| reply(&format!(r#","transactionType":"{kind}""#));
    assert_eq!(other(CapturePreauth::new(key), &is("Capture")), None);
    assert_eq!(other(CapturePreauth::new(key), &is("CancelPreAuth")), Some("type"));
    assert_eq!(other(CancelPreauth::new(key), &is("CancelPreAuth")), None);
    assert_eq!(other(CancelPreauth::new(key), &is("PreAuth")), Some("type"));
}

// spec: 3 §2.2
#[test]
fn the_reply_to_another_request_is_no_reply_to_an_operation_of_version_5() {
    let reply = |kind: &str, action: &str, key: &str, value: &str| {
        format!(
            "<serviceResponse><trans_type>{kind}</trans_type><trans_value>{value}</trans_value>\
             <prev_trans_key>{key}</prev_trans_key><system_action>{action}</system_action><status>1</status>\
             <trans_key>9</trans_key></serviceResponse>"
        )
    };
    let refund = || EnterpriseRefund::new("7", "5.50");
    for (body, field) in [
        (reply("refund", "REFUND", "7", "5.5"), None),
        (reply("Refund", "refund", "7", "05.50"), None),
        (reply("", "", "", ""), None),
        (reply("auth", "REPEAT", "7", "5.50"), Some("system_action")),
        (reply("auth", "", "7", "5.50"), Some("trans_type")),
        (reply("refund", "REFUND", "8", "5.50"), Some("prev_trans_key")),
        (reply("refund", "REFUND", "7", "5.51"), Some("trans_value")),
    ] {
        assert_eq!(other(refund(), &body), field, "{body}");
    }
    assert_eq!(other(EnterpriseCapture::new("7", "5"), &reply("capture", "CAPTURE", "7", "5.00")), None);
    assert_eq!(other(EnterpriseCapture::new("7", "5"), &reply("", "CANCEL", "", "")), Some("system_action"));
    assert_eq!(other(EnterpriseCancel::new("7", "5"), &reply("cancel", "CANCEL", "7", "5.00")), None);
    assert_eq!(other(EnterpriseCancel::new("7", "5"), &reply("capture", "", "", "")), Some("trans_type"));
    let repeat = |kind: &'static str| Repeat::new("7", kind, "5");
    for kind in ["auth", "AUTH", "Auth "] {
        assert_eq!(other(repeat("Auth"), &reply(kind, "REPEAT", "7", "5.00")), None, "{kind}");
    }
    // A reservation must be captured: it is no debit, whatever its word.
    for kind in ["preauth", "pre-auth", "PRE_AUTH", "Pre Auth", "reserve", "sale"] {
        assert_eq!(other(repeat("Auth"), &reply(kind, "REPEAT", "7", "5.00")), Some("trans_type"), "{kind}");
    }
    // The documents show no word for a reservation.
    for kind in ["preauth", "auth", "pre-auth", "PRE_AUTH", "reserve"] {
        assert_eq!(other(repeat("PreAuth"), &reply(kind, "REPEAT", "7", "5.00")), None, "{kind}");
    }
    for kind in ["refund", "Capture", "cancel", "re-fund"] {
        for repeated in ["Auth", "PreAuth"] {
            assert_eq!(other(repeat(repeated), &reply(kind, "REPEAT", "7", "5.00")), Some("trans_type"), "{kind}");
        }
    }
    assert_eq!(other(repeat("PreAuth"), &reply("refund", "REFUND", "7", "5.00")), Some("system_action"));
}

#[test]
fn a_failed_operation_may_be_the_second_copy_of_one_that_was_executed() {
    let failed = "<serviceResponse><status>0</status></serviceResponse>";
    for outcome in [
        outcome_of(EnterpriseRefund::new("7", "5"), failed),
        outcome_of(EnterpriseCapture::new("7", "5"), failed),
        outcome_of(EnterpriseCancel::new("7", "5"), failed),
    ] {
        let RetryOutcome::Unknown { why, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(
            why.to_string(),
            "the reply says that it failed (status 0), but a copy of the request may have been executed"
        );
    }
    // Another copy of a repeat does not fail because the first one was executed.
    let repeat = outcome_of(Repeat::new("7", "Auth", "5"), failed);
    assert!(matches!(repeat, RetryOutcome::Answered(Outcome::Declined(_))), "{repeat:?}");
}

/// The operator of the service can find the reply by it.
#[test]
fn a_reply_that_decides_nothing_is_named_by_its_transaction() {
    fn why<M: ApiRequest<Output: Clone + fmt::Debug>>(request: M, body: &str) -> String {
        match outcome_of(request, body) {
            RetryOutcome::Unknown { why, .. } => why.to_string(),
            other => panic!("{other:?}"),
        }
    }
    let reply = |kind: &str, status: &str| {
        format!(
            "<serviceResponse><trans_type>{kind}</trans_type><status>{status}</status><trans_key>9</trans_key></serviceResponse>"
        )
    };
    assert_eq!(
        why(Repeat::new("7", "Auth", "5"), &reply("preauth", "1")),
        "the reply (transaction 9) belongs to another request, its trans_type differs; the request may have been executed"
    );
    assert_eq!(
        why(EnterpriseRefund::new("7", "5"), &reply("refund", "0")),
        "the reply (transaction 9) says that it failed (status 0), but a copy of the request may have been executed"
    );
    let key = "0123456789abcdef0123456789abcdef";
    let reserved = r#"{"transactionStatusCode":"600","transactionType":"PreAuth","transactionKey":"k-1"}"#;
    assert_eq!(
        why(CancelPreauth::new(key), reserved),
        "the reply (transaction k-1) belongs to another request, its type differs; the request may have been executed"
    );
}

// spec: 3 §7, A112: The numbers of version 3 say nothing in version 5, unless the dialect says so.
#[test]
fn a_refusal_of_version_5_holds_for_every_copy_only_with_a_code_of_its_own_document() {
    fn refused<M: ApiRequest<Output: Clone + fmt::Debug>>(dialect: &Arc<Dialect>, request: M, code: &str) -> bool {
        let account = with_enterprise(account().with_dialect(Arc::clone(dialect)));
        let mut retry = Retry::new(account, request, RetryBounds::default()).unwrap();
        begin(&mut retry, NOW);
        let body = format!("<serviceResponse><errorcode>{code}</errorcode></serviceResponse>");
        match done(retry.step(answer(400, &body), NOW, 0)) {
            RetryOutcome::Refused(_) => true,
            RetryOutcome::Unknown { .. } => false,
            other => panic!("{code}: {other:?}"),
        }
    }
    let documented = Arc::new(Dialect::documented());
    let gateway = || CapturePreauth::new("0123456789abcdef0123456789abcdef");
    for code in ["102", "103", "104", "105", "106", "108", "110", "111", "120", "123"] {
        assert!(!refused(&documented, EnterpriseRefund::new("7", "5"), code), "{code}");
        assert!(!refused(&documented, EnterpriseCapture::new("7", "5"), code), "{code}");
        assert!(!refused(&documented, EnterpriseCancel::new("7", "5"), code), "{code}");
        assert!(!refused(&documented, Repeat::new("7", "Auth", "5"), code), "{code}");
        assert!(refused(&documented, gateway(), code), "{code}");
        assert!(refused(&crate::spoken::sandbox(), EnterpriseRefund::new("7", "5"), code), "{code}");
    }
    assert!(refused(&documented, EnterpriseRefund::new("7", "5"), "3"));
    assert!(!refused(&documented, gateway(), "3"));
    assert!(!refused(&crate::spoken::sandbox(), gateway(), "3"));
    // A proxy may repeat a request without its body: then this refuses the empty copy, and the other one was executed.
    for dialect in [&documented, &crate::spoken::sandbox()] {
        assert!(!refused(dialect, EnterpriseRefund::new("7", "5"), "1"));
        assert!(!refused(dialect, gateway(), "101"));
    }
    for code in ["107", "119", "121", "125"] {
        assert!(!refused(&documented, EnterpriseRefund::new("7", "5"), code), "{code}");
        assert!(!refused(&crate::spoken::sandbox(), EnterpriseRefund::new("7", "5"), code), "{code}");
    }
}

#[test]
fn an_unknown_refusal_says_nothing_of_a_corrected_request() {
    let mut retry = capture();
    begin(&mut retry, NOW);
    assert_eq!(
        done(retry.step(error(400, "107"), NOW, 0)).to_string(),
        "unknown: a copy of the request may have been executed or may still be, although one was refused: 107 Invalid \
         transaction value (HTTP 400); there is no reference to look it up by, ask the operator"
    );
}

#[test]
fn a_payment_with_a_reference_says_how_to_find_it() {
    let mut retry = payment();
    begin(&mut retry, NOW);
    let RetryOutcome::Unknown { reconcile, .. } = done(retry.step(Event::Failed(Failure::MaybeSent), NOW, 0)) else {
        panic!()
    };
    assert_eq!(reconcile, Reconcile::from(TransactionLookup::new().unique_merchant_reference("order-7")));
    let mut retry = payment();
    begin(&mut retry, NOW);
    let made = answer(200, r#"{"transactionStatusCode":"901"}"#);
    assert!(matches!(done(retry.step(made, NOW, 0)), RetryOutcome::Answered(Outcome::Declined(_))));
}

#[test]
fn after_a_crash_the_request_counts_as_sent() {
    let mut retry = capture();
    begin(&mut retry, NOW);
    let request = || CapturePreauth::new("0123456789abcdef0123456789abcdef");
    let mut resumed = Retry::resume(&retry.save(), account(), request()).unwrap();
    assert!(matches!(done(resumed.step(Event::Begin, NOW, 0)), RetryOutcome::Unknown { .. }));
    // A pause continues.
    let pause = wait(retry.step(Event::Failed(Failure::NotSent), NOW, 0));
    let mut resumed = Retry::resume(&retry.save(), account(), request()).unwrap();
    assert_eq!(resumed.save(), retry.save());
    assert_eq!(wait(resumed.step(Event::Begin, NOW, 0)), pause);
    assert!(matches!(resumed.step(Event::Woken, NOW.after(pause), 0), Action::Send(_)));
    // A safe method is sent again.
    let mut retry = lookup(3);
    begin(&mut retry, NOW);
    let mut resumed = Retry::resume(&retry.save(), account(), TokenLookup::new().card_key("card-key")).unwrap();
    begin(&mut resumed, NOW);
    let other = Retry::resume(&retry.save(), account(), request());
    assert_eq!(other.map(|_| ()), Err(ResumeError::Mismatch("method")));
}

/// Another refund would be sent under the attempts of this one, or its outcome reported as that of this one.
#[test]
fn a_request_is_not_resumed_with_another_request() {
    let key = "0123456789abcdef0123456789abcdef";
    let refund = || Refund::new(key).transaction_value(400);
    let mut retry = Retry::new(account(), refund(), RetryBounds::default()).unwrap();
    let (ready, sending) = (retry.save(), {
        begin(&mut retry, NOW);
        retry.save()
    });
    for saved in [ready, sending] {
        Retry::resume(&saved, account(), refund()).unwrap();
        let others = [
            refund().transaction_value(401),
            Refund::new("fedcba9876543210fedcba9876543210").transaction_value(400),
            refund().unique_merchant_reference("refund-7"),
            Refund::new(key),
        ];
        for other in others {
            let resumed = Retry::resume(&saved, account(), other);
            assert_eq!(resumed.map(|_| ()), Err(ResumeError::Mismatch("request")));
        }
        // An earlier version saved no digest.
        let (before, digest) = saved.text().split_once(r#""request":""#).unwrap();
        let (_, after) = digest.split_once(r#"","#).unwrap();
        let earlier = SavedState::from_text(format!("{before}{after}"));
        Retry::resume(&earlier, account(), refund().transaction_value(401)).unwrap();
    }
}

#[test]
fn a_saved_request_does_not_hide_which_card_it_has_behind_a_digest() {
    let saved = |number: &str| {
        let card = CardDetails::new(number, "12", "49").cv2("123");
        let order = Order::new(Currency::GBP).item(Item::new("Tea", 499));
        Retry::new(account(), Auth::new(card, order), RetryBounds::default()).unwrap().save()
    };
    assert_eq!(saved("4000000000001000"), saved("4111111111111111"));
}

#[test]
fn a_second_deletion_that_is_refused_says_that_the_first_may_have_been_done() {
    let mut retry = Retry::new(account(), DeleteToken::new("card-key"), RetryBounds::default()).unwrap();
    begin(&mut retry, NOW);
    let pause = wait(retry.step(Event::Failed(Failure::MaybeSent), NOW, 0));
    assert!(matches!(retry.step(Event::Woken, NOW.after(pause), 0), Action::Send(_)));
    let outcome = done(retry.step(error(400, "940"), NOW.after(pause), 0));
    assert!(matches!(outcome, RetryOutcome::Unknown { why: UnknownReason::Refused(_), .. }), "{outcome:?}");
}

#[test]
fn a_retry_ends_within_its_time_and_its_attempts() {
    let mut retry = lookup(u32::MAX);
    let (mut now, mut sent) = (NOW, 0);
    let mut action = retry.step(Event::Begin, now, 1);
    let outcome = loop {
        action = match action {
            Action::Send(_) => {
                sent += 1;
                retry.step(Event::Failed(Failure::MaybeSent), now, 1)
            }
            Action::WaitUntil(until) => {
                now = until;
                retry.step(Event::Woken, now, 1)
            }
            Action::Done(outcome) => break outcome,
            Action::Ask(never) => match never {},
        };
    };
    assert!(matches!(outcome, RetryOutcome::Unknown { .. }));
    assert!(now <= NOW.after(Duration::from_secs(600)) && sent > 20, "{now:?} {sent}");
    // While a request is in flight, no event makes it send another.
    let mut retry = lookup(3);
    begin(&mut retry, NOW);
    assert!(matches!(retry.step(Event::Begin, NOW, 0), Action::WaitUntil(_)));
    assert!(matches!(retry.step(Event::Woken, NOW.after(Duration::from_secs(9_999)), 0), Action::WaitUntil(_)));
}

#[test]
fn nothing_secret_is_stored_or_shown() {
    let mut retry = payment();
    begin(&mut retry, NOW);
    for text in [retry.save().text().to_owned(), format!("{retry:?}")] {
        assert!(!text.contains("0123456789abcdef") && !text.contains("password"), "{text}");
    }
}

#[test]
fn saved_states_keep_their_form() {
    let examples = ("retry.jsonl", include_str!("../../../tests/saved-states/retry.jsonl"));
    crate::machine::saved::examples::check::<State>(examples, NAME, VERSION, &[]);
}
