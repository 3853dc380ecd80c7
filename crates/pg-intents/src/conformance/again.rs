//! `begin` again: a reference is begun once, whatever has become of its intent.

use super::{
    HOUR, OVER, Suite, ending, hold_of,
    promise::{BEGIN, DIRECT, RELEASE, REST, TOLD},
};
use crate::{Begun, Directive, IntentRest, IntentStatus, IntentStore, NewIntent};

impl<S: IntentStore> Suite<'_, S> {
    pub(super) async fn a_reference_is_begun_once_whatever_has_become_of_it(&self) {
        let suite = self.apart("again");
        for reference in [
            "unowned",
            "expired",
            "claimed",
            "released",
            "resting",
            "unknown",
            "unknown, acknowledged",
            "parked",
            "parked by an operator",
            "ended",
            "ended, acknowledged",
        ] {
            suite.become_of(reference).await;
            let before = suite.row(reference).await;
            let fresh = || suite.fresh(reference, Some("w3"), HOUR);
            for (with, again) in [
                ("the same kind and version", fresh()),
                ("another kind", NewIntent { kind: "refund".to_owned(), ..fresh() }),
                ("another version", NewIntent { version: 2, ..fresh() }),
                (
                    "another digest and state",
                    NewIntent { digest: "d2".to_owned(), state: "other".to_owned(), ..fresh() },
                ),
                ("no owner", suite.fresh(reference, None, OVER)),
            ] {
                let done = format!("began an intent that is {reference}, again with {with}");
                match self.store.begin(again).await {
                    Ok(Begun::Existing(found)) => Self::unchanged(BEGIN, &done, &found, &before),
                    other => BEGIN.broken(&done, "Existing, with the row that is there", &format!("{other:?}")),
                }
                Self::unchanged(BEGIN, &done, &suite.row(reference).await, &before);
            }
        }
    }

    /// Begins an intent, and brings it into the state that its reference names.
    async fn become_of(&self, reference: &str) {
        match reference {
            "unowned" => return self.submitted(reference).await,
            "expired" => return drop(self.begun(reference, "w1", OVER).await),
            _ => {}
        }
        let hold = self.begun(reference, "w1", HOUR).await;
        let end = async |status| self.end(reference, &hold, ending(status, "outcome", Some(HOUR))).await;
        match reference {
            "claimed" => drop(hold_of(&self.take(reference, "w1", HOUR).await)),
            "released" => RELEASE.is(reference, self.store.release(&hold, OVER).await, Ok(())),
            "resting" => {
                let rest =
                    IntentRest { state: "rests".to_owned(), asks: Some("page".to_owned()), heard: 0, wake: HOUR };
                REST.is(reference, self.store.rest(&hold, rest).await, Ok(()));
            }
            "parked" => end(IntentStatus::Parked).await,
            "parked by an operator" => {
                DIRECT.is(reference, self.store.direct(&hold.key, Directive::Park).await, Ok(true));
            }
            "unknown" | "unknown, acknowledged" => end(IntentStatus::Unknown).await,
            _ => end(IntentStatus::Ended).await,
        }
        if reference.ends_with("acknowledged") {
            TOLD.is(reference, self.store.told(&hold.key, 1).await, Ok(()));
            let told = self.store.find(&hold.key).await.map(|row| row.map(|row| (row.event, row.told)));
            TOLD.is(&format!("{reference}: event, told"), told, Ok(Some((1, 1))));
        }
    }
}
