//! The parts that all scenarios share: the account, the wire, faults, callbacks and the report.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use pg_hyper::{Client, Error};
use pg_model::{Currency, Dialect, Encoding, ErrorCode, Item, Order, Outcome, Remedy, Transaction};
use pg_proto::{Account, BaseUrl, Credentials, EnterpriseCredentials};
use serde_json::{Value, json};

use super::ledger;
pub(super) use crate::command::walkthrough::payment::{approved, card, number};
use crate::{
    account::Setting,
    command::walkthrough::{
        fields::Pair,
        listener::{self, Listener},
        payment::status,
        report::{Report, Step},
        wire::{Exchange, Wire},
    },
    control::Control,
    failure::Failure,
    transport::transport,
};

/// The result, or the unexpected result.
pub(super) type Seen = Result<String, String>;

/// The time limit of a request.
const DEADLINE: Duration = Duration::from_secs(60);
/// The time limit for a callback to another address.
const PATIENCE: Duration = Duration::from_secs(12);
const BETWEEN: Duration = Duration::from_millis(50);

/// A scenario for one account of one sandbox.
pub(super) struct Story {
    pub(super) control: Control,
    pub(super) client: Client<Wire>,
    pub(super) wire: Wire,
    /// The order's reference, which finds all records of the scenario.
    pub(super) reference: String,
    pub(super) updater_key: Option<String>,
    /// Findings without a request.
    pub(super) findings: Vec<Pair>,
    /// The account's name, if it takes no raw card numbers.
    without_cards: Option<String>,
    base: BaseUrl,
    credentials: [String; 3],
    dialect: Arc<Dialect>,
    listener: Listener,
    callback_url: Option<String>,
    report: Report,
    exchanges: Vec<Exchange>,
    faults: Vec<String>,
    payments: Vec<String>,
    failed: bool,
}

impl Story {
    pub(super) async fn new(
        control: Control,
        account: &Value,
        dialect: Arc<Dialect>,
        reference: String,
        callback_url: Option<String>,
        report: Report,
    ) -> Result<Self, Failure> {
        let listener = Listener::start()
            .await
            .map_err(|error| Failure::misuse(format!("cannot listen for callbacks on a free port: {error}")))?;
        let detail = |setting: Setting| account[setting.member()].as_str().map(ToOwned::to_owned);
        let needed = [Setting::ApiKey, Setting::ApiPassword, Setting::ShaKey].map(detail);
        let [Some(key), Some(password), Some(sha)] = needed else {
            let name = account["name"].as_str().unwrap_or_default();
            return Err(Failure::misuse(format!(
                "the sandbox does not show the credentials of account {name:?}; choose a built-in account with --merchant"
            )));
        };
        let base = control.base().clone();
        let wire = Wire::new(transport(DEADLINE)?);
        let enterprise = detail(Setting::EnterpriseApiKey).zip(detail(Setting::EnterpriseApiPassword));
        let credentials = [key, password, sha];
        let mut at = account_of(&base, &credentials, &dialect);
        if let Some((key, password)) = enterprise {
            let address = format!("{}/enterprise", base.as_str().trim_end_matches('/'));
            let address = BaseUrl::parse(&address).map_err(|error| Failure::misuse(error.to_string()))?;
            at = at.enterprise(address, EnterpriseCredentials::new(key, password));
        }
        Ok(Self {
            client: Client::with_transport(at, wire.clone()),
            updater_key: detail(Setting::AccountUpdaterKey),
            findings: Vec::new(),
            exchanges: Vec::new(),
            faults: Vec::new(),
            payments: Vec::new(),
            failed: false,
            without_cards: (account["rawCards"] == false)
                .then(|| account["name"].as_str().unwrap_or_default().to_owned()),
            control,
            wire,
            reference,
            base,
            credentials,
            dialect,
            listener,
            callback_url,
            report,
        })
    }

    /// One step. After a failed step, the others are skipped.
    pub(super) async fn step(
        &mut self,
        title: &'static str,
        about: &'static str,
        action: impl AsyncFnOnce(&mut Self) -> Seen,
    ) {
        if self.failed {
            return;
        }
        let seen = action(self).await.map_err(|told| self.with_remedy(told));
        self.look();
        self.failed = seen.is_err();
        let exchanges = std::mem::take(&mut self.exchanges);
        let findings = std::mem::take(&mut self.findings);
        self.report.add(Step { title, story: about, exchanges, findings, seen });
    }

    /// Returns an error with what to do here instead of the operator's advice.
    fn with_remedy(&self, told: String) -> String {
        let refused = format!("refused: {} ", ErrorCode::PERMISSION_DENIED.as_str());
        match &self.without_cards {
            Some(name) if told.starts_with(&refused) => format!(
                "{}: the account {name} has no raw card numbers; choose another with --merchant",
                told.trim_end_matches(&format!(": {}", Remedy::AskOperator))
            ),
            _ => told,
        }
    }

    /// Removes its remaining faults, and prints the ledger. True if every step went as expected.
    pub(super) async fn end(self) -> Result<bool, Failure> {
        for fault in &self.faults {
            // The list still contains a fault that has no calls left.
            drop(self.control.delete(&format!("faults/{fault}")).await);
        }
        let ledger = ledger::of(&self.control, &self.reference, &self.payments).await?;
        self.report.finish(Some(&ledger))
    }

    /// Adds a fault for the next call of a method.
    pub(super) async fn fault(&mut self, method: &str, kind: &str, more: Value) -> Seen {
        let mut asked = json!({ "method": method, "kind": kind });
        if let (Value::Object(asked), Value::Object(more)) = (&mut asked, more) {
            asked.extend(more);
        }
        let waiting = self.control.get("faults").await.map_err(|failure| failure.message().to_owned())?;
        let mut waiting =
            waiting.as_array().into_iter().flatten().filter(|fault| fault["remaining"].as_u64() > Some(0));
        if waiting.any(|fault| fault["method"] == method || fault["method"] == "*") {
            return Err("another fault is pending for this method; remove it with `pg sandbox faults clear`".to_owned());
        }
        let fault = self.control.post("faults", &asked).await.map_err(|failure| failure.message().to_owned())?;
        self.faults.extend(fault["id"].as_str().map(ToOwned::to_owned));
        let command = format!("pg sandbox faults add {method} {kind}");
        self.findings.push(("equivalent command".to_owned(), command));
        Ok(format!("the next {method} gets {kind}"))
    }

    /// Advances the sandbox's clock.
    pub(super) async fn advance(&mut self, seconds: u64) -> Result<(), String> {
        let change = json!({ "advanceSeconds": seconds });
        self.control.post("clock", &change).await.map_err(|failure| failure.message().to_owned())?;
        self.findings.push(("equivalent command".to_owned(), format!("pg sandbox clock advance {seconds}s")));
        Ok(())
    }

    /// Returns the URL for callbacks with this name.
    pub(super) fn callback_address(&self, name: &str) -> String {
        self.callback_url.clone().unwrap_or_else(|| self.listener.url(name))
    }

    /// Returns the next callback about a key, at any address: its body if it arrives here.
    ///
    /// # Errors
    /// If none is sent in time, or the other address does not acknowledge it.
    pub(super) async fn callback(
        &mut self,
        about: &str,
        attempts: u64,
    ) -> Result<Option<http::Request<Bytes>>, String> {
        self.look();
        if self.callback_url.is_none() {
            let callback = match self.listener.next().await {
                Ok(callback) => callback,
                Err(error) => return Err(elsewhere(&self.journaled(about).await?).unwrap_or_else(|| held_back(&error))),
            };
            self.exchanges.push(Exchange::callback(callback.clone(), listener::ANSWER));
            return Ok(Some(callback));
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "the sandbox is another process: its journal is polled in real time"
        )]
        let mut turns = tokio::time::interval(BETWEEN);
        let wait = async {
            loop {
                turns.tick().await;
                let found = self.journaled(about).await?;
                if found["attempts"].as_u64() >= Some(attempts) {
                    return Ok::<_, String>(found);
                }
            }
        };
        let found = tokio::time::timeout(PATIENCE, wait).await;
        let found = found.map_err(|_| held_back(&format!("no callback within {} seconds", PATIENCE.as_secs())))??;
        // Its acknowledgement says nothing about the URL of the request.
        if let Some(error) = elsewhere(&found) {
            return Err(error);
        }
        let last = &found["lastResult"];
        let status = last["status"].as_u64();
        let result = status
            .map_or_else(|| last["error"].as_str().unwrap_or_default().to_owned(), |status| format!("HTTP {status}"));
        let to = found["url"].as_str().unwrap_or_default();
        if !status.is_some_and(|status| (200..300).contains(&status)) {
            return Err(format!("the callback was not acknowledged: sent to {to}: {result}"));
        }
        self.findings.push(("callback".to_owned(), format!("sent to {to}: {result}")));
        Ok(None)
    }

    /// Returns the callback about something in the sandbox's journal; null if there is none.
    pub(super) async fn journaled(&self, about: &str) -> Result<Value, String> {
        let all = self.control.get("callbacks?limit=100").await.map_err(|failure| failure.message().to_owned())?;
        Ok(all
            .as_array()
            .into_iter()
            .flatten()
            .find(|callback| callback["about"] == about)
            .cloned()
            .unwrap_or_default())
    }

    /// Adds a transaction to the ledger.
    pub(super) fn keep(&mut self, key: impl AsRef<str>) {
        self.payments.push(key.as_ref().to_owned());
    }

    /// One item in pounds, under the story's reference, which the service accepts once.
    pub(super) fn order(&self, name: &str, price: u64) -> Order {
        Order::new(Currency::GBP).item(Item::new(name, price)).unique_merchant_reference(self.reference.as_str())
    }

    /// Creates a client of the same account over the same wire, with a separate throttle.
    pub(super) fn another_client(&self) -> Client<Wire> {
        Client::with_transport(account_of(&self.base, &self.credentials, &self.dialect), self.wire.clone())
    }

    /// Returns the account with another password.
    pub(super) fn with_password(&self, password: &str) -> Client<Wire> {
        let [key, _, sha] = &self.credentials;
        let credentials = [key.clone(), password.to_owned(), sha.clone()];
        Client::with_transport(account_of(&self.base, &credentials, &self.dialect), self.wire.clone())
    }

    /// Returns the account over a wire with this time limit.
    pub(super) fn impatient(&self, deadline: Duration) -> Client<Wire> {
        let account = account_of(&self.base, &self.credentials, &self.dialect);
        Client::with_transport(account, self.wire.deadline(deadline))
    }

    /// Takes the messages from the wire.
    fn look(&mut self) {
        self.exchanges.extend(self.wire.take());
    }
}

/// Returns the error of a callback that did not come, with the usual reason.
fn held_back(error: &str) -> String {
    format!(
        "{error}; `pg sandbox callbacks` lists it if a setting holds it back: `pg sandbox callbacks reset` and `pg sandbox \
         clock resume` undo the settings"
    )
}

/// Returns the error of a callback that went to a registered destination instead of to the URL of the request.
fn elsewhere(callback: &Value) -> Option<String> {
    callback["requestedUrl"].as_str()?;
    let [to, account] = ["url", "merchant"].map(|name| callback[name].as_str().unwrap_or_default());
    Some(format!(
        "the callback went to {to}, which is registered for account {account}; `pg sandbox callbacks unregister --account \
         {account}` removes the address"
    ))
}

fn account_of(base: &BaseUrl, [key, password, sha]: &[String; 3], dialect: &Arc<Dialect>) -> Account {
    let credentials = Credentials::new(key.as_str(), password.as_str(), sha.as_str());
    Account::new(base.clone(), credentials).encoding(Encoding::Json).with_dialect(Arc::clone(dialect))
}

/// Returns the status of a payment that must be declined.
pub(super) fn declined(result: Result<Outcome<Transaction>, Error>) -> Seen {
    match result.map_err(|error| error.to_string())? {
        Outcome::Declined(not) => Ok(format!("declined: {}", status(&not))),
        Outcome::Approved(paid) => Err(format!("approved, though it should be declined: {}", status(&paid))),
        Outcome::Other(unknown) => Err(format!("a status that the dialect does not know: {}", status(&unknown))),
    }
}

/// Returns the code of a call that must be refused.
pub(super) fn refused<T>(result: Result<T, Error>) -> Seen {
    let result = match result {
        // A refused payment may have been executed before.
        Err(Error::Unknown { cause, .. }) => Err(*cause),
        other => other,
    };
    match result {
        Err(Error::Refused(refused)) => {
            let meaning = refused.meaning().map_or_else(String::new, |meaning| format!(" {meaning}"));
            Ok(format!("refused: {}{meaning}", refused.code()))
        }
        Err(other) => Err(other.to_string()),
        Ok(_) => Err("accepted, though it should be refused".to_owned()),
    }
}
