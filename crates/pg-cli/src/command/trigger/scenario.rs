//! The scenarios: names and descriptions.

use clap::builder::PossibleValue;

use super::story::Story;

/// A story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum Scenario {
    Payment,
    Decline,
    InsufficientFunds,
    LostReply,
    LostRequest,
    SlowReply,
    GarbledReply,
    ServerError,
    DeliveredTwice,
    NoResponse,
    NoResponseCharged,
    DuplicateReference,
    PartialCapture,
    PartialRefund,
    ExpiredSession,
    Challenge,
    ChallengeFailed,
    ChallengeAbandoned,
    Checkout,
    CheckoutCallbackLost,
    CheckoutCallbackTwice,
    UpdaterBatch,
    Lockout,
}

/// All scenarios with their descriptions, in list order.
pub(in crate::command) const ALL: [(Scenario, &str, &str); 23] = [
    (Scenario::Payment, "payment", "a card is charged, and the payment is looked up"),
    (Scenario::Decline, "decline", "the bank declines a card; nothing is charged"),
    (Scenario::InsufficientFunds, "insufficient-funds", "the bank declines a card for lack of funds"),
    (Scenario::LostReply, "lost-reply", "a charge is made, its reply is lost, and a lookup settles it"),
    (
        Scenario::LostRequest,
        "lost-request",
        "a charge never arrives; a lookup finds nothing, and the charge is sent again",
    ),
    (Scenario::SlowReply, "slow-reply", "the reply comes after the client has given up; a lookup settles it"),
    (Scenario::GarbledReply, "garbled-reply", "the reply is damaged; a lookup settles it"),
    (
        Scenario::ServerError,
        "server-error",
        "HTTP 503 and nothing executed; a lookup finds nothing, and the charge is sent again",
    ),
    (
        Scenario::DeliveredTwice,
        "delivered-twice",
        "the network delivers a charge twice; the service accepts its reference once",
    ),
    (Scenario::NoResponse, "no-response", "the bank does not answer (119) and has not charged"),
    (
        Scenario::NoResponseCharged,
        "no-response-charged",
        "the bank does not answer (119) and has charged; a lookup finds it",
    ),
    (Scenario::DuplicateReference, "duplicate-reference", "a second charge under a used reference is refused"),
    (
        Scenario::PartialCapture,
        "partial-capture",
        "a deposit is reserved, and part of it is captured, which ends the reservation",
    ),
    (Scenario::PartialRefund, "partial-refund", "a charge is refunded in two parts; a third is refused"),
    (Scenario::ExpiredSession, "expired-session", "a session is used after 31 minutes and refused"),
    (Scenario::Challenge, "challenge", "3-D Secure: the customer passes the challenge and the card is charged"),
    (Scenario::ChallengeFailed, "challenge-failed", "3-D Secure: the customer fails the challenge; the bank declines"),
    (Scenario::ChallengeAbandoned, "challenge-abandoned", "3-D Secure: the customer walks away; the bank declines"),
    (Scenario::Checkout, "checkout", "a hosted checkout is paid, its callback arrives, and the payment is looked up"),
    (
        Scenario::CheckoutCallbackLost,
        "checkout-callback-lost",
        "a hosted checkout is paid, its callback is lost and redelivered",
    ),
    (
        Scenario::CheckoutCallbackTwice,
        "checkout-callback-twice",
        "a hosted checkout is paid, and its callback arrives twice",
    ),
    (Scenario::UpdaterBatch, "updater-batch", "stored cards go to the account updater; two of three have changed"),
    (
        Scenario::Lockout,
        "lockout",
        "wrong passwords lock the address out, for every account; a minute later it works again",
    ),
];

impl Scenario {
    pub(super) fn name(self) -> &'static str {
        ALL.iter().find(|(scenario, ..)| *scenario == self).map_or("", |(_, name, _)| name)
    }

    pub(super) fn about(self) -> &'static str {
        ALL.iter().find(|(scenario, ..)| *scenario == self).map_or("", |(.., about)| about)
    }

    /// Plays the scenario; a failed step is reported.
    pub(super) async fn play(self, story: &mut Story) {
        match self {
            Self::Payment => story.payment().await,
            Self::Decline => story.decline(pg_sandbox::cards::Scenario::Declined).await,
            Self::InsufficientFunds => story.decline(pg_sandbox::cards::Scenario::InsufficientFunds).await,
            Self::LostReply => story.settle("drop-reply").await,
            Self::LostRequest => story.settle("drop-request").await,
            Self::SlowReply => story.settle("delay").await,
            Self::GarbledReply => story.settle("garble").await,
            Self::ServerError => story.settle("status").await,
            Self::DeliveredTwice => story.settle("duplicate").await,
            Self::NoResponse => story.settle("no-response").await,
            Self::NoResponseCharged => story.settle("no-response-charged").await,
            Self::DuplicateReference => story.duplicate_reference().await,
            Self::PartialCapture => story.partial_capture().await,
            Self::PartialRefund => story.partial_refund().await,
            Self::ExpiredSession => story.expired_session().await,
            Self::Challenge => story.challenge("authenticate").await,
            Self::ChallengeFailed => story.challenge("fail").await,
            Self::ChallengeAbandoned => story.challenge("abandon").await,
            Self::Checkout => story.checkout(None).await,
            Self::CheckoutCallbackLost => story.checkout(Some("fail")).await,
            Self::CheckoutCallbackTwice => story.checkout(Some("twice")).await,
            Self::UpdaterBatch => story.updater_batch().await,
            Self::Lockout => story.lockout().await,
        }
    }
}

impl clap::ValueEnum for Scenario {
    fn value_variants<'a>() -> &'a [Self] {
        const VARIANTS: [Scenario; ALL.len()] = {
            let mut variants = [Scenario::Payment; ALL.len()];
            let mut at = 0;
            while at < ALL.len() {
                variants[at] = ALL[at].0;
                at += 1;
            }
            variants
        };
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.about()))
    }
}
