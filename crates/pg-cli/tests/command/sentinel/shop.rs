//! A sandbox with a store, an account of canaries, and requests made from the tables.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    thread::JoinHandle,
};

use pg_hyper::blocking::Client;
use pg_model::{
    Auth, CardDetails, Currency, Encoding, Initiate, Item, Order, Outcome, Parameters, TokeniseTransactionKey,
    field::Field,
    format::Format,
    json,
    method::{AuthScheme as Kind, MethodInfo},
};
use pg_proto::{Account, BaseUrl, Credentials, EnterpriseCredentials, machine::throttle::ThrottleLimits};
use serde_json::Value;

use super::{Said, until_stopped};
use crate::command::{
    canary::Canary,
    pg::{Pg, Started, pg, write_private},
};

/// A date that is not a birthday here, day first and year first.
const BIRTHS: [&str; 2] = ["17091873", "18730917"];

/// Everything that may be nowhere. Three digits are somewhere by chance: a CV2 is looked for with its name.
pub(super) fn canaries() -> Vec<Canary> {
    let [number, cv2] = card();
    let mut all = vec![
        Canary::new("card number", number),
        Canary::letters("API password", 52, 24),
        Canary::letters("SHA key", 53, 27),
        Canary::letters("updater key", 54, 20),
        Canary::letters("password of version 5", 56, 32),
        Canary::letters("text", 57, 12),
        Canary::new("date of birth", BIRTHS[0]),
        Canary::new("date of birth", BIRTHS[1]),
    ];
    let named = ["cardCV2=", "cardCV2 = ", "\"cardCV2\":\"", "\"cardCV2\": \"", "<cardCV2>", "cardCV2: ", "cardCV2%3D"];
    all.extend(named.map(|before| Canary::new("CV2", format!("{before}{cv2}"))));
    all
}

/// The card that all requests are made with.
pub(super) fn card() -> [String; 2] {
    [Canary::card_number("card number", 51).text, "9178".to_owned()]
}

pub(super) struct Shop {
    sandbox: Started,
    folder: PathBuf,
    host: String,
    account: Account,
    client: Client,
    /// Everything that the sandbox says on standard error, read while it runs.
    log: JoinHandle<Vec<u8>>,
}

fn keys() -> [String; 6] {
    let letters = |seed, length| Canary::letters("", seed, length).text;
    [letters(50, 32), letters(52, 24), letters(53, 27), letters(54, 20), letters(55, 32), letters(56, 32)]
}

impl Shop {
    /// It writes only below the folder; the files with canaries are in `given`.
    pub(super) fn open(folder: &Path) -> Self {
        for name in ["given", "home", "temporary"] {
            fs::create_dir(folder.join(name)).unwrap();
        }
        let [api_key, password, sha, updater, enterprise, enterprise_password] = keys();
        write_private(
            &folder.join("given/merchants.toml"),
            &format!(
                "[[merchant]]\nname = \"shop\"\napiKey = {api_key:?}\napiPassword = {password:?}\nshaKey = {sha:?}\n\
                 accountUpdaterKey = {updater:?}\nenterpriseApiKey = {enterprise:?}\n\
                 enterpriseApiPassword = {enterprise_password:?}\ncurrencies = [\"GBP\"]\nrawCards = true\naccountUpdater = true\n"
            ),
        );
        let [config, store, home, temporary] = ["given/merchants.toml", "store.sqlite", "home", "temporary"]
            .map(|name| folder.join(name).display().to_string());
        let arguments = ["sandbox", "--listen", "127.0.0.1:0", "--json", "--config", &config, "--store", &store];
        let logged = arguments.iter().chain(&["--log-format", "json"]);
        let mut sandbox = pg(logged).env("HOME", &home).env("TMPDIR", &temporary).start();
        let mut log = sandbox.stderr.take().unwrap();
        let log = std::thread::spawn(move || {
            let mut all = Vec::new();
            log.read_to_end(&mut all).unwrap();
            all
        });
        let mut first = String::new();
        BufReader::new(sandbox.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
        let facts: Value = serde_json::from_str(&first).unwrap();
        let base = facts["baseUrl"].as_str().unwrap();
        let account = Account::new(BaseUrl::parse(base).unwrap(), Credentials::new(api_key, password, sha))
            .encoding(Encoding::Json)
            .with_dialect(pg_sandbox::dialect())
            .enterprise(
                BaseUrl::parse(&format!("{base}/enterprise")).unwrap(),
                EnterpriseCredentials::new(enterprise, enterprise_password),
            );
        let client = pg_hyper::Client::builder(account.clone()).unwrap().limits(ThrottleLimits::unlimited()).build();
        let client = Client::over(client).unwrap();
        let host = base.trim_start_matches("http://").to_owned();
        Self { sandbox, folder: folder.to_owned(), host, account, client, log }
    }

    pub(super) fn account(&self) -> Account {
        self.account.clone()
    }

    pub(super) fn base(&self) -> String {
        format!("http://{}", self.host)
    }

    pub(super) const fn client(&self) -> &Client {
        &self.client
    }

    /// The transaction key of a payment with the canary card.
    fn paid(&self) -> String {
        let [number, cv2] = card();
        let order = Order::new(Currency::GBP).item(Item::new("Tea", 499));
        match self.client.call(&Auth::new(CardDetails::new(number, "12", "49").cv2(cv2), order)).unwrap() {
            Outcome::Approved(paid) => paid.transaction_key.as_str().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    /// The key of a token of the canary card. Methods delete and disable theirs.
    fn token(&self) -> String {
        let token = self.client.call(&TokeniseTransactionKey::new(self.paid())).unwrap();
        token.card_key_details[0].card_key.as_str().to_owned()
    }

    /// The key of a session, to which a customer has posted the canary card or not.
    fn session(&self, with_card: bool) -> String {
        let opened = self.client.call(&Initiate::new("https://shop.example/error")).unwrap();
        let key = opened.session_key.as_str().to_owned();
        if with_card {
            let [number, cv2] = card();
            let page = "https%3A%2F%2Fshop.example%2Fpage";
            let form = format!(
                "sessionKey={key}&cardNumber={number}&cardCV2={cv2}&cardExpiryDate=1249&nextPageUrl={page}&currentPageUrl={page}"
            );
            assert!(self.post("/v3/session/postform/json", &form).contains("303 See Other"));
        }
        key
    }

    /// The address that a customer is led to who has posted the canary card.
    pub(super) fn card_form(&self, next: &str) -> String {
        let [number, cv2] = card();
        let form = form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("sessionKey", &*self.session(false)), ("cardNumber", &number), ("cardCV2", &cv2)])
            .extend_pairs([
                ("cardExpiryDate", "1249"),
                ("nextPageUrl", next),
                ("currentPageUrl", "https://shop.example/page"),
            ])
            .finish();
        let reply = self.post("/v3/session/postform/json", &form);
        let location =
            reply.lines().find_map(|line| line.strip_prefix("location: ")).unwrap_or_else(|| panic!("{reply}"));
        location.trim().to_owned()
    }

    /// What a method takes: canaries where the tables say that it is sensitive. A failing request has a parameter that the
    /// service refuses.
    pub(super) fn parameters(&self, info: &MethodInfo, wrong: bool) -> Parameters {
        let mut given = Parameters::new();
        for field in info.fields {
            let name = field.wire.replace("{n}", "0");
            if let Some(value) = self.value(info, field) {
                given.push(name, value);
            }
        }
        if wrong {
            given = given
                .iter()
                .map(|(name, value)| {
                    let refused =
                        ["currency", "cardKey", "transactionKey", "sessionKey", "errorPageUrl"].contains(&name);
                    (name.to_owned(), if refused { "no such thing".to_owned() } else { value.to_owned() })
                })
                .collect();
        }
        given
    }

    fn value(&self, info: &MethodInfo, field: &Field) -> Option<String> {
        let text = |text: &str| Some(text.to_owned());
        match (field.wire, field.format) {
            (_, Format::CardNumber) => Some(card()[0].clone()),
            (_, Format::Cv2) => Some(card()[1].clone()),
            ("accountUpdaterKey", _) => Some(keys()[3].clone()),
            (_, Format::DateDmy) if field.sensitive => text(BIRTHS[0]),
            (_, Format::DateYmd) if field.sensitive => text(BIRTHS[1]),
            _ if field.sensitive => Some(Canary::letters("", 57, 12).text),
            ("cardKey", _) => Some(self.token()),
            ("transactionKey", _) => Some(self.paid()),
            ("sessionKey", _) => Some(self.session(info.credentials != Kind::Session)),
            ("cardExpiryMonth", _) => text("12"),
            ("cardExpiryYear", _) => text("49"),
            ("cardExpiryDate", _) => text("1249"),
            ("currency", _) => text("GBP"),
            ("item_price[{n}]", _) => text("4.99"),
            ("itemPrice{n}", _) => text("499"),
            ("itemName{n}" | "item_name[{n}]", _) => text("Tea"),
            ("returnUrl" | "errorPageUrl" | "nextPageUrl" | "currentPageUrl", _) => text("https://shop.example/page"),
            _ if !field.required => None,
            (_, Format::OneOf) => field.values.first().map(|value| (*value).to_owned()),
            (_, Format::Decimal) => text("1.00"),
            (_, Format::Msisdn) => text("447700900123"),
            _ => text("x1"),
        }
    }

    /// Calls by the library; tells whether the service carried it out.
    pub(super) fn calls(&self, info: &'static MethodInfo, given: &Parameters, what: &str, said: &mut Said) -> bool {
        let mut say = |place: &str, text: String| said.push((format!("{place}, {what}"), text.into_bytes()));
        let typed = (info.check)(given);
        say("violations", format!("{typed:?} {typed} {given:?}"));
        if info.credentials == Kind::Session {
            return false;
        }
        let result = self.client.wait(self.client.inner().call_by_name(info, given.clone()));
        match result {
            Ok(reply) => {
                say("reply", json::write(&*reply));
                true
            }
            Err(error) => {
                say("error", format!("{error} {error:?} {error:#?}"));
                false
            }
        }
    }

    /// The same at the command line, sent and shown.
    pub(super) fn commands(&self, info: &MethodInfo, given: &Parameters, what: &str, said: &mut Said) {
        let path = format!("{}/{}", info.service.name, info.name);
        let mut arguments = vec!["call".to_owned(), path, "--unchecked".to_owned()];
        for (at, (name, value)) in given.iter().enumerate() {
            let file = self.folder.join(format!("given/{at}"));
            write_private(&file, value);
            arguments.push(format!("{name}=@{}", file.display()));
        }
        for flags in [&["--json"][..], &["--dry-run"], &["--dry-run", "--curl"]] {
            let all = arguments.iter().map(String::as_str).chain(flags.iter().copied());
            let ended = self.with_account(pg(all)).run();
            said.push((format!("standard output of pg call {flags:?}, {what}"), ended.out.into_bytes()));
            said.push((format!("standard error of pg call {flags:?}, {what}"), ended.err.into_bytes()));
        }
    }

    /// A command with the account of canaries in its environment.
    pub(super) fn with_account(&self, command: Pg) -> Pg {
        let [api_key, password, sha, updater, enterprise, enterprise_password] = keys();
        let base = self.base();
        command
            .env("TMPDIR", &self.folder.join("temporary").display().to_string())
            .env("PG_BASE_URL", &base)
            .env("PG_ENTERPRISE_BASE_URL", &format!("{base}/enterprise"))
            .env("PG_API_KEY", &api_key)
            .env("PG_API_PASSWORD", &password)
            .env("PG_SHA_KEY", &sha)
            .env("PG_ACCOUNT_UPDATER_KEY", &updater)
            .env("PG_ENTERPRISE_API_KEY", &enterprise)
            .env("PG_ENTERPRISE_API_PASSWORD", &enterprise_password)
    }

    /// Asks for a batch with the canary card, to be told of at an address.
    pub(super) fn batch(&self, address: &str) {
        let info = pg_model::method::method("token/requestAccountUpdater").unwrap();
        let mut given = Parameters::new();
        given.push("accountUpdaterKey", keys()[3].as_str());
        given.push("cardKey", self.token());
        given.push("callbackUrl", address);
        let reply = self.client.wait(self.client.inner().call_by_name(info, given)).unwrap();
        assert!(json::write(&*reply).contains("\"OK\""), "{}", json::write(&*reply));
    }

    pub(super) fn get(&self, path: &str) -> String {
        self.ask("GET", path, "")
    }

    pub(super) fn post(&self, path: &str, body: &str) -> String {
        self.ask("POST", path, body)
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        ask(&self.host, method, path, body)
    }

    /// What the sandbox itself still has in memory: no card, whatever was asked for.
    #[cfg(target_os = "linux")]
    pub(super) fn memory(&self) {
        let cards: Vec<Canary> =
            canaries().into_iter().filter(|canary| ["card number", "CV2"].contains(&canary.name)).collect();
        let found = crate::command::memory::image(self.sandbox.id(), "pg sandbox, all methods", &cards);
        assert!(found.is_empty(), "{found:?}");
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn memory(&self) {}

    /// Stops the sandbox; all that it has said, and how it has been called.
    pub(super) fn end(mut self) -> Said {
        #[cfg(target_os = "linux")]
        let arguments = fs::read(format!("/proc/{}/cmdline", self.sandbox.id())).unwrap();
        #[cfg(not(target_os = "linux"))]
        let arguments = Vec::new();
        let mut said = until_stopped(&mut self.sandbox);
        let log = self.log.join().unwrap();
        assert!(String::from_utf8_lossy(&log).contains("\"event\":\"request\""), "nothing was logged");
        said.push(("log of pg sandbox".to_owned(), log));
        said.push(("arguments of pg sandbox".to_owned(), arguments));
        said
    }
}

/// Sends a request on its own connection; the whole reply.
pub(super) fn ask(host: &str, method: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    let length = body.len();
    let kind = if body.starts_with('{') { "application/json" } else { "application/x-www-form-urlencoded" };
    let head = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n");
    stream.write_all(format!("{head}content-type: {kind}\r\n\r\n{body}").as_bytes()).unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    String::from_utf8_lossy(&reply).into_owned()
}
