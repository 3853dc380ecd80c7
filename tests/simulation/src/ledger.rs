//! The data that the service has committed, as far as checks need it. It is read from the store, not from replies.

use std::collections::{BTreeMap, BTreeSet};

use pg_sandbox::{
    Timestamp,
    records::{Authentication, AuthenticationEnd, FailedAttempts, Payment, PaymentKind, Session},
};

/// The committed payments and failed attempts.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) payments: BTreeMap<String, Payment>,
    pub(crate) failures: BTreeMap<String, FailedAttempts>,
    /// Stored cards, and whether they are enabled. A deleted one is missing.
    pub(crate) card_keys: BTreeMap<String, bool>,
    /// Payments whose stored card was disabled or deleted when they were made.
    pub(crate) without_card: BTreeSet<String>,
    /// When sessions were opened.
    pub(crate) sessions: BTreeMap<String, Timestamp>,
    /// How authentications ended, as it was first written.
    ends: BTreeMap<String, AuthenticationEnd>,
    /// The authentications that payments used up, by payment.
    used: BTreeMap<String, String>,
    /// Keys of payments by unique reference.
    by_reference: BTreeMap<String, BTreeSet<String>>,
    /// Keys of payments by the payment that they follow.
    by_parent: BTreeMap<String, BTreeSet<String>>,
    /// Keys of payments by the checkout token that was paid.
    by_token: BTreeMap<String, BTreeSet<String>>,
    /// Payments that were committed since the last check.
    pub(crate) fresh: Vec<String>,
}

impl Ledger {
    /// Adds a payment when it is written.
    pub(crate) fn take(&mut self, payment: Payment) {
        let key = payment.key.clone();
        if let Some(reference) = &payment.unique_reference {
            self.by_reference.entry(intent(reference).to_owned()).or_default().insert(key.clone());
        }
        if let Some(parent) = &payment.parent {
            self.by_parent.entry(parent.clone()).or_default().insert(key.clone());
        }
        // Follow-ups copy the details of their payment.
        if let (None, Some(token)) = (&payment.parent, payment.details.get(Payment::TOKEN_ID)) {
            self.by_token.entry(token.clone()).or_default().insert(key.clone());
        }
        let card = payment.card_key.as_ref().filter(|_| !self.payments.contains_key(&key));
        if card.is_some_and(|card| self.card_keys.get(card) != Some(&true)) {
            self.without_card.insert(key.clone());
        }
        self.payments.insert(key.clone(), payment);
        self.fresh.push(key);
    }

    /// Adds a session when it is first written.
    pub(crate) fn opened(&mut self, session: Session) {
        self.sessions.entry(session.key).or_insert(session.created);
    }

    /// Adds an authentication when it is written. Its end does not change any more.
    pub(crate) fn authenticated(&mut self, authentication: Authentication) {
        if let Some(end) = authentication.end {
            self.ends.entry(authentication.key.clone()).or_insert(end);
        }
        if let Some(payment) = authentication.payment {
            self.used.insert(payment, authentication.key);
        }
    }

    /// Returns how the authentication ended that a payment used up, if it used one up.
    pub(crate) fn authentication_of(&self, payment: &str) -> Option<AuthenticationEnd> {
        self.ends.get(self.used.get(payment)?).copied()
    }

    /// The authorisations and reservations of an intent to pay, approved or not.
    pub(crate) fn charges<'a>(&'a self, reference: &str) -> impl Iterator<Item = &'a Payment> + use<'a> {
        let keys = self.by_reference.get(intent(reference));
        let found = keys.into_iter().flatten().filter_map(|key| self.payments.get(key));
        found.filter(|payment| matches!(payment.kind, PaymentKind::Auth | PaymentKind::PreAuth))
    }

    /// Returns the approved one, if any.
    pub(crate) fn paid(&self, reference: &str) -> Option<&Payment> {
        self.charges(reference).find(|payment| payment.approved())
    }

    /// The approved payments and reservations of a checkout token.
    pub(crate) fn paid_by_token(&self, token: &str) -> impl Iterator<Item = &Payment> {
        let found = self.by_token.get(token).into_iter().flatten().filter_map(|key| self.payments.get(key));
        found.filter(|payment| matches!(payment.kind, PaymentKind::Auth | PaymentKind::PreAuth) && payment.approved())
    }

    /// Returns the captures, cancellations and refunds of a payment.
    pub(crate) fn children(&self, parent: &str) -> impl Iterator<Item = &Payment> {
        self.by_parent.get(parent).into_iter().flatten().filter_map(|key| self.payments.get(key))
    }

    /// The sum of the approved children of a kind.
    pub(crate) fn sum(&self, parent: &str, kind: PaymentKind) -> u64 {
        self.children(parent).filter(|child| child.kind == kind && child.approved()).map(|child| child.amount).sum()
    }
}

/// Returns the intent of a reference. A client that invents another reference for the same intent appends it after a
/// tilde.
fn intent(reference: &str) -> &str {
    reference.split('~').next().unwrap_or(reference)
}
