//! What a request costs beside the hash that signs it: checking, ordering, signing and encoding against SHA-512 of the
//! very bytes that are signed, already joined.

use std::hint::black_box;

use pg_measure::Bounds;
use pg_proto::{
    Account, BaseUrl, Credentials,
    model::{ApiRequest, Auth, CardDetails, Currency, Item, Mcc, Order, RequestAccountUpdater},
};
use sha2::{Digest, Sha512};

const SHA_KEY: &str = "5f2b8c9d1e3a4f607182930415263748";
/// What the updater takes at once (spec 1 §4.8).
const CARD_KEYS: u64 = 5_000;
/// Allocations that a request of 40 parameters may make.
const ALLOCATIONS: u64 = 8;

fn main() {
    let credentials = Credentials::new("0123456789abcdef0123456789abcdef", "s3cretPassw0rd", SHA_KEY);
    let base = BaseUrl::parse("https://gateway.example").expect("an address");
    let account = Account::new(base, credentials);

    compare("request of 40 parameters", Bounds::at_most(1.80, 1.40), &account, &payment());
    parts("request of 40 parameters", &account, &payment());
    let made = allocation_counter::measure(|| {
        black_box(account.request(&payment()).expect("a valid request"));
    });
    let given = allocation_counter::measure(|| {
        drop(black_box(payment()));
    });
    pg_measure::count("request of 40 parameters: allocations", made.count_total - given.count_total, ALLOCATIONS);

    pg_measure::note(
        "A request of 40 parameters has to be signed, checked and encoded. The row `sign 40 parameters, signing order` and the rows `its checks` and `its body by form_urlencoded` show what that costs one after the other, without ordering and without an `http::Request`.",
    );

    let update = RequestAccountUpdater::new("updaterkey1", (0..CARD_KEYS).map(card_key));
    compare("request of 5,000 card keys", Bounds::at_most(1.60, 1.30), &account, &update);
}

fn compare<M: ApiRequest>(name: &str, bounds: Bounds, account: &Account, method: &M) {
    let request = account.request(method).expect("a valid request");
    let signed = signed_bytes(request.body());
    println!("{name}: {} bytes of body, {} bytes hashed", request.body().len(), signed.len());
    pg_measure::compare(
        name,
        bounds,
        || account.request(black_box(method)).expect("a valid request"),
        || Sha512::digest(black_box(&signed)),
    );
}

/// What of it the checks cost, and what the rest; and what the encoder of the `url` project takes for the body alone.
fn parts<M: ApiRequest>(name: &str, account: &Account, method: &M) {
    let signed = signed_bytes(account.request(method).expect("a valid request").body());
    let floor = || Sha512::digest(black_box(&signed));
    pg_measure::compare(&format!("{name}: its checks"), Bounds::none(), || black_box(method).check(), floor);
    let unchecked = || account.request_unchecked(black_box(method)).expect("a request");
    pg_measure::compare(&format!("{name}: without checks"), Bounds::none(), unchecked, floor);
    let body = account.request(method).expect("a valid request").into_body();
    let pairs: Vec<(String, String)> = form_urlencoded::parse(&body).into_owned().collect();
    let encoded = || {
        let text = String::with_capacity(body.len());
        form_urlencoded::Serializer::new(text).extend_pairs(black_box(&pairs)).finish()
    };
    pg_measure::compare(&format!("{name}: its body by form_urlencoded"), Bounds::none(), encoded, floor);
}

/// `name=value` and the key of each parameter, in their order: what the signature is the hash of (spec 1 §5).
fn signed_bytes(body: &[u8]) -> Vec<u8> {
    let mut signed = String::new();
    let mut signature = String::new();
    for (name, value) in form_urlencoded::parse(body) {
        match &*name {
            "shaSignature" => signature = value.into_owned(),
            _ => signed += &format!("{name}={value}{SHA_KEY}"),
        }
    }
    let digest: String = Sha512::digest(&signed).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, signature, "the floor hashes what the work signs");
    signed.into_bytes()
}

/// Two credentials, five parameters of the card, six items of four, and nine others.
fn payment() -> Auth {
    let items = [
        ("Darjeeling tea, second flush", 499, 2, "sku-4711"),
        ("Cup & saucer", 1250, 6, "sku-0815"),
        ("Sugar tongs", 899, 1, "sku-1234"),
        ("Tea cosy, wool", 1599, 1, "sku-7788"),
        ("Strainer 5 cm", 350, 2, "sku-0042"),
        ("Shortbread", 275, 4, "sku-9001"),
    ];
    let mut order = Order::new(Currency::GBP)
        .merchant_reference("order-000007")
        .unique_merchant_reference("order-000007-attempt-1")
        .merchant_customer_reference("customer-42")
        .terminal_key("terminal-1")
        .mcc(
            Mcc::new().account_identifier("account12345").surname("Other").postcode("AB12CD").date_of_birth("19700101"),
        );
    for (name, price, quantity, reference) in items {
        order = order.item(Item::new(name, price).quantity(quantity).reference(reference));
    }
    Auth::new(CardDetails::new("4111111111111111", "12", "30").cv2("123").cardholder_name("A N Other"), order)
}

/// Spread over the whole space, as keys of a service are.
fn card_key(number: u64) -> String {
    format!("{:016X}{:016X}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15), number.wrapping_mul(0xD1B5_4A32_D192_ED03))
}
