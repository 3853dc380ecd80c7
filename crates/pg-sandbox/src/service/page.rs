//! Pages for the customer's browser: plain HTML that needs no JavaScript.

use super::{Basis, Context, Refusal, Reply};

mod challenge;
mod failure;
pub(super) mod html;
mod pay;

pub(super) use challenge::challenge;
pub(super) use failure::{session_error, wrong_method};
pub(super) use pay::pay;
