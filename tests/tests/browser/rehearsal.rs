//! The report of a rehearsal, in light and dark, on a desk and a phone.

use std::{fs, path::Path};

use pg_rehearse::{Options, Plan};
use pg_tests::webdriver::{Browser, Scripts};

use crate::gallery::judge;

#[tokio::test]
async fn the_report_of_a_rehearsal_is_accessible_in_light_and_dark() {
    // axe is a script.
    let Some(browser) = Browser::open(Scripts::On).await else { return };
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/pg-rehearse/tests/samples");
    let plan = "[jobs.charge]\ncommand = [\"env\", \"FAULT=new-reference\", \"python3\", \"faulty.py\"]\nwith = [\"sessionKey\"]\n";
    let mut options = Options::default();
    options.only = ["M01", "M04", "M11", "H10", "R01"].map(ToOwned::to_owned).to_vec();
    let plan = Plan::parse(plan, &samples).unwrap();
    let report = pg_rehearse::run(plan, &options, |_| {}, std::future::pending()).await.unwrap();
    assert!(report.summary().failed > 0 && report.summary().passed > 0, "{}", report.scorecard(false));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    fs::write(&path, report.html()).unwrap();
    browser.visit(&format!("file://{}", path.display())).await;
    judge(&browser, "rehearsal").await;
}
