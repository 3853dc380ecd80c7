//! 3-D Secure authentications.

use serde_json::{Value, json};

use super::{Authentication, Timestamp, optional};
use crate::records::{AuthenticationEnd, Service};

pub(super) fn view(authentication: &Authentication, now: Timestamp) -> Value {
    json!({
        "authenticationKey": authentication.key,
        "merchant": authentication.merchant,
        "service": match authentication.service { Service::V3 => "v3", Service::V5 => "v5" },
        "state": state(authentication, now),
        "page": authentication.page(),
        "returnTo": optional(authentication.return_to.as_ref()),
        "check": authentication.check,
        "payment": authentication.payment,
        "created": authentication.created.to_string(),
    })
}

fn state(authentication: &Authentication, now: Timestamp) -> &'static str {
    match authentication.ended(now) {
        None => "pending",
        Some(_) if authentication.payment.is_some() => "used",
        Some(AuthenticationEnd::Authenticated) => "authenticated",
        Some(AuthenticationEnd::Failed) => "failed",
        Some(AuthenticationEnd::Abandoned) => "abandoned",
        Some(AuthenticationEnd::TimedOut) => "timed-out",
        Some(AuthenticationEnd::NotEnrolled) => "not-enrolled",
    }
}
