//! Receives the service's callbacks about finished batches.

use std::net::SocketAddr;

use pg_hyper::{EndpointPurpose, Received, Receiver, proto::BaseUrl};

use super::state::State;
use crate::failure::Failure;

/// The receiver of callbacks, if there is one.
pub(super) struct Callbacks {
    receiver: Option<Receiver>,
    pub(super) url: Option<String>,
}

impl Callbacks {
    /// Does not listen; another program serves `url`.
    pub(super) const fn elsewhere(url: Option<String>) -> Self {
        Self { receiver: None, url }
    }

    /// Listens on the address of an earlier run, or on a new one that is stored in the state.
    ///
    /// # Errors
    /// If it cannot listen there.
    pub(super) async fn listen(
        address: SocketAddr,
        public_url: Option<&BaseUrl>,
        state: &mut State,
    ) -> Result<Self, Failure> {
        let cannot =
            |error| Failure::misuse(format!("cannot listen on {address}: {error}; choose another with --listen"));
        if address.ip().is_unspecified() && public_url.is_none() {
            return Err(Failure::misuse(format!(
                "the service cannot call {address}; set a public address with --public-url, as in \
                 --public-url https://shop.example/updated"
            )));
        }
        let mut receiver = Receiver::bind(address).await.map_err(cannot)?;
        if let Some(public_url) = public_url {
            receiver = receiver.public_url(public_url);
        }
        let endpoint = match &state.token {
            Some(token) => receiver.reopen(EndpointPurpose::UpdaterCallback, token),
            None => receiver.open(EndpointPurpose::UpdaterCallback),
        };
        let endpoint = endpoint.map_err(cannot)?;
        state.token = Some(endpoint.token().to_owned());
        Ok(Self { receiver: Some(receiver), url: Some(endpoint.url().to_owned()) })
    }

    /// Whether callbacks arrive here, so that waiting for a doubtful batch is useful.
    pub(super) const fn come_here(&self) -> bool {
        self.receiver.is_some()
    }

    /// Waits for a callback; forever if none can arrive.
    pub(super) async fn next(&mut self) -> Received {
        loop {
            let Some(receiver) = &mut self.receiver else { return std::future::pending().await };
            match receiver.next().await {
                Some(received) => return received,
                None => self.receiver = None,
            }
        }
    }
}
