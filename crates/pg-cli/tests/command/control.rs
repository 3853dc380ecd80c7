//! `pg sandbox faults|clock|cards|accounts|callbacks|batches|list|open` against a running sandbox.

use serde_json::{Value, json};

use crate::command::{
    peer::{Peer, closed_address, reply},
    pg::{Ended, Pg, pg, words},
    sandbox::{CARD, Running},
};

const KINDS: [&str; 8] =
    ["drop-request", "drop-reply", "delay", "status", "garble", "duplicate", "no-response", "no-response-charged"];

/// A command that finds the sandbox through the environment.
fn at(sandbox: &Running, command: &str) -> Pg {
    words(command).env("PG_SANDBOX_URL", sandbox.facts["baseUrl"].as_str().unwrap())
}

fn json_of(sandbox: &Running, command: &str) -> Value {
    let ended = at(sandbox, &format!("{command} --json")).run().ends(0);
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{command}: {error}: {}", ended.out))
}

fn told(sandbox: &Running, command: &str) -> Ended {
    at(sandbox, command).run()
}

#[test]
fn faults_of_every_kind_are_added_met_and_cleared() {
    let sandbox = Running::start(&[]);
    told(&sandbox, "sandbox faults").ends(0).says("no faults; add one with `pg sandbox faults add METHOD KIND`");
    let help = words("sandbox faults add --help").run().ends(0).out;
    for kind in KINDS {
        assert!(help.contains(&format!("- {kind}:")), "{kind}: {help}");
        let more = if kind == "delay" { "--delay 1.5s" } else { "" };
        told(&sandbox, &format!("sandbox faults add transaction/auth {kind} {more} --times 2"))
            .ends(0)
            .prints(&format!("the next 2 calls of transaction/auth will get {kind}"));
    }
    let faults = json_of(&sandbox, "sandbox faults list");
    let kinds: Vec<&Value> = faults.as_array().unwrap().iter().map(|fault| &fault["kind"]).collect();
    assert_eq!(kinds, KINDS);
    assert_eq!((&faults[2]["milliseconds"], &faults[3]["status"]), (&json!(1500), &json!(500)));
    told(&sandbox, "sandbox faults").ends(0).prints("delay 1500 ms").prints("2 of 2").prints("CALLS LEFT");
    // The oldest is met first.
    sandbox
        .run(&format!("call transaction/auth cardNumber=4000000000001000 {CARD} uniqueMerchantReference=f-1"))
        .ends(4);
    told(&sandbox, "sandbox faults").ends(0).prints("1 of 2");
    let id = faults[0]["id"].as_str().unwrap();
    told(&sandbox, &format!("sandbox faults clear {id}")).ends(0).prints("1 fault removed");
    told(&sandbox, &format!("sandbox faults clear {id}")).ends(1).says("there is no such fault");
    told(&sandbox, "sandbox faults clear").ends(0).prints("7 faults removed");
    told(&sandbox, "sandbox faults add any status --status 503")
        .ends(0)
        .prints("the next call of any method will get status 503");
    told(&sandbox, "sandbox faults").ends(0).prints("any method  ");
}

#[test]
fn an_account_is_made_used_and_removed() {
    let sandbox = Running::start(&[]);
    told(&sandbox, "sandbox account list").ends(0).says("create one with `pg sandbox account new`");
    let made = json_of(&sandbox, "sandbox account new ci-1 --ttl 1h");
    assert_eq!((&made["name"], made["apiKey"].as_str().unwrap().len()), (&json!("ci-1"), 32));
    let exports = told(&sandbox, "sandbox account new ci-2 --like strict")
        .ends(0)
        .prints("# Account ci-2, until it is removed: GBP, no raw card numbers")
        .prints("export PG_API_KEY=")
        .out;
    assert_eq!((exports.matches("PG_BASE_URL=").count(), exports.matches("PG_ENTERPRISE_BASE_URL=").count()), (1, 1));
    told(&sandbox, "sandbox account list").ends(0).prints("ci-1").prints("ci-2").prints("ITS CLOCK");
    told(&sandbox, "sandbox faults add any status --account ci-1").ends(0).prints("will get status 500");
    assert_eq!(json_of(&sandbox, "sandbox faults --account ci-1").as_array().unwrap().len(), 1);
    assert_eq!(json_of(&sandbox, "sandbox faults").as_array().unwrap().len(), 0);
    told(&sandbox, "sandbox clock --account ci-1 set 2031-01-01T00:00:00Z").ends(0).prints("2031-01-01T00:00:0");
    assert!(!json_of(&sandbox, "sandbox clock")["now"].as_str().unwrap().starts_with("2031-01-01"));
    // A destination belongs to the account that it names.
    let url = "http://127.0.0.1:8490/hook";
    told(&sandbox, &format!("sandbox callbacks register {url} --account ci-1")).ends(0);
    told(&sandbox, &format!("sandbox callbacks register {url} --account main")).ends(0);
    assert_eq!(json_of(&sandbox, "sandbox callbacks destinations --account ci-1").as_array().unwrap().len(), 2);
    assert_eq!(json_of(&sandbox, "sandbox callbacks destinations").as_array().unwrap().len(), 2);
    told(&sandbox, "sandbox account new ci-1").ends(1).says("there is already an account \"ci-1\"");
    told(&sandbox, "sandbox account new CI").ends(2).says("name must be 1 to 32 lower-case letters");
    told(&sandbox, "sandbox account new --ttl soon").ends(2).says("expected a duration such as 90s");
    told(&sandbox, "sandbox account new --ttl 1.5s").ends(2).says("give whole seconds");
    told(&sandbox, "sandbox clock --account ci-3").ends(1).says("there is no account \"ci-3\"");
    told(&sandbox, "sandbox clock --account strict")
        .ends(1)
        .says("\"strict\" is a configured account; configured accounts share their clock, faults and entries")
        .says("`pg sandbox account list`");
    told(&sandbox, "sandbox account remove ci-1").ends(0).prints("account ci-1 removed");
    told(&sandbox, "sandbox account remove ci-1").ends(1).says("there is no account \"ci-1\"");
}

#[test]
fn mistyped_words_are_reported_with_a_suggestion() {
    // No request is sent, so no sandbox is needed.
    for (command, says) in [
        ("sandbox fault", "similar subcommand exists: 'faults'"),
        ("sandbox faults add transaction/auht drop-reply", "did you mean transaction/auth?"),
        ("sandbox faults add transaction/auth drop-repyl", "drop-reply"),
        ("sandbox faults add transaction/auth delay", "needs --delay"),
        ("sandbox faults add transaction/auth garble --status 500", "--status applies only to the kind status"),
        ("sandbox faults add transaction/auth status --status 200", "200 is not from 400 to 599"),
        ("sandbox faults add any status --times many", "expected a whole number"),
        // The name of a script's variable may be missing: the command must not apply to all accounts.
        ("sandbox clock advance 31m --account=", "a value is required for '--account <NAME>'"),
        ("sandbox faults clear --account=", "a value is required for '--account <NAME>'"),
        ("sandbox callbacks --account= reset", "a value is required for '--account <NAME>'"),
        ("sandbox callbacks register http://127.0.0.1/ --account=", "a value is required for '--account <NAME>'"),
        ("sandbox list transactions --merchant=", "a value is required for '--merchant <ACCOUNT>'"),
        ("listen --register=", "a value is required for '--register [<ACCOUNT>]'"),
        ("trigger lost-reply --merchant=", "a value is required for '--merchant <ACCOUNT>'"),
        ("config new local --from-sandbox --account=", "a value is required for '--account <ACCOUNT>'"),
        ("intents --store none.sqlite resume --account=", "a value is required for '--account <ACCOUNT>'"),
        ("update-cards cards.csv --store none.sqlite --identity=", "a value is required for '--identity <NAME>'"),
        ("sandbox clock advance soon", "expected a duration such as 90s"),
        ("sandbox clock advance -5m", "advance moves the clock forward only; `pg sandbox clock set TIME` sets it back"),
        ("sandbox clock advance -5", "advance moves the clock forward only"),
        ("sandbox clock advance 40000d", "at most 100 years, that is 36525d"),
        ("sandbox clock advance 5m --sandbx x", "unexpected argument '--sandbx'"),
        ("sandbox faults add any delay --delay 2h", "at most 1h"),
        ("sandbox clock speed fast", "a number from 0 to 100000"),
        ("sandbox clock 31m", "no subcommand \"31m\"; did you mean `pg sandbox clock advance 31m`?"),
        ("sandbox clock 2031-01-01T00:00:00Z", "did you mean `pg sandbox clock set 2031-01-01T00:00:00Z`?"),
        ("sandbox clock advnce 31m", "did you mean `pg sandbox clock advance 31m`?"),
        ("sandbox clock tomorrow", "see `pg sandbox clock --help`"),
        ("sandbox cards declined", "did you mean `pg sandbox cards --scenario declined`?"),
        ("sandbox cards insuficient-funds", "did you mean `pg sandbox cards --scenario insufficient-funds`?"),
        ("sandbox cards anser 4F2C-91 705", "did you mean `pg sandbox cards answer 4F2C-91 705`?"),
        (
            "sandbox cards --account ci-1 answer 4F2C-91 705",
            "options come after the subcommand; did you mean `pg sandbox cards answer",
        ),
        ("sandbox cards 4000000000001000", "no subcommand \"400000******1000\""),
        ("sandbox clock --sandbox http://sandbox:8480", "plain HTTP; use https, or allow it with --plain-http"),
        ("sandbox cards answer 4F2C-91 600", "a card retrieval code from 700 to 712"),
        ("sandbox callbacks misbehave late", "needs --by"),
        ("sandbox list transaction", "transactions"),
        ("sandbox open fault", "faults"),
        ("sandbox --listen 127.0.0.1:0 faults", "cannot be used with"),
        ("sandbox faults --sandbox nonsense", "invalid --sandbox"),
    ] {
        words(command).run().ends(2).says(says);
    }
}

#[test]
fn errors_as_json_have_the_names_values_and_suggestions() {
    for (command, says) in [
        ("sandbox faults add", "arguments were not provided: <METHOD>, <KIND>"),
        ("sandbox faults add transaction/auth drop-repl", "[possible values: drop-request, drop-reply,"),
        ("sandbox faults add transaction/auth drop-repl", "tip: a similar value exists: 'drop-reply'"),
        ("sandbox lst", "tip: a similar subcommand exists: 'list'"),
        ("sandbox clock stop", "pg sandbox clock has no subcommand"),
        ("sandbox cards stop", "pg sandbox cards has no subcommand"),
        ("config", "[subcommands: show, set,"),
    ] {
        let ended = words(&format!("{command} --json")).run().ends(2);
        let error: Value = serde_json::from_str(&ended.out).unwrap_or_else(|_| panic!("{command}: {}", ended.out));
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains(says) && !message.contains("Usage"), "{command}: {message}");
        assert_eq!(error["exit"], 2);
    }
    assert_eq!(words("sandbox clock stop").run().ends(2).out, "");
}

#[cfg(unix)]
#[test]
fn an_address_that_is_not_text_is_refused() {
    let not_text = |name| pg(["sandbox", "clock"]).env_bytes(name, b"\xff");
    for name in ["PG_SANDBOX_URL", "PG_CONTROL_TOKEN"] {
        not_text(name).run().ends(2).says(&format!("the environment variable {name} is not valid UTF-8"));
    }
}

#[test]
fn a_list_of_an_account_that_does_not_exist_is_refused() {
    let sandbox = Running::start(&[]);
    told(&sandbox, "sandbox account new ci-1").ends(0);
    told(&sandbox, "sandbox list transactions --merchant ci-1").ends(0).says("no transactions");
    told(&sandbox, "sandbox list transactions --merchant main").ends(0).says("no transactions");
    told(&sandbox, "sandbox list transactions --merchant mian").ends(2).says("did you mean main?");
    told(&sandbox, "sandbox list transactions --account ci-1 --merchant mian").ends(2).says("did you mean main?");
    told(&sandbox, "sandbox list transactions --account ci-1 --merchant main")
        .ends(2)
        .says("account and merchant name different accounts");
    told(&sandbox, "sandbox callbacks list").ends(0).says("no callbacks yet");
    told(&sandbox, "sandbox batches list").ends(0).says("no batches yet");
}

#[test]
fn the_clock_is_advanced_set_frozen_and_resumed() {
    let sandbox = Running::start(&[]);
    told(&sandbox, "sandbox clock set 2031-01-01T00:00:00Z").ends(0).prints("2031-01-01T00:00:0");
    let frozen = json_of(&sandbox, "sandbox clock freeze");
    assert_eq!(frozen["frozen"], true);
    let later = json_of(&sandbox, "sandbox clock advance 31m");
    let seconds = |clock: &Value| clock["unixSeconds"].as_i64().unwrap();
    assert_eq!(seconds(&later) - seconds(&frozen), 31 * 60);
    told(&sandbox, "sandbox clock").ends(0).prints("2031-01-01T00:31:0").prints("ahead of real time, frozen");
    assert_eq!(json_of(&sandbox, "sandbox clock speed 60")["speed"], 60);
    assert_eq!(json_of(&sandbox, "sandbox clock resume")["frozen"], false);
    told(&sandbox, "sandbox clock set yesterday").ends(2).says("the sandbox rejected the request");
}

#[test]
fn cards_are_listed_and_updater_answers_are_set() {
    let sandbox = Running::start(&[]);
    told(&sandbox, "sandbox cards").ends(0).prints("4000000000002008").prints("every payment is declined");
    let declined = json_of(&sandbox, "sandbox cards --scenario declined");
    assert!(declined.as_array().unwrap().iter().all(|card| card["scenario"] == "declined"), "{declined}");
    told(&sandbox, "sandbox cards --scenario declned").ends(2).says("did you mean declined?");
    told(&sandbox, "sandbox cards answers").ends(0).says("answers as usual");
    told(&sandbox, "sandbox cards answer 4000000000001000 705")
        .ends(0)
        .prints("answers 705")
        .hides(&["4000000000001000"]);
    told(&sandbox, "sandbox cards answer no-such-key 705").ends(1).says("there is no token with this cardKey");
    assert_eq!(json_of(&sandbox, "sandbox cards answers")[0]["response"], "705");
    told(&sandbox, "sandbox cards reset").ends(0);
    assert_eq!(json_of(&sandbox, "sandbox cards answers"), json!([]));
}

#[test]
fn accounts_are_listed_and_exported_to_a_shell() {
    let sandbox = Running::start(&[]);
    told(&sandbox, "sandbox accounts").ends(0).prints("strict").prints("100 requests a minute");
    // It may not use the account updater.
    told(&sandbox, "sandbox accounts strict")
        .ends(0)
        .prints("export PG_API_KEY=Strict")
        .prints("unset PG_ACCOUNT_UPDATER_KEY\n");
    let exports = told(&sandbox, "sandbox accounts main").ends(0).out;
    let call = exports
        .lines()
        .map(|line| line.strip_prefix("export ").unwrap().split_once('=').unwrap())
        .fold(words("call token/lookup merchantCustomerReference=c"), |pg, (name, value)| pg.env(name, value));
    call.run().ends(0);
    told(&sandbox, "sandbox accounts mian").ends(2).says("did you mean main?");
    told(&sandbox, "sandbox account new ci-9").ends(0);
    told(&sandbox, "sandbox accounts ci-9")
        .ends(2)
        .says("no account \"ci-9\" is configured; configured accounts: main, strict, other; `pg sandbox account list` shows")
        .says("those created at run time");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("merchants.toml");
    let own = "[[merchant]]\nname = \"shop\"\napiKey = \"canaryKey00000000000000000000000\"\napiPassword = \"canaryPassword\"\n\
               shaKey = \"canaryShaKey\"\ncurrencies = [\"GBP\"]\n";
    std::fs::write(&file, own).unwrap();
    let sandbox = Running::start(&["--config", file.to_str().unwrap()]);
    let shop = told(&sandbox, "sandbox accounts shop").ends(0).prints("# Its credentials are in").hides(&["canary"]);
    // Those of the account before it would be sent otherwise.
    shop.prints("\nunset PG_API_KEY\n").prints("\nunset PG_SHA_KEY\n");
    told(&sandbox, "trigger decline --merchant shop").ends(2).says("does not show the credentials").hides(&["canary"]);
}

#[test]
fn callbacks_batches_and_lists_show_what_happened() {
    let sandbox = Running::start(&[]);
    told(&sandbox, "sandbox callbacks").ends(0).says("no callbacks yet");
    told(&sandbox, "sandbox callbacks redeliver").ends(2).says("there is no callback to redeliver");
    told(&sandbox, "sandbox callbacks misbehave late --by 10m").ends(0).prints("10m late");
    told(&sandbox, "sandbox callbacks misbehave twice --times 3").ends(0).prints("10m late, then 3 sent twice");
    told(&sandbox, "sandbox callbacks reset").ends(0).prints("as usual");
    let story = json_of(&sandbox, "trigger updater-batch --reference shown");
    assert_eq!(story["ok"], true, "{story}");
    let listed = json_of(&sandbox, "sandbox callbacks");
    let id = listed[0]["id"].as_str().unwrap();
    assert_eq!((&listed[0]["status"], &listed[0]["attempts"]), (&json!("delivered"), &json!(1)));
    told(&sandbox, "sandbox callbacks").ends(0).prints("HTTP 204").prints(id);
    told(&sandbox, &format!("sandbox callbacks show {id}")).ends(0).prints("\"body\"");
    // The story's listener is gone.
    told(&sandbox, "sandbox callbacks redeliver").ends(1).prints("attempt 2").says("the callback was not acknowledged");
    let ended = told(&sandbox, "sandbox callbacks redeliver --json").ends(1);
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    let members = (&document["attempts"], &document["exit"], &document["error"]["message"]);
    assert_eq!(members, (&json!(3), &json!(1), &json!("the callback was not acknowledged")));
    let batch = json_of(&sandbox, "sandbox batches")[0]["batchKey"].as_str().unwrap().to_owned();
    told(&sandbox, "sandbox batches").ends(0).prints("700 × 1, 702 × 1, 706 × 1");
    told(&sandbox, &format!("sandbox batches show {batch}")).ends(0).prints("oldCardKey");
    told(&sandbox, &format!("sandbox batches spoil {batch}")).ends(0).prints("error 181");
    told(&sandbox, "sandbox batches").ends(0).prints("spoiled");
    told(&sandbox, "sandbox list transactions --find shown").ends(0).prints("0.01 GBP").prints("shown");
    told(&sandbox, "sandbox list requests --method token/requestAccountUpdater")
        .ends(0)
        .prints("token/requestAccountUpdater");
    told(&sandbox, "sandbox list tokens --limit 2").ends(0).prints("main");
    told(&sandbox, "sandbox list sms").ends(0).says("no sms");
    let key = story["ledger"]["transactions"][0]["transactionKey"].as_str().unwrap();
    told(&sandbox, &format!("sandbox list transactions {key}"))
        .ends(0)
        .prints("\"refundable\": 1")
        .hides(&["40000000000"]);
    let base = sandbox.facts["baseUrl"].as_str().unwrap();
    assert_eq!(told(&sandbox, "sandbox open").ends(0).out, format!("{base}/_sandbox/\n"));
    let url = json_of(&sandbox, &format!("sandbox open transactions {key}"))["url"].as_str().unwrap().to_owned();
    assert_eq!(url, format!("{base}/_sandbox/pages/transactions/{key}"));
    told(&sandbox, "sandbox open clock key").ends(2).says("lists no entries");
}

/// A sandbox in another container is on another machine: its address is not loopback.
#[test]
#[cfg(target_os = "linux")]
fn a_sandbox_on_another_machine_is_controlled_over_plain_http_only_if_that_is_allowed() {
    // On Linux a connection to 0.0.0.0 reaches this machine, and it is not a loopback address.
    let sandbox = Running::start(&[]);
    let base = sandbox.facts["baseUrl"].as_str().unwrap().replace("127.0.0.1", "0.0.0.0");
    pg(["sandbox", "clock", "--sandbox", &base]).run().ends(2).says("--plain-http");
    let allowed = |command: &str| pg(command.split(' ').chain(["--plain-http", "--sandbox", &base])).run();
    allowed("sandbox clock").ends(0).prints("real time");
    allowed("sandbox faults add transaction/auth drop-reply").ends(0).prints("drop-reply");
    allowed("sandbox faults clear nothing").ends(1).says("there is no such fault");
    let closed = closed_address().replace("127.0.0.1", "0.0.0.0");
    pg(["sandbox", "clock", "--plain-http", "--sandbox", &closed]).run().ends(3).says("start one with `pg sandbox`");
    // https stays https.
    let secure = base.replace("http:", "https:");
    pg(["sandbox", "clock", "--plain-http", "--sandbox", &secure]).run().ends(3).says("does not speak TLS");
}

#[test]
fn callback_addresses_are_registered_listed_and_removed() {
    let sandbox = Running::start(&["--callback-retries", "2"]);
    told(&sandbox, "sandbox callbacks destinations").ends(0).says("no destinations are registered");
    told(&sandbox, "sandbox callbacks register http://10.0.0.1/")
        .ends(2)
        .says("private networks are disabled; start the sandbox with --private-networks\n");
    told(&sandbox, "sandbox callbacks register http://127.0.0.1:9/ --account mian").ends(2).says("name of an account");
    told(&sandbox, "sandbox callbacks register http://127.0.0.1:9/hook --kind checkout --retries 4")
        .ends(0)
        .prints("checkout")
        .prints("http://127.0.0.1:9/hook");
    told(&sandbox, "sandbox callbacks register http://127.0.0.1:9/both --account strict").ends(0);
    let all = json_of(&sandbox, "sandbox callbacks destinations");
    let shown: Vec<_> =
        all.as_array().unwrap().iter().map(|one| (&one["merchant"], &one["kind"], &one["retries"])).collect();
    assert_eq!(
        shown,
        [
            (&json!("main"), &json!("checkout"), &json!(4)),
            (&json!("strict"), &json!("account-updater"), &json!(2)),
            (&json!("strict"), &json!("checkout"), &json!(2)),
        ]
    );
    let id = all[0]["id"].as_str().unwrap();
    told(&sandbox, &format!("sandbox callbacks unregister {id}")).ends(0).prints("strict");
    told(&sandbox, &format!("sandbox callbacks unregister {id}")).ends(1).says("there is no such destination");
    let of_strict = json_of(&sandbox, "sandbox callbacks destinations --account strict");
    assert_eq!(of_strict.as_array().unwrap().len(), 2, "{of_strict}");
    told(&sandbox, "sandbox callbacks register http://127.0.0.1:9/main").ends(0);
    told(&sandbox, "sandbox callbacks unregister --account mian").ends(2).says("did you mean main?");
    told(&sandbox, "sandbox callbacks unregister --account nope")
        .ends(2)
        .says("configured accounts: main, strict, other");
    told(&sandbox, "sandbox callbacks unregister --account main").ends(0).prints("strict");
    assert_eq!(json_of(&sandbox, "sandbox callbacks destinations"), of_strict);
    told(&sandbox, "sandbox callbacks unregister").ends(0).prints("go to the URLs of the requests");
}

/// A web server may answer every request with JSON.
#[test]
fn json_of_another_server_is_not_taken_for_a_reply() {
    for body in ["{}", "[]", r#"{"status":"ok"}"#] {
        for command in [
            "sandbox faults add transaction/auth drop-reply",
            "sandbox faults",
            "sandbox clock",
            "sandbox account new",
            "sandbox account remove x",
            "sandbox accounts main",
            "sandbox callbacks register http://127.0.0.1:9/",
            "trigger decline",
            "config new x --from-sandbox",
        ] {
            let peer = Peer::answering(&reply("200 OK", "application/json", body));
            let ended = pg(command.split(' ').chain(["--sandbox", &peer.base])).run().ends(3);
            ended.says(" does not answer like a sandbox: /_sandbox/clock returned HTTP 200 (application/json)");
        }
    }
}

#[test]
fn a_server_that_is_no_sandbox_is_reported() {
    let closed = closed_address();
    let ended = pg(["sandbox", "clock", "--sandbox", &closed]).run().ends(3);
    ended.says("no sandbox answers at http://127.0.0.1:").says("start one with `pg sandbox`");
    let answer = |status: &str, kind: &str, body: &str| {
        let peer = Peer::answering(&reply(status, kind, body));
        let ended = pg(["sandbox", "callbacks", "--sandbox", &peer.base]).env("PG_CONTROL_TOKEN", "canary0token").run();
        (ended.hides(&["canary0token"]), peer.request())
    };
    let (ended, request) = answer("404 Not Found", "text/html", "<h1>nginx</h1>");
    ended.ends(3).says("does not answer like a sandbox: /_sandbox/clock returned HTTP 404 (text/html)");
    let (ended, _) = answer("404 Not Found", "application/json", r#"{"error":"not found"}"#);
    ended.ends(3).says("does not answer like a sandbox: /_sandbox/clock returned HTTP 404 (application/json)");
    assert!(request.to_ascii_lowercase().contains("authorization: bearer canary0token"), "{request}");
    let old = r#"{"error":"whatever","code":"no-such-call"}"#;
    answer("404 Not Found", "application/json", old).0.ends(1).says("is probably older than this pg");
    let token = r#"{"error":"give the control token","code":"no-token"}"#;
    answer("401 Unauthorized", "application/json", token)
        .0
        .ends(1)
        .says("rejected the control token in PG_CONTROL_TOKEN");
    let peer = Peer::answering(&reply("401 Unauthorized", "application/json", token));
    let ended = pg(["sandbox", "clock", "--json", "--sandbox", &peer.base]).run().ends(1).says("set PG_CONTROL_TOKEN");
    let error: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(error["exit"], 1);
}
