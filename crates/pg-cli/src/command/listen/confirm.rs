//! Confirms received events.

use std::time::Duration;

use pg_hyper::{
    Client, Notification,
    proto::{
        Account, CallbackOutline, CardFormResult, CheckoutHint, Redirect, UpdaterHint,
        machine::retry::{RetryBounds, RetryOutcome},
    },
};
use pg_model::{ApiRequest, CardNumber, Cv2, Encoding, Record, UpdatedCard, json, method::AuthScheme};

use super::{event::Event, forward::Arrived};
use crate::{account::Details, failure::Failure, output, refusal, transport::RedactingTransport};

/// The clients that confirm events, if their accounts are configured. They obey the throttle, and stop before a
/// lockout. If both services are configured, one client serves both, with one throttle and shared connections.
pub(super) struct Confirming {
    gateway: Result<Client<RedactingTransport>, String>,
    enterprise: Result<Client<RedactingTransport>, String>,
}

impl Confirming {
    pub(super) fn new(details: &Details, deadline: Duration) -> Self {
        let client = |account| client(account, details, deadline);
        let enterprise = details.account(AuthScheme::Enterprise, Encoding::Json);
        let gateway = details.account(AuthScheme::Signed, Encoding::Json);
        if enterprise.is_ok()
            && let Ok(account) = gateway
        {
            let both = client(details.with_enterprise(account));
            return Self { gateway: both.clone(), enterprise: both };
        }
        Self { gateway: client(gateway), enterprise: client(enterprise) }
    }

    /// Reports which events cannot be confirmed.
    pub(super) fn tell(&self) {
        for (client, what) in
            [(&self.gateway, "card forms and callbacks of the account updater"), (&self.enterprise, "checkouts")]
        {
            if let Err(why) = client {
                output::warn(&format!("{what} are not confirmed: {why}"));
            }
        }
    }

    /// Returns an event's claim and the service's confirmation.
    pub(super) async fn find_out(&self, what: &'static str, news: Notification) -> Event {
        match news {
            Notification::Updater(hint) => self.batch(what, &hint).await,
            Notification::Paid(hint) => self.payment(what, &hint).await,
            Notification::CheckoutLeft => {
                Event::new(what, "a customer left the checkout and returned to the shop".to_owned())
            }
            Notification::CardForm(redirect) => {
                let form = pg_model::mask::text(&redirect.form_id);
                let event = Event::new(what, format!("a customer came back from the form {form:?}"));
                event.decrypted(self.open(&redirect))
            }
            Notification::Challenged => Event::new(what, "a customer came back from a challenge".to_owned()),
            Notification::Refused(outline) => refused(what, &outline),
            _ => Event::new(what, "an event that this version does not know".to_owned()),
        }
    }

    /// Confirms a callback that was forwarded.
    pub(super) async fn find_out_forwarded(&self, arrived: Arrived) -> Event {
        let Arrived { what, request, forwarded } = arrived;
        let event = if what == "updaterCallback" {
            match UpdaterHint::read(&request) {
                Ok(hint) => self.batch(what, &hint).await,
                Err(_) => refused(what, &CallbackOutline::of(&request)),
            }
        } else {
            match CheckoutHint::read(&request) {
                Ok(hint) => self.payment(what, &hint).await,
                Err(_) => refused(what, &CallbackOutline::of(&request)),
            }
        };
        event.forwarded(forwarded)
    }

    /// Returns a payment that a callback or a customer claims, and what a lookup finds.
    async fn payment(&self, what: &'static str, hint: &CheckoutHint) -> Event {
        // The sender is unknown and may have sent anything, such as a card number.
        let event = Event::new(what, format!("payment {}", pg_model::mask::text(hint.trans_key())));
        event.found(ask(&self.enterprise, hint.confirm(), |found| json::write(found)).await)
    }

    /// Returns a batch that a callback claims, and what its retrieval finds.
    async fn batch(&self, what: &'static str, hint: &UpdaterHint) -> Event {
        let key = &hint.claimed().batch_key;
        if key.as_str().len() != 32 || !key.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Event::new(what, "a batch".to_owned()).found(Err("not a batch key".to_owned()));
        }
        let count = hint.claimed().card_key_details.len();
        let cards = if count == 1 { "card" } else { "cards" };
        let event = Event::new(what, format!("batch {key}, {count} {cards}"));
        let found = ask(&self.gateway, hint.confirm(), |batch| {
            let mut batch = batch.clone();
            batch.card_key_details.iter_mut().for_each(mask);
            json::write(&batch)
        });
        event.found(found.await)
    }

    fn open(&self, redirect: &Redirect) -> Result<String, String> {
        let account = self.gateway.as_ref().map_err(Clone::clone)?.account();
        let cipher = account.session_cipher().map_err(|error| error.to_string())?;
        Ok(match redirect.open(&cipher).map_err(|error| error.to_string())? {
            CardFormResult::Accepted(data) | CardFormResult::Invalid(data) => {
                let mut data = data.into_inner();
                data.card_number = CardNumber::from(data.card_number.masked());
                data.card_cv2 = Cv2::default();
                json::write(&data)
            }
            CardFormResult::Failed(error) => json::write(error.get()),
        })
    }
}

/// Returns what a callback has that cannot be read, without its values.
fn refused(what: &'static str, outline: &CallbackOutline) -> Event {
    let why = "it names no batch or payment that can be looked up".to_owned();
    Event::new(what, format!("an unreadable callback ({outline})")).found(Err(why))
}

/// A client of the account, or why it cannot be made.
fn client(
    account: Result<Account, Failure>,
    details: &Details,
    deadline: Duration,
) -> Result<Client<RedactingTransport>, String> {
    let told = |failure: Failure| failure.message().to_owned();
    let account = account.map_err(told)?;
    // Whether its addresses are safe to send credentials to.
    Client::new(account.clone()).map_err(|error| error.to_string())?;
    Ok(Client::with_transport(account, RedactingTransport::new(deadline, details).map_err(told)?))
}

/// Sends the request, with retries.
async fn ask<M>(
    client: &Result<Client<RedactingTransport>, String>,
    method: M,
    shown: impl FnOnce(&M::Output) -> String,
) -> Result<String, String>
where
    M: ApiRequest<Output: Clone + Record + Send> + Send + 'static,
{
    let client = client.as_ref().map_err(Clone::clone)?;
    let bounds = RetryBounds::default().again(2).within(Duration::from_secs(60));
    let mut asking = client.retry(method, bounds).map_err(|misuse| misuse.to_string())?;
    match asking.run().await {
        RetryOutcome::Answered(found) => Ok(shown(&found)),
        RetryOutcome::Refused(refused) => Err(refusal::explained(&refused).to_string()),
        RetryOutcome::NotSent => Err(asking.error().map_or_else(|| "not sent".to_owned(), ToString::to_string)),
        // Prints an unreadable reply in the alternate form: a lookup executes nothing.
        RetryOutcome::Unknown { why, .. } => {
            Err(asking.error().map_or_else(|| format!("{why:#}"), ToString::to_string))
        }
    }
}

/// Masks card numbers in everything that a service sends.
fn mask(entry: &mut UpdatedCard) {
    entry.card.card_number = CardNumber::from(entry.card.card_number.masked());
}
