//! `cargo xtask bench --hostile`: the section on the cost of hostile input, without the other benchmarks.

use std::path::Path;

use anyhow::{Context, Result};

use super::measurement::Measurements;
use super::report::{COSTS_BEGIN, COSTS_END};
use super::{REPORT, measure, report};

/// Runs the benchmark, and writes the section of the report.
pub(super) fn run(root: &Path) -> Result<()> {
    let mut measurements = Measurements::default();
    for line in measure(root, "pg-tests", "worst_input", false)? {
        measurements.read("pg-tests", &line)?;
    }
    let path = root.join(REPORT);
    let page = std::fs::read_to_string(&path).with_context(|| format!("{REPORT} cannot be read"))?;
    let section = report::costs(&measurements, &report::Machine::this()?);
    std::fs::write(&path, with(&page, &section)).with_context(|| format!("{REPORT} cannot be written"))?;
    println!("{}\n{REPORT} written", report::verdict(&measurements));
    Ok(())
}

/// A page with its section in place of the one that it had, if it had one, and with its budgets counted again.
fn with(page: &str, section: &str) -> String {
    report::recounted(&report::with_section(page, [COSTS_BEGIN, COSTS_END], section))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_takes_the_place_of_the_last_one_and_leaves_the_rest_of_the_page() {
        let page = "# Performance\n\n| a | **missed** |\n\n1 of 9 budgets kept, so far.\n\n## How to measure again\n\nrun it\n";
        let machine = report::Machine {
            processor: "Abacus 9".to_owned(),
            cores: 2,
            system: "linux".to_owned(),
            compiler: "rustc 9".to_owned(),
        };
        let measured = |milliseconds: &str| {
            let mut measurements = Measurements::default();
            let line = format!("cost\tread JSON\t21\ta list\t1048576\t{milliseconds}\t2.01\t12.5\t<=20\t<=10");
            measurements.read("pg-tests", &line).unwrap();
            report::costs(&measurements, &machine)
        };
        let once = with(page, &measured("12.5"));
        let verdict = "1 of 2 budgets kept, 0 of them as far as the moonshot; 1 missed.";
        let start = format!("# Performance\n\n| a | **missed** |\n\n{verdict}\n\n## Cost of hostile input\n");
        assert!(once.starts_with(&start), "{once}");
        assert!(once.contains("Measured on Abacus 9, 2 cores") && once.contains("| 12.5 "), "{once}");
        assert!(once.ends_with("\n## How to measure again\n\nrun it\n"), "{once}");
        let twice = with(&once, &measured("13.5"));
        assert!(twice.contains("| 13.5 ") && !twice.contains("| 12.5 "), "{twice}");
        assert_eq!(twice.matches("## Cost of hostile input").count(), 1);
    }
}
