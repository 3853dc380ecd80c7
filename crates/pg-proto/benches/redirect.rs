//! What opening a redirect costs beside its bare steps: Base64, AES-256-CBC with a prepared key, and serde_json into a
//! plain structure that knows every name beforehand and wipes nothing.

use std::hint::black_box;

use aes::{
    Aes256, Block,
    cipher::{BlockModeDecrypt, InnerIvInit, KeyInit},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use pg_measure::Bounds;
use pg_proto::{Account, BaseUrl, CardFormResult, Credentials, Redirect};
use serde::Deserialize;

const KEY: &str = "0123456789abcdef0123456789abcdef";
const IV: &str = "fedcba9876543210";
const BOUNDS: Bounds = Bounds::at_most(1.30, 1.10);

/// The data of a form whose card and expiry were invalid (spec 2 §2.2): 0.6 KB.
const INVALID: &str = r#"{"cardholderName":"A N Other","cardNumber":"411111******1112","cardExpiryMonth":"13","cardExpiryYear":"2019","cardCV2":"","collectOrder":"order-000007","collectNewsletter":"weekly","collectGreeting":"Many happy returns, and may the tea be hot and the rain hold off until the last guest is home","errors":{"cardNumber":{"errorCode":"108","traceCode":"102938475","errorMessage":"Invalid card number"},"cardExpiryYear":{"errorCode":"109","traceCode":"102938476","errorMessage":"Invalid card expiry"},"cardCV2":{"errorCode":"110","traceCode":"102938477","errorMessage":"Invalid card CV2"}}}"#;
/// The data of a form that was in order.
const ACCEPTED: &str = r#"{"cardholderName":"A N Other","cardNumber":"411111******1111","cardExpiryMonth":"12","cardExpiryYear":"2030","cardCV2":"","collectOrder":"order-000007","collectNewsletter":"weekly","collectGreeting":"Many happy returns, and may the tea be hot, the scones be fresh and the rain hold off until the last of the guests has found the way home again","collectDelivery":"Leave it with the neighbours at number 12, or behind the green door beside the shed; please ring twice, and wait until the dog has been let in before opening the gate","collectSource":"autumn-catalogue, page 17","collectBasket":"darjeeling-2, saucer-6, tongs-1, cosy-1"}"#;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only built, as a caller's record would be")]
struct PlainInvalid {
    cardholder_name: String,
    card_number: String,
    card_expiry_month: String,
    card_expiry_year: String,
    #[serde(rename = "cardCV2")]
    card_cv2: String,
    collect_order: String,
    collect_newsletter: String,
    collect_greeting: String,
    errors: PlainErrors,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only built, as a caller's record would be")]
struct PlainErrors {
    card_number: PlainError,
    card_expiry_year: PlainError,
    #[serde(rename = "cardCV2")]
    card_cv2: PlainError,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only built, as a caller's record would be")]
struct PlainError {
    error_code: String,
    trace_code: String,
    error_message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only built, as a caller's record would be")]
struct PlainAccepted {
    cardholder_name: String,
    card_number: String,
    card_expiry_month: String,
    card_expiry_year: String,
    #[serde(rename = "cardCV2")]
    card_cv2: String,
    collect_order: String,
    collect_newsletter: String,
    collect_greeting: String,
    collect_delivery: String,
    collect_source: String,
    collect_basket: String,
}

fn main() {
    let redirect = encrypted(ACCEPTED);
    assert!(matches!(open(&redirect), CardFormResult::Accepted(_)));
    compare::<PlainAccepted>("open a redirect, card accepted, 0.6 KB", ACCEPTED);

    let redirect = encrypted(INVALID);
    assert!(matches!(open(&redirect), CardFormResult::Invalid(_)));
    compare::<PlainInvalid>("open a redirect, three errors, 0.6 KB", INVALID);
}

fn compare<P: for<'de> Deserialize<'de>>(name: &str, plain: &str) {
    let redirect = encrypted(plain);
    let cipher = account().session_cipher().expect("a key of 32 characters");
    let data = cipher.encrypt(plain, IV).expect("a short text");
    let aes = Aes256::new_from_slice(KEY.as_bytes()).expect("32 bytes");
    println!("{name}: {} bytes of plaintext", plain.len());
    pg_measure::compare(
        name,
        BOUNDS,
        || black_box(&redirect).open(&cipher).expect("its own data"),
        || bare::<P>(&aes, black_box(&data), black_box(IV)).expect("its own data"),
    );
}

fn bare<P: for<'de> Deserialize<'de>>(aes: &Aes256, data: &str, iv: &str) -> Option<P> {
    let mut bytes = STANDARD.decode(data).ok()?;
    let blocks = Block::cast_slice_from_core_mut(bytes.as_chunks_mut().0);
    cbc::Decryptor::inner_iv_slice_init(aes, iv.as_bytes()).ok()?.decrypt_blocks(blocks);
    let padding = usize::from(*bytes.last()?);
    bytes.truncate(bytes.len().checked_sub(padding)?);
    serde_json::from_str(std::str::from_utf8(&bytes).ok()?).ok()
}

fn open(redirect: &Redirect) -> CardFormResult {
    redirect.open(&account().session_cipher().expect("a key of 32 characters")).expect("its own data")
}

fn encrypted(plain: &str) -> Redirect {
    let cipher = account().session_cipher().expect("a key of 32 characters");
    let data = cipher.encrypt(plain, IV).expect("a short text");
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("formId", "card"), ("data", &data), ("iv", IV)])
        .finish();
    Redirect::parse(&format!("https://shop.example/review?{query}")).expect("a redirect")
}

fn account() -> Account {
    Account::new(BaseUrl::parse("https://gateway.example").expect("an address"), Credentials::new(KEY, "p", "s"))
}
