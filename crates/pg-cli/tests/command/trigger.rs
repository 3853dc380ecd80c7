//! `pg trigger`: every story, at a running sandbox and at a new one.

use serde_json::Value;

use crate::command::{
    peer::{Peer, closed_address, reply},
    pg::{pg, words},
    sandbox::Running,
};

/// What each story leaves in the ledger: charges, and minor units taken, refunded and still reserved.
const LEDGERS: [(&str, [u64; 4]); 23] = [
    ("payment", [1, 998, 0, 0]),
    ("decline", [0, 0, 0, 0]),
    ("insufficient-funds", [0, 0, 0, 0]),
    ("lost-reply", [1, 998, 0, 0]),
    ("lost-request", [1, 998, 0, 0]),
    ("slow-reply", [1, 998, 0, 0]),
    ("garbled-reply", [1, 998, 0, 0]),
    ("server-error", [1, 998, 0, 0]),
    ("delivered-twice", [1, 998, 0, 0]),
    ("no-response", [0, 0, 0, 0]),
    ("no-response-charged", [1, 998, 0, 0]),
    ("duplicate-reference", [1, 998, 0, 0]),
    ("partial-capture", [1, 3000, 0, 0]),
    ("partial-refund", [1, 998, 998, 0]),
    ("expired-session", [0, 0, 0, 0]),
    ("challenge", [2, 8901, 0, 0]),
    ("challenge-failed", [1, 1, 0, 0]),
    ("challenge-abandoned", [1, 1, 0, 0]),
    ("checkout", [1, 998, 0, 0]),
    ("checkout-callback-lost", [1, 998, 0, 0]),
    ("checkout-callback-twice", [1, 998, 0, 0]),
    ("updater-batch", [3, 3, 0, 0]),
    ("lockout", [0, 0, 0, 0]),
];

#[test]
fn every_story_ends_with_a_correct_ledger() {
    let sandbox = Running::start(&[]);
    let base = sandbox.facts["baseUrl"].as_str().unwrap();
    let listed: Value = serde_json::from_str(&words("trigger --list --json").run().ends(0).out).unwrap();
    let listed: Vec<&str> = listed.as_array().unwrap().iter().map(|one| one["scenario"].as_str().unwrap()).collect();
    assert_eq!(listed, LEDGERS.map(|(name, _)| name));
    for (scenario, [charges, taken, refunded, reserved]) in LEDGERS {
        let ended = pg(["trigger", scenario, "--json", "--sandbox", base]).run().ends(0);
        let told: Value =
            serde_json::from_str(&ended.hides(&["MainSandboxApiPassword", "4000000000001000"]).out).unwrap();
        let number = |name: &str| told["ledger"]["money"]["GBP"][name].as_u64().unwrap_or_default();
        let found = ["charges", "taken", "refunded", "reserved"].map(number);
        assert_eq!(found, [charges, taken, refunded, reserved], "{scenario}: {}", told["ledger"]);
        let steps = told["steps"].as_array().unwrap();
        assert!(steps.iter().all(|step| step["ok"] == true), "{scenario}: {told}");
        let based =
            steps.iter().flat_map(|step| step["exchanges"].as_array().unwrap()).any(|one| one["basis"].is_string());
        assert!(based, "{scenario}: {told}");
    }
    // No fault remains for the next call.
    let faults = pg(["sandbox", "faults", "--json", "--sandbox", base]).run().ends(0).out;
    assert_eq!(faults.trim(), "[]");
}

#[test]
fn a_story_is_told_step_by_step() {
    let ended = words("trigger lost-reply --standalone --reference o-17").run().ends(0);
    ended
        .prints("lost-reply: a charge is made, its reply is lost, and a lookup settles it")
        .prints("no reply")
        .prints("(spec ")
        .prints("pg sandbox faults add transaction/auth drop-reply")
        .prints("3 of 3 steps went as expected")
        .prints("o-17")
        .prints("1 charge: 9.98 GBP taken");
    let list = words("trigger --list").run().ends(0);
    let list =
        list.prints("SCENARIO").prints("updater-batch").prints("wrong passwords lock the address out, for every");
    assert!(!list.out.contains("lock the account"), "{}", list.out);
}

#[test]
fn a_separate_sandbox_speaks_the_dialect_of_the_client() {
    // The documents list no code for a decline, so their dialect knows none.
    for dialect in ["sandbox", "six-hundreds", "not-found", "terse"] {
        for scenario in ["decline", "insufficient-funds", "challenge-failed"] {
            pg(["trigger", scenario, "--standalone", "--dialect", dialect]).run().ends(0);
        }
    }
    words("trigger decline --standalone --dialect tersee").run().ends(2).says("is not built in");
}

#[test]
fn a_step_that_fails_is_shown_and_ends_the_story() {
    let sandbox = Running::start(&[]);
    let base = sandbox.facts["baseUrl"].as_str().unwrap();
    // This account takes no raw card numbers.
    let ended = pg(["trigger", "partial-refund", "--merchant", "strict", "--sandbox", base]).run().ends(1);
    let ended = ended.prints("✗ refused: 106 ").prints("0 of 1 steps went as expected").prints("nothing was charged");
    let ended = ended.prints(": the account strict has no raw card numbers; choose another with --merchant\n");
    assert!(!ended.out.contains("ask the operator"), "{}", ended.out);
    let fault = pg(["sandbox", "faults", "add", "any", "garble", "--sandbox", base]).run();
    fault.ends(0);
    pg(["trigger", "lost-reply", "--sandbox", base]).run().ends(1).prints("remove it with `pg sandbox faults clear`");
}

#[test]
fn a_callback_that_a_setting_holds_back_is_explained() {
    let sandbox = Running::start(&[]);
    let base = sandbox.facts["baseUrl"].as_str().unwrap();
    pg(["sandbox", "callbacks", "misbehave", "late", "--by", "10m", "--sandbox", base]).run().ends(0);
    let ended = pg(["trigger", "checkout", "--sandbox", base]).run().ends(1);
    ended.prints("no callback within 5 seconds").prints("`pg sandbox callbacks reset`");
    // The end of the commands in the guide undoes what they set.
    let guide = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/sandbox.md")).unwrap();
    let (_, commands) = guide.split_once("\n$ pg sandbox faults add transaction/auth drop-reply").unwrap();
    let (commands, _) = commands.split_once("```").unwrap();
    for (setting, undoing) in [
        ("faults add any", "faults clear"),
        ("callbacks misbehave", "callbacks reset"),
        ("clock freeze", "clock resume"),
    ] {
        let place = |command: &str| commands.find(&format!("\n$ pg sandbox {command}")).unwrap();
        assert!(place(setting) < place(undoing), "{setting}");
    }
    for undoing in ["callbacks reset", "clock resume"] {
        pg(["sandbox"].into_iter().chain(undoing.split(' ')).chain(["--sandbox", base])).run().ends(0);
    }
    pg(["trigger", "checkout", "--sandbox", base]).run().ends(0);
}

#[test]
fn a_callback_that_is_not_acknowledged_fails_its_step() {
    let nowhere = format!("{}/hook", closed_address());
    for scenario in ["checkout", "checkout-callback-lost", "checkout-callback-twice", "updater-batch"] {
        let ended = pg(["trigger", scenario, "--standalone", "--callback-url", &nowhere]).run().ends(1);
        ended.prints(&format!("✗ the callback was not acknowledged: sent to {nowhere}: no connection"));
    }
    let shop = Peer::answering(&reply("502 Bad Gateway", "text/plain", ""));
    let ended = pg(["trigger", "checkout", "--standalone", "--callback-url", &shop.base]).run().ends(1);
    ended.prints("✗ the callback was not acknowledged").prints(": HTTP 502").prints("2 of 3 steps");
    shop.request();
    let shop = Peer::answering(&reply("204 No Content", "text/plain", ""));
    let ended = pg(["trigger", "checkout", "--standalone", "--callback-url", &shop.base]).run().ends(0);
    ended.prints("✓ called back").prints(": HTTP 204");
    shop.request();
}

#[test]
fn a_callback_that_goes_to_a_registered_address_is_explained_with_a_remedy() {
    let sandbox = Running::start(&[]);
    let base = sandbox.facts["baseUrl"].as_str().unwrap();
    let hook = format!("{}/hook", closed_address());
    pg(["sandbox", "callbacks", "register", &hook, "--sandbox", base]).run().ends(0);
    for scenario in ["checkout", "updater-batch"] {
        let ended = pg(["trigger", scenario, "--sandbox", base]).run().ends(1);
        ended
            .prints(&format!("✗ the callback went to {hook}, which is registered for account main"))
            .prints("`pg sandbox callbacks unregister --account main`");
    }
    // That another address acknowledges the callback says nothing about the URL that was asked for.
    let shop = Peer::answering(&reply("204 No Content", "text/plain", ""));
    pg(["sandbox", "callbacks", "register", &shop.base, "--sandbox", base]).run().ends(0);
    let ended = pg(["trigger", "checkout", "--callback-url", &hook, "--sandbox", base]).run().ends(1);
    ended.prints(&format!("✗ the callback went to {}", shop.base));
    shop.request();
    pg(["sandbox", "callbacks", "unregister", "--account", "main", "--sandbox", base]).run().ends(0);
    pg(["trigger", "checkout", "--sandbox", base]).run().ends(0);
}

#[test]
fn invalid_words_and_a_missing_sandbox_are_reported() {
    // Refused before a request is sent.
    words("trigger checkout --callback-url foo").run().ends(2).says("expected a URL such as https://");
    words("trigger declin").run().ends(2).says("similar value exists: 'decline'");
    words("trigger").run().ends(2).says("name a SCENARIO; `pg trigger --list` lists them");
    words("trigger decline --standalone --sandbox http://127.0.0.1:1").run().ends(2).says("cannot be used with");
    for allowed in ["", " --plain-http"] {
        let plain = format!("trigger decline --sandbox http://sandbox.example:8480{allowed}");
        words(&plain).run().ends(2).says("a scenario sends card data").says("use https");
    }
    words("trigger decline --standalone --merchant mian").run().ends(2).says("did you mean main?");
    pg(["trigger", "decline", "--sandbox", &closed_address()])
        .run()
        .ends(3)
        .says("no sandbox answers")
        .says("--standalone");
}
