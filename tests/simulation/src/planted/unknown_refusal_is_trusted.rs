//! An error code that neither the documents nor the dialect list is believed: the payment is taken for refused.

use std::ops::ControlFlow;

use pg_model::ErrorCode;
use pg_proto::machine::Event;

use super::{Planted, twist::Twist};
use crate::{
    job::Kind,
    run::{Claim, Step},
};

pub(super) const PLANTED: Planted = Planted {
    name: "an error code that nobody knows is believed",
    check: "claims are true",
    within: 600,
    needs: None,
    differs: true,
    conduct: &Twist { of: Kind::charges, hears: believes_any_code, ..Twist::NONE },
};

fn believes_any_code(event: Event) -> ControlFlow<Step, Event> {
    let refused = matches!(&event, Event::Reply(reply) if {
        let body = String::from_utf8_lossy(reply.body());
        let code = ["\"errorCode\":\"", "<errorCode>"].iter().find_map(|before| body.split(before).nth(1));
        let code = code.and_then(|rest| rest.split(['"', '<']).next()).map(ErrorCode::from);
        !reply.status().is_server_error() && code.is_some_and(|code| code.message().is_none())
    });
    if refused {
        ControlFlow::Break(Step::Ended(Claim::Refused { for_good: true }))
    } else {
        ControlFlow::Continue(event)
    }
}
