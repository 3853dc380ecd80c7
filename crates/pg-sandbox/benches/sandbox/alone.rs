//! The sandbox without a socket, for tools that count instructions: `valgrind --tool=callgrind`.

use std::{env, path::PathBuf};

use pg_sandbox::{Sandbox, Settings, Timestamp};

use crate::payment::Payments;

/// The argument before the store's file, the number of groups and the payments in each.
const ALONE: &str = "--without-a-socket";

/// Whether only this is to be done.
pub(crate) fn is_wanted() -> bool {
    env::args().nth(1).is_some_and(|argument| argument == ALONE)
}

/// Answers groups of payments.
pub(crate) fn run() {
    let path = env::args_os().nth(2).map(PathBuf::from).expect("the path of a store");
    let number = |at| env::args().nth(at).and_then(|text| text.parse::<usize>().ok()).expect("a number");
    let (groups, each) = (number(3), number(4));
    let now = Timestamp::parse("2026-05-04T10:00:00Z").expect("a date");
    let mut sandbox = Sandbox::open(&path, Settings::default(), [7; 32]).expect("a store");
    let mut payments = Payments::new(9);
    for group in 0..groups {
        let requests = (0..each).map(|_| payments.next()).collect();
        let after = std::time::Duration::from_millis(u64::try_from(group).unwrap_or_default());
        let answers = sandbox.handle_group(now.plus(after), requests);
        assert!(answers.iter().all(|answer| answer.status().is_success()), "{answers:?}");
    }
}
