//! The specifics of each machine: how it is created and resumed, how it takes events, and how its outcome is stored.
//! Everything else is the same for all machines, and is in [`fleet`](crate::fleet).

use std::sync::Arc;

use pg_hyper::proto::{
    Account,
    machine::{
        Machine, ResumeError, SavedState,
        charge::{Charge, ChargeBounds},
        checkout::CheckoutPlan,
    },
    model::{
        ApiRequest, Auth, AuthCardKey, AuthSessionKey, CancelPreauth, CapturePreauth, GetToken, Preauth, Refund,
        method::ServiceInfo,
    },
};

use crate::{FleetError, FleetEvent, FleetQuestion, IntentKind, IntentStatus, Payment, PaymentOutcome, terms::Terms};

mod checkout;
mod operation;
mod three_d_secure;

pub(crate) use checkout::HostedCheckout;
pub(crate) use operation::Operation;
pub(crate) use three_d_secure::{Secured, SecuredPayment};

/// The version of the states that this program writes, and the newest version that it reads.
pub(crate) const VERSION: i32 = 1;

/// The shared parts from which the workers of a fleet create machines.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) charge: ChargeBounds,
    pub(crate) checkout: CheckoutPlan,
}

/// A machine that a fleet can store, resume and work on.
pub(crate) trait StoredMachine:
    Machine<Input: Send, Demand: Send, Outcome: Send> + Sized + Send + 'static
{
    /// The request from which the machine is created. Only in the process that began the payment may it contain card
    /// data.
    type Request: Clone + Send + Sync + 'static;
    /// Whether an unknown payment is looked up again.
    const LOOKS_UP: bool;
    /// Whether the machine takes events, which may reach any server while this server works.
    const HEARS: bool;

    fn kind() -> String;

    fn new(account: Arc<Account>, request: Self::Request, bounds: &Bounds) -> Result<Self, FleetError>;

    /// `ended` says whether the machine has ended as unknown before.
    fn resume(
        saved: &SavedState,
        account: Arc<Account>,
        request: Option<Self::Request>,
        bounds: &Bounds,
        ended: bool,
    ) -> Result<Self, ResumeError>;

    /// Returns the stored request, if there is one.
    fn request(stored: &str) -> Result<Self::Request, crate::StoreError>;

    fn outcome(outcome: &Self::Outcome) -> (String, IntentStatus);

    /// Returns the input for an event of this machine's kind; `None` for others.
    fn input(event: FleetEvent) -> Option<Self::Input>;

    fn question(demand: Self::Demand) -> FleetQuestion;

    /// Whether the machine waits for so long that it rests in its row meanwhile.
    fn rests(&self) -> bool {
        false
    }
}

impl<P: Payment> StoredMachine for Charge<P> {
    type Request = P;
    const LOOKS_UP: bool = true;
    const HEARS: bool = false;

    fn kind() -> String {
        format!("charge {}", P::INFO.name)
    }

    fn new(account: Arc<Account>, payment: P, bounds: &Bounds) -> Result<Self, FleetError> {
        Ok(Self::new(account, payment, bounds.charge)?)
    }

    /// After it has ended as unknown, only lookups follow.
    fn resume(
        saved: &SavedState,
        account: Arc<Account>,
        payment: Option<P>,
        _: &Bounds,
        ended: bool,
    ) -> Result<Self, ResumeError> {
        Self::resume(saved, account, payment.filter(|_| !ended))
    }

    fn request(stored: &str) -> Result<P, crate::StoreError> {
        crate::terms::request(stored)
    }

    fn outcome(outcome: &Self::Outcome) -> (String, IntentStatus) {
        PaymentOutcome::of_charge(outcome)
    }

    fn input(_: FleetEvent) -> Option<Self::Input> {
        None
    }

    fn question(demand: Self::Demand) -> FleetQuestion {
        match demand {}
    }
}

/// A function that is called with the machine type of an intent's kind.
pub(crate) trait ForMachine {
    type Output;

    fn call<M: StoredMachine>(self) -> Self::Output;
}

/// Calls `action` for the machine of this kind; `None` if this program knows no such kind.
pub(crate) fn for_kind<A: ForMachine>(kind: &str, action: A) -> Option<A::Output> {
    macro_rules! among {
        ($($machine:ty),* $(,)?) => {
            $(if kind == <$machine>::kind() {
                return Some(action.call::<$machine>());
            })*
        };
    }
    among!(
        Charge<AuthCardKey>,
        Charge<AuthSessionKey>,
        Charge<Auth>,
        Charge<Preauth>,
        SecuredPayment,
        HostedCheckout,
        Operation<CapturePreauth>,
        Operation<CancelPreauth>,
        Operation<Refund>,
    );
    None
}

/// Returns all kinds that this program can resume.
pub(crate) fn kinds() -> Vec<IntentKind> {
    let charges = [AuthCardKey::INFO, AuthSessionKey::INFO, Auth::INFO, Preauth::INFO];
    let operations = [CapturePreauth::INFO, CancelPreauth::INFO, Refund::INFO];
    let charges = charges.map(|method| format!("charge {}", method.name));
    let operations = operations.map(|method| format!("operation {}", method.name));
    let others = [SecuredPayment::kind(), HostedCheckout::kind()];
    let all = charges.into_iter().chain(operations).chain(others);
    all.map(|name| IntentKind { name, version: VERSION }).collect()
}

/// Whether the reference of an intent of this kind is the `uniqueMerchantReference` of a payment, not a name that its
/// owner chose.
pub(crate) fn pays_under_its_reference(kind: &str) -> bool {
    kind.starts_with("charge ") || kind == SecuredPayment::kind()
}

/// Returns the service that makes the payment of an intent of this kind.
pub(crate) fn service(kind: &str) -> &'static ServiceInfo {
    if kind == HostedCheckout::kind() { GetToken::INFO.service } else { AuthCardKey::INFO.service }
}

/// The stored form of a payment before the payment is begun.
pub(crate) fn terms<M: StoredMachine>(account: &str, reference: &str, request: &impl ApiRequest) -> Terms {
    Terms::of(account, reference, M::kind(), request)
}

#[cfg(test)]
mod tests {
    use pg_hyper::proto::{
        BaseUrl, Credentials, EnterpriseCredentials,
        machine::three_d_secure::ThreeDSecurePlan,
        model::{CheckoutItem, Currency, InitiateThreeDSecureCardKey, Item, Order},
    };

    use super::*;

    struct Kind;

    impl ForMachine for Kind {
        type Output = String;

        fn call<M: StoredMachine>(self) -> String {
            M::kind()
        }
    }

    /// For each version of the rows, that of the states of charges, 3-D Secure payments, checkouts and operations. pg-proto raises a version
    /// when the form of a state changes: then this program raises [`VERSION`], and a line is added here.
    const VERSIONS: [(i32, [u64; 4]); 1] = [(1, [1, 1, 1, 1])];

    fn version<M: StoredMachine>(account: &Arc<Account>, request: M::Request, bounds: &Bounds) -> u64 {
        let machine = M::new(Arc::clone(account), request, bounds).unwrap();
        let saved: serde_json::Value = serde_json::from_str(machine.save().text()).unwrap();
        saved["version"].as_u64().unwrap()
    }

    #[test]
    fn the_version_of_the_rows_is_raised_with_that_of_a_machine() {
        let credentials = Credentials::new("key", "password", "sha key");
        let base = || BaseUrl::parse("https://gateway.example").unwrap();
        let account = Account::new(base(), credentials);
        let account = Arc::new(account.enterprise(base(), EnterpriseCredentials::new("key", "password")));
        let bounds = Bounds { charge: ChargeBounds::default(), checkout: CheckoutPlan::default() };
        let order = || Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
        let initiation = InitiateThreeDSecureCardKey::new("card key", order()).return_url("https://shop.example/back");
        let secured = Secured { initiation: initiation.into(), plan: ThreeDSecurePlan::default() };
        let token = GetToken::new().item(CheckoutItem::new("Tea", "4.99")).currency("GBP");
        let token = token.callback_url("https://shop.example/paid").success_url("https://shop.example/thanks");
        let versions = [
            version::<Charge<AuthCardKey>>(&account, AuthCardKey::new("card key", order()), &bounds),
            version::<SecuredPayment>(&account, secured, &bounds),
            version::<HostedCheckout>(&account, token, &bounds),
            version::<Operation<Refund>>(&account, Refund::new("0123456789abcdef0123456789abcdef"), &bounds),
        ];
        assert_eq!(
            VERSIONS.last(),
            Some(&(VERSION, versions)),
            "raise VERSION of pg-intents and add a line to VERSIONS"
        );
        assert!(VERSIONS.is_sorted_by(|(earlier, _), (later, _)| earlier < later));
    }

    #[test]
    fn every_kind_that_is_claimed_has_a_machine() {
        for kind in kinds() {
            assert_eq!(service(&kind.name).version == 5, kind.name == "checkout");
            assert_eq!(for_kind(&kind.name, Kind), Some(kind.name));
        }
        assert_eq!(for_kind("charge barter", Kind), None);
    }
}
