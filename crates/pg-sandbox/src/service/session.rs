//! The client session service (spec 2 §4.1, §4.2).

use pg_model::Initiate;

use super::{
    Context, Refusal,
    method::{Entry, entry},
};
use crate::merchants::Merchant;

mod erase;
mod initiate;
mod postform;

pub(super) use erase::ended as erase_ended;
pub(super) use postform::postform;

/// The methods of the service that a merchant's server calls. The card form is called by browsers
/// and answers in its own way: see [`postform()`].
pub(super) const METHODS: &[Entry] = &[entry::<Initiate>()];
