//! A merchant's program over the client crates, with the allocator of the system: what these crates themselves wipe.

use std::{
    io::{BufRead as _, Write as _},
    sync::Arc,
};

use pg_crypto::{SessionCipher, ShaKey, sign};
use pg_hyper::{
    Client, HyperTransport, blocking,
    rustls::{ClientConfig, RootCertStore, crypto::ring::default_provider, pki_types::CertificateDer},
};
use pg_model::{Auth, CardDetails, Currency, Encoding, Item, Order};
use pg_proto::{Account, BaseUrl, Credentials};

/// The paths of the program's input.
pub(super) const INPUT: &str = "PG_TEST_MEMORY_INPUT";
/// The suffix of a certificate file's name after that of the input.
pub(super) const CERTIFICATE: &str = ".certificate";

/// The content of its input, without the secrets, which only its own strings may contain.
pub(super) fn disguised(text: &str) -> Vec<u8> {
    text.bytes().map(|byte| byte ^ 0x55).collect()
}

fn given(line: usize) -> String {
    let file = std::env::var(INPUT).unwrap();
    let bytes = std::fs::read(file).unwrap();
    let line = bytes.split(|byte| *byte == b'\n').nth(line).unwrap();
    // Of its final length, as a string that grows leaves copies behind.
    let mut text = String::with_capacity(line.len());
    line.iter().for_each(|byte| text.push(char::from(byte ^ 0x55)));
    text
}

/// Says where it is, and waits until the test has looked.
fn pause(stage: &str) {
    println!("\n{stage}");
    std::io::stdout().flush().unwrap();
    std::io::stdin().lock().read_line(&mut String::new()).unwrap();
}

/// Over TLS if there is a certificate beside the input.
fn client(account: Account) -> blocking::Client {
    let Ok(certificate) = std::fs::read(std::env::var(INPUT).unwrap() + CERTIFICATE) else {
        return blocking::Client::new(account).unwrap();
    };
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(certificate)).unwrap();
    let tls = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    blocking::Client::over(Client::with_transport(account, HyperTransport::with_tls(tls))).unwrap()
}

/// The memory tests run this in a new process; in other runs it does nothing.
#[test]
#[ignore = "a process that the memory tests start"]
fn uses_the_client_crates() {
    if std::env::var_os(INPUT).is_none() {
        return;
    }
    let credentials = Credentials::new(given(1), given(2), given(3));
    let account = Account::new(BaseUrl::parse(&given(0)).unwrap(), credentials).encoding(Encoding::Json);
    let client = client(account);
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499));
    let auth = Auth::new(CardDetails::new(given(4), "12", "49").cv2(given(5)), order);
    pause("holding");
    let reply = client.call(&auth);
    assert!(reply.is_ok(), "{reply:?}");
    drop(auth);
    pause("called");
    let sent =
        [("cardNumber", given(4)), ("cardCV2", given(5))].map(|(name, text)| (name, pg_model::Secret::from(text)));
    let pairs = sent.each_ref().map(|(name, text)| (*name, text.expose()));
    let signature = sign(&pairs, &ShaKey::new(given(3)));
    drop(sent);
    let cipher = client.inner().account().session_cipher().unwrap();
    let other = SessionCipher::new(pg_model::Secret::from(given(1)).expose()).unwrap();
    let data = cipher.encrypt("<reply/>", "initialisationv.").unwrap();
    assert_eq!(other.decrypt(&data, "initialisationv.").unwrap().as_str(), "<reply/>");
    drop((cipher, other, client));
    pause("dropped");
    assert_eq!(signature.hex().as_str().len(), 128);
}
