//! Surveys of sandboxes: what differs is found, what is written down makes a second survey agree, and no account is locked out.

#![expect(clippy::panic, reason = "a test fails by panicking, in its helpers too")]

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use pg_model::{Dialect, Remedy, dialect::EmptyLookup};
use pg_proto::{
    Account, BaseUrl, Credentials, EnterpriseCredentials,
    machine::{Action, Event, Failure, Moment, Never},
};
use pg_sandbox::{InProcess, READY, Sandbox, Settings, Timestamp, cards::CARDS, cards::Scenario, merchants::Merchant};
use pg_simulation::random_dialect;
use pg_survey::{Card, Cards, Conclusion, Confidence, Ending, Options, Point, Report, Role, Seen, Survey, points};

mod foreign;
mod settling;
mod stored;

const MINUTE: Duration = Duration::from_secs(60);

/// A sandbox that speaks a dialect.
fn sandbox(dialect: Option<Dialect>) -> InProcess {
    let settings = Settings::default().dialect(dialect.map(Arc::new));
    let sandbox = Sandbox::in_memory_with(settings, [7; 32]).expect("a sandbox");
    InProcess::new(sandbox, Timestamp::parse("2026-05-04T10:00:00Z").expect("a time"))
}

fn account(merchant: &Merchant) -> Account {
    let base = |address| BaseUrl::parse(address).expect("an address");
    let credentials =
        Credentials::new(merchant.api_key.expose(), merchant.api_password.expose(), merchant.sha_key.expose());
    let account = Account::new(base(InProcess::BASE_URL), credentials);
    match &merchant.enterprise {
        None => account,
        Some(own) => account.enterprise(
            base(InProcess::ENTERPRISE_BASE_URL),
            EnterpriseCredentials::new(own.api_key.expose(), own.api_password.expose()),
        ),
    }
}

fn account_of(sandbox: &InProcess, merchant: &str) -> Account {
    account(&sandbox.merchant(merchant).expect("an account"))
}

fn paying() -> Options {
    paying_with(&[
        (Role::Approved, Scenario::Approved),
        (Role::Declined, Scenario::Declined),
        (Role::InsufficientFunds, Scenario::InsufficientFunds),
        (Role::Challenge, Scenario::Challenge),
        (Role::NotEnrolled, Scenario::NotEnrolled),
    ])
}

fn paying_with(scenarios: &[(Role, Scenario)]) -> Options {
    let mut options = Options::default();
    options.payments = true;
    options.cards = scenarios.iter().fold(Cards::default(), |cards, &(role, scenario)| {
        let card = CARDS.iter().find(|card| card.scenario == scenario).expect("a published card");
        cards.with(role, Card::parse(&format!("{} 12/49 123", card.number)).expect("a card"))
    });
    options
}

fn now(sandbox: &InProcess) -> Moment {
    Moment::from_millis(u64::try_from(sandbox.unix_time().as_millis()).expect("a time of this century"))
}

/// Carries out an action. Returns its result, or how the survey has ended.
fn carried_out(
    action: Action<Never, Ending>,
    sandbox: &InProcess,
    mut send: impl FnMut(Request<Bytes>) -> Result<Response<Bytes>, Failure>,
) -> Result<Event, Ending> {
    Ok(match action {
        Action::Send(request) => send(request).map_or_else(Event::Failed, Event::Reply),
        Action::WaitUntil(moment) => {
            sandbox.advance(moment.since(now(sandbox)));
            Event::Woken
        }
        Action::Ask(never) => match never {},
        Action::Done(ending) => return Err(ending),
    })
}

/// Drives a survey to its end. Time passes only where it waits.
fn drive(
    survey: &mut Survey,
    sandbox: &InProcess,
    mut send: impl FnMut(Request<Bytes>) -> Result<Response<Bytes>, Failure>,
) -> Ending {
    let mut event = Event::Begin;
    loop {
        event = match carried_out(survey.step(event, now(sandbox)), sandbox, &mut send) {
            Ok(event) => event,
            Err(ending) => return ending,
        };
    }
}

fn plainly(sandbox: &InProcess) -> impl FnMut(Request<Bytes>) -> Result<Response<Bytes>, Failure> {
    |request| sandbox.send(request).map_err(|_| Failure::MaybeSent)
}

/// A whole survey, and the dialect that it writes, read back from its file.
fn surveyed(sandbox: &InProcess, options: Options, ours: &Dialect, seed: u64) -> (Report, Dialect) {
    let mut survey = Survey::new(&account_of(sandbox, "main"), options, seed);
    assert_eq!(drive(&mut survey, sandbox, plainly(sandbox)), Ending::Complete);
    let text = survey.dialect("surveyed").to_toml();
    let written = Dialect::from_toml(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (survey.report(ours), written)
}

/// The behaviour of a sandbox with a dialect: that of the dialect, otherwise of the sandbox's own dialect.
fn truth(point: &Point, dialect: &Dialect) -> Option<Seen> {
    let own = point.said_by(&pg_sandbox::dialect());
    match (point.said_by(dialect), own) {
        (Some(Seen::Refused { code, http: None }), Some(Seen::Refused { http, .. })) => {
            Some(Seen::Refused { code, http })
        }
        (said, own) => said.or(own),
    }
}

/// A survey finds every point of a dialect as the sandbox does it, except those that no request can decide.
fn check_everything(dialect: &Dialect, report: &Report, name: &str) {
    for finding in &report.findings {
        let point = finding.point;
        if point.undecidable.is_some() {
            assert_eq!(finding.conclusion, Conclusion::Undecidable, "{name}: {}", point.name);
            assert!(!finding.remark.is_empty() && point.question > 0, "{name}: {}", point.name);
            continue;
        }
        if point.entry.is_empty() {
            continue;
        }
        let truth = truth(point, dialect);
        let told = || format!("{name}: {}: {:?}, {}", point.name, finding.seen, finding.remark);
        match (&finding.seen, &truth) {
            // A 404 with the code of an unknown key is both, by chance.
            (Some(Seen::Word("error")), Some(Seen::Word("not-found"))) => {
                assert_eq!(finding.evidence.as_ref().map(|evidence| evidence.http), Some(404), "{}", told());
            }
            (Some(seen), Some(truth)) => assert!(seen.agrees(truth), "{} instead of {truth}", told()),
            _ => panic!("{} instead of {truth:?}", told()),
        }
        assert!(finding.evidence.is_some() && finding.confidence.is_some(), "{}", told());
    }
}

/// A client with the written dialect never treats a refusal as "not executed" if it means that an earlier request may
/// have been executed, whether the survey has seen that refusal or not. And it knows every surveyed code.
fn check_safe(dialect: &Dialect, written: &Dialect, name: &str) {
    let own = pg_sandbox::dialect();
    let done = [
        "duplicate-unique-reference",
        "preauth-closed",
        "nothing-to-refund",
        "field-already-set",
        "authentication-already-used",
    ];
    for situation in done {
        let entry = dialect.error_for(situation).or_else(|| own.error_for(situation)).expect("a code");
        let meaning = written.error_meaning(3, &entry.code, entry.http.unwrap_or(400));
        assert!(meaning.remedy == Remedy::LookUp || !meaning.known, "{name}: {situation}: {meaning:?}");
    }
    for entry in &written.declined {
        let real = dialect.is_declined(&entry.code) || own.is_declined(&entry.code);
        assert!(real, "{name}: {} is not a decline", entry.code);
    }
    assert!(!written.lookup.immediate && written.errors.iter().all(|entry| entry.scope.is_none()), "{name}");
}

#[test]
fn a_payment_without_a_reply_is_reported_and_its_reference_not_used_again() {
    let sandbox = sandbox(None);
    let mut survey = Survey::new(&account_of(&sandbox, "main"), paying(), 7);
    let mut lost = Vec::new();
    let ending = drive(&mut survey, &sandbox, |request| {
        let body = String::from_utf8_lossy(request.body()).into_owned();
        let reference = body.split('&').find_map(|pair| pair.strip_prefix("uniqueMerchantReference="));
        let pays = request.uri().path().contains("/transaction/auth");
        let reply = sandbox.send(request).map_err(|_| Failure::MaybeSent)?;
        if let Some(reference) = reference.filter(|_| pays) {
            assert!(lost.iter().all(|earlier| earlier != reference), "{reference} is used again");
            if String::from_utf8_lossy(reply.body()).contains(r#""transactionStatusCode":"600""#) {
                lost.push(reference.to_owned());
                return Err(Failure::MaybeSent);
            }
        }
        Ok(reply)
    });
    assert!(!lost.is_empty(), "{ending:?}");
    assert!(survey.report(&pg_sandbox::dialect()).unanswered_payment, "{ending:?}");
}

#[test]
fn every_visible_difference_is_found_and_what_is_written_makes_a_second_survey_agree() {
    let ready = READY.iter().map(|(name, text)| ((*name).to_owned(), Dialect::from_toml(text).expect("a dialect")));
    let random = (0..40).map(|seed| (format!("random {seed}"), random_dialect(seed)));
    let own = std::iter::once(("sandbox".to_owned(), (*pg_sandbox::dialect()).clone()));
    let (mut differences, mut surveys) = (0, 0);
    for (name, dialect) in own.chain(ready).chain(random) {
        let sandbox = sandbox(Some(dialect.clone()));
        let (report, written) = surveyed(&sandbox, paying(), &pg_sandbox::dialect(), 11);
        check_everything(&dialect, &report, &name);
        check_safe(&dialect, &written, &name);
        differences += report.with(Conclusion::Differs).count();
        surveys += 1;
        if name == "sandbox" {
            assert_eq!(differences, 0);
        }

        let (second, again) = surveyed(&sandbox, paying(), &written, 12);
        let differ: Vec<_> = second.with(Conclusion::Differs).collect();
        assert!(differ.is_empty(), "{name}: {differ:#?}");
        assert_eq!(again, written, "{name}");
    }
    assert!(surveys == 44 && differences > 40 * 20, "{differences} differences of {surveys} services");
}

/// Without payments it finds the same as far as it looks, and makes no transaction and no token.
#[test]
fn nothing_is_charged_or_stored_without_payments() {
    for seed in 0..20 {
        let dialect = random_dialect(seed);
        let sandbox = sandbox(Some(dialect.clone()));
        let (report, written) = surveyed(&sandbox, Options::default(), &pg_sandbox::dialect(), seed);
        check_safe(&dialect, &written, &format!("random {seed}"));
        // Used references were not seen, so any of these codes may be theirs.
        let unknown = written.errors.iter().filter(|entry| entry.code.message().is_none());
        assert!(unknown.map(|entry| entry.remedy).all(|remedy| remedy == Some(Remedy::LookUp)), "{seed}");
        let decided = report.findings.iter().filter_map(|finding| Some((finding.point, finding.seen.as_ref()?)));
        let decided: Vec<_> = decided.collect();
        for (point, seen) in &decided {
            let truth = truth(point, &dialect).expect("the sandbox does something");
            assert!(seen.agrees(&truth), "{seed}: {}: {seen} instead of {truth}", point.name);
        }
        assert!(decided.len() >= 20, "{seed}: {}", decided.len());
        for finding in report.with(Conclusion::NotDecided) {
            let why = ["needs payments", "was not requested"].iter().any(|why| finding.remark.starts_with(why));
            assert!(why, "{}: {}", finding.point.name, finding.remark);
        }
        for records in ["transactions", "tokens", "batches", "sms"] {
            assert_eq!(listed(&sandbox, records), 0, "{records}");
        }
    }
}

fn listed(sandbox: &InProcess, records: &str) -> usize {
    let request = Request::get(format!("{}/_sandbox/{records}", InProcess::BASE_URL)).body(Bytes::new());
    let reply = sandbox.send(request.expect("a request")).expect("a reply");
    serde_json::from_slice::<Vec<serde_json::Value>>(reply.body()).expect("a list").len()
}

/// A request that works as long as the account and the address do.
fn works(sandbox: &InProcess, merchant: &str) -> bool {
    let session = pg_model::Initiate::new("https://shop.example/error");
    let request = account_of(sandbox, merchant).request(&session).expect("a request");
    sandbox.send(request).expect("a reply").status().is_success()
}

#[test]
fn the_strict_account_is_neither_throttled_nor_locked_out() {
    for (dialect, wrong_password) in [(None, false), (None, true), (Some(random_dialect(3)), true)] {
        let spoken = dialect.clone().unwrap_or_else(|| (*pg_sandbox::dialect()).clone());
        let limit = spoken.error_for("rate-limit-exceeded").expect("a code").code.to_string();
        let sandbox = sandbox(dialect);
        let mut options = paying();
        options.wrong_password = wrong_password;
        // Again and again, as in a loop of a script: 100 requests a minute are all that the account has.
        let (mut refused, mut sent, mut limited) = (0, 0, 0);
        for seed in 0..4 {
            let mut survey = Survey::new(&account_of(&sandbox, "strict"), options.clone(), seed);
            let ending = drive(&mut survey, &sandbox, |request| {
                sent += 1;
                let reply = sandbox.send(request).map_err(|_| Failure::MaybeSent)?;
                let text = String::from_utf8_lossy(reply.body()).into_owned();
                let is = |code: &str| text.contains(&format!("\"errorCode\":\"{code}\""));
                refused += usize::from(is("102") || is("123"));
                limited += usize::from(is(&limit));
                Ok(reply)
            });
            assert_eq!(ending, Ending::Complete);
            let report = survey.report(&pg_sandbox::dialect());
            // Its raw cards are not permitted, and everything else was found.
            let raw = report.finding("preauth-closed").expect("a finding");
            assert_eq!((raw.conclusion, raw.seen.is_none()), (Conclusion::NotDecided, true));
            assert!(report.finding("duplicate-unique-reference").expect("a finding").seen.is_some());
            assert!(works(&sandbox, "strict"), "a good request after the survey");
            // It keeps to the limit, and cannot know what earlier surveys have sent.
            assert!(seed > 0 || limited == 0, "{limited}");
        }
        assert!(sent > 250, "{sent}");
        assert_eq!(refused, if wrong_password { 4 } else { 0 }, "one a survey, and only where it was asked for");
    }
}

/// In no minute more than it was told, however the service counts.
#[test]
fn a_survey_keeps_to_its_limit() {
    for limit in [7_u32, 40] {
        let sandbox = sandbox(None);
        let mut options = paying();
        options.per_minute = limit;
        let mut survey = Survey::new(&account_of(&sandbox, "main"), options, 1);
        let mut sent = Vec::new();
        let ending = drive(&mut survey, &sandbox, |request| {
            sent.push((request.uri().path().starts_with("/v3"), sandbox.unix_time()));
            plainly(&sandbox)(request)
        });
        assert_eq!(ending, Ending::Complete);
        for (_, at) in &sent {
            let minute = sent.iter().filter(|(gateway, time)| *gateway && time <= at && *time + MINUTE > *at);
            assert!(minute.count() <= limit as usize, "{limit} a minute");
        }
        assert!(sent.len() > 80, "{}", sent.len());
    }
}

/// Wrong credentials: nothing more is sent after the first refusal.
#[test]
fn wrong_credentials_cost_one_request() {
    let sandbox = sandbox(None);
    let mut merchant = sandbox.merchant("strict").expect("an account");
    merchant.api_password = pg_sandbox::secret::Secret::new("wrong");
    let mut survey = Survey::new(&account(&merchant), paying(), 1);
    let mut sent = 0;
    let ending = drive(&mut survey, &sandbox, |request| {
        sent += 1;
        plainly(&sandbox)(request)
    });
    assert_eq!((ending, sent), (Ending::CredentialsRefused("102".to_owned()), 1));
    assert!(works(&sandbox, "strict"));
}

/// Credentials that stop being valid in the middle: one more request, and not a second one.
#[test]
fn credentials_that_are_withdrawn_meanwhile_end_it_at_once() {
    for after in [1, 5, 12, 20, 40] {
        let sandbox = sandbox(None);
        let mut survey = Survey::new(&account_of(&sandbox, "main"), paying(), 1);
        let (mut sent, mut refused) = (0, 0);
        let ending = drive(&mut survey, &sandbox, |request| {
            sent += 1;
            let form = request.uri().path().contains("postform");
            if sent > after && !form {
                refused += 1;
                let body = Bytes::from_static(br#"{"errorCode":"102","traceCode":"1","errorMessage":"no"}"#);
                return Ok(Response::builder().status(401).body(body).expect("a reply"));
            }
            plainly(&sandbox)(request)
        });
        assert_eq!((ending, refused), (Ending::CredentialsRefused("102".to_owned()), 1), "after {after}");
    }
}

/// A service that reads no credentials from spoilt requests counts at most one of them as a failure.
#[test]
fn spoilt_requests_cost_one_failure_at_most() {
    let sandbox = sandbox(None);
    let mut survey = Survey::new(&account_of(&sandbox, "main"), Options::default(), 1);
    let mut refused = 0;
    let ending = drive(&mut survey, &sandbox, |request| {
        let body = String::from_utf8_lossy(request.body());
        let type_of = request.headers().get("content-type").is_some_and(|kind| kind == "text/plain");
        if request.method() == "GET" || type_of || body.contains("%zz") || body.len() > 20_000 {
            refused += 1;
            let body = Bytes::from_static(br#"{"errorCode":"102","traceCode":"1","errorMessage":"no"}"#);
            return Ok(Response::builder().status(401).body(body).expect("a reply"));
        }
        plainly(&sandbox)(request)
    });
    assert_eq!((ending, refused), (Ending::Complete, 1));
    let report = survey.report(&pg_sandbox::dialect());
    let left_out = report.finding("malformed-body").expect("a finding");
    assert!(left_out.remark.contains("no further requests were sent"), "{}", left_out.remark);
}

/// Another program uses up the account's requests: the service's refusal does not answer a probe.
#[test]
fn account_codes_are_not_request_codes() {
    for seed in 0..10 {
        let dialect = random_dialect(seed);
        let sandbox = sandbox(Some(dialect.clone()));
        let mut survey = Survey::new(&account_of(&sandbox, "strict"), Options::default(), seed);
        let mut sent = 0;
        let ending = drive(&mut survey, &sandbox, |request| {
            sent += 1;
            if sent == 6 {
                for _ in 0..100 {
                    works(&sandbox, "strict");
                }
            }
            plainly(&sandbox)(request)
        });
        assert_eq!(ending, Ending::Complete);
        let report = survey.report(&dialect);
        let differ: Vec<_> = report.with(Conclusion::Differs).collect();
        assert!(differ.is_empty(), "{seed}: {differ:#?}");
        let limit = report.finding("rate-limit-exceeded").expect("a finding");
        assert_eq!(limit.conclusion, Conclusion::Agrees, "{seed}: learnt on the way");
        let written = survey.dialect("surveyed");
        let entry = written.error_for("rate-limit-exceeded").expect("an entry");
        assert_eq!(entry.remedy, Some(Remedy::WaitOneMinute), "{seed}");
    }
}

#[test]
fn a_service_that_cannot_be_reached_ends_it_and_no_payment_is_sent_twice() {
    let sandbox = sandbox(None);
    let mut survey = Survey::new(&account_of(&sandbox, "main"), paying(), 1);
    let ending = drive(&mut survey, &sandbox, |_| Err(Failure::NotSent));
    assert_eq!(ending, Ending::NotReachable);

    // Replies to payments are lost: each payment arrives once.
    let mut survey = Survey::new(&account_of(&sandbox, "main"), paying(), 2);
    let (mut bodies, mut has_card) = (Vec::new(), false);
    let ending = drive(&mut survey, &sandbox, |request| {
        has_card |= request.body().windows(16).any(|window| window == b"4000000000001000");
        let method = request.uri().path().rsplit('/').nth(1).unwrap_or_default().to_owned();
        if has_card && ["authSessionKey", "refund", "preauth", "capturepreauth"].contains(&&*method) {
            assert!(!bodies.contains(request.body()), "sent twice");
            bodies.push(request.body().clone());
            plainly(&sandbox)(request)?;
            return Err(Failure::MaybeSent);
        }
        plainly(&sandbox)(request)
    });
    assert_eq!(ending, Ending::Complete);
    assert!(bodies.len() >= 5, "{}", bodies.len());
}

/// What no request can decide has a question to the operator.
#[test]
fn undecidable_points_have_a_question() {
    let page = include_str!("../../../docs/reference/questions.md");
    let mut asked = 0;
    for point in points().filter(|point| point.undecidable.is_some()) {
        let register = pg_sandbox::Assumption::numbered(point.question).expect("an assumption");
        let number = register.question_number().unwrap_or_else(|| panic!("{}: A{}", point.name, point.question));
        let heading = format!("\n## {number}. {}\n", register.title);
        assert!(page.replace('\\', "").contains(&heading), "{heading}");
        asked += 1;
    }
    assert!(asked >= 14, "{asked}");
}

#[test]
fn a_code_for_many_situations_is_less_certain() {
    let (_, terse) = READY.iter().find(|(name, _)| *name == "terse").expect("a ready dialect");
    let sandbox = sandbox(Some(Dialect::from_toml(terse).expect("a dialect")));
    let (report, written) = surveyed(&sandbox, paying(), &pg_sandbox::dialect(), 1);
    let card = report.finding("unknown-card-key").expect("a finding");
    assert_eq!(card.confidence, Some(Confidence::Medium));
    assert_eq!(report.finding("lookup.nothing").expect("a finding").confidence, Some(Confidence::High));
    let entry = written.error(&"197".into()).expect("an entry");
    assert!(entry.situations.len() >= 6, "{:?}", entry.situations);
    assert_eq!(written.lookup.nothing, Some(EmptyLookup::EmptyList));
}

/// Nothing that is secret is in a report or a plan.
#[test]
fn reports_hold_no_secret() {
    let sandbox = sandbox(None);
    let merchant = sandbox.merchant("main").expect("an account");
    let mut survey = Survey::new(&account(&merchant), paying(), 5);
    // A service that repeats what it was sent.
    drive(&mut survey, &sandbox, |request| {
        let form: String = form_urlencoded::parse(request.body()).map(|(_, value)| format!("{value} ")).collect();
        let reply = plainly(&sandbox)(request)?;
        let said = serde_json::from_slice::<serde_json::Value>(reply.body()).ok();
        let Some(mut said) = said.filter(|said| said.get("errorCode").is_some()) else { return Ok(reply) };
        said["errorMessage"] = form.into();
        Ok(reply.map(|_| Bytes::from(said.to_string())))
    });
    let report = survey.report(&pg_sandbox::dialect());
    let told = format!(
        "{} {} {report:?} {survey:?} {}",
        serde_json::to_string(&report).expect("JSON"),
        serde_json::to_string(&survey.plan()).expect("JSON"),
        survey.dialect("x").to_toml()
    );
    let secrets = [&merchant.api_key, &merchant.api_password, &merchant.sha_key];
    for secret in secrets.into_iter().map(|secret| secret.expose()).chain(["4000000000001000"]) {
        assert!(!told.contains(secret), "a secret in: {told}");
    }
    assert!(report.requests > 60, "{}", report.requests);
}
