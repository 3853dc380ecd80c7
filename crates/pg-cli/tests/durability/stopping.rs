//! Stop signals: pending requests are answered before the process ends.

use std::path::Path;

use pg_support::Dice;

use crate::durability::{
    Sandbox,
    audit::audit,
    load::{Fuse, checked, under_load, writers},
    writer::Writer,
};

/// Ctrl-C, and the signal of service managers.
const SIGNALS: [&str; 2] = ["-INT", "-TERM"];

#[test]
fn started_requests_are_answered_and_others_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("shop.sqlite");
    let mut dice = Dice::new(3);
    let mut sandbox = Sandbox::start(&store);
    let mut writers = writers(&sandbox, &mut dice);
    let stops: [fn(&mut Sandbox); 2] = [|sandbox| sandbox.signal(SIGNALS[0]), |sandbox| sandbox.signal(SIGNALS[1])];
    for stop in stops {
        let stopped = under_load(sandbox, &mut writers, &Fuse::new(&mut dice), stop);
        ended_well(stopped, &store);
        sandbox = Sandbox::start(&store);
        // A request that crossed the end of its connection was never read.
        writers.iter_mut().for_each(|writer| writer.unanswered.clear());
        assert_eq!(checked(&sandbox, &mut writers), Vec::<String>::new());
        assert_eq!(audit(&mut sandbox.caller(), &writers), Vec::<String>::new());
    }
}

#[test]
fn a_slow_reply_is_awaited() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("shop.sqlite");
    for signal in SIGNALS {
        let sandbox = Sandbox::start(&store);
        let (mut caller, mut watcher) = (sandbox.caller(), sandbox.caller());
        watcher.tell("faults", r#"{"method": "transaction/auth", "kind": "delay", "milliseconds": 1000}"#);
        let mut writer = Writer::new(1, Dice::new(1), "");
        std::thread::scope(|scope| {
            let payment = scope.spawn(|| writer.pay(&mut caller));
            // Once it is there, only its reply is missing.
            let there = (0..10_000).any(|_| watcher.show("faults")[0]["remaining"] == 0);
            assert!(there, "it never came");
            sandbox.signal(signal);
            payment.join().unwrap().unwrap();
        });
        ended_well(sandbox, &store);
        // A store that is missing beside its key would be refused.
        std::fs::remove_file(&store).unwrap();
        std::fs::remove_file(store.with_extension("sqlite.key")).unwrap();
    }
}

fn ended_well(sandbox: Sandbox, store: &Path) {
    let (code, said) = sandbox.ended();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("stopping") && !said.contains("panicked"), "{said}");
    // Everything is in the one file, which can be copied.
    for log in ["sqlite-redo", "sqlite-wal"] {
        assert!(!store.with_extension(log).exists(), "{log}");
    }
}
