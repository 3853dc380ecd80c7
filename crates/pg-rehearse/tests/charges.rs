//! Charges by the careful adapter in other plans: a form of a card that is refused, no timeout, a running shop.

use pg_rehearse::Verdict;
use pg_support::{free_port, installed};

use crate::{
    faults::kinds,
    samples::{crate_folder, only, rehearse, with},
};

/// A customer who enters a card at the shop could never pay.
#[test]
fn a_form_of_a_card_that_is_refused_is_named() {
    if !installed(&["python3"], "a refused form") {
        return;
    }
    let sample = crate_folder().join("tests/samples/faulty.py");
    let plan = |fault: &str, seconds: u8, more: &str| {
        format!(
            "timeout_seconds = {seconds}\n[jobs.charge]\ncommand = [\"env\", \"FAULT={fault}\", {more}\"python3\", \"-S\", \"{}\"]\n",
            sample.display()
        )
    };
    let folder = tempfile::tempdir().expect("it works");
    let report = rehearse(&plan("sorted-with-case", 60, ""), folder.path(), &only(&["M01"])).expect("it works");
    assert_eq!(kinds(&report), [("M01", "form-refused")], "{}", report.scorecard(false));
    let told = &report.outcomes[0].findings[0].text;
    assert!(told.starts_with("a charge by card was tried, and refused with HTTP 401, error 123;"), "{told}");

    // Without a timeout of its own an adapter waits until the drill kills it.
    let patient = plan("none", 6, "\"PAY_TIMEOUT=600\", \"PAY_PATIENCE=600\", ") + "with = [\"sessionKey\"]\n";
    let report = rehearse(&patient, folder.path(), &only(&["M06"])).expect("it works");
    assert_eq!(kinds(&report), [("M06", "no-timeout")], "{}", report.scorecard(false));
    let told = &report.outcomes[0].findings[0].text;
    assert!(told.contains("took more than 6 seconds"), "{told}");
}

/// Another try would pass, and the fault of the drill was never met.
#[test]
fn an_order_that_is_not_sent_at_the_first_try_fails_a_drill_in_which_the_customer_tries_again() {
    if !installed(&["python3"], "an order that is not sent") {
        return;
    }
    let sample = crate_folder().join("tests/samples/faulty.py");
    let plan = format!(
        "[jobs.charge]\ncommand = [\"env\", \"FAULT=first-try-not-sent\", \"python3\", \"-S\", \"{}\"]\nwith = [\"sessionKey\"]\n",
        sample.display()
    );
    let folder = tempfile::tempdir().expect("it works");
    let report = rehearse(&plan, folder.path(), &only(&["M28", "M30"])).expect("it works");
    assert_eq!(with(&report, Verdict::Failed), ["M28", "M30"], "{}", report.scorecard(false));
    let told = &report.outcomes[1].findings[0].text;
    assert!(told.contains("sent no payment"), "{told}");
}

/// The careful adapter as a running shop. Nothing kills it, and what it still sends for one order does not count in the next.
#[test]
fn a_careful_shop_charges_once_although_no_drill_can_kill_it() {
    if !installed(&["python3"], "charges by a running shop") {
        return;
    }
    let (service, shop) = (free_port(), free_port());
    let plan = format!(
        "timeout_seconds = 20\n[service]\nlisten = \"127.0.0.1:{service}\"\n[shop]\ncommand = [\"env\", \"SHOP_PORT={shop}\", \
         \"PAY_TIMEOUT=1\", \"PAY_PATIENCE=3\", \"PAY_PAUSE=0.15\", \"python3\", \"-S\", \"{}\"]\nready = \"http://127.0.0.1:{shop}/\"\n\
         [jobs.charge]\nurl = \"http://127.0.0.1:{shop}/charge\"\nwith = [\"card\"]\n",
        crate_folder().join("tests/samples/urlshop.py").display(),
    );
    let folder = tempfile::tempdir().expect("it works");
    let drills = ["M27", "M28", "M35", "M36", "M38", "M39", "M40"];
    let report = rehearse(&plan, folder.path(), &only(&drills)).expect("it works");
    assert_eq!(with(&report, Verdict::Passed), ["M27", "M28", "M39", "M40"], "{}", report.scorecard(false));
    assert_eq!(with(&report, Verdict::NotApplicable), ["M35", "M36", "M38"], "{}", report.scorecard(false));
}
