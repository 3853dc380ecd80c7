//! What a shop logs of a payment holds the card.

use super::Planted;
use crate::{conduct::ClientBehaviour, job::Job};

pub(super) const PLANTED: Planted = Planted {
    name: "the card is logged",
    check: "secrets stay secret",
    within: 20,
    needs: None,
    differs: false,
    conduct: &LogsTheCard,
};

struct LogsTheCard;

impl ClientBehaviour for LogsTheCard {
    fn also_logs(&self, job: &Job) -> Option<String> {
        Some(format!(" ({:?})", job.card))
    }
}
