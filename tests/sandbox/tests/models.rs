//! The sandbox beside small models of what the documents promise: random calls of two merchants. Each answer is
//! compared with the model's, and all records with the model after each step. A sequence that shows a difference is
//! shrunk.
//!
//! The models are written from the documents and the register of assumptions, not from the sandbox. If one call breaks
//! several rules, any of their codes is accepted, because the documents do not say which comes first.
//!
//! `PROPTEST_CASES=20000 cargo test -p pg-sandbox-tests models::` tries more, `PROPTEST_RNG_SEED` others.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod batches;
mod checkout;
mod ledger;
mod service;
mod sessions;
mod tokens;

use std::cell::Cell;

use pg_sandbox::Sandbox;
use pg_stores::Choice;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

/// How many sequences are tried, unless `PROPTEST_CASES` says otherwise.
const CASES: u32 = 48;
/// How many sequences may pass before a wrong model has to be noticed.
const ENOUGH: u32 = 2_000;
/// The most steps of a sequence.
const STEPS: usize = 24;
/// The most steps of a sequence that is short.
const SHORT: usize = 8;
/// What decides the sequences, unless `PROPTEST_RNG_SEED` says otherwise.
const SEED: u64 = 20;

type Step<T> = <<T as StateMachineTest>::Reference as ReferenceStateMachine>::Transition;

thread_local! {
    /// The store of the sandboxes that a test opens.
    static STORE: Cell<Choice> = const { Cell::new(Choice::Sqlite) };
}

/// An empty sandbox over the store whose turn it is.
pub(crate) fn sandbox() -> Sandbox {
    STORE.get().sandbox(pg_sandbox::Settings::default(), [0; 32])
}

/// Fails with the shortest sequence that tells model and sandbox apart, over each of the stores.
pub(crate) fn agree<T: StateMachineTest>() {
    let cases = std::env::var("PROPTEST_CASES").ok().map_or(CASES, |cases| cases.parse().unwrap());
    for store in Choice::several() {
        STORE.set(store);
        if let Some((steps, why)) = difference::<T>(cases) {
            panic!("over {store:?}:\n{}\n{why}", shown::<T>(&steps));
        }
    }
}

/// Checks that a wrong model is found out, by a sequence that is short after shrinking.
#[track_caller]
pub(crate) fn differ<T: StateMachineTest>() {
    let (steps, why) = difference::<T>(ENOUGH).expect("the model is wrong, and nothing shows it");
    eprintln!("shrunk to {} steps:\n{}\n{why}", steps.len(), shown::<T>(&steps));
    assert!(steps.len() <= SHORT, "{} steps are not short:\n{}", steps.len(), shown::<T>(&steps));
}

fn difference<T: StateMachineTest>(cases: u32) -> Option<(Vec<Step<T>>, String)> {
    let usual = Config::default();
    let rng_seed = if usual.rng_seed == RngSeed::Random { RngSeed::Fixed(SEED) } else { usual.rng_seed };
    let config = Config { cases, rng_seed, failure_persistence: None, max_shrink_iters: 150, ..usual };
    let sequences = T::Reference::sequential_strategy(1..STEPS);
    let tried = TestRunner::new(config.clone()).run(&sequences, |(model, steps, seen)| {
        T::test_sequential(config.clone(), model, steps, seen);
        Ok(())
    });
    match tried {
        Ok(()) => None,
        Err(TestError::Fail(why, (_, steps, _))) => Some((steps, why.to_string())),
        Err(TestError::Abort(why)) => panic!("no sequences: {why}"),
    }
}

fn shown<T: StateMachineTest>(steps: &[Step<T>]) -> String {
    let lines: Vec<String> = steps.iter().map(|step| format!("  {step:?}")).collect();
    lines.join("\n")
}
