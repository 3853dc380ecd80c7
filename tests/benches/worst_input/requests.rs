//! Requests that the service reads before it authenticates the client: from the bytes of a form to the refusal, with the
//! journal's entry and the warnings.

use std::cell::RefCell;

use bytes::Bytes;
use pg_measure::{Bounds, Input, Worst};
use pg_model::{ApiRequest as _, Auth, Parameters, PostForm};
use pg_sandbox::{
    Sandbox, Settings, Timestamp,
    form::{Form, FormLimits},
};

use crate::{
    CALL_LIMITS, LIMITS, MIB,
    shapes::{cards, digits, encoded, groups, near, numbered, one, parameters, repeated, short, within},
};

/// The most parameters that the sandbox reads.
pub(crate) const MOST: usize = 2_000;
/// The other parameters of a body with a long value.
const ROOM: usize = 1_024;

pub(crate) fn measure() {
    form_reader();
    let check = |sent: &Vec<(String, String)>| {
        let sent: Parameters = sent.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        (Auth::INFO.check)(&sent).to_string()
    };
    of_parameters("check parameters, and tell what is wrong", check).report_calls(CALL_LIMITS);
    let all = |sent: &Vec<(String, String)>| {
        let sent: Parameters = sent.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        Auth::INFO.check_parameters(&sent).to_string()
    };
    of_parameters("check parameters and names", all).report_calls(CALL_LIMITS);
    for (name, path, key) in [
        ("refuse a request of an unknown account", "/v3/transaction/auth/json", "nobody"),
        ("refuse a request of version 5", "/enterprise/gettoken", "nobody"),
        ("refuse a card form", PATH_OF_FORM, "nobody"),
    ] {
        requests(name, path, key).report(LIMITS);
    }
    // Behind the key and the password of an account. An address is blocked after ten of them.
    requests(
        "refuse a wrong signature of a known account",
        "/v3/transaction/auth/json",
        "MainSandboxApiKey000000000000000",
    )
    .report_calls(Bounds::at_most(20.0, 10.0));
    let preview = |body: &String| {
        let request = http::Request::post("/").body(Bytes::from(body.clone())).expect("a request");
        pg_proto::Preview::of(&request).to_string()
    };
    bodies("preview a request", preview).report_calls(CALL_LIMITS);
    assert_eq!(PostForm::INFO.name, "postform");
}

const PATH_OF_FORM: &str = "/v3/session/postform/json";

fn form_reader() {
    bodies("read a form", |body| Form::parse(body.as_bytes(), &FormLimits::default())).report(LIMITS);
}

fn bodies<T>(name: &str, read: impl Fn(&String) -> T) -> Worst {
    let long = MIB - ROOM;
    Worst::of(name)
        .input("one plain value", long, within("a=", "abcdefg", ""), &read)
        .input("one value of escapes", long, within("a=", "%41", ""), &read)
        .input("one value of escapes beyond ASCII", long, within("a=", "%C3%A9", ""), &read)
        .input("one value of bytes beyond ASCII", long, within("a=", "é€", ""), &read)
        .input("one value of plus signs", long, within("a=", "+", ""), &read)
        .input("one value of broken escapes", long, |bytes| format!("a={}%4", "%41".repeat(bytes / 3)), &read)
        .input("ampersands", long, repeated("&"), &read)
        .input("equals signs", long, repeated("="), &read)
        .input("many short parameters", MOST, |count| encoded(&parameters(short, |_| "1".to_owned())(count)), &read)
        .input(
            "many names alike",
            MOST,
            |count| encoded(&parameters(|n| format!("{}{n:04}", "a".repeat(300)), |_| "1".to_owned())(count)),
            &read,
        )
        .input(
            "many members of an array",
            MOST,
            |count| encoded(&parameters(|_| "a[]".to_owned(), |_| "1".to_owned())(count)),
            &read,
        )
        .input(
            "many equal names",
            MOST,
            |count| encoded(&parameters(|_| "a".to_owned(), |_| "1".to_owned())(count)),
            &read,
        )
        .input("more parameters than are read", long, numbered("", |n| format!("{}=&", short(n)), ""), &read)
}

fn of_parameters<T>(name: &str, work: impl Fn(&Vec<(String, String)>) -> T) -> Worst {
    let one_character = |_: usize| "1".to_owned();
    let long = MIB - ROOM;
    let mut worst = Worst::of(name);
    for field in ["itemName0", "currency", "cardNumber", "merchantReference", "returnUrl", "nothing"] {
        worst = worst
            .input(&format!("{field}: plain text"), long, one(field, repeated("abcdefg ")), &work)
            .input(&format!("{field}: digits"), long, one(field, digits), &work)
            .input(&format!("{field}: groups of digits"), long, one(field, groups(".")), &work)
            .input(&format!("{field}: card numbers"), long, one(field, cards), &work)
            .input(&format!("{field}: control characters"), long, one(field, repeated("\u{1}")), &work);
    }
    worst
        .input("many short parameters", MOST, parameters(short, one_character), &work)
        .input("many items", MOST, parameters(|n| format!("itemPrice{n}"), one_character), &work)
        .input("many items that are wrong", MOST, parameters(|n| format!("itemPrice{n}"), |_| "x".to_owned()), &work)
        .input("many items with gaps", MOST, parameters(|n| format!("itemPrice{}", 2 * n), one_character), &work)
        .input(
            "many item names with leading zeros",
            MOST,
            parameters(|n| format!("itemPrice0{n}"), one_character),
            &work,
        )
        .input("many near names of an item", MOST, parameters(near("itemQuantityxyz"), one_character), &work)
        .input(
            "many near names of a reference",
            MOST,
            parameters(near("uniqueMerchantReference"), one_character),
            &work,
        )
        .input("many prefixed names", MOST, parameters(|n| format!("bank{n}"), one_character), &work)
        .input("many underscores", MOST, parameters(|n| format!("{}{n}", "_".repeat(300)), one_character), &work)
}

/// A request as it is sent, its body of this many bytes.
struct Sent(http::Request<Bytes>);

impl Input for Sent {
    fn bytes(&self) -> usize {
        self.0.body().len()
    }
}

/// Whole requests to the service, each with credentials that are wrong in the end.
fn requests(name: &str, path: &'static str, key: &'static str) -> Worst {
    let sandbox = RefCell::new(Sandbox::in_memory_with(Settings::default(), [7; 32]).expect("a sandbox"));
    let minutes = std::cell::Cell::new(0_u32);
    let work = |sent: &Sent| {
        // Each request comes from a new address, because a blocked address is refused before the request is read.
        let mut request = sent.0.clone();
        let next = minutes.get() + 1;
        minutes.set(next);
        request.extensions_mut().insert(pg_sandbox::Peer(std::net::Ipv4Addr::from_bits(next).into()));
        let now = Timestamp::parse("2026-05-04T10:00:00Z").expect("a date");
        let response = sandbox.borrow_mut().handle(now, request);
        assert!(!response.status().is_success(), "{response:?}");
        response
    };
    let post = |body: String| {
        let request = http::Request::post(path)
            .header(http::header::HOST, "127.0.0.1")
            .header(http::header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        Sent(request.body(body.into()).expect("a request"))
    };
    let credentials = format!(
        "apiKey={key}&api_key={key}&apiPassword=MainSandboxApiPassword0000000000&api_password=x&shaSignature={}&",
        "0".repeat(128)
    );
    let with = |body: &str| post(format!("{credentials}{body}"));
    let form = |sent: Vec<(String, String)>| with(&encoded(&sent));
    let one_character = |_: usize| "1".to_owned();
    let (long, most) = (MIB - ROOM, MOST - 5);
    let mut worst = Worst::of(name);
    for field in ["itemName0", "currency", "cardNumber", "merchantReference", "cardholderName", "nothing"] {
        worst = worst
            .input(&format!("{field}: plain text"), long, |bytes| form(one(field, repeated("abcdefg"))(bytes)), work)
            .input(&format!("{field}: digits"), long, |bytes| form(one(field, digits)(bytes)), work)
            .input(&format!("{field}: groups of digits"), long, |bytes| form(one(field, groups("."))(bytes)), work)
            .input(&format!("{field}: card numbers"), long, |bytes| form(one(field, cards)(bytes)), work);
    }
    for wire in
        ["uniqueMerchantReference", "transactionValue", "itemQuantity", "cardholderAddressLine1", "api_password"]
    {
        let near = |count| form(parameters(near(wire), one_character)(count));
        worst = worst.input(&format!("many names near {wire}"), most, |count| without_twice(near(count)), work);
    }
    worst
        .input("escapes", long, |bytes| with(&within("a=", "%41", "")(bytes)), work)
        .input("escapes that are no UTF-8", long, |bytes| with(&within("a=", "%ff", "")(bytes)), work)
        .input("ampersands", long, |bytes| with(&repeated("&")(bytes)), work)
        .input(
            "many short parameters",
            most,
            |count| form(parameters(|n| format!("x{}", short(n)), one_character)(count)),
            work,
        )
        .input("many items", most, |count| form(parameters(|n| format!("itemPrice{n}"), one_character)(count)), work)
        .input("many numbered names", most, |count| form(parameters(|n| format!("x[{n}]"), one_character)(count)), work)
        .input("many arrays", most, |count| form(parameters(|n| format!("{}[]", short(n)), one_character)(count)), work)
        .input(
            "many inputs to collect",
            most,
            |count| form(parameters(|n| format!("collect{n}"), one_character)(count)),
            work,
        )
        .input(
            "many equal inputs to collect",
            most,
            |count| form(parameters(|_| "collectA".to_owned(), one_character)(count)),
            work,
        )
        .input(
            "a card number split over many fields",
            most,
            |count| form(parameters(|n| format!("x{}", short(n)), |_| "41".to_owned())(count)),
            work,
        )
        .input(
            "a card number entered, and one digit in many fields",
            most,
            |count| {
                let mut sent = parameters(|n| format!("x{}", short(n)), one_character)(count);
                sent.push(("cardNumber".to_owned(), "1111111111111111".to_owned()));
                form(sent)
            },
            work,
        )
        .input(
            "more parameters than are read",
            long,
            |bytes| with(&numbered("", |n| format!("x{}=&", short(n)), "")(bytes)),
            work,
        )
}

/// The same without duplicate parameters, which would be refused earlier.
fn without_twice(sent: Sent) -> Sent {
    let mut known = std::collections::HashSet::new();
    let body = String::from_utf8_lossy(sent.0.body()).into_owned();
    let body: Vec<&str> = body.split('&').filter(|pair| known.insert(pair.split('=').next())).collect();
    Sent(sent.0.map(|_| body.join("&").into()))
}
