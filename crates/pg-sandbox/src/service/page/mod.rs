//! Pages for the customer's browser: plain HTML that needs no JavaScript.

use super::{Context, Reply};

mod html;
mod session_error;

pub(super) use session_error::session_error;
