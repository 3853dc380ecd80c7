//! Surveys of sandboxes that speak different dialects, over real HTTP.

use serde_json::Value;

use crate::command::{
    peer::{Peer, closed_address, reply},
    pg::{Ended, Started, the_guide_has_the_exit_codes_of, words, write_private},
    sandbox::Running,
    update_cards::relay::{Relay, Stop},
};

const CARDS: &str = "\
approved 4000000000001000 12/49 123
declined 4000000000002008 12/49 123
insufficient-funds 4000000000003006 12/49 123
challenge 4000000000005001 12/49 123
not-enrolled 4000000000007007 12/49 123
";

fn survey(sandbox: &Running, account: &str, flags: &str) -> Ended {
    sandbox.with_account(words(&format!("survey {flags}")), account).run()
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.out))
}

/// The first survey is what the guide shows, and what it writes is what the service does: to a second survey, and to another sandbox.
#[test]
fn three_dialects_are_found_written_and_agree_with_a_second_survey() {
    let folder = tempfile::tempdir().unwrap();
    let cards = folder.path().join("cards.txt");
    write_private(&cards, CARDS);
    let cards = cards.display().to_string();
    let mut printed = words("survey --plan").run().ends(0).out;
    for (dialect, code, differences) in [("six-hundreds", "207", 17), ("not-found", "125", 13), ("terse", "197", 24)] {
        let own = folder.path().join(format!("{dialect}.toml")).display().to_string();
        let sandbox = Running::start(&["--dialect", dialect]);
        let base = sandbox.facts["baseUrl"].as_str().unwrap();
        let first = survey(&sandbox, "main", &format!("--with-payments --cards {cards} --write {own}")).ends(0);
        let first = first.hides(&["4000000000001000", "4000000000002008"]);
        let first = first.prints(&format!("Differs from the dialect \"sandbox\" ({differences})\n"));
        printed.push_str(&first.out.replace(base, "https://staging.example"));
        let throttle = std::fs::read_to_string(format!("{own}.throttle")).unwrap();
        assert!(throttle.contains("account throttle"), "{throttle}");

        let again = format!("--with-payments --cards {cards} --against {own}");
        let second = survey(&sandbox, "main", &again).ends(0).prints("Agrees with the dialect \"surveyed\" (41)");
        assert!(!second.out.contains("Differs from"), "{dialect}: {}", second.out);
        assert!(!second.err.contains("not compared"), "{dialect}: {}", second.err);
        // Without payments, a change of half of the file would not be seen.
        let free = survey(&sandbox, "main", &format!("--against {own} --json")).ends(0);
        let findings = json(&free)["findings"].as_array().unwrap().clone();
        let left_out = |one: &&Value| one["conclusion"] == "not-decided" && !one["ours"].is_null();
        let left_out = findings.iter().filter(left_out).count();
        assert!(left_out > 15, "{}", free.out);
        free.says(&format!("\"surveyed\" that were not compared, and may have changed: {left_out} (see"))
            .says("--with-payments --cards FILE");
        printed.push_str(&second.out);
        let copy = Running::start(&["--dialect", &own]);
        let third = survey(&copy, "main", &format!("{again} --json")).ends(0);
        assert_eq!(json(&third)["differences"], 0, "{dialect}: {}", third.out);

        let with_evidence = format!("--with-payments --cards {cards} --against sandbox --json");
        let report = json(&survey(&sandbox, "main", &with_evidence).ends(1));
        assert_eq!((&report["ending"], &report["comparedWith"]), (&"complete".into(), &"sandbox".into()));
        assert_eq!(report["differences"], differences);
        let findings = report["findings"].as_array().unwrap();
        let of = |point: &str| findings.iter().find(|finding| finding["point"] == point).unwrap();
        let used = of("duplicate-unique-reference");
        assert_eq!((&used["evidence"]["code"], &used["conclusion"]), (&code.into(), &"differs".into()));
        assert_eq!((&used["assumption"], &used["ours"]), (&92.into(), &"error 950, HTTP 400".into()));
        assert_eq!(of("lookup.immediate")["conclusion"], "undecidable");
        let question = &of("lookup.immediate")["question"];
        let number = question["number"].as_u64().unwrap();
        assert_eq!(question["at"], format!("docs/reference/questions.md#{number}-what-a-lookup-sees"));
    }
    let guide = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/survey.md")).unwrap();
    let shown: Vec<&str> = guide.split("```text\n").skip(1).filter_map(|part| part.split("```").next()).collect();
    assert!(shown.len() >= 3);
    // A line with `…` stands for the lines that the guide leaves out.
    for part in shown.iter().flat_map(|block| block.split("…\n")) {
        assert!(printed.contains(part), "the guide shows what is not printed: {part}\n{printed}");
    }
}

#[test]
fn wrong_values_are_refused_before_anything_is_sent() {
    let sandbox = Running::start(&[]);
    for (flags, says) in [
        ("--currency pounds", "expected a currency of ISO 4217"),
        ("--currency GPB", "expected a currency of ISO 4217"),
        ("--currency gbp", "expected a currency of ISO 4217"),
        ("--write own.toml --throttle own.toml", "--throttle and --write name the same file"),
        ("--write own.toml --throttle ./own.toml", "--throttle and --write name the same file"),
        ("--write cards.txt --cards cards.txt", "--cards and --write name the same file"),
        ("--write own.toml --against ./own.toml", "--against and --write name the same file"),
        ("--write own.toml --dialect own.toml", "--dialect and --write name the same file"),
        ("--write own.toml --card approved=@own.toml", "--card and --write name the same file"),
        ("--throttle profiles.toml --profile-file profiles.toml", "--profile-file and --throttle name the same file"),
        ("--write -", "- cannot be written: it is no name of a file"),
        ("--throttle -", "- cannot be written: it is no name of a file"),
        ("--write own.toml --cards own.toml.throttle", "--cards and the default of --throttle name the same file"),
    ] {
        survey(&sandbox, "main", flags).ends(2).says(says);
    }
    let requests =
        words(&format!("sandbox list requests --json --sandbox {}", sandbox.facts["baseUrl"].as_str().unwrap()));
    assert_eq!(requests.run().ends(0).out.trim(), "[]");
}

/// As on a full disk: the answers of the operator in the old file are not lost, and no part of a dialect is loaded for the whole.
#[test]
#[cfg(unix)]
fn a_dialect_that_cannot_be_written_leaves_the_old_one() {
    let sandbox = Running::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.toml");
    let flags = format!("survey --write {}", own.display());
    sandbox.with_account(words(&flags), "main").run().ends(0);
    let old = format!("{}# asked the operator\n", std::fs::read_to_string(&own).unwrap());
    std::fs::write(&own, &old).unwrap();
    let limited = sandbox.with_account(words(&flags), "main");
    let limited = limited.under("sh", &["-c", "ulimit -f 4; exec \"$@\"", "sh"]);
    limited.run().ends(4).says("own.toml cannot be written");
    assert_eq!(std::fs::read_to_string(&own).unwrap(), old);
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| name.to_str().unwrap().starts_with("own.toml")), "{names:?}");
}

#[test]
fn a_survey_whose_throttle_cannot_be_stored_any_more_reports_its_findings() {
    let sandbox = Running::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let throttle = folder.path().join("gone/throttle");
    std::fs::create_dir(throttle.parent().unwrap()).unwrap();
    let own = folder.path().join("own.toml");
    let mut relay = Relay::stopping(sandbox.facts["baseUrl"].as_str().unwrap(), 12, Stop::BeforeReply);
    let flags = format!("survey --throttle {} --write {}", throttle.display(), own.display());
    let survey = sandbox.with_account(words(&flags), "main").env("PG_BASE_URL", &relay.base).start();
    relay.stopped();
    std::fs::remove_dir_all(throttle.parent().unwrap()).unwrap();
    relay.go_on();
    let ended = survey.ended().ends(4);
    let ended = ended.says(&format!("cannot store the state of the rate limit in {}: ", throttle.display()));
    ended.prints("Survey of ").prints("A57");
    assert!(std::fs::read_to_string(&own).unwrap().contains("# PARTIAL"));
    // Nothing was found, so nothing is reported.
    let nowhere = folder.path().join("file/throttle");
    std::fs::write(folder.path().join("file"), "").unwrap();
    assert_eq!(self::survey(&sandbox, "main", &format!("--throttle {}", nowhere.display())).ends(2).out, "");
}

#[test]
fn the_strict_account_works_after_a_survey_and_wrong_credentials_cost_one_request() {
    let sandbox = Running::start(&[]);
    survey(&sandbox, "strict", "--with-wrong-password").ends(0).prints("wrong-password");
    let session = "call session/initiate errorPageUrl=https://shop.example/error";
    sandbox.with_account(words(session), "strict").run().ends(0);

    let wrong = sandbox.with_account(words("survey"), "strict").env("PG_API_PASSWORD", "canary0password");
    wrong
        .run()
        .ends(1)
        .says("the service refused the credentials (102); nothing was sent after that; correct the credentials")
        .hides(&["canary0password"]);
    sandbox.with_account(words(session), "strict").run().ends(0);
}

#[test]
fn credentials_that_were_refused_earlier_are_reported_with_the_file_that_remembers_them() {
    let sandbox = Running::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.toml").display().to_string();
    let wrong = || {
        let survey = words(&format!("survey --write {own}"));
        sandbox.with_account(survey, "main").env("PG_API_PASSWORD", "canary0password").run().ends(1)
    };
    let (first, second) = (wrong(), wrong());
    second
        .says("the service refused these credentials (102) in an earlier survey, so they were not sent again; correct them")
        .says(&format!("or delete {own}.throttle if they were valid"))
        .prints(", 0 requests\n");
    // There is nothing to report about any point.
    assert_eq!(first.out.lines().count(), 1, "{}", first.out);
    // Corrected ones are sent.
    survey(&sandbox, "main", &format!("--write {own}")).ends(0);
    std::fs::remove_file(format!("{own}.throttle")).unwrap();
}

#[test]
fn a_mistyped_card_is_refused_before_anything_is_sent() {
    let nowhere = closed_address();
    for (card, says) in [
        ("approved 4000000000001001 12/49 123", "line 1: the card number has a wrong check digit"),
        ("not-enrolled 4000000000001000 13/49 123", "line 1: the month of the expiry date is not 01 to 12"),
        ("declined 4000000000001000 00/49 123", "line 1: the month of the expiry date is not 01 to 12"),
    ] {
        let survey = words("survey --with-payments --cards -").input(card).account(&nowhere).run();
        survey.ends(2).says(says).hides(&["4000000000001"]);
    }
}

/// The points that need a card that does not do what its role says are not decided: the report names the card and the reason.
#[test]
fn a_card_that_does_not_work_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.toml").display().to_string();
    let roles = ["approved", "declined", "insufficient-funds", "challenge", "not-enrolled"];
    let expired = "the card form returned error 109 on cardExpiryYear";
    let no_payment = "no payment was approved: the reply had the status \"901\"";
    let no_page = "no authentication with a challenge page began: the reply had the status \"608\"";
    let cases = [
        (&roles[..], CARDS.replace("12/49", "12/20"), expired),
        // The other cards work.
        (&["not-enrolled"], CARDS.replace("4000000000007007 12/49", "4000000000007007 12/20"), expired),
        (&["approved"], "approved 4000000000002008 12/49 123".to_owned(), no_payment),
        (&["declined"], CARDS.replace("4000000000002008", "4000000000001000"), "its payment was approved"),
        (&["challenge"], "challenge 4000000000004004 12/49 123".to_owned(), no_page),
    ];
    for (roles, cards, why) in cases {
        let sandbox = Running::start(&[]);
        let command = words(&format!("survey --with-payments --cards - --write {own} --throttle {own}.throttle"));
        let mut ended = sandbox.with_account(command, "main").input(&cards).run().ends(1);
        let told = |role: &str| format!("the test card {role} did not work: {why}");
        let wrong: Vec<&str> = ended.out.lines().filter(|line| line.starts_with("the test card ")).collect();
        assert_eq!(wrong, roles.iter().map(|role| told(role)).collect::<Vec<_>>(), "{}", ended.out);
        ended = ended.says(&format!("{}; check the card, and run the survey again", told(roles[0])));
        let unclear = ["first", "second", "third", "fourth", "token", "preauth", "payment"];
        assert!(unclear.iter().all(|name| !ended.out.contains(&format!("did not return: {name}"))), "{}", ended.out);
        let written = std::fs::read_to_string(&own).unwrap();
        assert!(roles.iter().all(|role| written.contains(&format!("# INCOMPLETE: {}\n", told(role)))), "{written}");
        std::fs::remove_file(format!("{own}.throttle")).unwrap();
    }
}

/// A card without a challenge does not show that payments before the end of one are accepted, nor a card with one that a
/// finished authentication is refused.
#[test]
fn cards_of_other_roles_are_reported_and_decide_nothing() {
    let sandbox = Running::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let throttle = folder.path().join("throttle").display().to_string();
    let cards = CARDS
        .replace("challenge 4000000000005001", "challenge 4000000000007007")
        .replace("not-enrolled 4000000000007007", "not-enrolled 4000000000005001")
        .replace("4000000000003006", "4000000000002008");
    let command = words(&format!("survey --json --with-payments --cards - --throttle {throttle}"));
    let ended = sandbox.with_account(command, "main").input(&cards).run().ends(1);
    let report = json(&ended);
    let finding = |point: &str| {
        let findings = report["findings"].as_array().unwrap();
        findings.iter().find(|found| found["point"] == point).unwrap()
    };
    for point in [
        "authentication-not-finished",
        "authentication-already-used",
        "authentication.pending",
        "authentication.not-enrolled",
    ] {
        assert_eq!(finding(point)["conclusion"], "not-decided", "{}", finding(point));
        assert!(finding(point)["seen"].is_null(), "{}", finding(point));
    }
    let unfinished = finding("authentication-not-finished").to_string();
    assert!(unfinished.contains("the card needs no challenge"), "{unfinished}");
    let unusable: Vec<_> =
        report["unusableCards"].as_array().unwrap().iter().map(|card| card["role"].as_str().unwrap()).collect();
    assert_eq!(unusable, ["challenge", "not-enrolled"]);
    // A service may have one status for all declines.
    for point in ["declined", "insufficient-funds"] {
        assert_eq!(finding(point)["confidence"], "medium", "{}", finding(point));
        let why = "the cards declined and insufficient-funds got the same status";
        assert!(finding(point)["remark"].as_str().unwrap().starts_with(why), "{}", finding(point));
    }
}

#[test]
fn an_address_that_is_not_listed_as_staging_gets_nothing() {
    let refused = "https://gateway.example is not confirmed as a staging environment; nothing was sent; if it is \
    one, add --staging gateway.example";
    for flags in ["", "--staging staging.example", "--staging https://example", "--with-wrong-password"] {
        words(&format!("survey {flags}")).account("https://gateway.example").run().ends(2).says(refused);
    }
    words("survey --with-payments")
        .account("http://127.0.0.1:9")
        .run()
        .ends(2)
        .says("--with-payments needs test cards");
    // As when a sandbox's variables are set, and the operator's account was meant.
    for flags in ["--staging staging.example", "--staging 127.0.0.1:9 --staging staging.example"] {
        let foreign = "--staging staging.example is no address of this account, which has http://127.0.0.1:9, http://127.0.0.1:9/enterprise; nothing was sent";
        words(&format!("survey {flags}")).account("http://127.0.0.1:9").run().ends(2).says(foreign);
    }
    // Listed, it is asked; no server listens there.
    words("survey --staging 127.0.0.1:9 --timeout 1").account("https://127.0.0.1:9").run().ends(3);
}

#[test]
fn a_plan_needs_no_account_and_names_every_request_with_its_cost() {
    let plan = words("survey --plan").run().ends(0);
    let plan = plan.prints("POST session/initiate").prints("→ A43").prints("[an empty session]");
    assert!(!plan.out.contains("test payment]"), "{}", plan.out);
    let paying = words("survey --plan --with-payments --cards - --json").input(CARDS).run().ends(0);
    let paying = paying.hides(&["4000000000001000"]);
    let probes = json(&paying)["probes"].as_array().unwrap().len();
    assert!(probes > 60, "{probes}");
    assert_eq!(json(&paying)["mostControls"], probes - 1);
    // Without a card there is no payment with it.
    let one = words("survey --plan --with-payments --cards -").input(CARDS.lines().next().unwrap()).run().ends(0);
    assert!(one.out.contains("refund the payment") && !one.out.contains("card that is declined"), "{}", one.out);
}

#[test]
fn a_card_on_the_command_line_draws_a_warning() {
    let warned = words("survey --plan --with-payments").arg("--card").arg("approved=4111111111111111 12/49 123");
    warned
        .run()
        .ends(0)
        .says("warning: --card on the command line is visible to other users")
        .hides(&["4111111111111111"]);
    let wrong = words("survey --plan").arg("--card").arg("4111111111111111=12/49");
    wrong.run().ends(2).says("no such role").hides(&["4111111111111111"]);
}

/// A captive portal, a proxy, another program: nothing is learnt from them, and the first reply ends it.
#[test]
fn an_address_that_does_not_answer_like_the_service_gets_one_request() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.toml").display().to_string();
    let page = "<h1>Welcome to the hotel Wi-Fi</h1>";
    let without_type = |status: &str| {
        format!("HTTP/1.1 {status}\r\nlocation: /login\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    };
    for (peer_says, told) in [
        (reply("200 OK", "text/html; charset=utf-8", page), "HTTP 200, content type text/html; charset=utf-8"),
        (reply("200 OK", "application/json", "[1,2,3]"), "HTTP 200, content type application/json"),
        (reply("200 OK", "application/json", "{}"), "HTTP 200, content type application/json"),
        (reply("404 Not Found", "text/html", page), "HTTP 404, content type text/html"),
        (reply("502 Bad Gateway", "text/html", page), "HTTP 502, content type text/html"),
        (without_type("200 OK"), "HTTP 200, without a content type"),
        (without_type("302 Found"), "HTTP 302, without a content type"),
    ] {
        let peer = Peer::answering(&peer_says);
        let ended = words(&format!("survey --write {own}")).account(&peer.base).run().ends(3);
        let ended = ended.says(&format!("the address does not answer like the service: session/initiate got {told}"));
        let ended = ended.says(&format!("nothing was found; {own} is not written")).prints(", 1 request\n");
        let ended = ended.hides(&["hotel", "waiting", "refused the credentials", "confidence"]);
        assert!(!std::path::Path::new(&own).exists(), "{}", ended.out);
        assert!(peer.request().starts_with("POST "));
    }
}

#[test]
fn a_file_that_cannot_be_written_is_reported_before_the_first_request() {
    let nowhere = closed_address();
    for (option, file) in [("--write", "/nonexistent/own.toml"), ("--throttle", "/nonexistent/own.throttle")] {
        let ended = words(&format!("survey {option} {file}")).account(&nowhere).run().ends(2);
        ended.says(&format!("{file} cannot be written: /nonexistent is not a folder"));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_dialect_that_cannot_be_written_hides_no_report() {
    let folder = tempfile::tempdir().unwrap();
    let throttle = folder.path().join("throttle").display().to_string();
    let sandbox = Running::start(&[]);
    let ended = survey(&sandbox, "main", &format!("--write /dev/full --throttle {throttle}")).ends(4);
    ended.prints("Agrees with the dialect").says("/dev/full cannot be written: ");
    let ended = survey(&sandbox, "main", &format!("--write /dev/full --throttle {throttle} --json")).ends(4);
    let report = json(&ended);
    assert!(report["findings"].as_array().unwrap().len() > 40 && report["exit"] == 4, "{}", ended.out);
    assert!(report["error"]["message"].as_str().unwrap().starts_with("/dev/full cannot be written: "), "{}", ended.out);
}

/// A variable that is not text is not as if it were unset: the survey would make no payments.
#[cfg(unix)]
#[test]
fn a_file_of_cards_whose_name_is_no_text_is_refused() {
    let says = "the environment variable PG_SURVEY_CARDS is not valid UTF-8";
    words("survey --plan").env_bytes("PG_SURVEY_CARDS", b"/tmp/\xff").run().ends(2).says(says);
}

#[test]
fn the_guide_lists_the_exit_codes_of_the_help() {
    the_guide_has_the_exit_codes_of("survey", "survey.md");
}

#[test]
fn numbers_have_their_nouns() {
    let sandbox = Running::start(&[]);
    let cards = "approved 4000000000001000 12/49 123\n";
    let ended = sandbox.with_account(words("survey --with-payments --cards -"), "main").input(cards).run().ends(0);
    ended.says("; cost: 1 empty session, ").says(" records, ").says(" test payments; `--plan` lists them");
}

/// Starts a survey that waits for its limit of requests after the first ones.
#[cfg(unix)]
fn until_it_waits(sandbox: &Running, flags: &str) -> (Started, String) {
    use std::io::{BufRead as _, BufReader};

    let command = words(&format!("survey --per-minute 8 --json {flags}"));
    let mut running = sandbox.with_account(command, "main").start();
    let mut said = BufReader::new(running.stderr.take().unwrap());
    let mut lines = String::new();
    while !lines.contains("to stay within the request limit") {
        assert_ne!(said.read_line(&mut lines).unwrap(), 0, "{lines}");
    }
    assert!(std::process::Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap().success());
    while said.read_line(&mut lines).unwrap() > 0 {}
    (running, lines)
}

/// The findings so far are reported and written, and the exit code marks them as partial.
#[test]
#[cfg(unix)]
fn ctrl_c_reports_what_was_found_until_then() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.toml");
    let cards = folder.path().join("cards.txt");
    write_private(&cards, CARDS);
    let sandbox = Running::start(&["--dialect", "six-hundreds"]);
    let paying = format!("--with-payments --cards {} --write {}", cards.display(), own.display());
    for (flags, code, says) in [
        (format!("--write {}", own.display()), 3, "interrupted: nothing was charged; the report is partial"),
        (paying, 3, "interrupted: each test payment that was sent has a reply; the report is partial"),
    ] {
        let (running, said) = until_it_waits(&sandbox, &flags);
        let ended = running.ended().ends(code);
        assert!(said.contains(says), "{said}");
        // One document has the report and the error.
        let report = json(&ended);
        assert!(report["ending"].as_str().unwrap().starts_with("interrupted"), "{}", report["ending"]);
        assert_eq!(report["exit"], code);
        assert!(report["error"]["message"].as_str().unwrap().contains(says), "{}", report["error"]);
        let findings = report["findings"].as_array().unwrap();
        let with_evidence = findings.iter().filter(|finding| finding["evidence"].is_object()).count();
        assert!((1..findings.len()).contains(&with_evidence), "{with_evidence} of {}", findings.len());
        let written = std::fs::read_to_string(&own).unwrap();
        pg_model::Dialect::from_toml(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
        assert!(std::fs::metadata(format!("{}.throttle", own.display())).is_ok());
        std::fs::remove_file(format!("{}.throttle", own.display())).unwrap();
    }
}

/// No payment had been sent when the first request was interrupted.
#[test]
#[cfg(unix)]
fn ctrl_c_during_the_first_request_has_charged_nothing() {
    let (peer, arrived) = Peer::silent();
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.toml");
    std::fs::write(&own, "name = \"earlier\"\n").unwrap();
    let cards = folder.path().join("cards.txt");
    write_private(&cards, CARDS);
    let command = format!("survey --with-payments --cards {} --write {}", cards.display(), own.display());
    let running = words(&command).account(&peer.base).start();
    arrived.recv().unwrap();
    assert!(std::process::Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap().success());
    running.ended().ends(3).says("interrupted: each test payment that was sent has a reply");
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "name = \"earlier\"\n");
}

#[cfg(unix)]
#[test]
fn a_file_without_an_end_is_refused() {
    words("survey --throttle /dev/zero")
        .account("http://127.0.0.1:1")
        .run()
        .ends(2)
        .says("/dev/zero: longer than 1 MiB");
}
