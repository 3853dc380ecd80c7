//! The service of one drill: a sandbox in memory with separate accounts, and the actions of a customer's browser.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, header};
use pg_crypto::{ShaKey, sign};
use pg_sandbox::{InProcess, NoReply, Sandbox, Settings, Timestamp, config_file, merchants::Merchants};
use serde_json::{Value, json};

use crate::{clock, clock::Clock, dice::Dice};

/// The account of the integration.
#[derive(Clone)]
pub(crate) struct Account {
    pub(crate) api_key: String,
    pub(crate) api_password: String,
    pub(crate) sha_key: String,
    pub(crate) updater_key: String,
    pub(crate) enterprise_api_key: String,
    pub(crate) enterprise_api_password: String,
}

impl Account {
    /// Credentials that occur nowhere else, so that every occurrence can be found.
    fn random(dice: &mut Dice) -> Self {
        let mut next = || dice.letters(32);
        Self {
            api_key: next(),
            api_password: next(),
            sha_key: next(),
            updater_key: next(),
            enterprise_api_key: next(),
            enterprise_api_password: next(),
        }
    }

    /// Returns the account of a running shop: the published account of every sandbox.
    fn published() -> Option<Self> {
        let merchants = Merchants::default();
        let main = merchants.by_name(MERCHANT)?;
        let enterprise = main.enterprise.as_ref()?;
        Some(Self {
            api_key: main.api_key.expose().to_owned(),
            api_password: main.api_password.expose().to_owned(),
            sha_key: main.sha_key.expose().to_owned(),
            updater_key: main.account_updater_key.as_ref()?.expose().to_owned(),
            enterprise_api_key: enterprise.api_key.expose().to_owned(),
            enterprise_api_password: enterprise.api_password.expose().to_owned(),
        })
    }

    /// Returns the credentials with their names in findings.
    pub(crate) fn secrets(&self) -> [(&'static str, &str); 6] {
        [
            ("API key", &self.api_key),
            ("API password", &self.api_password),
            ("SHA key", &self.sha_key),
            ("account updater key", &self.updater_key),
            ("version 5 API key", &self.enterprise_api_key),
            ("version 5 API password", &self.enterprise_api_password),
        ]
    }

    fn config(&self) -> String {
        format!(
            "[[merchant]]\nname = \"{MERCHANT}\"\napiKey = \"{}\"\napiPassword = \"{}\"\nshaKey = \"{}\"\n\
             accountUpdaterKey = \"{}\"\nenterpriseApiKey = \"{}\"\nenterpriseApiPassword = \"{}\"\n\
             currencies = [\"GBP\", \"EUR\", \"USD\", \"JPY\", \"BHD\"]\nrawCards = true\naccountUpdater = true\n",
            self.api_key,
            self.api_password,
            self.sha_key,
            self.updater_key,
            self.enterprise_api_key,
            self.enterprise_api_password,
        )
    }
}

/// The account's name in the sandbox.
const MERCHANT: &str = "main";

/// Why a drill could not be prepared.
pub(crate) type SetupError = String;

/// The service of one drill.
#[derive(Clone)]
pub(crate) struct House {
    sandbox: InProcess,
    pub(crate) account: Account,
    clock: Clock,
    /// The real time up to which the sandbox's clock was advanced.
    moved: Arc<Mutex<Duration>>,
    /// The number of seconds by which each retrieval advances the service's clock.
    haste: Arc<AtomicU64>,
}

impl House {
    /// Creates a service with credentials of this drill only, or with the published ones.
    pub(crate) fn open(dice: &mut Dice, published: bool) -> Result<Self, SetupError> {
        let random = Account::random(dice);
        let account = if published { Account::published().ok_or("the sandbox has no account main")? } else { random };
        let mut rows = if published {
            Merchants::default().by_name(MERCHANT).cloned().into_iter().collect()
        } else {
            config_file::merchants_from_toml(&account.config()).map_err(text)?
        };
        for merchant in &mut rows {
            // By default the first capture ends a preauth (A96), which would refuse a repeated capture.
            merchant.divisible_preauths = true;
        }
        let merchants = Merchants::with(rows).map_err(text)?;
        let settings = Settings::default().merchants(merchants);
        let sandbox = Sandbox::in_memory_with(settings, dice.bytes()).map_err(|error| error.to_string())?;
        let now = Timestamp::from_millis(clock::unix_millis());
        Ok(Self {
            sandbox: InProcess::new(sandbox, now),
            account,
            clock: Clock::start(),
            moved: Arc::new(Mutex::new(Duration::ZERO)),
            haste: Arc::default(),
        })
    }

    /// Executes a request. The sandbox's clock follows the real one.
    pub(crate) fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, NoReply> {
        let elapsed = self.clock.elapsed();
        let mut moved = self.moved.lock().unwrap_or_else(PoisonError::into_inner);
        self.sandbox.advance(elapsed.saturating_sub(*moved));
        *moved = elapsed.max(*moved);
        drop(moved);
        self.sandbox.send(request)
    }

    /// Advances the clock of the service only.
    pub(crate) fn advance(&self, duration: Duration) {
        self.sandbox.advance(duration);
    }

    /// From now on, each retrieval of a batch advances the service's clock by this number of seconds, so that no drill
    /// has to wait for a day.
    pub(crate) fn hurry(&self, seconds: u64) {
        self.haste.store(seconds, Ordering::Relaxed);
    }

    /// Advances the clock when a batch is retrieved.
    pub(crate) fn hasten(&self) {
        self.advance(Duration::from_secs(self.haste.load(Ordering::Relaxed)));
    }

    /// Returns a call of the control interface.
    pub(crate) fn control(&self, path: &str, body: Option<&Value>) -> Result<Value, SetupError> {
        let address = format!("http://localhost/_sandbox/{path}");
        let request = match body {
            Some(body) => Request::post(address).body(Bytes::from(body.to_string())),
            None => Request::get(address).body(Bytes::new()),
        };
        let response = self.send(request.map_err(text)?).map_err(text)?;
        serde_json::from_slice(response.body()).map_err(|error| format!("control interface, {path}: {error}"))
    }

    /// Returns a signed call of version 3 by the runner, with a reply in JSON.
    pub(crate) fn call(&self, method: &str, parameters: &[(&str, &str)]) -> Result<Value, SetupError> {
        let response = self.raw(method, "json", parameters)?;
        let value: Value = serde_json::from_slice(response.body()).map_err(text)?;
        if response.status().is_success() { Ok(value) } else { Err(format!("{method}: {value}")) }
    }

    /// The same with the raw reply.
    pub(crate) fn raw(
        &self,
        method: &str,
        encoding: &str,
        own: &[(&str, &str)],
    ) -> Result<Response<Bytes>, SetupError> {
        let mut all = vec![("apiKey", &*self.account.api_key), ("apiPassword", &*self.account.api_password)];
        all.extend_from_slice(own);
        let signature = sign(&all, &ShaKey::new(self.account.sha_key.clone())).hex();
        all.push(("shaSignature", signature.as_str()));
        let request = form(&format!("http://localhost/v3/{method}/{encoding}"), &all)?;
        self.send(request).map_err(text)
    }

    /// Initiates a session and posts the card form as the customer's browser does. Returns the session key and the
    /// redirect target.
    pub(crate) fn session(&self, card: &Card, encoding: &str) -> Result<(String, String), SetupError> {
        let session = self.call("session/initiate", &[("errorPageUrl", "https://shop.example/error")])?;
        let key = session["sessionKey"].as_str().ok_or("no session key")?.to_owned();
        let form_fields = [
            ("sessionKey", &*key),
            ("cardNumber", &card.number),
            ("cardExpiryMonth", card.month),
            ("cardExpiryYear", card.year),
            ("cardCV2", &card.cv2),
            ("cardholderName", card.holder),
            ("formId", "card"),
            ("nextPageUrl", "https://shop.example/review"),
            ("currentPageUrl", "https://shop.example/card"),
        ];
        let request = form(&format!("http://localhost/v3/session/postform/{encoding}"), &form_fields)?;
        let response = self.send(request).map_err(text)?;
        let location = response.headers().get(header::LOCATION).and_then(|location| location.to_str().ok());
        Ok((key, location.ok_or("the card form did not redirect")?.to_owned()))
    }

    /// Returns a stored card, and the payment from which it was stored.
    pub(crate) fn card_key(&self, card: &Card) -> Result<String, SetupError> {
        let (session, _) = self.session(card, "json")?;
        let order = [("sessionKey", &*session), ("currency", "GBP"), ("itemName0", "Card check"), ("itemPrice0", "1")];
        let paid = self.call("transaction/authSessionKey", &order)?;
        let key = paid["transactionKey"].as_str().ok_or("no transaction key")?;
        let stored = self.call("token/tokeniseTransactionKey", &[("transactionKey", key)])?;
        let found = stored
            .pointer("/cardKeyDetails/0/cardKey")
            .or_else(|| stored.pointer("/cardKeyDetails/cardKeyDetail/0/cardKey"));
        found.and_then(Value::as_str).map(ToOwned::to_owned).ok_or_else(|| format!("no card key in {stored}"))
    }

    /// Sets the bank's behaviour for the next payment of this method.
    pub(crate) fn silence(&self, method: &str, kind: &str) -> Result<(), SetupError> {
        self.control("faults", Some(&json!({"method": method, "kind": kind}))).map(drop)
    }
}

/// A card that a customer enters.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    pub(crate) number: String,
    pub(crate) month: &'static str,
    pub(crate) year: &'static str,
    pub(crate) cv2: String,
    pub(crate) holder: &'static str,
}

impl Card {
    pub(crate) fn new(number: &str, cv2: &str) -> Self {
        Self { number: number.to_owned(), month: "12", year: "2049", cv2: cv2.to_owned(), holder: "Ada Lovelace" }
    }
}

/// Returns a request with a form.
pub(crate) fn form(address: &str, fields: &[(&str, &str)]) -> Result<Request<Bytes>, SetupError> {
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(fields);
    Request::post(address)
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Bytes::from(body.finish()))
        .map_err(text)
}

pub(crate) fn text(error: impl std::fmt::Display) -> SetupError {
    error.to_string()
}
