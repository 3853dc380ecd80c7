//! The adapters that `pg rehearse init` writes pass what they are written for.

use std::{
    fs,
    io::{
        ErrorKind::{TimedOut, WouldBlock},
        Read as _, Write as _,
    },
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use pg_rehearse::{Language, Verdict};
use pg_support::installed;

use crate::alone::prepared;
use crate::samples::{crate_folder, only, rehearse, with};

/// One drill of each kind: all of them are run by hand and in the proof.
const SAMPLE: [&str; 33] = [
    "M01", "M02", "M04", "M07", "M08", "M14", "M20", "M23", "M36", "M39", "M58", "M59", "M60", "M61", "M62", "M63",
    "M64", "M65", "M66", "M67", "M70", "M75", "C01", "C04", "C08", "C10", "C11", "C12", "C13", "C14", "T01", "T06",
    "H02",
];

/// The drills of the guides. A Java program takes a second of processor time for each of its many starts.
const FEWER: [&str; 26] = [
    "M01", "M04", "M08", "M36", "M39", "M58", "M59", "M60", "M61", "M62", "M63", "M64", "M65", "M66", "M67", "M70",
    "M75", "C01", "C10", "C11", "C12", "C13", "C14", "T01", "T06", "H02",
];

fn passes(language: Language, program: &str, drills: &[&str]) {
    if !installed(&[program], &format!("the adapter in {}", language.name())) {
        return;
    }
    let folder = tempfile::tempdir().expect("it works");
    pg_rehearse::init(folder.path(), language).expect("it works");
    assert!(pg_rehearse::init(folder.path(), language).is_err(), "nothing is overwritten");
    let plan = fs::read_to_string(folder.path().join("rehearse.toml")).expect("it works");
    let report = rehearse(&plan, folder.path(), &only(drills)).expect("it works");
    let told = report.scorecard(false);
    assert_eq!(with(&report, Verdict::Passed).len(), drills.len(), "{told}");
}

#[test]
fn the_python_adapter_passes_its_drills() {
    passes(Language::Python, "python3", &SAMPLE);
}

#[test]
fn the_node_adapter_passes_its_drills() {
    passes(Language::Node, "node", &SAMPLE);
}

#[test]
fn the_php_adapter_passes_its_drills() {
    passes(Language::Php, "php", &SAMPLE);
}

#[test]
fn the_java_adapter_passes_its_drills() {
    passes(Language::Java, "javac", &FEWER);
}

#[test]
fn the_bash_adapter_names_a_program_that_is_missing() {
    let folder = tempfile::tempdir().expect("it works");
    pg_rehearse::init(folder.path(), Language::Bash).expect("it works");
    let plan = "[jobs.charge]\ncommand = [\"env\", \"PG=/missing/pg\", \"bash\", \"pay.sh\"]\n";
    let error = rehearse(plan, folder.path(), &only(&["M01"])).expect_err("nothing can be signed").to_string();
    assert!(error.contains("/missing/pg is not installed, or not on PATH"), "{error}");
}

/// A service whose reply arrives byte by byte, until the caller hangs up. At the end of the reply the payment is approved.
fn dripping() -> String {
    const BYTES: usize = 5_000; // a millisecond or more each: longer than the limit of a second
    let listener = TcpListener::bind("127.0.0.1:0").expect("it works");
    let address = listener.local_addr().expect("it works");
    thread::spawn(move || {
        let (mut caller, _) = listener.accept()?;
        caller.set_nodelay(true)?;
        let end = r#"{"transactionStatusCode": "600", "transactionKey": "k"}"#;
        caller.write_all(
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                BYTES + end.len()
            )
            .as_bytes(),
        )?;
        // A caller that hangs up ends the wait for what it says.
        caller.set_read_timeout(Some(Duration::from_millis(1)))?;
        let is_waiting = |mut caller: &TcpStream| match caller.read(&mut [0; 65_536]) {
            Ok(bytes) => bytes > 0,
            Err(error) => matches!(error.kind(), WouldBlock | TimedOut),
        };
        for _ in 0..BYTES {
            if !is_waiting(&caller) {
                return Ok(());
            }
            caller.write_all(b" ")?;
        }
        caller.write_all(end.as_bytes())
    });
    format!("http://{address}")
}

fn ends_a_drip(language: Language, needs: &str, command: &[&str]) {
    if !installed(&[needs], &format!("a reply that drips, in {}", language.name())) {
        return;
    }
    let folder = prepared(language);
    let mut adapter = Command::new(command[0]);
    adapter
        .args(&command[1..])
        .current_dir(&folder)
        .env("PG_BASE_URL", dripping())
        .env("PG_REHEARSE_DIR", folder.path());
    adapter.envs([("PG_API_KEY", "key"), ("PG_API_PASSWORD", "password"), ("PG_SHA_KEY", "sha")]);
    adapter.envs([("PAY_TIMEOUT", "1"), ("PAY_PATIENCE", "0")]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut adapter = adapter.spawn().expect("it works");
    let job = r#"{"job": "charge", "order": "order-1", "amount": 499, "currency": "GBP", "sessionKey": "s"}"#;
    writeln!(adapter.stdin.take().expect("it is piped"), "{job}").expect("it works");
    let claim = adapter.wait_with_output().expect("it works");
    let claim = String::from_utf8(claim.stdout).expect("it works").replace(' ', "");
    assert_eq!(claim.trim(), r#"{"claim":"unknown"}"#, "{language:?}");
}

#[test]
fn a_reply_that_arrives_byte_by_byte_ends_at_the_limit_of_the_request_as_unknown() {
    thread::scope(|scope| {
        scope.spawn(|| ends_a_drip(Language::Python, "python3", &["python3", "pay.py"]));
        scope.spawn(|| ends_a_drip(Language::Node, "node", &["node", "pay.mjs"]));
        scope.spawn(|| ends_a_drip(Language::Php, "php", &["php", "pay.php"]));
        scope.spawn(|| {
            let java = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", "classes", "Pay"];
            ends_a_drip(Language::Java, "javac", &java);
        });
    });
}

/// The mistake whose verdicts are of every kind.
fn verdicts(seed: u64, jobs: usize) -> Vec<(&'static str, Verdict, Vec<&'static str>)> {
    let samples = crate_folder().join("tests/samples/faulty.py");
    let plan = format!(
        "timeout_seconds = 12\n[jobs.charge]\ncommand = [\"env\", \"FAULT=timeout-is-failure\", \"PAY_TIMEOUT=2\", \
         \"PAY_PATIENCE=5\", \"PAY_PAUSE=0.15\", \"python3\", \"{}\"]\nwith = [\"sessionKey\"]\n",
        samples.display()
    );
    let mut options =
        only(&["M01", "M02", "M04", "M07", "M09", "M20", "M36", "M40", "C01", "C07", "T01", "H02", "R01"]);
    options.seed = seed;
    options.jobs = jobs;
    let report = rehearse(&plan, &crate_folder(), &options).expect("it works");
    let kinds = |one: &pg_rehearse::Outcome| one.findings.iter().map(|finding| finding.kind).collect();
    report.outcomes.iter().map(|one| (one.drill.id, one.verdict, kinds(one))).collect()
}

#[test]
fn the_same_seed_gives_the_same_verdicts_and_findings_however_many_run_at_a_time() {
    if !installed(&["python3"], "the same seed") {
        return;
    }
    let first = verdicts(7, 8);
    assert!(first.iter().any(|(_, verdict, _)| *verdict == Verdict::Failed), "{first:?}");
    assert!(first.iter().any(|(_, verdict, _)| *verdict == Verdict::Passed), "{first:?}");
    assert_eq!(first, verdicts(7, 2));
}

#[test]
fn adapters_that_crash_hang_or_babble_are_broken_and_no_payment_failure() {
    // A shell starts at once also on a busy machine: only the one that hangs may meet the timeout.
    for (code, seconds, end) in [
        ("read line; exit 3", 60, "exited with code 3"),
        ("kill -9 $$", 60, "the adapter was killed by signal 9 (SIGKILL) and made no claim"),
        ("sleep 600", 1, "in time"),
        ("head -c 3000000 /dev/zero", 60, "more than 1 MiB"),
        ("echo 'paid!'", 60, "without a claim"),
    ] {
        let plan = format!(
            "timeout_seconds = {seconds}\n[jobs.charge]\ncommand = [\"sh\", \"-c\", {code:?}]\nwith = [\"sessionKey\"]\n"
        );
        let report = rehearse(&plan, &std::env::temp_dir(), &only(&["M01"])).expect("it works");
        assert_eq!(with(&report, Verdict::Broken), ["M01"], "{code}");
        assert!(report.outcomes[0].findings[0].text.contains(end), "{:?}", report.outcomes[0].findings);
        assert_eq!(report.exit_code(), 3);
    }
    let prepared = |prepare: &str| {
        let plan = format!("prepare = {prepare}\n[jobs.charge]\ncommand = [\"no-such-program\"]\n");
        rehearse(&plan, &std::env::temp_dir(), &only(&["M01"])).unwrap_err().to_string()
    };
    for (prepare, end) in [
        (r#"["sh", "-c", "echo 'line 3: ;'; exit 3"]"#, "ended with code 3; its output begins: line 3: ;"),
        // A build downloads its libraries from servers that the drills' authority does not know.
        (r#"["sh", "-c", "env | grep -c pg-rehearse-.*pem; exit 3"]"#, "ended with code 3; its output begins: 0"),
        (r#"["sh", "-c", "kill -9 $$"]"#, "prepare (sh -c kill -9 $$): was killed by signal 9 (SIGKILL)"),
        (r#"["no-such-compiler"]"#, "prepare (no-such-compiler): it could not be started"),
        // What is prepared is used after it: here the charge cannot be started.
        (r#"["true"]"#, "no-such-program"),
    ] {
        assert!(prepared(prepare).contains(end), "{}", prepared(prepare));
    }
    let missing = rehearse("[jobs.charge]\ncommand = [\"no-such-program\"]\n", &std::env::temp_dir(), &only(&["M01"]));
    assert!(missing.unwrap_err().to_string().contains("no-such-program"));
}

/// A shop answers a request that it cannot handle; a program in its place that crashes has answered nothing.
#[test]
fn a_page_whose_program_crashes_without_a_word_is_broken() {
    let plan = "timeout_seconds = 60\n[jobs.open_redirect]\ncommand = [\"sh\", \"-c\", \"exit 3\"]\n";
    let report = rehearse(plan, &std::env::temp_dir(), &only(&["R01"])).expect("it works");
    assert_eq!(with(&report, Verdict::Broken), ["R01"], "{}", report.scorecard(false));
    assert!(report.outcomes[0].findings[0].text.contains("exited with code 3"), "{}", report.scorecard(false));
}

/// PHP prints its fatal errors on standard output: what a program prints before it fails is no page.
#[test]
fn a_page_whose_program_prints_why_it_crashes_is_broken() {
    let played = |code: &str, drill: &str| {
        let plan = format!("timeout_seconds = 60\n[jobs.open_redirect]\ncommand = [\"sh\", \"-c\", {code:?}]\n");
        rehearse(&plan, &std::env::temp_dir(), &only(&[drill])).expect("it works")
    };
    for drill in ["R01", "R02"] {
        let report = played("echo 'Fatal error: Uncaught Error'; exit 255", drill);
        assert_eq!(with(&report, Verdict::Broken), [drill], "{}", report.scorecard(false));
        let told = &report.outcomes[0].findings[0].text;
        for part in ["exited with code 255", "Fatal error", "print {\"status\": 400} as the last line"] {
            assert!(told.contains(part), "{told}");
        }
    }
    // An answer as its last line counts whatever the exit code is.
    let refuses = played("echo '{\"status\": 400}'; exit 1", "R01");
    assert_eq!(with(&refuses, Verdict::Failed), ["R01"], "{}", refuses.scorecard(false));
    // A program that crashes for altered data alone shows what it prints to everyone.
    let altered = "read line; case $line in *%%%*) echo 'Fatal error: bad decrypt'; exit 255;; esac; echo '<p>Please confirm</p>'";
    let shown = played(altered, "H13");
    assert_eq!(with(&shown, Verdict::Failed), ["H13"], "{}", shown.scorecard(false));
}

/// Neither is a limit of the shop, nor a shop that 8 MiB have brought down.
#[test]
fn a_callback_whose_program_crashes_for_its_size_is_broken() {
    for crashes in ["-gt 1000000", "-lt 400"] {
        let code = format!("read line; [ ${{#line}} {crashes} ] && exit 255; echo '{{\"status\": 413}}'");
        let plan = format!("timeout_seconds = 60\n[jobs.callback]\ncommand = [\"sh\", \"-c\", {code:?}]\n");
        let report = rehearse(&plan, &std::env::temp_dir(), &only(&["B07"])).expect("it works");
        assert_eq!(with(&report, Verdict::Broken), ["B07"], "{crashes}: {}", report.scorecard(false));
    }
}

#[test]
fn a_shop_that_ends_during_the_drills_is_reported_with_how_it_ended() {
    if !installed(&["node"], "a shop that ends") {
        return;
    }
    let code = "require('http').createServer((request, reply) => request.url === '/' ? reply.end() : \
                process.kill(process.pid, 'SIGKILL')).listen(Number(process.argv[1]), '127.0.0.1')";
    let (service, shop) = (pg_support::free_port(), pg_support::free_port());
    let url = format!("http://127.0.0.1:{shop}");
    let plan = format!(
        "timeout_seconds = 20\n[service]\nlisten = \"127.0.0.1:{service}\"\n[shop]\ncommand = [\"node\", \"-e\", {}, \"{shop}\"]\n\
         ready = \"{url}/\"\n[jobs.open_redirect]\nurl = \"{url}/return\"\n[jobs.capture]\nurl = \"{url}/capture\"\n",
        serde_json::Value::from(code)
    );
    let report = rehearse(&plan, &std::env::temp_dir(), &only(&["M50", "R01"])).expect("it works");
    assert_eq!(with(&report, Verdict::Broken), ["M50", "R01"], "{}", report.scorecard(false));
    for outcome in &report.outcomes {
        let told = &outcome.findings[0].text;
        assert!(told.contains("the shop gave no reply: ") || told.starts_with("cannot run the drill: "), "{told}");
        assert!(
            told.ends_with("; the shop of the plan was killed by signal 9 (SIGKILL): start it manually to see why"),
            "{told}"
        );
    }
}

/// A script may start the shop in the background and end: only a shop that answers no more has ended.
#[test]
fn a_shop_that_its_command_starts_in_the_background_has_not_ended_with_it() {
    if !installed(&["node"], "a shop in the background") {
        return;
    }
    let code = "require('http').createServer((request, reply) => request.url === '/' ? reply.end() : \
                process.exit(0)).listen(Number(process.argv[1]), '127.0.0.1')";
    let played = |is_there: bool| {
        let [service, shop, other] = [(); 3].map(|()| pg_support::free_port());
        let script = format!("node -e \"{code}\" {shop} &");
        let page = if is_there { shop } else { other };
        let plan = format!(
            "timeout_seconds = 60\n[service]\nlisten = \"127.0.0.1:{service}\"\n[shop]\ncommand = [\"sh\", \"-c\", {}]\n\
             ready = \"http://127.0.0.1:{shop}/\"\n[jobs.open_redirect]\nurl = \"http://127.0.0.1:{page}/return\"\n",
            serde_json::Value::from(script)
        );
        let report = rehearse(&plan, &std::env::temp_dir(), &only(&["R01"])).expect("it works");
        assert_eq!(with(&report, Verdict::Broken), ["R01"], "{}", report.scorecard(false));
        report.outcomes[0].findings[0].text.clone()
    };
    // The address of the page is wrong, and the shop answers.
    let told = played(false);
    assert!(told.starts_with("cannot run the drill: ") && !told.contains("the shop of the plan"), "{told}");
    let told = played(true);
    assert!(
        told.contains("; the shop of the plan exited with code 0 and does not answer at http://127.0.0.1:"),
        "{told}"
    );
}

/// An older shop at the same address, for example, whose drills would say nothing about the new one.
#[test]
fn a_program_that_answers_in_place_of_the_shop_is_not_rehearsed() {
    if !installed(&["node"], "a shop behind another program") {
        return;
    }
    let plan = |command: &str, shop: u16, ready: &str| {
        let service = pg_support::free_port();
        format!(
            "timeout_seconds = 60\n[service]\nlisten = \"127.0.0.1:{service}\"\n[shop]\ncommand = [\"sh\", \"-c\", {}]\n{ready}\
             [jobs.open_redirect]\nurl = \"http://127.0.0.1:{shop}/return\"\n",
            serde_json::Value::from(command)
        )
    };
    let ready = |shop: u16| format!("ready = \"http://127.0.0.1:{shop}/\"\n");
    let played = |plan: &str| rehearse(plan, &std::env::temp_dir(), &only(&["R01"]));
    let older = TcpListener::bind("127.0.0.1:0").expect("it works");
    let port = older.local_addr().expect("it works").port();
    thread::spawn(move || {
        for caller in older.incoming() {
            let reply = "HTTP/1.1 200 OK\r\nContent-Length: 18\r\nConnection: close\r\n\r\n<p>Please wait</p>";
            let mut caller = caller.expect("it works");
            // A connection that is closed with an unread request is reset, and its reply may be lost.
            let read = std::io::Read::read(&mut caller, &mut [0; 4096]).expect("it works");
            assert!(read > 0, "a request");
            std::io::Write::write_all(&mut caller, reply.as_bytes()).expect("it works");
        }
    });
    let refused = played(&plan("exit 0", port, &ready(port))).expect_err("another program answers").to_string();
    assert!(refused.contains("another program answers at http://127.0.0.1:"), "{refused}");
    // Nothing says that a shop without `ready` runs in the background.
    let report = played(&plan("exit 0", pg_support::free_port(), "")).expect("it works");
    assert!(report.outcomes[0].findings[0].text.contains("has no `ready`"), "{}", report.scorecard(false));

    // The program that the plan started ends before the first page is answered, and its child answers. It is a shell, since a program of one
    // thread has ended when its child sees that it has another parent.
    let code = "const parent = process.ppid; require('http').createServer((request, reply) => { \
                if (request.url !== '/' && parent === process.ppid) process.kill(parent, 'SIGUSR1'); \
                const answer = () => parent === process.ppid && request.url !== '/' ? setTimeout(answer, 5) \
                : reply.end('<p>Please wait</p>'); \
                answer(); }).listen(Number(process.argv[2]), '127.0.0.1')";
    let folder = tempfile::tempdir().expect("it works");
    let file = folder.path().join("shop.js");
    fs::write(&file, code).expect("it works");
    let shop = pg_support::free_port();
    let command = format!("trap 'exit 3' USR1; node {} {shop} & wait", file.display());
    let report = played(&plan(&command, shop, &ready(shop))).expect("it works");
    assert_eq!(with(&report, Verdict::Broken), ["R01"], "{}", report.scorecard(false));
    let told = &report.outcomes[0].findings[0].text;
    assert!(told.starts_with("the shop of the plan exited with code 3"), "{told}");
}

/// A search that found no file to read says nothing about secrets.
#[test]
fn logs_that_match_no_file_and_a_dump_that_fails_are_reported_as_not_searched() {
    if !installed(&["python3"], "logs and dumps") {
        return;
    }
    let folder = tempfile::tempdir().expect("it works");
    pg_rehearse::init(folder.path(), Language::Python).expect("it works");
    fs::write(folder.path().join("shop.log"), "started\n").expect("it works");
    for (hygiene, expected) in [
        (r#"logs = ["missing/*.log"]"#, Some("not searched: no file matches missing/*.log")),
        (r#"command = ["no-such-dump"]"#, Some("not searched: the dump: it could not be started: no-such-dump")),
        (r#"command = ["sh", "-c", "exit 3"]"#, Some("not searched: the dump: ended with code 3")),
        (r#"logs = ["*.log"]"#, None),
        (r#"command = ["echo", "empty"]"#, None),
    ] {
        let plan =
            format!("[jobs.charge]\ncommand = [\"python3\", \"pay.py\"]\nwith = [\"card\"]\n[hygiene]\n{hygiene}\n");
        let report = rehearse(&plan, folder.path(), &only(&["H03", "H04"])).expect("it works");
        let verdict = if expected.is_some() { Verdict::Warning } else { Verdict::Passed };
        assert_eq!(with(&report, verdict), ["H03", "H04"], "{hygiene}: {}", report.scorecard(false));
        let told = report.outcomes[0].findings.first().map(|finding| finding.text.as_str());
        assert!(told.unwrap_or_default().starts_with(expected.unwrap_or_default()), "{told:?}");
    }
}

/// A merchant's program writes what it likes: no report of it is markup, steers a terminal or grows without bound.
#[test]
fn a_hostile_adapter_gets_no_markup_and_no_escape_into_a_report() {
    let hostile = "<script>alert(1)</script>\"'&]]>\u{202e}\u{200b}\u{1b}[2J";
    let in_json = hostile.replace('"', "\\\"").replace('\u{1b}', "\\u001b");
    for code in [
        format!("cat <<'END'\n{{\"claim\": \"{in_json}\"}}\nEND"),
        format!("cat >&2 <<'END'\nError: {hostile}\nEND\nexit 1"),
        format!("cat <<'END'\n{}\nEND\nexit 1", hostile.repeat(2_000)),
    ] {
        let plan = format!(
            "timeout_seconds = 60\n[jobs.charge]\ncommand = [\"sh\", \"-c\", {}]\nwith = [\"sessionKey\"]\n",
            serde_json::Value::from(code.as_str())
        );
        let report = rehearse(&plan, &std::env::temp_dir(), &only(&["M01"])).expect("it works");
        let json = report.json().to_string();
        for (form, text) in [
            ("html", report.html()),
            ("junit", report.junit()),
            ("scorecard", report.scorecard(false)),
            ("progress", pg_rehearse::Report::progress(&report.outcomes[0], false)),
            ("json", json),
        ] {
            assert!(text.contains("alert(1)") && text.len() < 60_000, "{form}: {} bytes", text.len());
            for trick in ['\u{202e}', '\u{200b}', '\u{1b}'] {
                assert!(!text.contains(trick), "{trick:?} in {form}");
            }
            let markup = matches!(form, "html" | "junit") && (text.contains("<script") || text.contains("]]>"));
            assert!(!markup, "{form}");
        }
    }
}

/// A running shop whose reply never ends is given up when it has sent too much.
#[test]
fn an_endless_reply_of_a_shop_is_abandoned() {
    for begin in ["HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", "HTTP/1.1 200 OK\r\nX-Long: "] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("it works");
        let address = listener.local_addr().expect("it works");
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(begin.as_bytes());
                while stream.write_all(&[b'a'; 65_536]).is_ok() {}
            }
        });
        let plan = format!(
            "timeout_seconds = 60\n[jobs.charge]\nurl = \"http://{address}/charge\"\nwith = [\"sessionKey\"]\n[service]\nlisten = \"127.0.0.1:{}\"\n",
            pg_support::free_port()
        );
        let report = rehearse(&plan, &std::env::temp_dir(), &only(&["M01"])).expect("it works");
        assert_eq!(with(&report, Verdict::Broken), ["M01"], "{begin:?}");
        assert!(!report.outcomes[0].findings[0].text.contains("in time"), "{:?}", report.outcomes[0].findings);
    }
}

/// A drill whose fault never happened proves nothing. Without a listener (M27) an attempt to connect cannot be seen.
#[test]
fn an_adapter_that_sends_nothing_passes_no_drill_about_a_payment() {
    let command = r#"command = ["sh", "-c", "echo '{\"claim\": \"unknown\"}'"]"#;
    let plan = format!(
        "timeout_seconds = 20\n[jobs.charge]\n{command}\nwith = [\"sessionKey\", \"card\"]\n[jobs.capture]\n{command}\n[jobs.refund]\n{command}\n"
    );
    let charges = pg_rehearse::drills().filter(|drill| "MCTH".contains(&drill.id[..1]));
    let drills: Vec<&str> = charges.map(|drill| drill.id).collect();
    let report = rehearse(&plan, &std::env::temp_dir(), &only(&drills)).expect("it works");
    assert_eq!(with(&report, Verdict::Passed), ["M27"], "{}", report.scorecard(false));
    let m04 = report.outcomes.iter().find(|one| one.drill.id == "M04").expect("it ran");
    let told = (m04.verdict, m04.findings[0].kind, m04.findings[0].text.as_str());
    let why = "the integration sent no payment, so the fault of this drill never happened";
    assert_eq!(told, (Verdict::Failed, "no-payment", why));
}
