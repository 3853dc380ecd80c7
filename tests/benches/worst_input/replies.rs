//! Readers of input from a service or an impostor: replies, callbacks and redirects, and the error messages for each.

use bytes::Bytes;
use pg_measure::Worst;
use pg_model::{AccountUpdaterBatch, Transaction, decode};
use pg_proto::{
    Account, BaseUrl, CallbackOutline, CheckoutHint, Credentials, Redirect, UpdaterHint, crypto::SessionCipher,
};

use crate::{
    LIMITS, MIB,
    shapes::{digits, listed, nested, numbered, repeated, short, within},
};

const IV: &str = "fedcba9876543210";
const API_KEY: &str = "0123456789abcdef0123456789abcdef";

pub(crate) fn measure() {
    json("read JSON", |text| decode::<Transaction>(text.as_bytes())).report(LIMITS);
    json("read JSON into a batch", |text| decode::<AccountUpdaterBatch>(text.as_bytes())).report(LIMITS);
    xml("read XML", |text| decode::<Transaction>(text.as_bytes())).report(LIMITS);
    let account = &Account::new(
        BaseUrl::parse("https://gateway.example").expect("an address"),
        Credentials::new(API_KEY, "password", "sha key"),
    );
    // Includes the error message of an unreadable reply.
    let reply = |text: &String| {
        let response = http::Response::new(Bytes::from(text.clone()));
        account.reply::<pg_proto::model::TransactionLookup>(response).map_err(|error| error.to_string())
    };
    xml("read a reply, in XML", reply).report(LIMITS);
    json("read a reply, in JSON", reply)
        .input("a page of another kind", MIB, repeated("<h1>4111 1111 1111 1111</h1>"), reply)
        .report(LIMITS);
    let shown = |text: &String| format!("{:?}", decode::<Transaction>(text.as_bytes()));
    json("show a reply for debugging", shown).report(LIMITS);
    let posted = |text: &String| http::Request::post("/").body(Bytes::from(text.clone())).expect("a request");
    json("read an updater's callback", |text| UpdaterHint::read(&posted(text))).report(LIMITS);
    forms("read a checkout's callback", |text| CheckoutHint::read(&posted(text))).report(LIMITS);
    json("read a checkout's callback, in JSON", |text| CheckoutHint::read(&posted(text))).report(LIMITS);
    xml("read a checkout's callback, in XML", |text| CheckoutHint::read(&posted(text))).report(LIMITS);
    forms("outline a refused callback", |text| CallbackOutline::of(&posted(text))).report(LIMITS);
    forms("read the address of a checkout's return", |text| CheckoutHint::returned(text)).report(LIMITS);
    forms("read a redirect", |text| account.redirect(text)).report(LIMITS);
    session_data();
}

fn session_data() {
    let cipher = &SessionCipher::new(API_KEY).expect("32 characters");
    let opened = |sealed: &Sealed| Redirect::parse(&sealed.0).expect("a redirect").open(cipher);
    let sealed = |make: fn(usize) -> String| {
        move |bytes| {
            let data = cipher.encrypt(&make(bytes), IV).expect("short enough");
            let address = form_urlencoded::Serializer::new("https://shop.example/?".to_owned());
            Sealed({ address }.append_pair("data", &data).append_pair("iv", IV).finish())
        }
    };
    let most = pg_proto::crypto::MAX_PLAINTEXT_BYTES - 64;
    Worst::of("open a redirect")
        .input("data of another key", most, sealed(digits), opened)
        .input("a list of numbers", most, sealed(|bytes| listed(r#"{"x":["#, "1,", "]}")(bytes)), opened)
        .input(
            "many collected fields",
            most,
            sealed(|bytes| numbered("{", |n| format!(r#""collect{n}":1,"#), r#""a":1}"#)(bytes)),
            opened,
        )
        .input(
            "many errors",
            most,
            sealed(|bytes| numbered(r#"{"errors":{"#, |n| format!(r#""{}":{{}},"#, short(n)), r#""a":{}}}"#)(bytes)),
            opened,
        )
        .input(
            "data that is not Base64",
            MIB,
            |bytes| Sealed(format!("?data={}&iv={IV}", "%2D".repeat(bytes / 3))),
            |s| opened_or_not(cipher, s),
        )
        .input(
            "data in hexadecimal digits",
            MIB,
            |bytes| Sealed(format!("?data={}&iv={IV}", "ab".repeat(bytes / 2))),
            |s| opened_or_not(cipher, s),
        )
        .report(LIMITS);
}

fn opened_or_not(cipher: &SessionCipher, sealed: &Sealed) -> bool {
    Redirect::parse(&sealed.0).is_ok_and(|redirect| redirect.open(cipher).is_ok())
}

/// An address with encrypted data.
struct Sealed(String);

impl pg_measure::Input for Sealed {
    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

fn json<T>(name: &str, read: impl Fn(&String) -> T) -> Worst {
    const KNOWN: &str = r#"{"transactionKey":"k","#;
    Worst::of(name)
        .input("one text", MIB, within(r#"{"x":""#, "abcdefg ", r#""}"#), &read)
        .input("one text of escapes", MIB, within(r#"{"x":""#, r"\n", r#""}"#), &read)
        .input("one text of UTF-16 escapes", MIB, within(r#"{"x":""#, r"\ud83d\ude00", r#""}"#), &read)
        .input("one number", MIB, |bytes| format!(r#"{{"x":{}}}"#, digits(bytes)), &read)
        .input("a list of numbers", MIB, listed(r#"{"x":["#, "1,", "]}"), &read)
        .input("a list of fractions", MIB, listed(r#"{"x":["#, "1.5,", "]}"), &read)
        .input("a list of exponents", MIB, listed(r#"{"x":["#, "1e39,", "]}"), &read)
        .input("a list of empty texts", MIB, listed(r#"{"x":["#, r#""","#, "]}"), &read)
        .input("a list of truths", MIB, listed(r#"{"x":["#, "true,", "]}"), &read)
        .input("a list of empty lists", MIB, listed(r#"{"x":["#, "[],", "]}"), &read)
        .input("a list of empty objects", MIB, listed(r#"{"x":["#, "{},", "]}"), &read)
        .input("a list of lists of one", MIB, listed(r#"{"x":["#, "[0],", "]}"), &read)
        .input("lists within lists", MIB, nested(r#"{"x":["#, "[", "]", 120, ",", "]}"), &read)
        .input("objects within objects", MIB, nested(r#"{"x":["#, r#"{"":"#, "}", 0, ",", "0]}"), &read)
        .input("one name again and again", MIB, listed("{", r#""":0,"#, "}"), &read)
        .input("two names in turn", MIB, listed("{", r#""":0,"a":0,"#, "}"), &read)
        .input("many names", MIB, numbered("{", |n| format!(r#""{}":0,"#, short(n)), r#""a":0}"#), &read)
        .input("many records", MIB, listed(r#"{"cardKeyDetails":["#, "{},", "]}"), &read)
        .input("a known name again and again", MIB, listed(KNOWN, r#""transactionKey":1,"#, "}"), &read)
        .input("blanks", MIB, within("{", " ", "}"), &read)
        .input("cut short", MIB, within(r#"{"x":["#, "\n1,", ""), &read)
}

fn xml<T>(name: &str, read: impl Fn(&String) -> T) -> Worst {
    const OPEN: &str = "<serviceResponse><transactionKey>k</transactionKey>";
    const CLOSE: &str = "</serviceResponse>";
    Worst::of(name)
        .input("one text", MIB, within("<serviceResponse><a>", "abcdefg ", "</a></serviceResponse>"), &read)
        .input("one text of references", MIB, within("<serviceResponse><a>", "&lt;", "</a></serviceResponse>"), &read)
        .input(
            "one text of numbers of characters",
            MIB,
            within("<serviceResponse><a>", "&#9;", "</a></serviceResponse>"),
            &read,
        )
        .input("one text of line ends", MIB, within("<serviceResponse><a>", "\r", "</a></serviceResponse>"), &read)
        .input(
            "one text of CDATA",
            MIB,
            within("<serviceResponse><a>", "<![CDATA[]]>", "</a></serviceResponse>"),
            &read,
        )
        .input("comments", MIB, within(OPEN, "<!---->", CLOSE), &read)
        .input("instructions", MIB, within(OPEN, "<?a?>", CLOSE), &read)
        .input("document types", MIB, within("", "<!DOCTYPE a>", "<serviceResponse/>"), &read)
        .input("empty elements", MIB, within(OPEN, "<a/>", CLOSE), &read)
        .input("empty elements in turn", MIB, within(OPEN, "<a/><b/>", CLOSE), &read)
        .input("many names", MIB, numbered(OPEN, |n| format!("<{}/>", short(n)), CLOSE), &read)
        .input("elements with attributes", MIB, within(OPEN, "<a b=''/>", CLOSE), &read)
        .input(
            "one element with many attributes",
            MIB,
            |bytes| {
                format!("<serviceResponse><a {}/>{CLOSE}", numbered("", |n| format!("{}='' ", short(n)), "")(bytes))
            },
            &read,
        )
        .input("elements of one character", MIB, within(OPEN, "<a>1</a>", CLOSE), &read)
        .input("elements within elements", MIB, nested(OPEN, "<a>", "</a>", 30, "", CLOSE), &read)
        .input("a known element again and again", MIB, within(OPEN, "<transactionKey>1</transactionKey>", CLOSE), &read)
        .input("blanks in an end tag", MIB, |bytes| format!("{OPEN}<a></a{}>{CLOSE}", " ".repeat(bytes)), &read)
        .input("cut short", MIB, within(OPEN, "\n<a>1</a>", ""), &read)
}

fn forms<T>(name: &str, read: impl Fn(&String) -> T) -> Worst {
    Worst::of(name)
        .input("one long value", MIB, within("?a=", "abcdefg", ""), &read)
        .input("one value of percent signs", MIB, within("?a=", "%", ""), &read)
        .input("one value of escapes", MIB, within("?a=", "%41", ""), &read)
        .input("escapes that are no UTF-8", MIB, within("?a=", "%ff", ""), &read)
        .input("plus signs", MIB, within("?a=", "+", ""), &read)
        .input("ampersands", MIB, within("?a=", "&", ""), &read)
        .input("empty values", MIB, within("?", "a=&", ""), &read)
        .input("known names", MIB, within("?", "data=1&iv=&status=1&", ""), &read)
        .input("underscores", MIB, within("?", "_&", ""), &read)
        .input("question marks", MIB, within("?", "?", ""), &read)
        .input("number signs", MIB, within("?", "#", ""), &read)
}
