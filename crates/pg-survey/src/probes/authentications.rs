//! 3-D Secure: an unfinished authentication, and the authentication of a card that is not enrolled.

use super::{NEXT_PAGE, call, card, open, paying, probe, recording, refusal};
use crate::{
    cards::Role,
    probe::{
        Probe, Reads, Request,
        Service::Gateway,
        Value::{Currency, Fresh, Noted, Text},
        What,
    },
};

macro_rules! initiate {
    ($session:literal, $reference:literal) => {
        pay!(
            "initiate3DSecureSessionKey",
            $session,
            "uniqueMerchantReference" = Fresh($reference),
            "returnUrl" = Text(NEXT_PAGE)
        )
    };
}

pub(super) const CHALLENGED: &[Probe] = &[
    recording(open("challenged")),
    card("challenged", Role::Challenge),
    paying(probe(
        "initiation",
        "begin an authentication of the card that asks the customer",
        initiate!("challenged", "challenged reference"),
        Reads::Made(What::Authentication, "pending"),
    )),
    recording(probe(
        "pending",
        "query the authentication that the customer has not begun",
        call("getAuthenticationStatus", &[("authenticationKey", Noted("pending"))]),
        Reads::Authentication("authentication.pending"),
    )),
    paying(refusal(
        "authentication-not-finished",
        "pay with that authentication",
        call("auth3DSecure", &[("authenticationKey", Noted("pending"))]),
    ))
    .confirms("authentication.pending"),
];

pub(super) const NOT_ENROLLED: &[Probe] = &[
    recording(open("not enrolled")),
    card("not enrolled", Role::NotEnrolled),
    paying(probe(
        "initiation",
        "begin an authentication of the card without 3-D Secure",
        initiate!("not enrolled", "not enrolled reference"),
        Reads::Made(What::Authentication, "finished"),
    )),
    recording(probe("visit", "open the challenge page", Request::Visit("challenge page of finished"), Reads::Ignored)),
    recording(probe(
        "finished",
        "query that authentication",
        call("getAuthenticationStatus", &[("authenticationKey", Noted("finished"))]),
        Reads::Authentication("authentication.not-enrolled"),
    )),
    paying(probe(
        "authenticated payment",
        "pay with that authentication",
        call("auth3DSecure", &[("authenticationKey", Noted("finished"))]),
        Reads::Made(What::Transaction, "authenticated"),
    ))
    .confirms("authentication.not-enrolled"),
    paying(refusal(
        "authentication-already-used",
        "pay with it again",
        call("auth3DSecure", &[("authenticationKey", Noted("finished")), ("", Noted("authenticated"))]),
    )),
];
