//! A running shop: how it starts, what it prints, and an address at which nothing listens.

use pg_rehearse::{Report, Verdict};
use pg_support::{free_port, installed};

use crate::samples::{crate_folder, only, rehearse, with};

/// A plan of the adapter in Python as a running shop, with these variables.
fn plan(variables: &str) -> String {
    let (service, shop) = (free_port(), free_port());
    let program = crate_folder().join("tests/samples/urlshop.py");
    format!(
        "timeout_seconds = 20\n[service]\nlisten = \"127.0.0.1:{service}\"\n[shop]\ncommand = [\"env\", {variables}\"SHOP_PORT={shop}\", \
         \"python3\", \"-S\", \"{}\"]\nready = \"http://127.0.0.1:{shop}/\"\n[jobs.charge]\nurl = \"http://127.0.0.1:{shop}/\"\n\
         with = [\"card\"]\n",
        program.display()
    )
}

fn play(plan: &str, drills: &[&str]) -> Report {
    let folder = tempfile::tempdir().expect("it works");
    rehearse(plan, folder.path(), &only(drills)).expect("it works")
}

#[test]
fn secrets_on_the_output_of_a_running_shop_are_found() {
    if !installed(&["python3"], "the output of a shop") {
        return;
    }
    let drills = ["H01", "H02", "H05", "H06"];
    let found = play(&plan("\"LEAK=1\", "), &drills);
    assert_eq!(with(&found, Verdict::Failed), drills, "{}", found.scorecard(false));
    assert!(found.outcomes[0].findings[0].text.ends_with("is in the shop's output"), "{}", found.scorecard(false));
    let careful = play(&plan(""), &["H01", "H02", "H05", "H06", "H07"]);
    assert_eq!(with(&careful, Verdict::Passed), drills, "{}", careful.scorecard(false));
    // The order is kept in the folder of the shop, which is not that of the drill.
    assert_eq!(with(&careful, Verdict::NotApplicable), ["H07"], "{}", careful.scorecard(false));
}

#[test]
fn a_shop_that_replies_503_while_it_starts_is_not_ready() {
    if !installed(&["python3"], "a slow start") {
        return;
    }
    let found = play(&plan("\"STARTING=4\", "), &["M01"]);
    assert_eq!(with(&found, Verdict::Passed), ["M01"], "{}", found.scorecard(false));
    let folder = tempfile::tempdir().expect("it works");
    let never = plan("\"STARTING=1000000\", ").replace("timeout_seconds = 20", "timeout_seconds = 2");
    let refused = rehearse(&never, folder.path(), &only(&["M01"])).expect_err("it is never ready");
    assert!(refused.to_string().contains("answers HTTP 503 at "), "{refused}");
}

/// It would fill the disk.
#[test]
fn a_shop_that_prints_without_end_is_ended() {
    let plan = format!(
        "[shop]\ncommand = [\"sh\", \"-c\", \"head -c 270000000 /dev/zero; exec sleep 600\"]\nready = \"http://127.0.0.1:{}/\"\n\
         [service]\nlisten = \"127.0.0.1:{}\"\n[jobs.callback]\nurl = \"http://127.0.0.1:9/\"\n",
        free_port(),
        free_port()
    );
    let folder = tempfile::tempdir().expect("it works");
    let refused = rehearse(&plan, folder.path(), &only(&["B06"])).expect_err("it prints too much").to_string();
    assert!(refused.ends_with("the shop printed more than 256 MiB, and was ended"), "{refused}");
}

#[test]
fn drills_of_an_address_at_which_nothing_listens_are_broken() {
    let plan = format!("[jobs.callback]\nurl = \"http://127.0.0.1:{}/callback\"\n", free_port());
    let drills = ["B06", "B07", "B08", "B11"];
    let found = play(&plan, &drills);
    assert_eq!(with(&found, Verdict::Broken), drills, "{}", found.scorecard(false));
}

/// A card that is declined cannot be stored.
#[test]
fn drills_of_a_declined_card_are_not_applicable_to_stored_cards() {
    if !installed(&["python3"], "stored cards") {
        return;
    }
    let plan = |forms: &str| {
        let program = crate_folder().join("src/init/pay.py");
        format!("[jobs.charge]\ncommand = [\"python3\", \"-S\", \"{}\"]\nwith = [{forms}]\n", program.display())
    };
    let found = play(&plan("\"cardKey\""), &["M01", "M02", "M03", "M43"]);
    assert_eq!(with(&found, Verdict::NotApplicable), ["M02", "M03", "M43"], "{}", found.scorecard(false));
    assert_eq!(with(&found, Verdict::Passed), ["M01"]);
    let found = play(&plan("\"cardKey\", \"card\""), &["M02"]);
    assert_eq!(with(&found, Verdict::Passed), ["M02"], "{}", found.scorecard(false));
}
