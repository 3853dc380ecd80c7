//! What a sandbox is told once, when it is made.

use crate::{form::Limits, merchants::Merchants};

/// Accounts, limits, and who may control the sandbox.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The merchant accounts.
    pub merchants: Merchants,
    /// What a request may measure.
    pub limits: Limits,
    /// Who may use the control interface below `/_sandbox/`.
    pub control: ControlAccess,
}

/// Who may use the control interface. It shows credentials and turns the clock, so by default only
/// this machine may.
#[derive(Debug, Clone, Default)]
pub struct ControlAccess {
    /// Whether addresses other than loopback ones may use it.
    pub from_anywhere: bool,
    /// Host names by which it may be called besides `localhost` and addresses. Every other name is
    /// refused, so that no web page can reach it through a name that it points to this machine.
    pub hosts: Vec<String>,
}
