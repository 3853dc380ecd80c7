//! The integration in Rust that `pg rehearse init --language rust` writes, put through drills of each kind.

use pg_rehearse::{Options, Plan, Verdict};

#[tokio::test]
async fn the_rust_adapter_passes_its_drills() {
    let plan = format!("timeout_seconds = 20\n[jobs.charge]\ncommand = [\"{}\"]\n", env!("CARGO_BIN_EXE_rehearsed"));
    let plan = Plan::parse(&plan, &std::env::temp_dir()).unwrap();
    let mut options = Options::default();
    let drills = [
        "M01", "M02", "M04", "M07", "M08", "M14", "M20", "M23", "M36", "M39", "M42", "M58", "M59", "M60", "M61", "M62",
        "M63", "M64", "M65", "M66", "C01", "C04", "C08", "C10", "C11", "C12", "C13", "C14", "T01", "T06", "H02",
    ];
    options.only = drills.map(ToOwned::to_owned).to_vec();
    let report = pg_rehearse::run(plan, &options, |_| {}, std::future::pending()).await.unwrap();
    let passed = report.outcomes.iter().filter(|one| one.verdict == Verdict::Passed).count();
    assert_eq!(passed, drills.len(), "{}", report.scorecard(false));
}
