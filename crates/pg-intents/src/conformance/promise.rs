//! The promises of [`IntentStore`](crate::IntentStore), in the words of its documentation, and how a broken one is reported.

use std::fmt::Debug;

use crate::StoreError;

/// A promise: the method that makes it, and its words.
#[derive(Clone, Copy)]
pub(super) struct Promise {
    by: &'static str,
    words: &'static str,
}

impl Promise {
    /// Checks what was found after something was done.
    #[track_caller]
    pub(super) fn is<F: PartialEq<E> + Debug, E: Debug>(self, done: &str, found: F, expected: E) {
        if found != expected {
            self.broken(done, &format!("{expected:?}"), &format!("{found:?}"));
        }
    }

    /// Checks a condition on what was found, if it is more than equality.
    #[track_caller]
    pub(super) fn holds(self, done: &str, is: bool, found: &impl Debug, expected: &str) {
        if !is {
            self.broken(done, expected, &format!("{found:?}"));
        }
    }

    /// Returns the answer of a call that must not fail.
    #[track_caller]
    pub(super) fn ok<T>(self, done: &str, answer: Result<T, StoreError>) -> T {
        answer.unwrap_or_else(|error| self.broken(done, "an answer", &format!("{error:?}")))
    }

    #[track_caller]
    pub(super) fn broken(self, done: &str, expected: &str, found: &str) -> ! {
        let Self { by, words } = self;
        panic!("{by} breaks a promise: \"{words}\"\n      done: {done}\n  expected: {expected}\n     found: {found}")
    }
}

macro_rules! promises {
    ($($name:ident: $by:literal $words:literal;)+) => {
        $(pub(super) const $name: Promise = Promise { by: $by, words: $words };)+

        #[cfg(test)]
        const ALL: &[Promise] = &[$($name),+];
    };
}

promises! {
    DURABLE: "IntentStore" "Each method is one atomic change, which is durable when its future returns `Ok`.";
    FENCED: "IntentStore" "change a row only if it still has the number and the owner of their `IntentLease`, and return `StoreError::Lost` otherwise";
    HELD: "IntentStore" "A lease that has ended permits changes until another worker claims the intent.";
    CLOCK: "IntentStore" "leases end by the clock of the database";
    TEXTS: "IntentStore" "Accounts and references are compared byte by byte, and texts of any length are returned unchanged.";
    ENLIST: "enlist" "Returns a name that no worker had before: the given name with a number.";
    BEGIN: "begin" "Stores a new intent with fencing number 1. Changes nothing if its key is in use.";
    BEGIN_ONCE: "begin" "Of several calls at the same time, one stores the intent, and the others return it.";
    BEGIN_FREE: "begin" "An intent without an owner is due at once, whatever its lease.";
    SAVE: "save" "Stores the machine's state before a request, and extends the lease to `lease` from now.";
    RENEW: "renew" "Extends the lease to `lease` from now.";
    RELEASE: "release" "any worker may claim it after `wake`";
    RELEASE_CLAIMS: "release" "It lowers `claims` by one, but not below zero, since the worker has not failed.";
    END: "end" "Stores its outcome, and takes the owner away.";
    END_EVENT: "end" "An outcome that differs from the previous one raises `event`";
    END_HEARD: "end" "An intent that has `Ended` keeps no events; an unknown intent keeps those that its machine did not take.";
    END_DUE: "end" "An unknown intent is due at its next planned lookup, or after the quiet time if events wait.";
    END_CLAIMS: "end" "`claims` starts again at zero, except for a parked intent, which is never due.";
    REST: "rest" "Stores the machine's state and its question, if it asks one, deletes the events that the machine has processed, and releases the intent until `wake`, or for an immediate claim if there are later events.";
    REST_PLANNED: "rest" "A planned lookup keeps its time.";
    REST_CLAIMS: "rest" "`claims` starts again at zero.";
    REST_OPEN: "rest" "The intent is open again, also if workers had parked it and an event made it unknown.";
    DELIVER: "deliver" "Stores an event under the next number. The intent may have an owner, but must not have ended.";
    DELIVER_DUE: "deliver" "An intent without an owner becomes due at once, or when its quiet time is over.";
    DELIVER_PARKED: "deliver" "An intent that workers have parked becomes unknown, and its `claims` fall by two, so that the second claim parks it again if they fail again.";
    DELIVER_OPERATOR: "deliver" "An intent that an operator has parked has no claims, and stays parked.";
    DELIVER_MANY: "deliver" "If the same event is stored under an earlier number, that number is deleted; of more than `EVENTS` events, those in the middle are deleted.";
    EVENTS_AFTER: "events" "Returns the events of an intent after this number, oldest first.";
    EVENTS_OF: "events_of" "Returns the same to the owner of a lease.";
    CLAIM: "claim" "Claims due intents of an account, the longest due first, up to a maximum, each under a new fencing number.";
    CLAIM_ONCE: "claim" "Two workers that claim at the same time never get the same intent.";
    CLAIM_ASKS: "claim" "A claimed intent asks nothing any more.";
    CLAIM_KINDS: "claim" "Intents of other kinds or of later versions are not claimed. A claimed intent gets the version that the claimer writes.";
    CLAIM_LOOKUPS: "claim" "If a planned lookup is due, the claim raises `lookups`, and no lookup is planned until `end`.";
    CLAIM_COUNTS: "claim" "A claim raises `claims`, unless the claimer's own lease still holds.";
    CLAIM_ONE: "claim_one" "Claims one intent of these kinds if it is open or unknown, and is due, has no owner, or is the claimer's own.";
    CLAIM_ONE_NONE: "claim_one" "`None` if there is no such intent.";
    FIND: "find" "Reads an intent.";
    HISTORY: "history" "The oldest lines are dropped, so that it has at most 8,192 bytes.";
    LIST: "list" "Reads intents, the most recently changed first.";
    ACCOUNTS: "accounts" "Returns the accounts that have intents, each once, in the order of their names in the database, from this name on, up to a maximum.";
    DIRECT: "direct" "raises the fencing number, so that the owner loses the intent";
    DIRECT_ANEW: "direct" "`claims` and `lookups` start again at zero, and no lookup is planned. To reconcile makes it due at once: unknown if it has an outcome, open otherwise.";
    DIRECT_ENDED: "direct" "Returns `false`, and changes nothing, if the intent has ended or does not exist.";
    UNTOLD: "untold" "Returns the outbox: intents of an account with an outcome that the application has not acknowledged, up to a maximum.";
    UNTOLD_AGAIN: "untold" "The same outcome is returned again only after `visibility`.";
    UNTOLD_LATER: "end" "`untold` returns it at once, even if it has just returned the previous one";
    TOLD: "told" "Acknowledges the outcome with this number, and those before it, on behalf of the application. Changes nothing if there is no such outcome.";
    SHARES: "shares" "There are `total` shares, and a worker gets at most `most`.";
    SHARES_TOTAL: "shares" "Shares beyond `total`, which workers with a larger `total` have, are neither counted nor forgotten.";
    SHARES_REST: "shares" "A share whose lease has expired may be taken, and is not used before `quarantine` is over.";
    SHARES_NONE: "shares" "If `most` is 0, no share is taken, and the leases of the worker's shares end after `lease`.";
    SHARES_LONGEST: "shares" "Otherwise, if the worker gets fewer than it wants, leases of other workers that would end after more than `longest` are shortened to `longest`.";
    STOP: "stop" "Stores why no process may send for this account, unless there is a reason already; `None` permits sending again.";
    SCAN: "scan" "Reads the intents of all accounts after `after`, up to a maximum, in a fixed order of their keys.";
    REWRITE: "rewrite" "Replaces kind, digest, request, state, question, outcome and these events of an intent if its texts are still those of `old`; returns `false` otherwise.";
    REWRITE_ONLY: "rewrite" "Owner, lease, fencing number, counts, times and history stay unchanged.";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text of documentation comments before an item, without links and line ends.
    fn docs_of(source: &str, item: &str) -> String {
        let (before, _) = source.split_once(item).unwrap();
        let lines: Vec<&str> = before.lines().rev().map(str::trim).take_while(|line| line.starts_with("///")).collect();
        let text = lines.iter().rev().map(|line| line.trim_start_matches("///").trim()).collect::<Vec<_>>().join(" ");
        let mut plain = String::new();
        for (at, part) in text.split("](").enumerate() {
            let part = if at == 0 { part } else { part.split_once(')').unwrap().1 };
            plain.push_str(part);
        }
        plain.replace(['[', ']'], "")
    }

    #[test]
    fn promises_are_in_the_words_of_the_documentation() {
        let (store, intent) = (include_str!("../store.rs"), include_str!("../intent.rs"));
        for Promise { by, words } in ALL {
            let docs = match *by {
                "IntentStore" => docs_of(store, "\npub trait IntentStore"),
                "history" => docs_of(intent, "\n    pub history:"),
                method => docs_of(store, &format!("\n    fn {method}(")),
            };
            assert!(docs.contains(words), "{by}: {words}\n{docs}");
        }
    }

    #[test]
    #[should_panic(
        expected = "stop breaks a promise: \"Stores why no process may send for this account, unless there is a reason \
                               already; `None` permits sending again.\"\n      done: asked\n  expected: 2\n     found: 1"
    )]
    fn a_broken_promise_is_reported_with_what_was_done() {
        STOP.is("asked", 1, 2);
    }
}
