//! Proof of the drills' accuracy: integrations with one mistake each fail exactly the expected drills.
//!
//! `PG_BLESS=all` runs every drill against every fault, which takes twenty minutes, and writes what fails into `samples/faults.txt` and
//! `docs/internals/rehearsal-proof.md`; `PG_BLESS=oracle,markup` does the same for these faults; `PG_BLESS=1` writes the page from that list.
//! Without it each fault meets some of the drills that have to fail, and some that must not.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use pg_rehearse::{Options, Verdict};
use pg_support::{free_port, installed};

use crate::samples::{crate_folder, each, only, rehearse, with};

/// Drills that a fault may not touch unless it is listed for them.
const OTHERS: [&str; 5] = ["M01", "M48", "C01", "T02", "R01"];
/// Drills of one fault that are run each time.
const MOST: usize = 3;
/// Faults that meet their drills at a time.
const ROWS: usize = 3;

struct Fault {
    program: String,
    name: String,
    what: String,
    fails: BTreeSet<String>,
}

fn list() -> PathBuf {
    crate_folder().join("tests/samples/faults.txt")
}

fn faults() -> Vec<Fault> {
    let text = fs::read_to_string(list()).expect("it works");
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let parts: Vec<&str> = line.split('|').map(str::trim).collect();
            Fault {
                program: parts[0].to_owned(),
                name: parts[1].to_owned(),
                what: parts[2].to_owned(),
                fails: parts[3].split_whitespace().map(ToOwned::to_owned).collect(),
            }
        })
        .collect()
}

/// The plan for a fault. The mistake and its log are given by `env`, since a plan names no variables. `-S` leaves out the machine's own
/// packages, which nothing needs and which may take as long to find as everything else.
fn plan(fault: &Fault, log: &str) -> String {
    let samples = crate_folder().join("tests/samples");
    if fault.program == "python" {
        // A session cannot be reserved.
        let forms = if fault.name.starts_with("reserved") { "\"card\"" } else { "\"sessionKey\", \"card\"" };
        return format!(
            "timeout_seconds = 60\n[jobs.charge]\ncommand = [\"env\", \"FAULT={}\", \"FAULT_LOG={log}\", \"PAY_TIMEOUT=2\", \
             \"PAY_PATIENCE=5\", \"PAY_PAUSE=0.15\", \"python3\", \"-S\", \"{}\"]\nwith = [{forms}]\n[hygiene]\nlogs = [\"{log}\"]\n",
            fault.name,
            samples.join("faulty.py").display(),
        );
    }
    let (service, shop) = (free_port(), free_port());
    let job = |name: &str, path: &str| format!("[jobs.{name}]\nurl = \"http://127.0.0.1:{shop}/{path}\"\n");
    // No drill can kill a running shop.
    let command = |name: &str| {
        let shop = samples.join("shop.mjs");
        format!("[jobs.{name}]\ncommand = [\"env\", \"FAULT={}\", \"node\", \"{}\"]\n", fault.name, shop.display())
    };
    format!(
        "timeout_seconds = 20\n[service]\nlisten = \"127.0.0.1:{service}\"\n[shop]\ncommand = [\"env\", \"FAULT={}\", \"SHOP_PORT={shop}\", \
         \"node\", \"{}\"]\nready = \"http://127.0.0.1:{shop}/\"\n{}{}{}{}{}{}{}{}",
        fault.name,
        samples.join("shop.mjs").display(),
        job("open_redirect", "return"),
        job("callback", "callback"),
        job("checkout", "checkout"),
        job("checkout_return", "success"),
        job("three_d_secure", "three-d-secure"),
        job("capture", "capture"),
        command("refund"),
        command("update_cards"),
    )
}

fn failing(fault: &Fault, options: &Options) -> (BTreeSet<String>, String) {
    let folder = tempfile::tempdir().expect("it works");
    let log = folder.path().join("shop.log");
    let report = rehearse(&plan(fault, &log.display().to_string()), folder.path(), options).expect("it works");
    let failed = with(&report, Verdict::Failed).into_iter().map(ToOwned::to_owned).collect();
    (failed, report.scorecard(false))
}

/// Its drill compares times, which a busy machine spoils: it is run when the table is written.
const TIMED: &str = "timing-oracle";

fn prove(program: &str, command: &str) {
    if !installed(&[command], &format!("faulty integrations in {program}")) {
        return;
    }
    let all = faults();
    let rows: Vec<&Fault> = all.iter().filter(|fault| fault.program == program && fault.name != TIMED).collect();
    each(&rows, ROWS, |_, fault| {
        // Some of the long lists: all of them are run when the table is written.
        let step = fault.fails.len().div_ceil(MOST).max(1);
        let expected: BTreeSet<String> = fault.fails.iter().step_by(step).cloned().collect();
        let others = OTHERS.into_iter().filter(|other| !fault.fails.contains(*other));
        let drills: Vec<&str> = expected.iter().map(String::as_str).chain(others).collect();
        let (failed, told) = failing(fault, &only(&drills));
        assert_eq!(failed, expected, "{}: {}\n{told}", fault.name, fault.what);
    });
}

#[test]
fn charges_with_one_mistake_are_failed_by_exactly_the_drills_that_should() {
    prove("python", "python3");
}

#[test]
fn shops_with_one_mistake_are_failed_by_exactly_the_drills_that_should() {
    prove("node", "node");
}

fn shop(name: &str, drills: &[&str]) -> pg_rehearse::Report {
    let fault = faults().into_iter().find(|fault| fault.program == "node" && fault.name == name).expect("it works");
    let folder = tempfile::tempdir().expect("it works");
    rehearse(&plan(&fault, ""), folder.path(), &only(drills)).expect("it works")
}

/// The same with captures by a command.
fn shop_with_commands(name: &str, drills: &[&str]) -> pg_rehearse::Report {
    let fault = faults().into_iter().find(|fault| fault.program == "node" && fault.name == name).expect("it works");
    let plan = plan(&fault, "");
    let part = |job: &str| plan.split("[jobs.").find(|part| part.starts_with(job)).expect("it has this job").to_owned();
    let plan = plan.replace(&part("capture]"), &part("refund]").replace("refund]", "capture]"));
    let folder = tempfile::tempdir().expect("it works");
    rehearse(&plan, folder.path(), &only(drills)).expect("it works")
}

/// A reservation can be captured in parts, so that the service's own rule hides no repeated capture.
#[test]
fn a_repeated_capture_and_refund_are_named_with_their_money() {
    if !installed(&["node"], "repeated captures") {
        return;
    }
    let found = shop("refund-retried", &["M51", "M54"]);
    let told = |at: usize| (found.outcomes[at].findings[0].kind, found.outcomes[at].findings[0].text.as_str());
    assert_eq!(told(0), ("captured-twice", "executed, reply lost: captured twice: 6.00 GBP instead of 3.00 GBP"));
    assert_eq!(told(1), ("refunded-twice", "executed, reply lost: refunded twice: 6.00 GBP instead of 3.00 GBP"));
    assert!(found.outcomes[0].drill.mend.contains("uniqueMerchantReference"));

    // As a command, which a drill can kill.
    let killed = shop_with_commands("refund-retried", &["M82"]);
    assert_eq!(kinds(&killed), [("M82", "captured-twice")], "{}", killed.scorecard(false));
    let drills = ["M82", "M84"];
    let passed = shop_with_commands("none", &drills);
    assert_eq!(with(&passed, Verdict::Passed), drills, "{}", passed.scorecard(false));

    // The same parts as those of refunds, without a program for each.
    let drills = ["M50", "M51", "M52", "M72", "M80", "M81", "M83", "M84", "M85", "M86", "M87"];
    for careful in ["none", "retried-under-reference", "later-by-state"] {
        let passed = shop(careful, &drills);
        assert_eq!(with(&passed, Verdict::Passed), drills, "{careful}: {}", passed.scorecard(false));
    }
}

/// Each way to pay is careful by itself.
#[test]
fn an_order_that_can_be_paid_in_two_ways_is_paid_once() {
    if !installed(&["node"], "two ways to pay") {
        return;
    }
    let drills = ["K12", "S03"];
    let rows = [("none", vec![]), ("charge-beside-link", vec!["K12"]), ("charge-beside-3ds", vec!["S03"])];
    each(&rows, ROWS, |_, (name, failed)| {
        let fault = Fault { program: "node".into(), name: (*name).into(), what: String::new(), fails: BTreeSet::new() };
        let plan = plan(&fault, "");
        let (from, to) = ("[jobs.checkout]", "[jobs.charge]");
        let part = plan.split_once(from).and_then(|(_, rest)| rest.split_once("[jobs.")).expect("it has this job").0;
        let charge = format!("{to}{}with = [\"sessionKey\"]\n", part.replace("/checkout", "/charge"));
        let folder = tempfile::tempdir().expect("it works");
        let found = rehearse(&format!("{plan}{charge}"), folder.path(), &only(&drills)).expect("it works");
        let kinds: Vec<_> = failed.iter().map(|drill| (*drill, "charged-twice")).collect();
        assert_eq!(self::kinds(&found), kinds, "{name}: {}", found.scorecard(false));
    });
}

#[test]
fn a_page_in_words_that_are_not_read_proves_nothing() {
    if !installed(&["node"], "unread pages") {
        return;
    }
    let drills = ["K01", "K02", "K03", "K04", "K05", "K07", "K09", "K10", "K11", "K12"];
    let found = shop("success-in-german", &drills);
    let expected = drills.map(|drill| (drill, if drill == "K05" { "never-looked-up" } else { "page-not-read" }));
    assert_eq!(kinds(&found), expected, "{}", found.scorecard(false));
    assert_eq!(with(&found, Verdict::Warning), drills);
}

/// Careful shops of other designs. What a drill cannot see is no failure.
#[test]
fn shops_that_settle_orders_in_other_ways_pass_or_get_a_warning() {
    if !installed(&["node"], "other shops") {
        return;
    }
    let kept = vec![("K09", "link-kept")];
    let unpaid = ["K01", "K03", "K07"];
    let ignored = vec![("B03", "not-confirmed"), ("B04", "not-confirmed")];
    // Of a page that the runner does not see, nothing is said.
    let returns = ["R01", "R02", "R05", "R06", "R07", "R09", "R12", "R13", "H12", "H13"];
    let unseen = returns.map(|drill| (drill, "page-not-read")).to_vec();
    let rows = [
        ("success-redirects", vec!["B04", "B05", "K01", "K03", "K05", "K07", "K12"], vec![]),
        ("order-by-token", vec!["B05", "K05", "K10", "K12"], vec![]),
        ("own-reference", vec!["B03", "B04", "B05", "B09", "K12"], vec![]),
        ("checkout-with-3ds", vec!["B09", "K05", "K08", "K09", "K12"], vec![]),
        ("callback-ignored", vec!["B03", "B04", "B05"], ignored),
        ("callback-checked-late", vec!["B04", "B05"], vec![("B04", "not-confirmed")]),
        ("callback-forgotten", vec!["B03", "B04"], vec![("B03", "lookup-not-repeated")]),
        ("callback-never-marks", vec!["B03"], vec![("B03", "not-marked")]),
        ("link-kept", vec!["K09"], kept),
        ("success-undecided", vec!["K05", "K06"], vec![("K05", "found-and-unknown"), ("K06", "found-and-unknown")]),
        ("unpaid-customer-thanked", unpaid.to_vec(), unpaid.map(|drill| (drill, "page-ambiguous")).to_vec()),
        ("queue-by-chance", vec!["K11", "K12"], vec![("K11", "page-not-read"), ("K12", "page-not-read")]),
        // It may mean the order of the key.
        ("3ds-of-the-key", vec!["S11"], vec![("S11", "paid-without-order")]),
        ("none", vec!["S03", "S06", "S12", "S13", "S14", "S15", "M54", "M55", "M57", "M79"], vec![]),
        ("3ds-unread-is-unknown", vec!["S14", "S15"], vec![]),
        ("3ds-start-kept", vec!["S03"], vec![]),
        ("3ds-each-start-paid-once", vec!["S03"], vec![]),
        ("3ds-last-start-counts", vec!["S03"], vec![]),
        ("3ds-608-pays", vec!["S09"], vec![("S09", "paid-without-authentication")]),
        ("pounds-only", vec!["S01"], vec![("S01", "amount-refused")]),
        ("later-asked-first", vec!["B03", "M68", "M72"], vec![]),
        ("return-redirects", returns.to_vec(), vec![]),
        ("return-redirects-elsewhere", returns.to_vec(), unseen.clone()),
        ("return-redirects-refused", returns.to_vec(), unseen.clone()),
        ("return-unread", returns.to_vec(), unseen),
    ];
    each(&rows, ROWS, |_, (name, drills, expected)| {
        let found = shop(name, drills);
        assert_eq!(&kinds(&found), expected, "{name}: {}", found.scorecard(false));
        assert_eq!(with(&found, Verdict::Failed), Vec::<&str>::new(), "{name}");
    });
}

pub(crate) fn kinds(report: &pg_rehearse::Report) -> Vec<(&'static str, &'static str)> {
    let of = |one: &pg_rehearse::Outcome| {
        let id = one.drill.id;
        one.findings.iter().map(|finding| (id, finding.kind)).collect::<Vec<_>>()
    };
    report.outcomes.iter().flat_map(of).collect()
}

#[test]
fn a_checkout_that_only_reserves_or_denies_a_payment_or_cannot_take_yen_gets_a_warning() {
    if !installed(&["node"], "checkouts with a warning") {
        return;
    }
    let drills = ["K05", "K06"];
    for (fault, expected) in [
        ("checkout-reserves", vec![("K05", "reserved-but-said-paid"), ("K06", "reserved-but-said-paid")]),
        ("paid-customer-denied", vec![("K05", "page-not-read"), ("K06", "page-not-read")]),
        ("two-decimals-in-checkout", vec![("K06", "no-link-in-yen")]),
        ("pounds-only", vec![("K06", "no-link-in-yen")]),
        ("success-settles-later", vec![]),
    ] {
        let found = shop(fault, &drills);
        assert_eq!(kinds(&found), expected, "{fault}: {}", found.scorecard(false));
        assert_eq!(with(&found, Verdict::Failed), Vec::<&str>::new(), "{fault}");
    }
    for clock in ["link-of-a-day", "token-start"] {
        let found = shop(clock, &["K09"]);
        let told = &found.outcomes[0].findings[0].text;
        assert_eq!(found.outcomes[0].verdict, Verdict::NotApplicable, "{clock}: {}", found.scorecard(false));
        assert!(told.contains("token_expiry from its own clock"), "{clock}: {told}");
    }
    // A shop may have a highest amount.
    let found = shop("small-orders-only", &["K11"]);
    assert_eq!(with(&found, Verdict::NotApplicable), ["K11"], "{}", found.scorecard(false));
}

/// The same without these jobs.
fn shop_without(jobs: &[&str], name: &str, drills: &[&str]) -> pg_rehearse::Report {
    let fault = faults().into_iter().find(|fault| fault.program == "node" && fault.name == name).expect("it works");
    let plan = plan(&fault, "");
    let is_left_out = |part: &str| part.split_once(']').is_some_and(|(job, _)| jobs.contains(&job));
    let parts: Vec<&str> = plan.split("[jobs.").filter(|part| !is_left_out(part)).collect();
    let folder = tempfile::tempdir().expect("it works");
    rehearse(&parts.join("[jobs."), folder.path(), &only(drills)).expect("it works")
}

/// Neither the answer of the callback nor a page shows what the shop believed.
#[test]
fn a_callback_whose_answers_say_nothing_proves_nothing_without_a_page_that_shows_what_was_settled() {
    if !installed(&["node"], "silent callbacks") {
        return;
    }
    let (page, link) = (&["checkout_return"][..], &["checkout", "checkout_return"][..]);
    let (no_page, no_state) = ("add the job checkout_return", "opened without a key, is read the same");
    let rows = [
        (page, "callback-settles", "B05", no_page),
        // Each answer counts, not all together.
        (page, "callback-compares-price", "B05", no_page),
        (page, "callback-trusted-on-error", "B04", no_page),
        (link, "callback-ignored", "B05", "Add the job checkout"),
        // A page that answers by its key alone is the same whatever the shop has believed.
        (&[], "page-by-key-callback-settles", "B04", no_state),
        (&[], "page-by-key-callback-settles", "B05", no_state),
    ];
    each(&rows, ROWS, |_, (jobs, name, drill, why)| {
        let found = shop_without(jobs, name, &[drill]);
        let told = found.scorecard(false);
        assert_eq!(with(&found, Verdict::NotApplicable), [*drill], "{name}: {told}");
        assert!(found.outcomes[0].findings[0].text.contains(why), "{name}: {told}");
    });
}

/// A returning customer has the same stored card.
#[test]
fn a_reference_that_is_derived_from_a_stored_card_is_found() {
    if !installed(&["python3"], "the same stored card") {
        return;
    }
    let named = |fault: &Fault| fault.program == "python" && fault.name == "reference-of-card";
    let fault = faults().into_iter().find(named).expect("it works");
    let folder = tempfile::tempdir().expect("it works");
    let plan = plan(&fault, &folder.path().join("shop.log").display().to_string());
    let plan = plan.replace("[\"sessionKey\", \"card\"]", "[\"cardKey\"]");
    let report = rehearse(&plan, folder.path(), &only(&["M67"])).expect("it works");
    assert_eq!(with(&report, Verdict::Failed), ["M67"], "{}", report.scorecard(false));
}

/// Without the job that makes orders, a shop with a database knows none of them, and nothing follows from its answers.
#[test]
fn drills_of_an_order_that_the_shop_does_not_know_are_not_applicable() {
    if !installed(&["node"], "unknown orders") {
        return;
    }
    let drills = ["B03", "B04", "B05", "B06", "B09", "B10", "B11", "K01", "K02", "K03", "K04", "K10"];
    for name in ["none", "key-trusted"] {
        let report = shop_without(&["checkout"], name, &drills);
        assert_eq!(with(&report, Verdict::NotApplicable), drills, "{name}: {}", report.scorecard(false));
        let told = |id: &str| {
            let one = report.outcomes.iter().find(|one| one.drill.id == id).expect("it ran");
            one.findings[0].text.clone()
        };
        assert!(told("K01").contains("Add the job checkout"), "{}", told("K01"));
        assert!(told("B09").contains("its callback returns HTTP 404"), "{}", told("B09"));
    }
}

/// Neither a forged callback nor a malformed one is refused for what it is.
#[test]
fn drills_of_a_callback_prove_nothing_at_an_address_that_refuses_everything() {
    if !installed(&["node"], "an address without callbacks") {
        return;
    }
    let found = shop("callback-not-found", &["callbacks-and-returns", "H14"]);
    assert_eq!(with(&found, Verdict::Passed), Vec::<&str>::new(), "{}", found.scorecard(false));
    let why = "the address returns HTTP 404 for ";
    for one in found.outcomes.iter().filter(|one| one.verdict == Verdict::NotApplicable) {
        assert!(one.findings[0].text.starts_with(why), "{}: {:?}", one.drill.id, one.findings);
    }
}

/// The link comes from a command and the success page from a running shop, as in the plan that `pg rehearse init` writes.
#[test]
fn a_command_and_the_shop_of_its_customers_call_one_service() {
    if !installed(&["python3", "node"], "a checkout in two programs") {
        return;
    }
    let fault = faults().into_iter().find(|fault| fault.program == "node" && fault.name == "none").expect("it works");
    let link = crate_folder().join("tests/samples/checkout.py");
    let orders = tempfile::tempdir().expect("it works");
    let kept = format!("\"ORDERS={}\"", orders.path().display());
    let plan: Vec<String> = plan(&fault, "").split("[jobs.").map(str::to_owned).collect();
    let command = format!("checkout]\ncommand = [\"env\", {kept}, \"python3\", \"-S\", \"{}\"]\n", link.display());
    let plan = plan.into_iter().map(|part| if part.starts_with("checkout]") { command.clone() } else { part });
    let plan = plan.collect::<Vec<_>>().join("[jobs.").replace("\"SHOP_PORT", &format!("{kept}, \"SHOP_PORT"));
    let folder = tempfile::tempdir().expect("it works");
    let report = rehearse(&plan, folder.path(), &only(&["checkout"])).expect("it works");
    let drills: Vec<&str> = report.outcomes.iter().map(|outcome| outcome.drill.id).collect();
    assert_eq!(with(&report, Verdict::Passed), drills, "{}", report.scorecard(false));
}

#[test]
fn a_block_is_decrypted_through_a_padding_oracle_and_nothing_through_the_careful_page() {
    if !installed(&["node"], "the padding oracle") {
        return;
    }
    let found = shop("oracle", &["R09"]);
    let finding = &found.outcomes[0].findings[0];
    assert_eq!(finding.kind, "padding-oracle");
    assert!(finding.text.contains("This decrypted 16 of 16 bytes of a block correctly"), "{}", finding.text);
    println!("{}", finding.text);
    let careful = shop("none", &["R09"]);
    assert_eq!(with(&careful, Verdict::Passed), ["R09"], "{}", careful.scorecard(false));
}

#[test]
fn careful_integrations_pass_and_enough_faulty_ones_exist() {
    let all = faults();
    assert!(all.iter().filter(|fault| !fault.fails.is_empty()).count() >= 25);
    for program in ["python", "node"] {
        let careful = all.iter().find(|fault| fault.program == program && fault.name == "none").expect("it works");
        assert!(careful.fails.is_empty());
    }
    let page = crate_folder().join("../../docs/internals/rehearsal-proof.md");
    match std::env::var("PG_BLESS").as_deref() {
        Ok("1") => fs::write(&page, table(&all)).expect("it works"),
        Ok(names) => bless(&all, names),
        Err(_) => {}
    }
    assert!(
        fs::read_to_string(&page).unwrap_or_default() == table(&faults()),
        "not fresh: run this test with PG_BLESS=1, or PG_BLESS=all"
    );
}

/// Every drill against the faults with these names, or against all.
fn bless(all: &[Fault], names: &str) {
    let chosen: Vec<&Fault> =
        all.iter().filter(|fault| names == "all" || names.split(',').any(|name| name == fault.name)).collect();
    let results = Mutex::new(BTreeMap::new());
    let run = |fault: &Fault| {
        let mut options = Options::default();
        options.jobs = 12;
        let (fails, told) = failing(fault, &options);
        println!("{} {}: {}\n{told}", fault.program, fault.name, listed(&fails));
        let key = (fault.program.clone(), fault.name.clone());
        results.lock().unwrap_or_else(PoisonError::into_inner).insert(key, fails);
    };
    let (timed, others): (Vec<&Fault>, Vec<&Fault>) = chosen.into_iter().partition(|fault| fault.name == TIMED);
    each(&others, ROWS, |_, fault| run(fault));
    // Its drill compares times.
    each(&timed, 1, |_, fault| run(fault));
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut text =
        "# program | fault | what it is | the drills that fail it. Written by the test faults.rs with PG_BLESS=all.\n"
            .to_owned();
    let mut found = Vec::new();
    for fault in all {
        let fails = results.remove(&(fault.program.clone(), fault.name.clone())).unwrap_or_else(|| fault.fails.clone());
        let list = listed(&fails);
        text.push_str(&format!("{} | {} | {} | {list}\n", fault.program, fault.name, fault.what));
        found.push(Fault { program: fault.program.clone(), name: fault.name.clone(), what: fault.what.clone(), fails });
    }
    fs::write(list(), text).expect("it works");
    fs::write(crate_folder().join("../../docs/internals/rehearsal-proof.md"), table(&found)).expect("it works");
    println!("{} integrations", found.len());
}

fn listed(drills: &BTreeSet<String>) -> String {
    drills.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn table(all: &[Fault]) -> String {
    let mut text = "<!-- @generated by the test `careful_integrations_pass_and_enough_faulty_ones_exist` (PG_BLESS=all). Do not edit. -->\n\n\
                    # Faulty integrations against drills\n\nEach row is a careful integration with one real-world mistake, or with another design and no mistake. The last column lists\n\
                    [the drills](../reference/drills.md) that it fails. It fails no other; some give a warning or do not apply.\n\n| integration | mistake | failed drills |\n|---|---|---|\n"
        .to_owned();
    for fault in all {
        let fails = listed(&fault.fails);
        let fails = if fails.is_empty() { "nothing" } else { &fails };
        text.push_str(&format!("| {} `{}` | {} | {fails} |\n", fault.program, fault.name, fault.what));
    }
    text
}
