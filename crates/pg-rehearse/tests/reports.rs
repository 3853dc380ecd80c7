//! The forms of a report.

use pg_support::installed;
use quick_xml::{Reader, events::Event};

use crate::samples::{crate_folder, only, rehearse};

#[test]
fn reports_are_valid_whole_and_masked() {
    if !installed(&["python3"], "the forms of a report") {
        return;
    }
    let plan = "[jobs.charge]\ncommand = [\"python3\", \"src/init/pay.py\"]\nwith = [\"sessionKey\"]\n";
    let report = rehearse(plan, &crate_folder(), &only(&["M01", "M04", "R01", "H01"])).expect("it works");
    assert_eq!(report.exit_code(), 0, "{}", report.scorecard(false));
    let json = report.json();
    assert_eq!(json["drills"].as_array().expect("it works").len(), 4);
    assert_eq!(json["summary"]["passed"], 2);
    assert_eq!(json["summary"]["notApplicable"], 2);
    let junit = report.junit();
    let mut reader = Reader::from_str(&junit);
    let (mut cases, mut skipped) = (0, 0);
    loop {
        match reader.read_event().expect("it works") {
            Event::Start(tag) | Event::Empty(tag) if tag.name().as_ref() == "testcase" => cases += 1,
            Event::Empty(tag) if tag.name().as_ref() == "skipped" => skipped += 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!((cases, skipped), (4, 2));
    let html = report.html();
    assert!(html.contains("<svg") && html.contains("M04") && !html.contains("<script") && !html.contains("http-equiv"));
    for outside in ["src=\"http", "href=\"http", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(report.scorecard(false).contains("2 passed, 0 failed"));
}
