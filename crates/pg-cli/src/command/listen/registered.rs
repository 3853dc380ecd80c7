//! `--register`: the callback addresses, registered at a sandbox as long as this command runs.

use std::{sync::Mutex, time::Duration};

use super::addresses::Addresses;
use crate::{
    command::sandbox::remote::destinations::{self, Kind},
    control::Control,
    failure::Failure,
    output,
};

/// The interval at which the sandbox is asked whether it still sends all callbacks here.
const PAUSE: Duration = Duration::from_secs(2);
const NOT_ALL_HERE: &str = "the sandbox does not send all callbacks here: another listener has registered since, or the sandbox has lost its records";

/// The addresses to which a sandbox sends an account's callbacks.
pub(super) struct Registered {
    control: Control,
    account: String,
    retries: u32,
    /// The registered addresses that the sandbox is not known to have given up.
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

    /// Says it once if the sandbox no longer sends all callbacks here. Returns then.
    pub(super) async fn watch(&self, mut pause: impl AsyncFnMut()) {
        loop {
            pause().await;
            // A sandbox that cannot be asked now may still send them.
            if self.keep_known().await.is_some_and(|(_, all)| !all) {
                return;
            }
        }
    }

    /// Removes what was registered. If the sandbox has ended, or has registered another listener since, there is
    /// nothing to remove.
    pub(super) async fn remove(&self) {
        let Some((control, _)) = self.keep_known().await else { return };
        let ids = std::mem::take(&mut *self.ids());
        for id in ids {
            if let Err(failure) = control.delete(&destinations::destination(&id)).await {
                output::warn(&format!("the callback address stays registered: {}", failure.message()));
            }
        }
    }

    /// Keeps the addresses that the sandbox knows. Says it if there are others, and returns whether there are none.
    async fn keep_known(&self) -> Option<(Control, bool)> {
        let registered = self.ids().clone();
        let control = self.control.of_account(&self.account).await.ok()?;
        let known = control.get("callbacks/destinations").await.ok()?;
        let is_known = |id: &String| known.as_array().into_iter().flatten().any(|one| one["id"] == id.as_str());
        let all = registered.iter().all(is_known);
        if !all {
            output::warn(NOT_ALL_HERE);
            self.ids().retain(is_known);
        }
        Some((control, all))
    }

    fn ids(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        // A panic cannot leave a list of texts inconsistent.
        self.ids.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Waits until the sandbox is asked again.
#[expect(
    clippy::disallowed_methods,
    reason = "the sandbox is another process: its registrations are polled in real time"
)]
pub(super) async fn pause() {
    tokio::time::sleep(PAUSE).await;
}

#[cfg(test)]
mod tests {
    use pg_hyper::{Receiver, ReceiverLimits, proto::BaseUrl};
    use pg_sandbox::{Config, Server, StoreChoice};

    use super::*;

    #[test]
    fn a_listener_that_is_replaced_is_told_when_it_happens_and_not_again_at_its_end() {
        let told = crate::command::block_on(async {
            let config = Config::default().listen("127.0.0.1:0".parse().unwrap()).store(StoreChoice::Memory);
            let server = Server::start(config).await.unwrap();
            let at = || Registered::new(Control::at(&server.base_url()).unwrap(), "main".to_owned(), 0);
            let base = BaseUrl::parse("http://127.0.0.1:9").unwrap();
            let addresses = Addresses::open(&Receiver::nested(&base, ReceiverLimits::default()), None, true).unwrap();
            let (first, second) = (at(), at());
            first.set(&addresses).await?;
            let mut pauses = 0;
            first
                .watch(async || {
                    pauses += 1;
                    if pauses == 3 {
                        second.set(&addresses).await.unwrap();
                    }
                })
                .await;
            let left = first.ids().len();
            first.remove().await;
            Ok((pauses, left, second.keep_known().await.unwrap().1))
        });
        assert_eq!(told.unwrap(), (3, 0, true));
    }
}
