use serde_json::Value;

use crate::pg::words;

/// What must never be seen: the numbers of the cards, a CV2 in a field, the account's secrets.
const HIDDEN: [&str; 6] = [
    "4000000000001000",
    "4000000000002008",
    "4000000000001001",
    "MainSandboxApiKey",
    "MainSandboxApiPassword",
    "MainSandboxShaKey",
];

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
        "14 of 14 steps went as expected",
    ] {
        assert!(ended.out.contains(shown), "no {shown:?} in {}", ended.out);
    }
}

#[test]
fn the_tour_is_there_for_programs() {
    let ended = words("demo --json").run().ends(0).hides(&HIDDEN);
    let tour: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(tour["ok"], true);
    let steps = tour["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 14);
    assert!(steps.iter().all(|step| step["ok"] == true));
    assert_eq!(steps[1]["exchanges"][0]["status"], 303);
    assert_eq!(steps[12]["exchanges"], Value::Array(Vec::new()));
    assert_eq!(steps[13]["exchanges"][0]["status"], 401);
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
