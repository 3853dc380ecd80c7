//! `--register`: the callback addresses, registered at a sandbox as long as this command runs.

use std::sync::Mutex;

use super::addresses::Addresses;
use crate::{
    command::sandbox::remote::destinations::{self, Kind},
    control::Control,
    failure::Failure,
    output,
};

/// The addresses to which a sandbox sends an account's callbacks.
pub(super) struct Registered {
    control: Control,
    account: String,
    retries: u32,
    ids: Mutex<Vec<String>>,
}

impl Registered {
    pub(super) const fn new(control: Control, account: String, retries: u32) -> Self {
        Self { control, account, retries, ids: Mutex::new(Vec::new()) }
    }

    /// Registers the addresses for callbacks.
    ///
    /// # Errors
    /// If there is no sandbox, or it refuses them.
    pub(super) async fn set(&self, addresses: &Addresses) -> Result<(), Failure> {
        let control = self.control.of_account(&self.account).await?;
        for (kind, name) in [(Kind::AccountUpdater, "updaterCallback"), (Kind::Checkout, "checkoutCallback")] {
            let Some(url) = addresses.url(name) else { continue };
            let made = destinations::register(&control, &self.account, kind, url, Some(self.retries)).await?;
            if let Some(id) = made["id"].as_str() {
                self.ids().push(id.to_owned());
            }
        }
        let (base, account) = (self.control.base().as_str(), output::harmless(&self.account));
        output::say(&format!(
            "pg: callbacks of account {account} at {base} come here until this command ends, or another one registers"
        ));
        Ok(())
    }

    /// Removes what was registered. If the sandbox has ended, or has registered another listener since, there is
    /// nothing to remove.
    pub(super) async fn remove(&self) {
        let ids = std::mem::take(&mut *self.ids());
        let Ok(control) = self.control.of_account(&self.account).await else { return };
        let Ok(known) = control.get("callbacks/destinations").await else { return };
        let is_known = |id: &String| known.as_array().into_iter().flatten().any(|one| one["id"] == id.as_str());
        if !ids.iter().all(is_known) {
            output::warn(
                "the sandbox did not send all callbacks here: another listener has registered since, or the sandbox has lost its records",
            );
        }
        for id in ids.into_iter().filter(is_known) {
            if let Err(failure) = control.delete(&destinations::destination(&id)).await {
                output::warn(&format!("the callback address stays registered: {}", failure.message()));
            }
        }
    }

    fn ids(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        // A panic cannot leave a list of texts inconsistent.
        self.ids.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
