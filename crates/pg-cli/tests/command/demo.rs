use serde_json::Value;

use crate::command::pg::words;

/// What must never be seen: the numbers of the cards, a CV2 in a field, the account's secrets.
const HIDDEN: [&str; 13] = [
    "4000000000001000",
    "4000000000002008",
    "4000000000001001",
    "4000000000005001",
    "4000000000008005",
    "4000000000009003",
    "4000000000010001",
    "MainSandboxApiKey",
    "MainSandboxApiPassword",
    "MainSandboxShaKey",
    "MainSandboxUpdaterKey",
    "MainSandboxV5ApiKey",
    "MainSandboxV5ApiPassword",
];

/// The folder with the records and their key is removed.
#[test]
#[cfg(unix)]
fn an_interrupted_tour_leaves_no_files() {
    use std::io::{BufRead as _, BufReader};

    let folder = tempfile::tempdir().unwrap();
    let mut child = words("demo").env("TMPDIR", folder.path().to_str().unwrap()).start();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    let kill = ["-INT", &child.id().to_string()];
    assert!(std::process::Command::new("kill").args(kill).status().unwrap().success());
    std::io::copy(&mut out, &mut std::io::sink()).unwrap();
    // It may have been at its end.
    assert!(matches!(child.wait().unwrap().code(), Some(0 | 4)));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_sandbox_that_listens_everywhere_is_toured_from_here() {
    words("demo --listen 0.0.0.0:0").run().ends(0).prints("32 of 32 steps").hides(&["http://0.0.0.0"]);
}

#[test]
fn every_step_goes_as_expected() {
    let ended = words("demo").run().ends(0).hides(&HIDDEN);
    assert_eq!(ended.err, "");
    for shown in [
        " 1  Initiate a session",
        "Location: https://shop.example/review?formId=card&data=",
        "cardNumber       400000******1000",
        "cardCV2          ***",
        "errors > cardNumber > errorCode     108",
        "6 broken rules, nothing sent",
        "the key has white space around it",
        "accountUpdaterKey  ***",
        "← POST http://127.0.0.1:",
        "→ HTTP 204",
        "700, 702, 706: new card keys where something changed",
        "page > buttons  authenticate, fail, abandon",
        "607, liability shift Y",
        "refused: 962",
        "608, liability shift N; auth3DSecure declined: 907",
        "refused: 961; 921, liability shift N; declined: 907",
        "page > heading  Pay £10.98",
        "Success: 10.98 GBP",
        "HTTP 410: “This payment has been made”",
        "CAPTURE 0.750, CANCEL 0.500",
        "HTTP 410: “This payment link has expired”",
        "32 of 32 steps went as expected",
    ] {
        assert!(ended.out.contains(shown), "no {shown:?} in {}", ended.out);
    }
}

#[test]
fn programs_can_read_the_tour() {
    let ended = words("demo --json").run().ends(0).hides(&HIDDEN);
    let tour: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(tour["ok"], true);
    let steps = tour["steps"].as_array().unwrap();
    assert!(steps.iter().all(|step| step["ok"] == true));
    let mut chapters: Vec<&str> = steps.iter().map(|step| step["chapter"].as_str().unwrap()).collect();
    chapters.dedup();
    assert_eq!(chapters, ["Payments", "What goes wrong", "Account updater", "3-D Secure", "Hosted checkout"]);
    let step = |title: &str| {
        let found = steps.iter().find(|step| step["title"].as_str().unwrap().starts_with(title));
        found.unwrap_or_else(|| panic!("no step {title}"))
    };
    assert_eq!(step("Post the card")["exchanges"][0]["status"], 303);
    assert_eq!(step("Misuse a method")["exchanges"], Value::Array(Vec::new()));
    assert_eq!(step("Send a wrong signature")["exchanges"][0]["status"], 401);
    let callbacks = steps.iter().flat_map(|step| step["exchanges"].as_array().unwrap());
    let callbacks: Vec<&Value> = callbacks.filter(|exchange| exchange["callback"] == true).collect();
    assert_eq!(callbacks.len(), 2);
    assert!(callbacks.iter().all(|callback| callback["status"] == 204));
    let value = |pairs: &Value, name: &str| {
        let pair = pairs.as_array().unwrap().iter().find(|pair| pair["name"] == name);
        pair.map(|pair| pair["value"].as_str().unwrap().to_owned())
    };
    assert_eq!(value(&callbacks[0]["sent"], "cardKeyDetails > 1 > response").as_deref(), Some("702"));
    assert_eq!(value(&callbacks[1]["sent"], "trans_value").as_deref(), Some("10.98"));
    let location = step("Pay on the hosted page")["exchanges"][1]["location"].as_str().unwrap();
    let key = value(&callbacks[1]["sent"], "trans_key").unwrap();
    assert_eq!(location, format!("https://shop.example/paid?order=9&trans_key={key}"));
}

#[test]
fn its_records_are_kept_when_asked_for() {
    let temporary = tempfile::tempdir().unwrap();
    let folders = || std::fs::read_dir(temporary.path()).unwrap().count();
    let place = temporary.path().to_str().unwrap();
    words("demo").env("TMPDIR", place).run().ends(0);
    assert_eq!(folders(), 0);
    words("demo --keep").env("TMPDIR", place).run().ends(0).says("pg sandbox --store");
    assert_eq!(folders(), 1);
}
