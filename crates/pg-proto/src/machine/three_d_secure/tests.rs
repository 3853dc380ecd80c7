use std::time::Duration;

use bytes::Bytes;
use pg_model::{Currency, Dialect, InitiateThreeDSecureCardKey, InitiateThreeDSecureSessionKey, Item, Order};

use super::*;
use crate::{
    BaseUrl, Credentials,
    machine::{
        Failure,
        run::{self, NOON, Tested},
    },
};

mod authorising;
mod challenged;
mod checking;
mod clocks;
mod deciding;
mod initiating;
mod looking_up;
mod stories;

const KEY: &str = "0123456789abcdef0123456789abcdef";
const PAGE: &str = "https://gateway.example/3ds/0123456789abcdef0123456789abcdef";

type Run = run::Run<ThreeDSecure>;

impl Tested for ThreeDSecure {
    const CANARIES: &'static [&'static str] =
        &["canary-api-key", "canary-password", "canary-sha-key", "canary-session-key", "canary-card-key", "\"739\""];

    fn resumed(saved: &SavedState) -> Self {
        Self::resume(saved, account()).unwrap()
    }
}

impl Run {
    fn new(plan: ThreeDSecurePlan) -> Self {
        Self::of(ThreeDSecure::new(account(), request(), plan).unwrap())
    }

    /// A machine in this phase.
    fn at(phase: Phase, plan: ThreeDSecurePlan) -> Self {
        let mut run = Self::new(plan);
        run.step(Event::Begin);
        if phase == Phase::Initiating {
            return run;
        }
        run.say(&initiated());
        if phase == Phase::Challenged {
            return run;
        }
        run.input(ThreeDSecureInput::Returned);
        match phase {
            Phase::Checking => &mut run,
            Phase::Deciding => run.say(&status("923", "N")),
            Phase::Authorising => run.say(&status("607", "Y")),
            _ => run.say(&status("607", "Y")).fail(Failure::MaybeSent).wait(),
        };
        run
    }

    /// A machine that has sent the payment, with this dialect.
    fn under(dialect: Dialect) -> Self {
        let mut run = Self::at(Phase::Authorising, plan());
        let mut machine = ThreeDSecure::new(account().with_dialect(dialect), request(), plan()).unwrap();
        machine.state = run.machine.state;
        machine.state.sending = false;
        run.machine = machine;
        run.sent.clear();
        run.step(Event::Begin);
        run
    }

    fn payments(&self) -> usize {
        self.sent.iter().filter(|method| *method == "auth3DSecure").count()
    }
}

fn account() -> Account {
    let credentials = Credentials::new("canary-api-key", "canary-password", "canary-sha-key");
    Account::new(BaseUrl::parse("https://gateway.example").unwrap(), credentials).with_dialect(crate::spoken::sandbox())
}

fn request() -> InitiateThreeDSecureSessionKey {
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
    InitiateThreeDSecureSessionKey::new("canary-session-key", order, "https://shop.example/back")
}

fn plan() -> ThreeDSecurePlan {
    ThreeDSecurePlan::default()
}

fn with(without_shift: NoLiabilityShift) -> ThreeDSecurePlan {
    ThreeDSecurePlan { without_shift, ..plan() }
}

fn initiated() -> String {
    format!(
        "<serviceResponse><transactionStatusCode>607</transactionStatusCode><transactionStatus>Success</transactionStatus>\
         <transactionKey>check</transactionKey><authenticationKey>{KEY}</authenticationKey>\
         <authenticationUrl>{PAGE}</authenticationUrl></serviceResponse>"
    )
}

fn status(code: &str, shift: &str) -> String {
    format!(
        "<serviceResponse><transactionStatusCode>{code}</transactionStatusCode><transactionKey>check</transactionKey>\
         <liabilityShift>{shift}</liabilityShift></serviceResponse>"
    )
}

fn payment(code: &str) -> String {
    format!("<serviceResponse>{}</serviceResponse>", transaction(code, "Auth", "GBP"))
}

fn transaction(code: &str, kind: &str, currency: &str) -> String {
    format!(
        "<transactionStatusCode>{code}</transactionStatusCode><transactionType>{kind}</transactionType>\
         <transactionKey>paid-{code}</transactionKey><uniqueMerchantReference>order-7</uniqueMerchantReference>\
         <currency>{currency}</currency>"
    )
}

fn found(payments: &[String]) -> String {
    let check = transaction("607", "3DSAuthenticatedOnly", "GBP");
    let all: String = payments.iter().chain([&check]).map(|one| format!("<transaction>{one}</transaction>")).collect();
    format!("<serviceResponse><transactions>{all}</transactions></serviceResponse>")
}

#[test]
fn saved_states_keep_their_form() {
    let examples = ("three-d-secure.jsonl", include_str!("../../../tests/saved-states/three-d-secure.jsonl"));
    crate::machine::saved::examples::check::<State>(examples, NAME, VERSION, &[]);
}
