//! `pg sandbox`, and `pg call` and curl against it.

use std::{
    io::{BufRead, BufReader, Read},
    process::Command,
};

use pg_support::installed;
use serde_json::Value;

use crate::command::pg::{Ended, Pg, Started, pg, words};

/// A sandbox process, ended with the test.
pub(crate) struct Running {
    pub(crate) child: Started,
    pub(crate) facts: Value,
}

impl Running {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::at("127.0.0.1:0", arguments)
    }

    fn at(address: &str, arguments: &[&str]) -> Self {
        Self::of(pg(["sandbox", "--listen", address, "--json"].iter().chain(arguments)))
    }

    /// A sandbox by its whole command, which has `--json`.
    pub(crate) fn of(command: Pg) -> Self {
        let mut child = command.start();
        let mut first = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
        let facts = serde_json::from_str(&first).unwrap();
        Self { child, facts }
    }

    /// The process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// A command with the account of this name.
    pub(crate) fn with_account(&self, pg: Pg, name: &str) -> Pg {
        let merchants = self.facts["merchants"].as_array().unwrap();
        let merchant = merchants.iter().find(|merchant| merchant["name"] == name).unwrap();
        let pg = pg
            .env("PG_BASE_URL", self.facts["baseUrl"].as_str().unwrap())
            .env("PG_ENTERPRISE_BASE_URL", self.facts["enterpriseBaseUrl"].as_str().unwrap());
        [
            ("PG_API_KEY", "apiKey"),
            ("PG_API_PASSWORD", "apiPassword"),
            ("PG_SHA_KEY", "shaKey"),
            ("PG_ENTERPRISE_API_KEY", "enterpriseApiKey"),
            ("PG_ENTERPRISE_API_PASSWORD", "enterpriseApiPassword"),
            ("PG_ACCOUNT_UPDATER_KEY", "accountUpdaterKey"),
        ]
        .iter()
        // Not every account may use the account updater.
        .filter_map(|(variable, member)| Some((variable, merchant[member].as_str()?)))
        .fold(pg, |pg, (variable, value)| pg.env(variable, value))
    }

    pub(crate) fn run(&self, command: &str) -> Ended {
        self.with_account(words(command), "main").run()
    }
}

pub(crate) const CARD: &str = "cardExpiryMonth=12 cardExpiryYear=49 currency=GBP itemName0=Tea itemPrice0=499";

#[test]
fn calls_get_their_answers() {
    let sandbox = Running::start(&[]);
    let paid = sandbox
        .run(&format!("call transaction/auth cardNumber=4000000000001000 {CARD} uniqueMerchantReference=o-1"))
        .ends(0);
    let paid: Value = serde_json::from_str(&paid.out).unwrap();
    let key = paid["transactionKey"].as_str().unwrap();
    sandbox.run("call transaction/lookup uniqueMerchantReference=o-1").ends(0).prints(key);
    sandbox
        .run(&format!("call transaction/refund transactionKey={key} transactionValue=100 --xml"))
        .ends(0)
        .prints("Refund");
    sandbox.run(&format!("call transaction/auth cardNumber=4000000000002008 {CARD}")).ends(1).says("declined");
    sandbox
        .run(&format!("call transaction/auth cardNumber=4000000000004004 {CARD} uniqueMerchantReference=o-2"))
        .ends(4)
        .says("pg call transaction/lookup uniqueMerchantReference=o-2");
    let strict = words(&format!("call transaction/auth cardNumber=4000000000001000 {CARD}"));
    sandbox.with_account(strict, "strict").run().ends(1).says("refused: 106");
    let badly_signed = words("call token/lookup cardKey=a");
    sandbox.with_account(badly_signed, "main").env("PG_SHA_KEY", "wrong").run().ends(1).says("refused: 123");
}

#[test]
fn the_card_form_shows_its_redirect_decrypted() {
    let sandbox = Running::start(&[]);
    let session = sandbox.run("call session/initiate errorPageUrl=https://shop.example/error").ends(0);
    let session: Value = serde_json::from_str(&session.out).unwrap();
    let form = format!(
        "call session/postform sessionKey={} nextPageUrl=https://shop.example/next \
         currentPageUrl=https://shop.example/card cardExpiryDate=1249 cardCV2=123",
        session["sessionKey"].as_str().unwrap()
    );
    let accepted = sandbox.run(&format!("{form} cardNumber=4000000000001000")).ends(0).hides(&["4000000000001000"]);
    let accepted: Value = serde_json::from_str(&accepted.out).unwrap();
    assert_eq!(
        (&accepted["outcome"], &accepted["data"]["cardNumber"]),
        (&"accepted".into(), &"400000******1000".into())
    );
    let invalid =
        sandbox.run(&format!("{form} cardNumber=4000000000001001 --xml")).ends(1).says("not accepted: invalid");
    let invalid: Value = serde_json::from_str(&invalid.out).unwrap();
    assert_eq!(invalid["data"]["errors"]["cardNumber"]["errorCode"], "108");
    let undecrypted = words(&format!("{form} cardNumber=4000000000001000"));
    undecrypted
        .env("PG_BASE_URL", sandbox.facts["baseUrl"].as_str().unwrap())
        .run()
        .ends(0)
        .says("PG_API_KEY is not set")
        .prints("\"outcome\": \"accepted\"");
    let lost = form.replace("sessionKey=", "sessionKey=0");
    sandbox.run(&format!("{} cardNumber=4000000000001000 --unchecked", lost)).ends(1);
}

/// Without the key, only the address of the redirect says how the form was received.
#[test]
fn a_redirect_that_cannot_be_decrypted_is_judged_by_its_page() {
    let sandbox = Running::start(&[]);
    let session = sandbox.run("call session/initiate errorPageUrl=https://shop.example/error").ends(0);
    let session: Value = serde_json::from_str(&session.out).unwrap();
    let key = session["sessionKey"].as_str().unwrap();
    let (good, bad) = ("4000000000001000", "4000000000001001");
    let (card, again) = ("https://shop.example/card", "https://shop.example/card-again");
    for (next, current, number, outcome, code) in [
        (card, again, good, "accepted", 0),
        (card, again, bad, "not-accepted", 1),
        ("https://shop.example/", again, bad, "not-accepted", 1),
        ("https://shop.example/card?order=7", card, good, "accepted", 0),
        ("https://shop.example/card?order=7", card, bad, "not-accepted", 1),
        (card, "https://shop.example/card?again=1", bad, "not-accepted", 1),
        (card, card, good, "unknown", 4),
        (card, card, bad, "unknown", 4),
        ("", card, good, "unknown", 4),
        // The sandbox writes the host in another form, so that the redirect leads to neither page.
        ("https://b\u{fc}cher.example/next", card, good, "unknown", 4),
    ] {
        let page = if next.is_empty() { String::new() } else { format!("nextPageUrl={next}") };
        let form = format!(
            "call session/postform sessionKey={key} {page} currentPageUrl={current} cardExpiryDate=1249 cardCV2=123 \
             cardNumber={number} --unchecked"
        );
        for wrong in ["", "0123456789abcdef0123456789abcdef"] {
            let posted = words(&form).env("PG_API_KEY", wrong);
            let ended = posted.env("PG_BASE_URL", sandbox.facts["baseUrl"].as_str().unwrap()).run();
            assert_eq!(ended.code, code, "{next} {current} {number}: {} {}", ended.out, ended.err);
            ended.says("the redirect's data is not shown").prints(&format!("\"outcome\": \"{outcome}\""));
        }
    }
}

#[test]
fn curl_alone_can_pay() {
    if !installed(&["curl"], "paying with curl alone") {
        return;
    }
    let sandbox = Running::start(&[]);
    let shell = |script: &str| {
        let output = Command::new("sh").args(["-c", script]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let printed = sandbox
        .run(&format!("call transaction/auth cardNumber=4000000000001000 {CARD} itemReference0=a&b --curl"))
        .ends(0);
    assert!(shell(&printed.out).contains(r#""transactionStatusCode":"600""#));

    // The same by hand: only the signature comes from `pg sign`.
    let parameters = format!("cardNumber=4000000000001000 {CARD}");
    let signature = sandbox.run(&format!("sign --with-credentials {parameters}")).ends(0).out;
    let main = &sandbox.facts["merchants"][0];
    let data: Vec<String> = parameters
        .split_whitespace()
        .map(str::to_owned)
        .chain([
            format!("apiKey={}", main["apiKey"].as_str().unwrap()),
            format!("apiPassword={}", main["apiPassword"].as_str().unwrap()),
            format!("shaSignature={}", signature.trim()),
        ])
        .map(|pair| format!("--data-urlencode '{pair}'"))
        .collect();
    let base = sandbox.facts["baseUrl"].as_str().unwrap();
    let reply = shell(&format!("curl -s {base}/v3/transaction/auth/json {}", data.join(" ")));
    assert!(reply.contains(r#""transactionStatusCode":"600""#), "{reply}");
}

#[test]
#[cfg(unix)]
fn the_sandbox_stops_gracefully_and_its_records_survive() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("shop.sqlite");
    let arguments = ["--store", store.to_str().unwrap()];
    let mut sandbox = Running::start(&arguments);
    sandbox.run(&format!("call transaction/auth cardNumber=4000000000001000 {CARD} merchantReference=kept")).ends(0);
    for signal in ["-INT", "-TERM"] {
        let id = sandbox.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        assert_eq!(sandbox.child.wait().unwrap().code(), Some(0));
        let mut said = String::new();
        sandbox.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.contains("stopping"), "{said}");
        sandbox = Running::start(&arguments);
        sandbox.run("call transaction/lookup merchantReference=kept").ends(0).prints("kept");
    }
}

#[test]
fn its_page_can_be_pasted_into_a_shell() {
    let mut child = words("sandbox --listen 127.0.0.1:0").start();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let page: Vec<String> =
        lines.by_ref().map(Result::unwrap).take_while(|line| !line.contains("Then, in that shell")).collect();
    drop(child);
    assert!(
        page.iter().all(|line| line.is_empty() || line.starts_with('#') || line.starts_with("export PG_")),
        "{page:?}"
    );
    let exports = page.iter().filter(|line| line.starts_with("export")).count();
    assert_eq!(exports, 8, "{page:?}");
    // The key of an account that may not use the account updater would be refused.
    let of_strict = page.iter().skip_while(|line| !line.contains("Account strict")).skip(1);
    let of_strict: Vec<&String> = of_strict.take_while(|line| !line.is_empty()).collect();
    assert!(!of_strict.is_empty() && of_strict.iter().all(|line| !line.contains("PG_ACCOUNT_UPDATER_KEY")), "{page:?}");
}

#[test]
fn a_store_in_memory_has_a_name_of_its_own() {
    let ended = words("sandbox --listen 127.0.0.1:0 --store :memory:").run().ends(2);
    ended.says("`--store memory` keeps the records in memory");
    assert!(!std::path::Path::new(":memory:").exists());
}

#[test]
fn the_sandbox_prints_no_credentials_of_a_config_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("merchants.toml");
    let secrets = ["canaryKey00000000000000000000000", "canaryPassword", "canaryShaKey", "canaryUpdater"];
    let [key, password, sha, updater] = secrets;
    let account = |name: &str| {
        format!(
            "[[merchant]]\nname = \"{name}\"\napiKey = \"{key}\"\napiPassword = \"{password}\"\nshaKey = \"{sha}\"\n\
             accountUpdaterKey = \"{updater}\"\nenterpriseApiKey = \"{key}\"\nenterpriseApiPassword = \"{key}\"\ncurrencies = [\"GBP\"]\n"
        )
    };
    // One more account, and one in place of a published one.
    for name in ["shop", "main"] {
        std::fs::write(&file, account(name)).unwrap();
        let sandbox = Running::start(&["--config", file.to_str().unwrap()]);
        let shown = sandbox.facts.to_string();
        assert!(shown.contains(&format!("\"name\":\"{name}\"")), "{shown}");
        assert!(secrets.iter().all(|secret| !shown.contains(secret)), "{shown}");
        assert!(shown.contains("OtherSandboxApiKey"), "published accounts are shown: {shown}");
        let mut page = pg(["sandbox", "--listen", "127.0.0.1:0", "--config", file.to_str().unwrap()]).start();
        let lines = BufReader::new(page.stdout.take().unwrap()).lines().map(Result::unwrap);
        let page: String = lines.take_while(|line| !line.contains("Then, in that shell")).collect();
        assert!(secrets.iter().all(|secret| !page.contains(secret)), "{page}");
        assert!(page.contains("Its credentials are in") && page.contains("merchants.toml"), "{page}");
    }
    for wrong in ["apiKey = canaryKey", "apiKey = 4111111111111111", "requestsPerMinute = \"canaryKey\""] {
        std::fs::write(&file, format!("[[merchant]]\n{wrong}\n")).unwrap();
        let ended = pg(["sandbox", "--config", file.to_str().unwrap()]).run().ends(2);
        ended.says("line 2").hides(&["canaryKey", "4111111111111111"]);
    }
}

#[test]
fn a_start_error_is_one_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    pg(["sandbox", "--listen", &address]).run().ends(2).says("cannot listen on").says("--listen");
    pg(["sandbox", "--listen", "nowhere"]).run().ends(2);
    let ended = words("sandbox --listen 127.0.0.1:0 --config none.toml").run().ends(2);
    assert_eq!(ended.err.matches("none.toml").count(), 1, "{}", ended.err);
    words("sandbox --listen 127.0.0.1:0 --store /nowhere/at/all.sqlite")
        .run()
        .ends(2)
        .says("cannot open the store /nowhere/at/all.sqlite: the folder /nowhere/at does not exist; create it\n");
}

#[test]
fn an_address_may_be_a_port_or_a_name() {
    for address in ["0", "localhost:0", "127.0.0.1:0"] {
        let sandbox = Running::at(address, &[]);
        assert!(sandbox.facts["baseUrl"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{address}");
    }
    for wrong in ["nowhere", "127.0.0.1", "70000", "localhost:x", "example.com:80"] {
        words(&format!("sandbox --listen {wrong}")).run().ends(2).says("such as 127.0.0.1:8480, or a port alone");
    }
}

#[test]
fn listening_on_all_addresses_prints_a_reachable_one() {
    for (everywhere, here) in [("0.0.0.0:0", "http://127.0.0.1:"), ("[::]:0", "http://[::1]:")] {
        if let Err(error) = std::net::TcpListener::bind(everywhere) {
            // A machine without version 6.
            pg_support::left_out(&format!("no program can listen on {everywhere}: {error}"));
            continue;
        }
        let sandbox = Running::at(everywhere, &[]);
        for name in ["baseUrl", "enterpriseBaseUrl"] {
            assert!(sandbox.facts[name].as_str().unwrap().starts_with(here), "{everywhere}: {}", sandbox.facts);
        }
        sandbox.run("call token/lookup cardKey=a").ends(0);
    }
}
