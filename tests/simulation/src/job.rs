//! Jobs of merchants: an order to pay, or a follow-up of a payment.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::Request;
use pg_model::{
    Auth, AuthCardKey, AuthSessionKey, CardDetails, CardKey, Currency, Initiate, InitiateThreeDSecureCardKey, Item,
    Order, Outcome, Preauth, Session, Transaction,
};
use pg_proto::{
    Account,
    machine::{
        ResumeError, SavedState,
        account_update::{AccountUpdate, DoubtfulPolicy, UpdatePlan},
        charge::{Charge, ChargeBounds},
        checkout::Checkout,
        retry::{Retry, RetryBounds},
        three_d_secure::{NoLiabilityShift, ThreeDSecure, ThreeDSecurePlan},
    },
};

use pg_sandbox::records::{Payment, PaymentKind};

use crate::run::{Claim, Once, Run, Updating};

pub(crate) mod hosted;
mod operations;

/// How an order is paid, or which follow-up is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Auth,
    Preauth,
    CardKey,
    Session,
    Capture,
    Cancel,
    Refund,
    /// Charges the card of an earlier payment again, in version 5.
    Repeat,
    /// With a stored card and an authentication by its bank.
    ThreeDSecure,
    /// Refreshes stored cards.
    Update,
    /// On the hosted payment page.
    Checkout,
}

impl Kind {
    /// Whether it makes a payment, as opposed to changing one.
    pub(crate) const fn pays(self) -> bool {
        self.charges() || matches!(self, Self::ThreeDSecure)
    }

    /// Whether it does so with one request.
    pub(crate) const fn charges(self) -> bool {
        matches!(self, Self::Auth | Self::Preauth | Self::CardKey | Self::Session)
    }

    /// Whether it works on an earlier payment.
    pub(crate) const fn operates(self) -> bool {
        matches!(self, Self::Capture | Self::Cancel | Self::Refund | Self::Repeat)
    }
}

/// A card as customers hold it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Card {
    pub(crate) number: &'static str,
    pub(crate) year: &'static str,
}

/// No amount and no time is written with a leading zero.
pub(crate) const CV2: &str = "0357";
/// The address that the account updater calls when a batch has finished.
pub(crate) const CALLBACK_PAGE: &str = "https://shop.example/updates";
/// The account updater key of every merchant.
pub(crate) const UPDATER_KEY: &str = "simulation-updater-key";
/// The page to which customers return from their bank.
pub(crate) const RETURN_PAGE: &str = "https://shop.example/back";
const ERROR_PAGE: &str = "https://shop.example/error";

/// One job, as in the merchant's own records.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) kind: Kind,
    /// Also the unique reference of a payment.
    pub(crate) name: String,
    pub(crate) pence: u64,
    pub(crate) card: Card,
    /// The session, the card key, or the payment of the job; for an account update, the first card key.
    pub(crate) key: String,
    pub(crate) bounds: ChargeBounds,
    /// The stored cards to refresh, some of them twice.
    pub(crate) source: Vec<CardKey>,
    /// Card keys of one batch.
    pub(crate) batch_size: usize,
    /// When its token expires, in seconds since 1970, if the merchant says so.
    pub(crate) expires: Option<u64>,
    /// Whether an operation is one of version 5.
    pub(crate) version_5: bool,
}

impl Job {
    /// Whether it only reserves an amount, to be captured later.
    pub(crate) fn reserves(&self) -> bool {
        self.kind == Kind::Preauth || (self.kind == Kind::Checkout && self.pence.is_multiple_of(4))
    }

    /// Returns another program's payment under the same reference, with another amount, currency or type.
    pub(crate) fn foreign(&self, account: &Account) -> Request<Bytes> {
        let request = match self.pence % 3 {
            0 => account.request(&Auth::new(self.card(), self.order_of(Currency::GBP, self.pence + 7))),
            1 => account.request(&Auth::new(self.card(), self.order_of(Currency::EUR, self.pence))),
            _ if self.reserves() => account.request(&self.auth()),
            _ => account.request(&self.preauth()),
        };
        request.expect("a valid request")
    }

    /// Whether a payment under its reference is its own.
    pub(crate) fn is_paid_by(&self, payment: &Payment) -> bool {
        let reserved = payment.kind == PaymentKind::PreAuth;
        payment.amount == self.pence && payment.currency == "GBP" && reserved == self.reserves()
    }

    pub(crate) fn order(&self) -> Order {
        self.order_of(Currency::GBP, self.pence)
    }

    fn order_of(&self, currency: Currency, amount: u64) -> Order {
        Order::new(currency).item(Item::new("Tea", amount)).unique_merchant_reference(self.name.as_str())
    }

    fn card(&self) -> CardDetails {
        CardDetails::new(self.card.number, "12", self.card.year).cv2(CV2)
    }

    pub(crate) fn auth(&self) -> Auth {
        Auth::new(self.card(), self.order())
    }

    pub(crate) fn preauth(&self) -> Preauth {
        Preauth::new(self.card(), self.order())
    }

    pub(crate) fn auth_card_key(&self) -> AuthCardKey {
        AuthCardKey::new(self.key.as_str(), self.order())
    }

    pub(crate) fn auth_session_key(&self) -> AuthSessionKey {
        AuthSessionKey::new(self.key.as_str(), self.order())
    }

    /// Creates its machine.
    pub(crate) fn begin(&self, account: Arc<Account>) -> Box<dyn Run> {
        let right = "the simulation makes valid requests";
        match self.kind {
            Kind::Auth => Box::new(Charge::new(account, self.auth(), self.bounds).expect(right)),
            Kind::Preauth => Box::new(Charge::new(account, self.preauth(), self.bounds).expect(right)),
            Kind::CardKey => Box::new(Charge::new(account, self.auth_card_key(), self.bounds).expect(right)),
            Kind::Session => Box::new(Charge::new(account, self.auth_session_key(), self.bounds).expect(right)),
            Kind::Capture | Kind::Cancel | Kind::Refund | Kind::Repeat => self.operation(account, None).expect(right),
            Kind::ThreeDSecure => {
                let initiation =
                    InitiateThreeDSecureCardKey::new(self.key.as_str(), self.order()).return_url(RETURN_PAGE);
                let machine = ThreeDSecure::new((*account).clone(), initiation, self.three_d_secure());
                Box::new(machine.expect(right))
            }
            Kind::Checkout => {
                let machine = Checkout::new((*account).clone(), hosted::token(self), hosted::plan(self));
                Box::new(machine.expect(right))
            }
            Kind::Update => {
                let machine = AccountUpdate::new((*account).clone(), self.plan()).expect(right);
                Box::new(Updating { machine, source: self.source.clone() })
            }
        }
    }

    /// Resumes its machine from a saved state, for a payment perhaps without the original request.
    pub(crate) fn resume(&self, saved: &str, account: Arc<Account>, with_request: bool) -> Box<dyn Run> {
        let resumed = self.try_resume(&SavedState::from_text(saved), account, with_request);
        resumed.expect("what was stored of a machine can be read")
    }

    /// Resumes it, if it was saved for this account.
    pub(crate) fn try_resume(
        &self,
        saved: &SavedState,
        account: Arc<Account>,
        with_request: bool,
    ) -> Result<Box<dyn Run>, ResumeError> {
        let plain = || (*account).clone();
        Ok(match self.kind {
            Kind::Auth => self.charging(saved, &account, with_request.then(|| self.auth()))?,
            Kind::Preauth => self.charging(saved, &account, with_request.then(|| self.preauth()))?,
            Kind::CardKey => self.charging(saved, &account, with_request.then(|| self.auth_card_key()))?,
            Kind::Session => self.charging(saved, &account, with_request.then(|| self.auth_session_key()))?,
            Kind::Capture | Kind::Cancel | Kind::Refund | Kind::Repeat => self.operation(account, Some(saved))?,
            Kind::ThreeDSecure => Box::new(ThreeDSecure::resume(saved, plain())?),
            Kind::Checkout => Box::new(Checkout::resume(saved, plain(), hosted::plan(self))?),
            Kind::Update => {
                let machine = AccountUpdate::resume(saved, plain(), self.plan())?;
                Box::new(Updating { machine, source: self.source.clone() })
            }
        })
    }

    fn charging<M>(
        &self,
        saved: &SavedState,
        account: &Arc<Account>,
        request: Option<M>,
    ) -> Result<Box<dyn Run>, ResumeError>
    where
        M: pg_model::ApiRequest<Output = Outcome<Transaction>> + 'static,
    {
        Ok(Box::new(Charge::resume(saved, Arc::clone(account), request)?))
    }

    /// The machine that opens the session of an order.
    pub(crate) fn open_session(account: Arc<Account>) -> Box<dyn Run> {
        let bounds = RetryBounds::default().again(6).within(Duration::from_secs(1_200));
        let retry = Retry::new(account, Initiate::new(ERROR_PAGE), bounds).expect("a valid request");
        let claim = |session: Session| Claim::Done { brought: session.session_key.as_str().to_owned() };
        Box::new(Once { retry, claim })
    }

    pub(crate) fn three_d_secure(&self) -> ThreeDSecurePlan {
        let without_shift = match self.pence % 3 {
            0 => NoLiabilityShift::Ask,
            1 => NoLiabilityShift::Proceed,
            _ => NoLiabilityShift::End,
        };
        let ChargeBounds { attempts, lookups, pauses, .. } = self.bounds;
        ThreeDSecurePlan::default().without_shift(without_shift).attempts(attempts).lookups(lookups).pauses(pauses)
    }

    fn plan(&self) -> UpdatePlan {
        let minute = Duration::from_secs(60);
        UpdatePlan::new(UPDATER_KEY)
            .callback_url(CALLBACK_PAGE)
            .batch_size(self.batch_size)
            .outstanding(2)
            .doubtful(
                if self.pence.is_multiple_of(2) { DoubtfulPolicy::Report } else { DoubtfulPolicy::SubmitAgain },
                20 * minute,
            )
            .polls(2 * minute, 10 * minute)
            .patience(240 * minute)
    }
}
