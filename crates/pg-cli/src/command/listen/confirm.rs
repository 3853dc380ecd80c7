//! Confirms received events.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use pg_hyper::{
    Client, Notification,
    proto::{
        Account, CallbackOutline, CardFormResult, CheckoutHint, Redirect, UpdaterHint,
        machine::retry::{RetryBounds, RetryOutcome},
    },
};
use pg_model::{
    ApiRequest, CardNumber, Cv2, Encoding, EnterpriseTransactionLookup, Record, RetrieveAccountUpdater, UpdatedCard,
    json, method::AuthScheme,
};

use super::event::{Event, Forwarded};
use crate::{account::Details, failure::Failure, output, redactor::cards, refusal, transport::RedactingTransport};

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
            Notification::Updater(hint) => self.confirm(Claim::batch(what, &hint)).await,
            Notification::Paid(hint) => self.confirm(Claim::payment(what, &hint)).await,
            Notification::CheckoutLeft => {
                Event::new(what, "a customer left the checkout and returned to the shop".to_owned())
            }
            Notification::CardForm(redirect) => {
                let form = pg_model::mask::text(&redirect.form_id);
                let event = Event::new(what, format!("a customer came back from the form {form:?}"));
                event.decrypted(self.open(&redirect))
            }
            Notification::Challenged => Event::new(what, "a customer came back from a challenge".to_owned()),
            Notification::Refused(outline) => Claim::refused(what, &outline).event,
            _ => Event::new(what, "an event that this version does not know".to_owned()),
        }
    }

    /// Returns a claim with the service's confirmation.
    pub(super) async fn confirm(&self, claim: Claim) -> Event {
        let found = match claim.question {
            Some(Question::Payment(lookup)) => ask(&self.enterprise, *lookup, |found| json::write(found)).await,
            Some(Question::Batch(retrieval)) => {
                ask(&self.gateway, *retrieval, |batch| {
                    let mut batch = batch.clone();
                    batch.card_key_details.iter_mut().for_each(mask);
                    json::write(&batch)
                })
                .await
            }
            None => return claim.event,
        };
        claim.event.found(found)
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

/// What a callback claims, without its body, which may be large.
#[derive(Clone)]
pub(super) struct Claim {
    event: Event,
    /// What confirms it; without it, the event says why nothing does.
    question: Option<Question>,
}

#[derive(Clone)]
enum Question {
    Batch(Box<RetrieveAccountUpdater>),
    Payment(Box<EnterpriseTransactionLookup>),
}

impl Claim {
    /// Reads a callback.
    pub(super) fn of(what: &'static str, request: &Request<Bytes>) -> Self {
        let read = if what == "updaterCallback" {
            UpdaterHint::read(request).ok().map(|hint| Self::batch(what, &hint))
        } else {
            CheckoutHint::read(request).ok().map(|hint| Self::payment(what, &hint))
        };
        read.unwrap_or_else(|| Self::refused(what, &CallbackOutline::of(request)))
    }

    /// A payment that a callback or a customer claims.
    fn payment(what: &'static str, hint: &CheckoutHint) -> Self {
        // The sender is unknown and may have sent anything, such as a card number.
        let event = Event::new(what, format!("payment {}", cards::value("transKey", hint.trans_key())));
        Self { event, question: Some(Question::Payment(hint.confirm().into())) }
    }

    /// A batch that a callback claims.
    fn batch(what: &'static str, hint: &UpdaterHint) -> Self {
        let key = &hint.claimed().batch_key;
        if key.as_str().len() != 32 || !key.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            let event = Event::new(what, "a batch".to_owned()).found(Err("not a batch key".to_owned()));
            return Self { event, question: None };
        }
        let count = hint.claimed().card_key_details.len();
        let cards = if count == 1 { "card" } else { "cards" };
        let event = Event::new(what, format!("batch {key}, {count} {cards}"));
        Self { event, question: Some(Question::Batch(hint.confirm().into())) }
    }

    /// What a callback has that cannot be read, without its values.
    fn refused(what: &'static str, outline: &CallbackOutline) -> Self {
        let why = "it names no batch or payment that can be looked up".to_owned();
        let event = Event::new(what, format!("an unreadable callback ({outline})")).found(Err(why));
        Self { event, question: None }
    }

    /// Adds the result of forwarding.
    pub(super) fn forwarded(mut self, forwarded: Forwarded) -> Self {
        self.event = self.event.forwarded(forwarded);
        self
    }

    /// The event, without asking the service.
    pub(super) fn unconfirmed(self, why: &str) -> Event {
        if self.question.is_some() { self.event.found(Err(why.to_owned())) } else { self.event }
    }
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
