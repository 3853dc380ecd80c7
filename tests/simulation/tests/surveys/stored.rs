//! The state after a survey: its throttle for the next one, and a report if it is interrupted.

use super::*;

/// Sends a request that gets a reply.
fn replied(sandbox: &InProcess) -> impl FnMut(Request<Bytes>) -> Result<Response<Bytes>, Failure> {
    |request| Ok(plainly(sandbox)(request).expect("a reply"))
}

/// A second survey counts the requests of the first, and a third does not try credentials again that were refused.
#[test]
fn the_stored_throttle_of_a_survey_keeps_the_next_one_within_the_limits() {
    let sandbox = sandbox(None);
    let account = account_of(&sandbox, "strict");
    let mut times = Vec::new();
    let mut saved = None;
    for seed in 1..=3 {
        let mut options = Options::default();
        options.per_minute = 40;
        let survey = Survey::new(&account, options, seed);
        let mut survey = match &saved {
            None => survey,
            Some(saved) => survey.resume_throttle(saved).expect("the state of a throttle"),
        };
        let ending = drive(&mut survey, &sandbox, |request| {
            // Version 5 has other credentials, and states no limit.
            if !request.uri().path().contains("/enterprise") {
                times.push(sandbox.unix_time());
            }
            plainly(&sandbox)(request)
        });
        assert_eq!(ending, Ending::Complete);
        saved = Some(survey.saved_throttle());
    }
    assert!(times.len() > 60, "{} requests", times.len());
    for window in times.windows(41) {
        assert!(window[40] - window[0] >= MINUTE, "41 requests in {:?}", window[40] - window[0]);
    }

    let merchant = sandbox.merchant("strict").expect("an account");
    let base = BaseUrl::parse(InProcess::BASE_URL).expect("an address");
    let wrong = Account::new(base, Credentials::new(merchant.api_key.expose(), "wrong", merchant.sha_key.expose()));
    let mut sent = 0;
    let mut saved = None;
    for seed in 1..=8 {
        let survey = Survey::new(&wrong, Options::default(), seed);
        let mut survey = match &saved {
            None => survey,
            Some(saved) => survey.resume_throttle(saved).expect("the state of a throttle"),
        };
        let ending = drive(&mut survey, &sandbox, |request| {
            sent += 1;
            plainly(&sandbox)(request)
        });
        let refused = if seed == 1 { Ending::CredentialsRefused } else { Ending::CredentialsRefusedEarlier };
        assert_eq!(ending, refused("102".to_owned()));
        saved = Some(survey.saved_throttle());
    }
    assert_eq!(sent, 1, "eight surveys with a wrong password");
}

#[test]
fn an_interrupted_survey_reports_what_it_has_found_until_then() {
    let sandbox = sandbox(None);
    let mut survey = Survey::new(&account_of(&sandbox, "main"), Options::default(), 1);
    let mut left = 25;
    let ending = drive(&mut survey, &sandbox, |request| {
        left -= 1;
        if left == 0 { Err(Failure::MaybeSent) } else { plainly(&sandbox)(request) }
    });
    assert_eq!(ending, Ending::Complete, "a lost reply alone ends nothing");

    let mut survey = Survey::new(&account_of(&sandbox, "main"), Options::default(), 2);
    let mut event = Event::Begin;
    for _ in 0..25 {
        event = carried_out(survey.step(event, now(&sandbox)), &sandbox, replied(&sandbox)).expect("it goes on");
    }
    survey.interrupt(now(&sandbox));
    assert!(matches!(survey.step(Event::Woken, now(&sandbox)), Action::Done(Ending::Interrupted)));
    let report = survey.report(&pg_sandbox::dialect());
    assert_eq!(report.ending, Ending::Interrupted);
    let seen = report.findings.iter().filter(|finding| finding.seen.is_some()).count();
    assert!(seen > 3 && report.with(Conclusion::NotDecided).count() > 3, "{seen} seen");
    assert!(!survey.dialect("partial").to_toml().is_empty());
}

/// Only a payment that was sent and has no reply may have been made.
#[test]
fn an_interruption_leaves_a_payment_open_only_if_one_is_without_a_reply() {
    let paid = |request: &Request<Bytes>| request.uri().path().contains("/transaction/preauth");
    // Interrupted at the first request, at a payment in flight, and after one whose reply was lost.
    for (lost, last, expected) in [
        (false, "/session/initiate", Ending::Interrupted),
        (false, "/transaction/preauth", Ending::InterruptedInPayment),
        (false, "/transaction/capturepreauth", Ending::InterruptedInPayment),
        (false, "/token/lookup", Ending::Interrupted),
        (true, "/session/initiate", Ending::InterruptedInPayment),
    ] {
        let sandbox = sandbox(None);
        let mut survey = Survey::new(&account_of(&sandbox, "main"), paying(), 2);
        let (mut event, mut has_lost) = (Event::Begin, false);
        loop {
            event = match survey.step(event, now(&sandbox)) {
                Action::Send(request) if has_lost == lost && request.uri().path().contains(last) => break,
                Action::Send(request) if lost && paid(&request) => {
                    has_lost = true;
                    Event::Failed(Failure::MaybeSent)
                }
                action => carried_out(action, &sandbox, replied(&sandbox)).expect("it goes on"),
            };
        }
        survey.interrupt(now(&sandbox));
        assert_eq!(survey.report(&pg_sandbox::dialect()).ending, expected, "{last}");
    }
}
