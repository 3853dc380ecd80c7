//! Secrets in the memory of `pg call`, `pg sandbox` and a program over the client crates: an image of each process is
//! searched for canaries. It checks exactly the documented promises about wiping.

mod image;
mod program;

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Command, Stdio},
};

use pg_crypto::{ShaKey, sign};
use serde_json::Value;

use crate::command::{
    canary::{Canary, Found},
    peer::Peer,
    pg::{Pg, Started, pg, write_private},
    sandbox::Running,
};

/// An image, printed: `cargo test … memory -- --nocapture` shows the counts.
pub(crate) fn image(process: u32, what: &str, canaries: &[Canary]) -> Found {
    let found = image::scan(process, canaries).unwrap_or_else(|error| {
        panic!("the memory of another process can't be read: {error}; run this as root, or allow it to parents (ptrace_scope)")
    });
    println!("{what}: {}", if found.is_empty() { "nothing" } else { "" });
    for ((canary, spelling, place), count) in &found {
        println!("  {canary}, {spelling}, {place}: {count}");
    }
    found
}

/// The number of occurrences of a canary in any spelling, without those in the process's arguments.
fn copies(found: &Found, canary: &str) -> usize {
    found.iter().filter(|((name, _, place), _)| *name == canary && place != "environment").map(|(_, count)| count).sum()
}

fn account() -> [Canary; 3] {
    [Canary::letters("API key", 1, 32), Canary::letters("API password", 2, 24), Canary::letters("SHA key", 3, 27)]
}

fn card(seed: u64, cv2: &str) -> [Canary; 2] {
    [Canary::card_number("card number", seed), Canary::new("CV2 as a parameter", format!("cardCV2={cv2}"))]
}

#[test]
fn a_call_that_waits_holds_credentials_once_and_no_card() {
    for (profile, from_input) in [(false, false), (true, false), (true, true)] {
        let (account, card) = (account(), card(11, "9173"));
        let folder = tempfile::tempdir().unwrap();
        let number = folder.path().join("number");
        let cv2 = folder.path().join("cv2");
        write_private(&number, &card[0].text);
        write_private(&cv2, "9173");
        let place = if from_input { "-".to_owned() } else { format!("@{}", number.display()) };
        let (number, cv2) = (format!("cardNumber={place}"), format!("cardCV2=@{}", cv2.display()));
        let (peer, told) = Peer::silent();
        let call = ["call", "transaction/auth", &number, &cv2, "cardExpiryMonth=12", "cardExpiryYear=49"];
        let call = pg(call.into_iter().chain(["currency=GBP", "itemName0=Tea", "itemPrice0=499"]));
        let call = with_account(call, &peer.base, &account, profile);
        let call = call.start_with(if from_input { &card[0].text } else { "" });
        told.recv().unwrap();
        let account_from = if profile { "a profile" } else { "the environment" };
        let number_from = if from_input { "standard input" } else { "a file" };
        let what = format!("pg call, account from {account_from}, card number from {number_from}");
        let found = image(call.id(), &what, &[&account[..], &card[..]].concat());
        drop(call);
        peer.request();
        check(&found, &[("API key", 1), ("API password", 1), ("SHA key", 1)]);
    }
}

fn with_account(call: Pg, base: &str, account: &[Canary; 3], profile: bool) -> Pg {
    let [key, password, sha] = account.each_ref().map(|canary| canary.text.as_str());
    if profile {
        call.profiles(&format!(
            "[default]\nbaseUrl = {base:?}\napiKey = {key:?}\napiPassword = {password:?}\nshaKey = {sha:?}\n"
        ))
    } else {
        call.env("PG_BASE_URL", base).env("PG_API_KEY", key).env("PG_API_PASSWORD", password).env("PG_SHA_KEY", sha)
    }
}

/// Each named canary occurs at most this often, and the others never.
#[track_caller]
fn check(found: &Found, allowed: &[(&str, usize)]) {
    let mut names: Vec<&str> = found.keys().map(|(name, ..)| *name).collect();
    names.dedup();
    for name in names {
        let most = allowed.iter().find(|(other, _)| *other == name).map_or(0, |(_, most)| *most);
        assert!(copies(found, name) <= most, "{name}: at most {most}: {found:?}");
    }
}

#[test]
fn a_sandbox_forgets_cards_whatever_became_of_their_requests() {
    let account = account();
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("merchants.toml");
    let [key, password, sha] = account.each_ref().map(|canary| canary.text.as_str());
    let merchant = format!(
        "[[merchant]]\nname = \"shop\"\napiKey = {key:?}\napiPassword = {password:?}\nshaKey = {sha:?}\n\
         currencies = [\"GBP\"]\nrawCards = true\n"
    );
    write_private(&config, &merchant);
    let store = folder.path().join("store.sqlite");
    let store = store.to_str().unwrap();
    let sandbox = Running::start(&["--store", store, "--config", config.to_str().unwrap()]);
    let shop = Shop { sandbox: &sandbox, account: &account };
    let canaries: Vec<[Canary; 2]> = (20..25).map(|seed| card(seed, &format!("91{seed}"))).collect();
    shop.pays(&canaries);
    // Some at a time: the store syncs once for all that wait.
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                for _ in 0..FURTHER / AT_A_TIME {
                    let paid = shop.post("/v3/transaction/auth/json", &shop.payment("4000000000001000", "123", &[]));
                    assert!(paid.contains("\"600\""), "{paid}");
                }
            });
        }
    });
    let cards: Vec<Canary> = canaries.into_iter().flatten().collect();
    let found = image(sandbox.id(), "pg sandbox, cards", &cards);
    image(sandbox.id(), "pg sandbox, its account", &account);
    check(&found, &[]);
}

/// How many requests come after those with canaries.
const FURTHER: usize = 300;
/// How many of them are sent at once.
const AT_A_TIME: usize = 10;

struct Shop<'a> {
    sandbox: &'a Running,
    account: &'a [Canary; 3],
}

impl Shop<'_> {
    /// Cards by five ways: a payment, one that is invalid, one with a wrong signature, the card form, and a body that is cut.
    fn pays(&self, cards: &[[Canary; 2]]) {
        let cv2 = |card: &[Canary; 2]| card[1].text.trim_start_matches("cardCV2=").to_owned();
        let payment = |card: &[Canary; 2], further: &[(&str, &str)]| self.payment(&card[0].text, &cv2(card), further);
        let auth = "/v3/transaction/auth/json";
        assert!(self.post(auth, &payment(&cards[0], &[])).contains("\"600\""));
        assert!(self.post(auth, &payment(&cards[1], &[("cardExpiryMonth", "13")])).contains("rror"));
        let unsigned = payment(&cards[2], &[]).replace("shaSignature=", "shaSignature=0");
        assert!(self.post(auth, &unsigned).contains("123"));
        let opened =
            self.post("/v3/session/initiate/json", &self.signed(&[("errorPageUrl", "https://shop.example/e")]));
        let (_, session) = opened.split_once("\r\n\r\n").unwrap();
        let session: Value = serde_json::from_str(session).unwrap();
        let form = format!(
            "sessionKey={}&cardNumber={}&{}&cardExpiryDate=1249&nextPageUrl=https%3A%2F%2Fshop.example%2Fn\
             &currentPageUrl=https%3A%2F%2Fshop.example%2Fc",
            session["sessionKey"].as_str().unwrap(),
            cards[3][0].text,
            cards[3][1].text,
        );
        assert!(self.post("/v3/session/postform/json", &form).contains("shop.example/n"));
        let key = session["sessionKey"].as_str().unwrap();
        let by_session = [("sessionKey", key), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
        assert!(self.post("/v3/transaction/authSessionKey/json", &self.signed(&by_session)).contains("\"600\""));
        let cut = payment(&cards[4], &[]);
        assert!(self.send(auth, cut.len() + 1, &cut).starts_with("HTTP/1.1 "));
    }

    fn payment(&self, number: &str, cv2: &str, further: &[(&str, &str)]) -> String {
        let order = [("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
        let card = [("cardNumber", number), ("cardCV2", cv2), ("cardExpiryMonth", "12"), ("cardExpiryYear", "49")];
        let mut all = [&card[..], &order].concat();
        all.retain(|(name, _)| further.iter().all(|(other, _)| other != name));
        self.signed(&[&all, further].concat())
    }

    fn signed(&self, parameters: &[(&str, &str)]) -> String {
        let mut all = parameters.to_vec();
        all.extend([("apiKey", &*self.account[0].text), ("apiPassword", &*self.account[1].text)]);
        let signature = sign(&all, &ShaKey::new(&*self.account[2].text)).to_string();
        all.push(("shaSignature", &signature));
        form_urlencoded::Serializer::new(String::new()).extend_pairs(all).finish()
    }

    /// Posts a body over a new connection, and returns the whole reply.
    fn post(&self, path: &str, body: &str) -> String {
        self.send(path, body.len(), body)
    }

    fn send(&self, path: &str, length: usize, body: &str) -> String {
        let host = self.sandbox.facts["baseUrl"].as_str().unwrap().trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }
}

#[test]
fn a_program_holds_nothing_once_the_owners_are_gone() {
    for over_tls in [false, true] {
        let (account, card) = (account(), card(12, "9174"));
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("input");
        let paid = r#"{"transactionKey":"k","transactionStatusCode":"600"}"#;
        let reply = crate::command::peer::reply("200 OK", "application/json", paid);
        let peer = if over_tls {
            let (peer, certificate) = Peer::answering_over_tls(&reply);
            std::fs::write(folder.path().join(format!("input{}", program::CERTIFICATE)), certificate.der()).unwrap();
            peer
        } else {
            Peer::answering(&reply)
        };
        let lines = [&*peer.base, &account[0].text, &account[1].text, &account[2].text, &card[0].text, "9174"];
        let lines: Vec<Vec<u8>> = lines.into_iter().map(program::disguised).collect();
        std::fs::write(&input, lines.join(&b'\n')).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["command::memory::program::uses_the_client_crates", "--exact", "--ignored", "--nocapture"]);
        command.env(program::INPUT, &input).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = Started::of(command.spawn().unwrap());
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let canaries = [&account[..], &card[..]].concat();
        let how = if over_tls { "over TLS" } else { "over HTTP" };
        let mut stage = |wanted: &str| {
            assert!(said.by_ref().any(|line| line.unwrap() == wanted), "it does not get to {wanted}");
            let found = image(child.id(), &format!("a program over the client crates, {how}, {wanted}"), &canaries);
            child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
            found
        };
        let held = stage("holding");
        for canary in ["API key", "API password", "SHA key", "card number"] {
            assert!(copies(&held, canary) > 0, "what is held has to be found: {canary}");
        }
        let called = stage("called");
        let dropped = stage("dropped");
        assert!(child.wait().unwrap().success());
        assert!(peer.request().contains("cardCV2=9174"));
        check(&called, &[("API key", 1), ("API password", 1), ("SHA key", 1)]);
        check(&dropped, &[]);
    }
}
