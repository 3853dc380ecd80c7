//! The forms of a report.

use pg_rehearse::{Outcome, Plan, RunError, Verdict};
use pg_support::installed;
use quick_xml::{Reader, events::Event};

use crate::samples::{crate_folder, only, rehearse};

/// No report of a run without an end looks like one in which nothing failed.
#[tokio::test]
async fn a_run_that_is_interrupted_before_its_first_drill_is_no_success() {
    let plan = "[jobs.charge]\ncommand = [\"sleep\", \"600\"]\nwith = [\"sessionKey\"]\n";
    let plan = Plan::parse(plan, &std::env::temp_dir()).expect("it works");
    let ran = pg_rehearse::run(plan, &only(&["M01", "B03"]), |_| {}, std::future::ready(())).await;
    let report = ran.expect("it works");
    assert_eq!((report.interrupted, report.exit_code(), report.outcomes.len()), (true, 4, 0));
    let not_run: Vec<&str> = report.not_run.iter().map(|drill| drill.id).collect();
    assert_eq!(not_run, ["M01", "B03"]);
    assert_eq!(report.json()["notRun"], serde_json::json!(["M01", "B03"]));
    let junit = report.junit();
    assert!(junit.contains("tests=\"2\" failures=\"0\" errors=\"2\""), "{junit}");
    assert_eq!(junit.matches("<error type=\"interrupted\"").count(), 2, "{junit}");
    for text in [report.scorecard(false), report.html()] {
        assert!(text.contains("interrupted") && text.contains("2 drills did not run"), "{text}");
    }
}

#[test]
fn options_that_leave_no_drill_are_an_error() {
    let mut options = only(&["M01", "T01"]);
    options.skip = vec!["money".to_owned(), "t01".to_owned()];
    let error = rehearse("[jobs.charge]\ncommand = [\"true\"]\n", &std::env::temp_dir(), &options).unwrap_err();
    assert!(matches!(error, RunError::NoDrill), "{error}");
}

/// A baseline names drills as `--only` does, and no report counts them as new failures.
#[test]
fn known_failures_are_no_failures_in_reports() {
    let plan = "[jobs.charge]\ncommand = [\"false\"]\nwith = [\"sessionKey\"]\n";
    let broken = ["M01", "T01"];
    let ran = |baseline: &[&str]| {
        let mut options = only(&broken);
        options.baseline = baseline.iter().map(ToString::to_string).collect();
        rehearse(plan, &std::env::temp_dir(), &options).expect("it works")
    };
    let report = ran(&["m01", "tls"]);
    assert!(report.outcomes.iter().all(|outcome| outcome.known), "{}", report.scorecard(false));
    assert_eq!(report.exit_code(), 0);
    let junit = report.junit();
    assert!(junit.contains("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"2\""), "{junit}");
    assert_eq!(junit.matches("<skipped message=\"known failure: ").count(), 2, "{junit}");
    assert!(!junit.contains("<error") && !junit.contains("<failure"), "{junit}");

    let report = ran(&["M01"]);
    let known: Vec<bool> = report.outcomes.iter().map(|outcome| outcome.known).collect();
    assert_eq!((known, report.exit_code()), (vec![true, false], 3));
    assert!(report.junit().contains("tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"1\""));
}

/// A baseline that knew a drill as a whole would hide a worse failure of the same drill.
#[test]
fn a_baseline_knows_what_failed_and_in_which_part_of_a_drill() {
    let ran = |claim: &str, baseline: &str| {
        let claim = format!("command = [\"echo\", {:?}]\n", format!("{{\"claim\": \"{claim}\"}}"));
        let plan = format!("[jobs.refund]\n{claim}[jobs.charge]\n{claim}with = [\"sessionKey\"]\n");
        let mut options = only(&["M01", "M54"]);
        let lines = baseline.lines().filter(|line| !line.starts_with('#'));
        options.baseline = lines.map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect();
        rehearse(&plan, &std::env::temp_dir(), &options).expect("it works")
    };
    let known = ran("paid", "").baseline();
    for line in [
        "M01:unpaid-but-said-paid # ",
        "M54:nothing-moved-but-said-paid:executed-reply-lost # ",
        "M54:nothing-moved-but-said-paid:executed-reply-lost-lookups-nothing-found # ",
    ] {
        assert!(known.contains(line), "{line} in {known}");
    }
    assert_eq!(ran("paid", &known).exit_code(), 0);
    let new = ran("not-charged", &known);
    assert!(new.outcomes.iter().all(|outcome| !outcome.known), "{}", new.scorecard(false));
    // The drill alone, as in a baseline of an earlier version.
    assert_eq!(ran("not-charged", "M01\nM54\n").exit_code(), 0);
    let but_one = known.replace("M54:nothing-moved-but-said-paid:executed-reply-lost # ", "M54:other # ");
    let report = ran("paid", &but_one);
    assert_eq!((report.exit_code(), report.outcomes[1].known), (1, false), "{}", report.scorecard(false));
}

/// A CI service reads the file, and the job's end reads the exit code.
#[test]
fn failures_below_the_threshold_are_no_failures_in_junit() {
    let claim = r#"["echo", "{\"claim\": \"paid\"}"]"#;
    let plan = format!("[jobs.charge]\ncommand = {claim}\nwith = [\"sessionKey\"]\n");
    let ran = |threshold| {
        let mut options = only(&["M02"]);
        options.threshold = threshold;
        rehearse(&plan, &std::env::temp_dir(), &options).expect("it works")
    };
    let mut report = ran(pg_rehearse::Severity::Critical);
    assert_eq!(report.outcomes[0].verdict, Verdict::Failed, "{}", report.scorecard(false));
    let severity = report.outcomes[0].drill.severity;
    for (threshold, code, counts) in [
        (severity, 1, "tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\""),
        (pg_rehearse::Severity::Critical, 0, "tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\""),
    ] {
        report.threshold = threshold;
        let junit = report.junit();
        assert_eq!(report.exit_code(), code);
        assert_eq!(junit.matches(counts).count(), 2, "{junit}");
        assert_eq!(junit.contains("<failure"), code == 1, "{junit}");
    }
    assert!(report.junit().contains("<skipped message=\"below the threshold critical: "), "{}", report.junit());
    // An adapter that does not work shows nothing, however severe its failure would be.
    report.outcomes[0].verdict = Verdict::Broken;
    assert_eq!(report.exit_code(), 3);
    assert!(report.junit().contains("failures=\"0\" errors=\"1\" skipped=\"0\""), "{}", report.junit());
}

/// A job that prepares a drill prints what it likes, too: a newcomer's shop shows the request that failed.
#[test]
fn what_a_job_says_while_a_drill_is_prepared_is_masked_and_cut() {
    let long = "x".repeat(5_000);
    let said =
        format!("api_password=$PG_ENTERPRISE_API_PASSWORD card 4111111111111111 cvv2 795 postgres://u:secret@h {long}");
    let refuses = format!("echo \"{{\\\"claim\\\": \\\"unknown\\\", \\\"error\\\": \\\"{said}\\\"}}\"");
    for code in [refuses, format!("echo \"Error: {said}\" >&2; exit 1")] {
        let command = format!("command = [\"sh\", \"-c\", {}]\n", serde_json::Value::from(code));
        let jobs = ["checkout", "checkout_return", "callback"].map(|job| format!("[jobs.{job}]\n{command}"));
        let plan = format!("timeout_seconds = 60\n{}", jobs.concat());
        let report = rehearse(&plan, &std::env::temp_dir(), &only(&["B03", "K01", "K05"])).expect("it works");
        for (form, text) in [
            ("json", report.json().to_string()),
            ("junit", report.junit()),
            ("html", report.html()),
            ("scorecard", report.scorecard(true)),
        ] {
            assert!(text.matches("‹version 5 API password›").count() >= 3, "{form}: {text}");
            for secret in ["4111111111111111", "cvv2 795", "u:secret", &long[..700]] {
                assert!(!text.contains(secret), "{secret} in {form}");
            }
        }
        assert!(report.outcomes.iter().all(|one| !one.events.is_empty()), "the timeline is kept");
    }
}

#[test]
fn reports_are_valid_whole_and_masked() {
    if !installed(&["python3"], "the forms of a report") {
        return;
    }
    let folder = tempfile::tempdir().expect("it works");
    let given = folder.path().join("given");
    let command = format!("env >> '{}'; exec python3 src/init/pay.py", given.display());
    let plan = format!("[jobs.charge]\ncommand = [\"sh\", \"-c\", {command:?}]\nwith = [\"sessionKey\"]\n");
    let report = rehearse(&plan, &crate_folder(), &only(&["M01", "M04", "R01", "H01"])).expect("it works");
    assert_eq!(report.exit_code(), 0, "{}", report.scorecard(false));
    let json = report.json();
    assert_eq!(json["drills"].as_array().expect("it works").len(), 4);
    assert_eq!(json["summary"]["passed"], 2);
    assert_eq!(json["summary"]["notApplicable"], 2);
    let junit = report.junit();
    let mut reader = Reader::from_str(&junit);
    let (mut cases, mut skipped) = (0, 0);
    loop {
        match reader.read_event().expect("it works") {
            Event::Start(tag) | Event::Empty(tag) if tag.name().as_ref() == "testcase" => cases += 1,
            Event::Empty(tag) if tag.name().as_ref() == "skipped" => skipped += 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!((cases, skipped), (4, 2));
    let html = report.html();
    assert!(html.contains("<svg") && html.contains("M04") && !html.contains("<script") && !html.contains("http-equiv"));
    for outside in ["src=\"http", "href=\"http", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(report.scorecard(false).contains("2 passed, 0 failed"));
    // What the integration was given: a separate account for each drill.
    let given = std::fs::read_to_string(&given).expect("it works");
    let names = ["PG_API_PASSWORD=", "PG_SHA_KEY=", "PG_ENTERPRISE_API_PASSWORD="];
    let mut secrets: Vec<&str> =
        given.lines().filter_map(|line| names.iter().find_map(|name| line.strip_prefix(name))).collect();
    assert!(secrets.len() >= 6 && secrets.iter().all(|secret| secret.len() >= 8), "{secrets:?}");
    secrets.extend(["4000000000001000", "4000000000002008", "cardCV2=1", "\"cardCV2\":\"1"]);
    for (form, text) in
        [("json", json.to_string()), ("junit", junit), ("html", html), ("scorecard", report.scorecard(true))]
    {
        for secret in &secrets {
            assert!(!text.contains(secret), "{secret} in {form}");
        }
    }
}

/// The same seed gives the same cards, so a log has those of the last run.
#[test]
fn a_log_of_an_earlier_run_is_no_failure_of_this_one() {
    if !installed(&["python3"], "logs of an earlier run") {
        return;
    }
    let folder = tempfile::tempdir().expect("it works");
    let log = folder.path().join("shop.log");
    let pay = crate_folder().join("src/init/pay.py");
    let ran = |keeps: &str| {
        let command = format!("{} | python3 '{}'", keeps.replace("LOG", &log.display().to_string()), pay.display());
        let plan = format!(
            "timeout_seconds = 60\n[jobs.charge]\ncommand = [\"sh\", \"-c\", {command:?}]\nwith = [\"card\"]\n[hygiene]\nlogs = [\"shop.log*\"]\n"
        );
        let mut options = only(&["H03", "H04"]);
        options.jobs = 1;
        let report = rehearse(&plan, folder.path(), &options).expect("it works");
        let first = |one: &Outcome| one.findings.first().map(|finding| finding.text.clone()).unwrap_or_default();
        report.outcomes.iter().map(|one| (one.verdict, first(one))).collect::<Vec<_>>()
    };
    let is = |found: &[(Verdict, String)], verdict| found.iter().all(|one| one.0 == verdict);
    let leak = "env >> 'LOG'; tee -a 'LOG'";
    let anew = "env > 'LOG'; tee -a 'LOG'";
    for keeps in [leak, leak] {
        let found = ran(keeps);
        assert!(is(&found, Verdict::Failed), "{found:?}");
    }
    let hint = "before this rehearsal: delete the log to see only what is written now";
    for (keeps, verdict) in [("cat", Verdict::Warning), ("echo paying >> 'LOG'; cat", Verdict::Failed)] {
        let found = ran(keeps);
        assert!(is(&found, verdict) && found.iter().all(|one| one.1.ends_with(hint)), "{keeps}: {found:?}");
    }
    // Rotated, replaced, truncated, or new.
    for rotated in ["mv 'LOG' 'LOG.1'", "rm 'LOG'", ": > 'LOG'", "true"] {
        let found = ran(&format!("{rotated}; {leak}"));
        assert!(found[0].0 == Verdict::Failed, "{rotated}: {found:?}");
    }
    for _ in 0..2 {
        let found = ran(anew);
        assert!(found.iter().any(|one| one.0 == Verdict::Failed), "{found:?}");
    }
    // Begun anew by each process, with the same first lines and one more.
    for keeps in ["tee 'LOG'", "tee 'LOG' | (cat; echo paid >> 'LOG')"] {
        let found = ran(keeps);
        assert!(found[0].0 == Verdict::Failed, "{keeps}: {found:?}");
    }
}
