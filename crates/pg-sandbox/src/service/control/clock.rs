//! `GET` and `POST /_sandbox/clock`.

use bytes::Bytes;
use http::{Request, StatusCode};

use super::{Answer, Context, error, members, shown};
use crate::{
    clock::{Change, Clock},
    records::Meta,
    service::{callback, gate},
    store::StoreError,
};

pub(super) fn show(context: &Context<'_>) -> Answer {
    shown(context.clock.view(context.real_now))
}

pub(super) fn change(context: &mut Context<'_>, request: &Request<Bytes>) -> Answer {
    let clock = match asked(context, request.body()) {
        Ok(clock) => clock,
        Err(problem) => return error(StatusCode::BAD_REQUEST, &problem),
    };
    match remember(context, clock) {
        Ok(()) => {
            *context.clock = clock;
            show(context)
        }
        Err(problem) => error(StatusCode::INTERNAL_SERVER_ERROR, &problem.to_string()),
    }
}

/// Returns the clock after the change.
fn asked(context: &Context<'_>, body: &[u8]) -> Result<Clock, String> {
    let members = members(body, r#"the body must be a JSON object such as {"advanceSeconds": 1860}"#)?;
    let changed = Change::read(&members).and_then(|change| context.clock.changed(change, context.real_now));
    changed.map_err(|problem| problem.to_string())
}

fn remember(context: &mut Context<'_>, clock: Clock) -> Result<(), StoreError> {
    let now = clock.at(context.real_now);
    if now < context.now {
        gate::turn_back(context, now)?;
        callback::turn_back(context, now)?;
    }
    context.records.put(&match context.account {
        Some(own) => Meta::account(&own.account.with_clock(clock)),
        None => Meta::clock(clock),
    })
}
