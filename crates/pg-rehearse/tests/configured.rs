//! A running shop calls the service at the address and with the account that it was started with.

use pg_rehearse::Verdict;
use pg_support::{free_port, installed};

use crate::samples::{crate_folder, only, rehearse, with};

#[test]
fn drills_that_need_another_address_or_account_prove_nothing_about_a_shop_that_has_its_own() {
    if !installed(&["python3"], "a configured shop") {
        return;
    }
    let drills = ["C01", "C02", "C03", "T01", "T02", "T03", "T04", "T05", "T06", "T07"];
    for (more, verdict) in [("", Verdict::NotApplicable), ("\"POSTED=1\", ", Verdict::Passed)] {
        let (service, shop, kept) = (free_port(), free_port(), tempfile::tempdir().expect("it works"));
        let plan = format!(
            "timeout_seconds = 20\n[service]\nlisten = \"127.0.0.1:{service}\"\n[shop]\ncommand = [\"env\", \"SHOP_PORT={shop}\", {more}\
             \"PAY_TIMEOUT=2\", \"PAY_PATIENCE=4\", \"PAY_PAUSE=0.15\", \"PG_REHEARSE_DIR={}\", \"python3\", \"-S\", \"{}\"]\n\
             ready = \"http://127.0.0.1:{shop}/\"\n[jobs.charge]\nurl = \"http://127.0.0.1:{shop}/charge\"\nwith = [\"card\"]\n",
            kept.path().display(),
            crate_folder().join("tests/samples/configured.py").display(),
        );
        let report = rehearse(&plan, &std::env::temp_dir(), &only(&drills)).expect("it works");
        assert_eq!(with(&report, verdict), drills, "{}", report.scorecard(false));
    }
}
