//! `cargo xtask test`: everything that can be run, in steps of which as many run at once as keep the processor busy.

mod msrv;
mod npm;
mod openapi;
mod page;
mod quick;
mod suite;
mod wasm;

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, TargetKind};

use crate::{
    debian, package, simulate,
    steps::{self, Outcome, Run, Step},
    targets,
    workspace::{self, cargo},
};

/// Builds all programs with one set of features; every step after it uses these and builds none again.
const BUILD: &str = "everything that is tested, built once";

/// Runs every step, or those with some words in their titles, and ends with a summary; on CI no step may be skipped.
pub(crate) fn run(root: &Path, only: Option<&str>, quick: bool) -> Result<()> {
    if quick {
        return quick::run(root);
    }
    let metadata = workspace::metadata(root)?;
    let target_directory = metadata.target_directory.as_std_path();
    let wanted = |step: &Step<'_>| only.is_none_or(|words| step.title().contains(words));
    let mut run = Run::new(workspace::on_ci());
    let (mut tools, files) = (tools(), installed(root, target_directory));
    tools.retain(wanted);
    let prepared = tools.len() + files.iter().filter(|step| wanted(step)).count();
    run.one_by_one(tools);

    let programs = Mutex::default();
    let build = Step::new(BUILD, || {
        *programs.lock().ok().context("nothing else writes there")? = suite::build(root, &[])?;
        Ok(Outcome::Done)
    });
    let mut first = vec![build];
    // Whatever the words are: a selected test may need what these make, and would use what an earlier run left.
    first.extend(files);
    let validated = validated(root, target_directory);
    let before_the_tests = prepared + usize::from(wanted(&validated));
    first.extend(Some(validated).filter(wanted));
    run.together(first, at_once());

    let programs = programs.into_inner().ok().context("nothing else writes there")?;
    let mut tests = suite::steps(&programs, &metadata)?;
    // Among the longest.
    let at = tests.len().min(1);
    tests.splice(
        at..at,
        [
            // Its last crates compile one after the other, so something else has to run beside them.
            msrv::step(root, &metadata),
            Step::new("ten thousand worlds of the simulation", || simulate::test(target_directory)),
        ],
    );
    tests.extend(beside_the_programs(root, target_directory));
    tests.extend(examples(root, &metadata));
    tests.extend(targets::steps(root));
    tests.push(Step::new("packages of the published crates", || package::run(root, false)));
    tests.retain(wanted);
    if let (Some(words), true) = (only, tests.is_empty() && before_the_tests == 0) {
        bail!("no step has \"{words}\" in its title");
    }
    run.together(tests, at_once());
    run.end()
}

/// Two more than there are processors: some wait for a database, a timeout or a process most of the time.
pub(super) fn at_once() -> usize {
    std::thread::available_parallelism().map_or(3, |processors| processors.get() + 2)
}

/// Tools from the system's packages, installed one after the other because of the package lock.
fn tools<'a>() -> Vec<Step<'a>> {
    vec![
        Step::new("independent tools that the vectors are checked with", independent_tools),
        Step::new("a browser for the tests of pages", || {
            debian::install("no page is tested in a browser", debian::BROWSER)
        }),
        Step::new("a smaller browser for most tests of pages", || {
            debian::install("all pages are tested in the whole browser", debian::SHELL)
        }),
        Step::new("PostgreSQL for the tests of fleets and shared stores", || {
            debian::install("no fleet and no store is tested over PostgreSQL", debian::POSTGRES)
        }),
        Step::new("PgBouncer for the tests of fleets", || {
            debian::install("no fleet is tested behind PgBouncer", debian::BOUNCER)
        }),
        Step::new("Node for the tests of the decoder for JavaScript", || {
            debian::install("nothing is tested in Node", debian::NODE)
        }),
        Step::new("PHP, Java and jq for the tests of rehearsed integrations", || {
            debian::install("integrations in these languages are not rehearsed", debian::LANGUAGES)
        }),
    ]
}

/// Files that some tests need besides their programs.
fn installed<'a>(root: &'a Path, target_directory: &'a Path) -> Vec<Step<'a>> {
    vec![
        Step::new("the decoder for JavaScript, within its budget", move || wasm::build(root)),
        Step::new("a mock server for the tests of docs/reference/openapi.yaml", move || {
            npm::install(root, target_directory, &npm::MOCK_SERVER)
        }),
        Step::new("axe for the tests of pages", move || npm::install(root, target_directory, &npm::AXE)),
    ]
}

/// Needs no program of the tests, so it runs beside their build.
fn validated<'a>(root: &'a Path, target_directory: &'a Path) -> Step<'a> {
    Step::new("docs/reference/openapi.yaml and its examples against an OpenAPI validator", move || {
        openapi::validate(root, target_directory)
    })
}

/// What is tested by other means than a program of tests.
fn beside_the_programs<'a>(root: &'a Path, target_directory: &'a Path) -> Vec<Step<'a>> {
    vec![
        Step::new("examples in the documentation of the crates", move || {
            steps::execute(cargo(root).args(["test", "--workspace", "--doc", "--no-fail-fast"]))
        }),
        Step::new("the decoder for JavaScript in Node", move || wasm::in_node(root, target_directory)),
        Step::new(
            "the decoder for JavaScript in every bundler and host of its documentation, and by TypeScript",
            move || wasm::bundled(root, target_directory),
        ),
        Step::new("a charge on bare wasm32, driven by Node", move || wasm::charge(root, target_directory)),
        Step::new("what docs/guide/front-end.md tells users of Rust to type", move || {
            page::typed(root, target_directory)
        }),
    ]
}

/// The vector tests re-run their generator only where these exist; a missing one is reported here.
fn independent_tools() -> Result<Outcome> {
    let missing: Vec<&str> = [("python3", "--version"), ("openssl", "version")]
        .into_iter()
        .filter(|(tool, version)| !steps::succeeds(Command::new(tool).arg(version)))
        .map(|(tool, _)| tool)
        .collect();
    if missing.is_empty() {
        return Ok(Outcome::Done);
    }
    Ok(Outcome::LeftOut(format!("{} not found, so the vectors are used but not made anew", missing.join(" and "))))
}

/// One step for each example that was built with the tests. An example needs no argument, and must exit with 0.
fn examples<'a>(root: &'a Path, metadata: &Metadata) -> Vec<Step<'a>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_that_tests_need_are_apart_from_those_that_test() {
        let root = workspace::root().unwrap();
        let titles: Vec<String> = installed(&root, &root).iter().map(|step| step.title().to_owned()).collect();
        for needed in ["the decoder for JavaScript, within its budget", "axe for the tests of pages"] {
            assert!(titles.iter().any(|title| title == needed), "{titles:?}");
        }
        assert!(!titles.iter().any(|title| title.contains("against an OpenAPI validator")), "{titles:?}");
    }
}
