//! Replies that are not the service's: of a captive portal, of a proxy, of another program.

use super::*;

const PAGE: &str = "<h1>Welcome to the hotel Wi-Fi</h1>";

fn foreign(status: u16, content_type: &str, body: &'static str) -> Response<Bytes> {
    let reply = Response::builder().status(status).header("content-type", content_type);
    reply.body(Bytes::from_static(body.as_bytes())).expect("a reply")
}

#[test]
fn a_foreign_first_reply_ends_the_survey_at_once() {
    for (status, body) in [(200, PAGE), (200, "[1,2,3]"), (200, "{}"), (200, ""), (302, ""), (404, PAGE), (502, PAGE)] {
        let sandbox = sandbox(None);
        let mut survey = Survey::new(&account_of(&sandbox, "main"), paying(), 1);
        let mut sent = 0;
        let ending = drive(&mut survey, &sandbox, |_| {
            sent += 1;
            Ok(foreign(status, "text/html", body))
        });
        let head = format!("HTTP {status}, content type text/html");
        assert_eq!((ending, sent), (Ending::NotTheService(head), 1), "{status} {body}");
        assert!(survey.report(&pg_sandbox::dialect()).findings.iter().all(|finding| finding.seen.is_none()));
    }
}

/// Sessions are opened, and every other request gets a foreign reply: it decides nothing.
#[test]
fn foreign_replies_to_probes_decide_nothing() {
    for (status, body) in [(200, PAGE), (200, "[1,2,3]"), (200, ""), (302, ""), (502, PAGE)] {
        let sandbox = sandbox(None);
        let mut survey = Survey::new(&account_of(&sandbox, "main"), paying(), 1);
        let ending = drive(&mut survey, &sandbox, |request| {
            let passes = request.uri().path().contains("/session/initiate");
            if passes { plainly(&sandbox)(request) } else { Ok(foreign(status, "text/html", body)) }
        });
        assert_eq!(ending, Ending::Complete);
        let report = survey.report(&pg_sandbox::dialect());
        let decided = report.findings.iter().find(|finding| finding.seen.is_some());
        assert!(decided.is_none(), "{status} {body}: {decided:?}");
        let remark = &report.finding("unknown-transaction-key").expect("a finding").remark;
        assert_eq!(*remark, format!("not a reply of the service: HTTP {status}, content type text/html"));
        let written = survey.dialect("x");
        assert!(written.errors.is_empty() && written.declined.is_empty() && written.lookup.nothing.is_none());
    }
}

/// A proxy fails for a while: the survey pauses, and one point stays open.
#[test]
fn a_proxy_that_fails_for_a_while_leaves_one_point_open() {
    let sandbox = sandbox(None);
    let mut survey = Survey::new(&account_of(&sandbox, "main"), Options::default(), 1);
    let mut sent = 0;
    let ending = drive(&mut survey, &sandbox, |request| {
        sent += 1;
        // The reply to a lookup, and those to two control requests.
        if (4..7).contains(&sent) { Ok(foreign(502, "text/html", PAGE)) } else { plainly(&sandbox)(request) }
    });
    assert_eq!(ending, Ending::Complete);
    let report = survey.report(&pg_sandbox::dialect());
    assert_eq!(report.with(Conclusion::Differs).count(), 0);
    let lost = report.findings.iter().filter(|finding| finding.remark.contains("HTTP 502"));
    let lost: Vec<&str> = lost.map(|finding| finding.point.name).collect();
    assert_eq!(lost, ["lookup.nothing"]);
}

/// Earlier surveys without any reply: the next one sends nothing, and does not speak of refused credentials.
#[test]
fn too_many_requests_without_a_reply_are_not_refused_credentials() {
    let sandbox = sandbox(None);
    let account = account_of(&sandbox, "main");
    let (mut saved, mut endings) = (None, Vec::new());
    for seed in 0..4 {
        let survey = Survey::new(&account, Options::default(), seed);
        let mut survey = match &saved {
            None => survey,
            Some(saved) => survey.resume_throttle(saved).expect("the state of a throttle"),
        };
        endings.push(drive(&mut survey, &sandbox, |_| Err(Failure::MaybeSent)));
        saved = Some(survey.saved_throttle());
    }
    assert_eq!((endings.first(), endings.last()), (Some(&Ending::NotReachable), Some(&Ending::Unanswered)));
    assert!(!Ending::Unanswered.to_string().contains("refused"), "{}", Ending::Unanswered);
}
