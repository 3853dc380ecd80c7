//! Services that settle payments later, or refuse more than a survey asks about: one observation with two explanations
//! is not written.

use super::*;

/// What a service says instead of the sandbox's reply. The path, the body of the request, and the reply.
type Twist = fn(&str, &str, String) -> String;

const PAYMENTS: [&str; 6] =
    ["/authSessionKey/", "/authCardKey/", "/preauth/", "/capturepreauth/", "/refund/", "/auth3DSecure/"];

fn pays(path: &str) -> bool {
    PAYMENTS.iter().any(|method| path.contains(method))
}

/// The same reply with another status, if its status is one of these.
fn with_status(reply: &str, from: &[&str], to: &str) -> String {
    from.iter().fold(reply.to_owned(), |text, code| {
        text.replace(&format!("\"transactionStatusCode\":\"{code}\""), &format!("\"transactionStatusCode\":\"{to}\""))
    })
}

const REFUSED: &str = r#"{"errorCode":"777","traceCode":"1","errorMessage":"Not for this account"}"#;

/// A survey of a sandbox whose replies are changed: to [`REFUSED`] with HTTP 400, or to a success.
fn twisted(options: Options, twist: Twist) -> (Report, Dialect, Vec<String>) {
    twisted_against(&pg_sandbox::dialect(), options, twist)
}

fn twisted_against(ours: &Dialect, options: Options, twist: Twist) -> (Report, Dialect, Vec<String>) {
    let sandbox = sandbox(None);
    let mut survey = Survey::new(&account_of(&sandbox, "main"), options, 1);
    let mut paths = Vec::new();
    let ending = drive(&mut survey, &sandbox, |request| {
        let path = request.uri().path().to_owned();
        let body = String::from_utf8_lossy(request.body()).into_owned();
        let reply = plainly(&sandbox)(request)?;
        let (mut head, text) = reply.into_parts();
        let plain = String::from_utf8_lossy(&text).into_owned();
        let text = twist(&path, &body, plain.clone());
        if text == REFUSED {
            head.status = http::StatusCode::BAD_REQUEST;
        } else if text != plain {
            head.status = http::StatusCode::OK;
        }
        paths.push(path);
        Ok(Response::from_parts(head, Bytes::from(text)))
    });
    assert_eq!(ending, Ending::Complete);
    let text = survey.dialect("x").to_toml();
    let written = Dialect::from_toml(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (survey.report(ours), written, paths)
}

fn open(report: &Report, point: &str, why: &str) {
    let finding = report.finding(point).expect("a finding");
    assert_eq!((finding.conclusion, &finding.seen), (Conclusion::NotDecided, &None), "{point}");
    assert!(finding.remark.contains(why), "{point}: {}", finding.remark);
}

const DECLINES: [&str; 2] = ["declined", "insufficient-funds"];

// spec: 2 §7, A11
#[test]
fn a_status_that_the_approved_card_got_too_is_no_decline() {
    // Every payment is received first, for the whole survey.
    let (report, written, _) = twisted(paying(), |path, _, reply| {
        let is_lookup = path.contains("/transaction/lookup/");
        if pays(path) || is_lookup { with_status(&reply, &["600", "901", "902"], "620") } else { reply }
    });
    assert_eq!(written.declined, []);
    for point in DECLINES {
        open(&report, point, "the approved card got status 620 too");
    }
    // Only some of them.
    let (report, written, _) = twisted(paying(), |path, _, reply| {
        let reply = if path.contains("/preauth/") { with_status(&reply, &["600"], "620") } else { reply };
        with_status(&reply, &["901"], "620")
    });
    assert!(written.declined.iter().all(|entry| entry.code != "620"), "{:?}", written.declined);
    open(&report, "declined", "the approved card got status 620 too");
}

#[test]
fn a_decline_that_a_later_lookup_does_not_show_is_not_written() {
    // The declined card is received first, and its payment is approved later.
    let (report, written, _) = twisted(paying(), |path, _, reply| {
        let received = if pays(path) { with_status(&reply, &["901"], "620") } else { reply };
        if path.contains("/transaction/lookup/") { with_status(&received, &["901"], "600") } else { received }
    });
    assert!(written.declined.iter().all(|entry| entry.code == "902"), "{:?}", written.declined);
    open(&report, "declined", "status 620 at first, and 600 in a later lookup");
    // Lookups show no declined payment.
    let (report, written, _) = twisted(paying(), |path, _, reply| {
        let declined = ["\"901\"", "\"902\""].iter().any(|code| reply.contains(code));
        if path.contains("/transaction/lookup/") && declined { "{\"transactions\":[]}".to_owned() } else { reply }
    });
    assert_eq!(written.declined, []);
    open(&report, "insufficient-funds", "a later lookup does not show the payment");
}

#[test]
fn a_decline_is_not_written_without_an_approved_payment() {
    let mut options = paying();
    let declined = CARDS.iter().find(|card| card.scenario == Scenario::Declined).expect("a published card");
    let card = Card::parse(&format!("{} 12/49 123", declined.number)).expect("a card");
    options.cards = Cards::default().with(Role::Declined, card);
    let (report, written, _) = twisted(options, |_, _, reply| reply);
    assert_eq!(written.declined, []);
    open(&report, "declined", "no payment with the approved card was approved");
}

/// The lookups that confirm a decline are no payments.
#[test]
fn the_plan_announces_every_payment() {
    let sandbox = sandbox(None);
    let plan = Survey::new(&account_of(&sandbox, "main"), paying(), 1).plan();
    let announced = plan.probes.iter().filter(|probe| pays(&format!("{}/", probe.request))).count();
    let (_, _, paths) = twisted(paying(), |_, _, reply| reply);
    // The sandbox closes the preauth with the second capture, so that the third one decides nothing and is left out.
    assert_eq!(paths.iter().filter(|path| pays(path)).count(), announced - 1);
}

// spec: 2 §3.3, A106
#[test]
fn a_status_of_two_authentications_and_a_documented_one_decide_nothing() {
    let (report, written, _) = twisted(paying(), |_, _, reply| with_status(&reply, &["920", "923"], "650"));
    assert_eq!(written.authentication, []);
    open(&report, "authentication.pending", "status 650");
    open(&report, "authentication.not-enrolled", "status 650");

    let (report, written, _) = twisted(paying(), |_, _, reply| with_status(&reply, &["923"], "607"));
    assert!(written.authentication.iter().all(|entry| entry.code == "920"), "{:?}", written.authentication);
    open(&report, "authentication.not-enrolled", "607");
}

#[test]
fn an_authentication_that_does_not_pay_is_not_known_to_be_finished() {
    let (report, written, _) = twisted(paying(), |path, _, reply| {
        if path.contains("/auth3DSecure/") && reply.contains("\"600\"") { REFUSED.to_owned() } else { reply }
    });
    assert!(written.authentication.iter().all(|entry| entry.code == "920"), "{:?}", written.authentication);
    open(&report, "authentication.not-enrolled", "no payment");

    let (report, written, _) = twisted(paying(), |path, _, reply| {
        let unfinished = path.contains("/auth3DSecure/") && reply.contains("\"961\"");
        if unfinished { r#"{"transactionStatusCode":"600","transactionKey":"0"}"#.to_owned() } else { reply }
    });
    assert!(written.authentication.iter().all(|entry| entry.code == "923"), "{:?}", written.authentication);
    open(&report, "authentication.pending", "was not refused");
}

#[test]
fn a_refusal_of_every_payment_is_not_that_of_a_used_reference() {
    let refused: Twist = |path, _, reply| if path.contains("/authSessionKey/") { REFUSED.to_owned() } else { reply };
    let (report, written, _) = twisted(paying(), refused);
    open(&report, "duplicate-unique-reference", "the payment with that reference was refused");
    assert_eq!(written.refused_reference, None);
    assert!(written.error_for("duplicate-unique-reference").is_none());
}

/// The account may pay once: what refuses a used reference then refuses a new one as well.
#[test]
fn a_refusal_that_a_new_reference_gets_too_is_not_that_of_a_used_one() {
    let sandbox = sandbox(None);
    let mut survey = Survey::new(&account_of(&sandbox, "main"), paying(), 1);
    let mut paid = false;
    let ending = drive(&mut survey, &sandbox, |request| {
        let is_payment = request.uri().path().contains("/authSessionKey/");
        let reply = plainly(&sandbox)(request)?;
        if is_payment && paid {
            return Ok(Response::builder().status(400).body(Bytes::from_static(REFUSED.as_bytes())).expect("a reply"));
        }
        paid |= is_payment && reply.status().is_success();
        Ok(reply)
    });
    assert_eq!(ending, Ending::Complete);
    let report = survey.report(&pg_sandbox::dialect());
    open(&report, "duplicate-unique-reference", "a payment with a new reference got the same reply");
    open(&report, "refused_reference", "a payment with a new reference got the same reply");
    assert!(survey.dialect("x").error_for("duplicate-unique-reference").is_none());
}

#[test]
fn a_status_is_no_acceptance_and_no_refusal() {
    // The service takes every later operation, and settles it at night.
    let (report, written, _) = twisted(paying(), |path, body, reply| {
        let is_second = body.contains("transactionValue=60") || reply.contains("\"953\"") || reply.contains("\"950\"");
        let received = r#"{"transactionStatusCode":"620","transactionStatus":"Received"}"#;
        if pays(path) && is_second { received.to_owned() } else { reply }
    });
    for point in ["preauth.captures", "nothing-to-refund", "duplicate-unique-reference"] {
        open(&report, point, "status \"620\"");
    }
    // What those codes are was not seen, so that any other code may be theirs.
    let unknown = written.errors.iter().filter(|entry| entry.code.message().is_none());
    assert!(unknown.map(|entry| entry.remedy).all(|remedy| remedy == Some(Remedy::LookUp)), "{:?}", written.errors);
}

// spec: 2 §4.4, A43
#[test]
fn a_reply_that_every_lookup_gets_does_not_say_that_there_is_nothing() {
    let empty: Twist = |path, _, reply| {
        if path.contains("/transaction/lookup/") { "{\"transactions\":[]}".to_owned() } else { reply }
    };
    let refused: Twist = |path, _, reply| {
        let foreign = path.contains("/transaction/lookup/") || reply.contains("\"943\"");
        if foreign { REFUSED.to_owned() } else { reply }
    };
    for twist in [empty, refused] {
        let (report, written, _) = twisted(paying(), twist);
        open(&report, "lookup.nothing", "the lookup of a payment that was made got the same reply");
        assert_eq!(written.lookup.nothing, None);
        assert!(!written.error_meaning(3, &"777".into(), 400).unknown_transaction);
    }
    // The lookup alone has suggested the code.
    let (report, written, _) = twisted(paying(), |path, _, reply| match path {
        _ if path.contains("/transaction/lookup/") => REFUSED.to_owned(),
        _ if path.contains("/transaction/update/") => REFUSED.replace("777", "106"),
        _ => reply,
    });
    open(&report, "unknown-transaction-key", "the lookup of a payment that was made got the same reply");
    assert!(!written.error_meaning(3, &"777".into(), 400).unknown_transaction);
}

/// Without payments, no other lookup shows whether the account may look up at all.
// spec: 2 §4.4, A43
#[test]
fn a_refused_lookup_is_empty_only_if_another_one_finds_a_payment() {
    let lookups: Twist = |path, _, reply| {
        if path.contains("/transaction/lookup/") && !reply.contains("transactionKey") {
            REFUSED.to_owned()
        } else {
            reply
        }
    };
    let everything: Twist = |path, _, reply| {
        let denied = path.contains("/transaction/lookup/") || reply.contains("\"943\"");
        if denied && !reply.contains("transactionStatusCode") { REFUSED.to_owned() } else { reply }
    };
    for twist in [lookups, everything] {
        let (report, written, _) = twisted(Options::default(), twist);
        open(&report, "lookup.nothing", "a lookup that finds a payment");
        assert_eq!(written.lookup.nothing, None);
        let (_, written, _) = twisted(paying(), twist);
        assert_eq!(written.lookup.nothing, Some(EmptyLookup::Error));
        assert!(written.error_meaning(3, &"777".into(), 400).unknown_transaction);
    }
}

// spec: 2 §3.2, A97
#[test]
fn a_code_that_a_refund_above_the_amount_gets_too_is_looked_up() {
    let (_, written, _) = twisted(paying(), |path, _, reply| {
        let is_above = path.contains("/refund/") && reply.contains("\"107\"");
        if is_above || reply.contains("\"943\"") { REFUSED.to_owned() } else { reply }
    });
    let entry = written.error(&"777".into()).expect("an entry");
    assert_eq!(entry.situations, ["unknown-transaction-key"]);
    assert_eq!(entry.remedy, Some(Remedy::LookUp));
    // The other codes are certain, since all those that may mean a used reference were seen.
    let certain = written.error(&"940".into()).expect("an entry");
    assert_eq!(certain.remedy, Some(Remedy::FixRequest));
}

/// A survey of a service that answers a payment under a used reference with this instead of a refusal: the transaction of
/// the first payment, or the same under another key.
fn used_again(key: fn(&str) -> String) -> (Report, Dialect) {
    let sandbox = sandbox(None);
    let mut survey = Survey::new(&account_of(&sandbox, "main"), paying(), 1);
    let mut paid = None;
    let ending = drive(&mut survey, &sandbox, |request| {
        let is_payment = request.uri().path().contains("/authSessionKey/");
        let reply = plainly(&sandbox)(request)?;
        let text = String::from_utf8_lossy(reply.body()).into_owned();
        if is_payment && text.contains("\"950\"") {
            let first: &String = paid.as_ref().expect("the first payment");
            return Ok(Response::new(Bytes::from(key(first))));
        }
        if is_payment && reply.status().is_success() {
            paid.get_or_insert(text);
        }
        Ok(reply)
    });
    assert_eq!(ending, Ending::Complete);
    let written = Dialect::from_toml(&survey.dialect("x").to_toml()).expect("a dialect");
    (survey.report(&pg_sandbox::dialect()), written)
}

fn with_key(reply: &str, key: &str) -> String {
    let mut reply: serde_json::Value = serde_json::from_str(reply).expect("JSON");
    reply["transactionKey"] = key.into();
    reply.to_string()
}

// spec: 2 §4.3, A92
#[test]
fn a_second_charge_under_a_used_reference_is_an_error_and_the_earlier_transaction_is_not() {
    let (report, written) = used_again(|first| with_key(first, "a-second-transaction"));
    let finding = report.finding("duplicate-unique-reference").expect("a finding");
    assert_eq!(finding.conclusion, Conclusion::Error, "{finding:?}");
    assert_eq!(finding.seen.as_ref().map(ToString::to_string).as_deref(), Some("charged again"));
    assert!(finding.remark.contains("no client may resend a payment"), "{}", finding.remark);
    assert!(written.error_for("duplicate-unique-reference").is_none());

    let (report, _) = used_again(str::to_owned);
    let finding = report.finding("duplicate-unique-reference").expect("a finding");
    assert_eq!(finding.conclusion, Conclusion::Differs, "{finding:?}");
    let seen = finding.seen.as_ref().map(ToString::to_string);
    assert_eq!(seen.as_deref(), Some("the earlier transaction, not charged again"));
    assert_eq!(report.with(Conclusion::Error).count(), 0);

    let (report, _) = used_again(|first| with_key(first, ""));
    open(&report, "duplicate-unique-reference", "without the transactionKey of both payments");
}

/// A file that leaves a code out makes a second survey agree.
#[test]
fn a_code_that_a_file_cannot_contain_is_not_decided() {
    let twist: Twist = |path, _, reply| {
        if path.contains("/transaction/lookup/") && !reply.contains("transactionStatusCode") {
            return r#"{"errorCode":"NO_SUCH","traceCode":"1","errorMessage":"Nothing"}"#.to_owned();
        }
        let reply = with_status(&with_status(&reply, &["901"], "D-05"), &["902"], " 652");
        reply.replace("\"944\"", "\"119\"")
    };
    let (report, written, _) = twisted(paying(), twist);
    assert_eq!(written.declined, []);
    let why = "a dialect can only contain codes of at most 16 ASCII letters and digits";
    open(&report, "declined", &format!("status D-05: {why}"));
    open(&report, "insufficient-funds", &format!("status  652: {why}"));
    open(&report, "unknown-transaction-key", &format!("error NO_SUCH, HTTP 200: {why}"));
    open(&report, "lookup.nothing", "error: a dialect would need the code of that error, but cannot contain it");
    open(&report, "transaction-has-no-card", "error 119, HTTP 200: the code leaves open whether the bank has charged");
    let (again, _, _) = twisted_against(&written, paying(), twist);
    let differ: Vec<_> = again.with(Conclusion::Differs).collect();
    assert!(differ.is_empty(), "{differ:#?}");
}

/// A refusal of the account or of the whole request, and a service that fails for a moment, are not about the record.
// spec: 1 §7, A132
#[test]
fn a_refusal_that_is_not_about_the_record_does_not_say_that_there_is_none() {
    let everything: [&[&str]; 2] = [&["/transaction/lookup/"], &["/transaction/lookup/", "/transaction/update/"]];
    for (status, code, methods, times, why) in [
        (403, "106", everything[0], usize::MAX, "the documents define error 106"),
        (403, "106", everything[1], usize::MAX, "the documents define error 106"),
        (400, "101", everything[0], usize::MAX, "the documents define error 101"),
        (400, "129", everything[0], usize::MAX, "the documents define error 129"),
        (503, "900", everything[0], 1, "the service failed: error 900, HTTP 503"),
    ] {
        let sandbox = sandbox(None);
        let mut survey = Survey::new(&account_of(&sandbox, "main"), Options::default(), 1);
        let mut left = times;
        let ending = drive(&mut survey, &sandbox, |request| {
            let path = request.uri().path();
            if left > 0 && methods.iter().any(|method| path.contains(method)) {
                left -= 1;
                let body = format!(r#"{{"errorCode":"{code}","traceCode":"1","errorMessage":"No"}}"#);
                return Ok(Response::builder().status(status).body(Bytes::from(body)).expect("a reply"));
            }
            plainly(&sandbox)(request)
        });
        assert_eq!(ending, Ending::Complete);
        let (report, written) = (survey.report(&pg_sandbox::dialect()), survey.dialect("x"));
        open(&report, "lookup.nothing", why);
        assert_eq!(written.lookup.nothing, None, "{code}");
        assert!(written.error(&code.into()).is_none(), "{code}: {:?}", written.errors);
        let differ: Vec<_> = report.with(Conclusion::Differs).collect();
        assert!(differ.is_empty(), "{code}: {differ:#?}");
        if methods.len() == 2 {
            open(&report, "unknown-transaction-key", why);
        }
    }
}

// spec: 2 §3.3, A106
#[test]
fn the_status_of_a_finished_authentication_is_not_that_of_an_unfinished_one() {
    let documented = r#"{"errorCode":"120","traceCode":"1","errorMessage":"Currency not supplied"}"#;
    // Both authentications have one status, and no payment with either is made.
    let twist: Twist = |path, _, reply| {
        let pays = path.contains("/auth3DSecure/");
        if pays { REFUSED.to_owned() } else { with_status(&reply, &["920", "923"], "655") }
    };
    let (report, written, _) = twisted(paying(), twist);
    assert_eq!(written.authentication, []);
    for point in ["authentication.pending", "authentication.not-enrolled"] {
        open(&report, point, "an unfinished and a finished authentication both have status 655");
    }
    // A refusal for another reason, which the documents define.
    let sandbox = sandbox(None);
    let mut survey = Survey::new(&account_of(&sandbox, "main"), paying(), 1);
    let ending = drive(&mut survey, &sandbox, |request| {
        if request.uri().path().contains("/auth3DSecure/") {
            return Ok(Response::builder().status(400).body(Bytes::from(documented)).expect("a reply"));
        }
        plainly(&sandbox)(request)
    });
    assert_eq!(ending, Ending::Complete);
    assert_eq!(survey.dialect("x").authentication, []);
    let report = survey.report(&pg_sandbox::dialect());
    open(&report, "authentication.pending", "a payment with it was not refused");
    open(&report, "authentication-not-finished", "the documents define error 120");
}

// spec: 2 §3.3, A106
#[test]
fn a_status_that_was_not_compared_with_that_of_another_authentication_says_so() {
    let [challenge, not_enrolled] =
        [(Role::Challenge, Scenario::Challenge), (Role::NotEnrolled, Scenario::NotEnrolled)];
    for (cards, point, missing) in [
        (vec![challenge], "authentication.pending", Some("needs payments and the test card not-enrolled")),
        (vec![not_enrolled], "authentication.not-enrolled", Some("needs payments and the test card challenge")),
        (vec![challenge, not_enrolled], "authentication.pending", None),
        (vec![challenge, not_enrolled], "authentication.not-enrolled", None),
    ] {
        let cards = [vec![(Role::Approved, Scenario::Approved)], cards].concat();
        let (report, ..) = twisted(paying_with(&cards), |_, _, reply| reply);
        let finding = report.finding(point).expect("a finding");
        let confidence = if missing.is_some() { Confidence::Medium } else { Confidence::High };
        assert_eq!((finding.conclusion, finding.confidence), (Conclusion::Agrees, Some(confidence)), "{point}");
        let says = missing.is_none_or(|missing| finding.remark.contains(missing));
        assert!(says && finding.remark.is_empty() == missing.is_none(), "{point}: {}", finding.remark);
    }
}

#[test]
fn a_long_status_text_that_repeats_the_request_is_cut_and_masked() {
    let twist: Twist = |_, body, reply| {
        let form: String = form_urlencoded::parse(body.as_bytes()).map(|(_, value)| format!("{value} ")).collect();
        let text = format!("Declined for {form}{}", "y".repeat(5000));
        reply.replace("Declined by the bank", &text).replace("Transaction declined", &text)
    };
    let (report, written, _) = twisted(paying(), twist);
    let entry = written.declined.iter().find(|entry| entry.code == "901").expect("an entry");
    assert!(entry.message.starts_with("Declined for"), "{}", entry.message);
    assert!(entry.message.chars().count() <= 100, "{}", entry.message.len());
    let sandbox = sandbox(None);
    let key = sandbox.merchant("main").expect("an account").api_key.expose().to_owned();
    assert!(!entry.message.contains(&key) && !format!("{report:?}").contains(&key), "{}", entry.message);
}

// spec: 2 §3.3, A106
#[test]
fn one_status_is_not_that_of_two_authentications_if_no_challenge_page_could_be_opened() {
    let twist: Twist = |path, _, reply| {
        let elsewhere = if path.contains("/initiate3DSecure") { reply.replace("://", "://bank.") } else { reply };
        with_status(&elsewhere, &["920", "923"], "655")
    };
    let (report, written, paths) = twisted(paying(), twist);
    assert!(
        paths.iter().any(|path| path.contains("/auth3DSecure/")) && !paths.iter().any(|path| path.contains("/3ds"))
    );
    assert_eq!(written.authentication, []);
    for point in ["authentication.pending", "authentication.not-enrolled"] {
        open(&report, point, "an unfinished and a finished authentication both have status 655");
    }
}

/// Its session has no card, so that the code of a payment with it would be taken for that of a used reference.
// spec: 2 §4.2, A132
#[test]
fn a_session_whose_card_form_failed_is_not_paid_with() {
    let sandbox = sandbox(None);
    let mut survey = Survey::new(&account_of(&sandbox, "main"), paying(), 1);
    let mut forms = 0;
    let ending = drive(&mut survey, &sandbox, |request| {
        forms += usize::from(request.uri().path().contains("/session/postform"));
        if forms == 2 {
            forms += 1;
            return Ok(Response::builder().status(503).body(Bytes::new()).expect("a reply"));
        }
        plainly(&sandbox)(request)
    });
    assert_eq!(ending, Ending::Complete);
    assert!(forms > 3, "{forms}");
    open(&survey.report(&pg_sandbox::dialect()), "duplicate-unique-reference", "");
    let written = survey.dialect("x");
    assert!(written.errors.iter().all(|entry| entry.remedy != Some(Remedy::FixRequest)), "{:?}", written.errors);
}
