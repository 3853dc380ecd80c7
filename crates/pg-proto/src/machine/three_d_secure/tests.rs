use std::time::Duration;

use bytes::Bytes;
use pg_model::{Currency, InitiateThreeDSecureCardKey, InitiateThreeDSecureSessionKey, Item, Order};

use super::*;
use crate::{BaseUrl, Credentials, machine::Failure};

mod authorising;
mod challenged;
mod checking;
mod deciding;
mod initiating;
mod looking_up;
mod stories;

const CANARIES: [&str; 6] =
    ["canary-api-key", "canary-password", "canary-sha-key", "canary-session-key", "canary-card-key", "739"];
const NOON: Moment = Moment::from_millis(1_714_564_800_000);
const KEY: &str = "0123456789abcdef0123456789abcdef";
const PAGE: &str = "https://gateway.example/3ds/0123456789abcdef0123456789abcdef";

/// One machine, its clock, and what it said last.
struct Run {
    machine: ThreeDSecure,
    now: Moment,
    last: Option<Next>,
    payments: usize,
    steps: usize,
}

impl Run {
    fn new(plan: ThreeDSecurePlan) -> Self {
        let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
        let request = InitiateThreeDSecureSessionKey::new("canary-session-key", order, "https://shop.example/back");
        Self::with(ThreeDSecure::new(account(), request, plan).unwrap())
    }

    fn with(machine: ThreeDSecure) -> Self {
        Self { machine, now: NOON, last: None, payments: 0, steps: 0 }
    }

    fn step(&mut self, event: Event<ThreeDSecureInput>) -> &mut Self {
        self.steps += 1;
        assert!(self.steps < 1_000, "it does not end");
        let action = self.machine.step(event, self.now, self.steps as u64 * 77);
        if let Action::Send(request) = &action {
            self.payments += usize::from(request.uri().path().contains("auth3DSecure"));
        }
        let shown = format!("{} {:?}", self.machine.save(), self.machine);
        assert!(CANARIES.iter().all(|canary| !shown.contains(canary)), "{shown}");
        self.last = Some(action);
        self
    }

    /// A machine that waits for its reference `state` in this phase.
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

    fn say(&mut self, body: &str) -> &mut Self {
        self.say_with(200, body)
    }

    fn say_with(&mut self, status: u16, body: &str) -> &mut Self {
        assert!(matches!(self.last, Some(Action::Send(_))), "{:?}", self.last);
        let reply = http::Response::builder().status(status).body(Bytes::copy_from_slice(body.as_bytes()));
        self.step(Event::Reply(reply.unwrap()))
    }

    fn refuse(&mut self, code: &str) -> &mut Self {
        let status = match code {
            "102" | "105" | "123" => 401,
            "106" | "121" | "122" | "936" => 403,
            "999" => 500,
            _ => 400,
        };
        self.say_with(status, &format!("<serviceResponse><errorCode>{code}</errorCode></serviceResponse>"))
    }

    fn fail(&mut self, failure: Failure) -> &mut Self {
        assert!(matches!(self.last, Some(Action::Send(_))), "{:?}", self.last);
        self.step(Event::Failed(failure))
    }

    fn input(&mut self, input: ThreeDSecureInput) -> &mut Self {
        self.step(Event::Input(input))
    }

    /// Waits as long as the machine says.
    fn wait(&mut self) -> &mut Self {
        while let Some(Action::WaitUntil(until)) = self.last {
            assert!(until > self.now && until != UNTIL_THE_REPLY);
            self.now = until;
            self.step(Event::Woken);
        }
        self
    }

    fn later(&mut self, seconds: u64) -> &mut Self {
        self.now = self.now.after(Duration::from_secs(seconds));
        self
    }

    /// The method of the request that is to be sent.
    fn method(&self) -> &str {
        match &self.last {
            Some(Action::Send(request)) => request.uri().path().rsplit('/').nth(1).unwrap(),
            _ => "",
        }
    }

    fn crash(&mut self) -> &mut Self {
        let saved = Saved::from_text(self.machine.save().text());
        self.machine = ThreeDSecure::resume(&saved, account()).unwrap();
        self.step(Event::Begin)
    }

    #[track_caller]
    fn ended(&self) -> &ThreeDSecured {
        match &self.last {
            Some(Action::Done(outcome)) => outcome,
            last => panic!("not over: {last:?}"),
        }
    }

    #[track_caller]
    fn asked(&self) -> &ThreeDSecureDemand {
        match &self.last {
            Some(Action::Ask(demand)) => demand,
            last => panic!("asks nothing: {last:?}"),
        }
    }
}

fn account() -> Account {
    let credentials = Credentials::new("canary-api-key", "canary-password", "canary-sha-key");
    Account::new(BaseUrl::parse("https://gateway.example").unwrap(), credentials)
}

fn plan() -> ThreeDSecurePlan {
    ThreeDSecurePlan::default()
}

fn with(without_shift: WithoutShift) -> ThreeDSecurePlan {
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
