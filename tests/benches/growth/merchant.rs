//! A merchant whose program restarts with many open payments: each is resumed from its saved state, sends one lookup,
//! and is saved again.

use std::sync::Arc;

use pg_measure::Growth;
use pg_model::Auth;
use pg_proto::machine::{
    Action, Event, Machine as _, Moment, SavedState,
    charge::{Charge, ChargeBounds},
};
use pg_tests::shop::account_at;

use crate::{requests::payment, sizes};

pub(crate) fn measure() {
    let account = Arc::new(account_at("https://gateway.example", "main"));
    let now = Moment::from_millis(1_700_000_000_000);
    let intents = Growth::of("open payments, resumed at a start", "open payments", "ms of processor time", 1);
    for size in sizes(16, 16_384) {
        let saved: Vec<(Auth, String)> = (0..size)
            .map(|number| {
                let request = payment(3, &format!("order-{number}"));
                let mut charge =
                    Charge::new(Arc::clone(&account), request.clone(), ChargeBounds::default()).expect("a charge");
                assert!(matches!(charge.step(Event::Begin, now, 4), Action::Send(_)));
                (request, charge.save().text().to_owned())
            })
            .collect();
        let microseconds = pg_measure::microseconds(|| {
            let resumed = saved.iter().map(|(request, text)| {
                let saved = SavedState::from_text(text.as_str());
                let mut charge =
                    Charge::resume(&saved, Arc::clone(&account), Some(request.clone())).expect("it was stored");
                assert!(matches!(charge.step(Event::Begin, now, 4), Action::Send(_)));
                (charge.save(), charge)
            });
            resumed.collect::<Vec<_>>()
        });
        intents.point(size, microseconds / 1e3);
    }
}
