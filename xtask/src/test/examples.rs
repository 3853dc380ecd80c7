//! Every example of the workspace is run, not only compiled.

use std::path::Path;
use std::process::Command;

use cargo_metadata::{Metadata, TargetKind};

use crate::steps::{self, Step};
use crate::workspace;

/// One step for each example that was built with the tests. An example needs no argument, and must exit with 0.
pub(super) fn steps<'a>(root: &'a Path, metadata: &Metadata) -> Vec<Step<'a>> {
    let built = metadata.target_directory.join("debug/examples");
    workspace::targets(metadata, &TargetKind::Example)
        .into_iter()
        .map(|(package, example)| {
            let program = built.join(format!("{example}{}", std::env::consts::EXE_SUFFIX));
            Step::new(format!("example {example} of {package}"), move || {
                steps::execute(Command::new(&program).current_dir(root))
            })
        })
        .collect()
}
