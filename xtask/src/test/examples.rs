//! Every example of the workspace is run, not only compiled.

use std::path::Path;

use cargo_metadata::{Metadata, TargetKind};

use super::cargo;
use crate::steps::{self, Step};
use crate::workspace;

/// One step for each example; an example ends by itself, needs no argument and exits with 0.
pub(super) fn steps<'a>(root: &'a Path, metadata: &Metadata) -> Vec<Step<'a>> {
    workspace::targets(metadata, &TargetKind::Example)
        .into_iter()
        .map(|(package, example)| {
            Step::new(format!("example {example} of {package}"), move || {
                steps::execute(cargo(root).args([
                    "run",
                    "--quiet",
                    "-p",
                    &package,
                    "--all-features",
                    "--example",
                    &example,
                ]))
            })
        })
        .collect()
}
