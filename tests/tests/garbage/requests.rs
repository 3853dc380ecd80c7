//! Requests to the sandbox that are valid except for one value. A panic inside it would be answered with error 999 and HTTP 500.

use std::{collections::HashMap, net::IpAddr};

use bytes::Bytes;
use http::{Request, Response};
use pg_crypto::{ShaKey, sign};
use pg_fuzz::usual::{self, VALUES, found_in};
use pg_model::{
    METHODS,
    method::{AuthScheme, MethodInfo},
};
use pg_sandbox::{Peer, Sandbox, Timestamp, merchants::Merchant};

/// Values beside the usual ones of that kind.
const FURTHER: [&str; 7] = [
    "\u{feff}",
    "e\u{301}\u{301}\u{301}",
    ",,,,",
    "{\"a\":",
    "%00%",
    "' OR 1=1 --",
    "00000000-0000-0000-0000-0000000000000000",
];

fn values() -> impl Iterator<Item = &'static str> {
    VALUES.into_iter().chain(FURTHER)
}

struct Shop {
    sandbox: Sandbox,
    merchant: Merchant,
    now: Timestamp,
    /// Keys of existing records, by parameter name.
    known: HashMap<&'static str, String>,
}

impl Shop {
    fn open() -> Self {
        let sandbox = Sandbox::in_memory();
        let merchant = sandbox.settings().merchants.by_name("main").unwrap().clone();
        let now = Timestamp::parse("2026-05-04T10:00:00Z").unwrap();
        Self { sandbox, merchant, now, known: HashMap::new() }
    }

    fn send(&mut self, path: &str, content_type: &str, body: String) -> Response<Bytes> {
        let built = Request::post(path).header("content-type", content_type);
        self.sandbox.handle(self.now, built.body(Bytes::from(body)).unwrap())
    }

    /// A valid call except for the given change.
    fn call(&mut self, method: &MethodInfo, wrong: Option<(&str, &str)>) -> Response<Bytes> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for field in method.fields {
            let name = field.wire.replace("{n}", "0");
            match wrong {
                Some((wire, value)) if wire == field.wire => pairs.push((name, value.to_owned())),
                _ => pairs.extend(self.usual(method, field.wire).map(|value| (name, value))),
            }
        }
        pairs.extend(usual::credentials(method, &self.merchant));
        if method.credentials == AuthScheme::Signed {
            let borrowed: Vec<(&str, &str)> = pairs.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            let signature = sign(&borrowed, &ShaKey::new(self.merchant.sha_key.expose())).to_string();
            pairs.push(("shaSignature".to_owned(), signature));
        }
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish();
        let path = match method.credentials {
            AuthScheme::Enterprise => format!("/enterprise/{}", method.name),
            _ => format!("{}{}/json", method.service.prefix, method.name),
        };
        self.send(&path, "application/x-www-form-urlencoded", body)
    }

    fn usual(&self, method: &MethodInfo, wire: &str) -> Option<String> {
        match wire {
            "cardNumber" => Some("4000000000001000".to_owned()),
            _ => usual::value(method, wire, &self.merchant, &self.known),
        }
    }

    /// Creates the records that the other methods need, and stores the keys from the replies.
    fn stock(&mut self) {
        for (path, names) in [
            ("session/initiate", &["sessionKey"][..]),
            ("session/postform", &[]),
            ("transaction/preauth", &["transactionKey"]),
            ("token/tokeniseTransactionKey", &["cardKey"]),
            ("token/requestAccountUpdater", &["batchKey"]),
            ("transaction/initiateThreeDSecureSessionKey", &["authenticationKey"]),
            ("enterprise/gettoken", &["tokenid"]),
        ] {
            let Some(method) = pg_model::method::method(path) else { continue };
            let reply = self.call(method, None);
            for name in names {
                let found = found_in(&reply, name).unwrap_or_else(|| panic!("{path}: {reply:?}"));
                self.known.insert(name, found);
            }
        }
        let paid = self.known["transactionKey"].clone();
        self.known.extend([("prev_trans_key", paid.clone()), ("trans_key", paid)]);
    }
}

#[test]
fn any_value_of_any_parameter_gets_an_answer() {
    let mut shop = Shop::open();
    shop.stock();
    let long = "9".repeat(70_000);
    let mut accepted = 0;
    for method in METHODS {
        for field in method.fields {
            for value in values().map(|value| -> &str { value }).chain([&*long]) {
                let reply = shop.call(method, Some((field.wire, value)));
                assert!(reply.status().as_u16() < 500, "{method:?} {} {value:?}: {reply:?}", field.wire);
                accepted += usize::from(reply.status() == 200);
            }
        }
    }
    assert!(accepted > 1_000, "{accepted}");
}

/// Requests to the control interface, complete, truncated, and altered at every byte.
#[test]
fn any_order_of_the_control_interface_gets_an_answer() {
    for (path, body) in [
        ("clock", r#"{"advanceSeconds": 1860, "speed": 60}"#),
        ("clock", r#"{"set": "2031-01-01T00:00:00Z"}"#),
        ("faults", r#"{"method": "transaction/auth", "kind": "delay", "milliseconds": 5, "times": 2}"#),
        ("callbacks/behaviour", r#"{"kind": "late", "seconds": 60, "times": 1}"#),
        ("cards/updater", r#"{"cardNumber": "4000000000001000", "response": "705"}"#),
    ] {
        let mut shop = Shop::open();
        let path = format!("/_sandbox/{path}");
        let mut try_it = |body: String| {
            let reply = shop.send(&path, "application/json", body.clone());
            assert!(reply.status().as_u16() < 500, "{path} {body:?}: {reply:?}");
        };
        for at in 0..=body.len() {
            try_it(body[..at].to_owned());
            for inserted in ["9", "\"", "{", "-", "e", "\\u0000"] {
                try_it(format!("{}{inserted}{}", &body[..at], &body[at..]));
                try_it(format!("{}{inserted}{}", &body[..at], body.get(at + 1..).unwrap_or_default()));
            }
        }
        try_it("[".repeat(100_000));
    }
}

#[test]
fn any_query_of_a_list_and_any_key_gets_an_answer() {
    let mut shop = Shop::open();
    shop.stock();
    const LISTS: [&str; 10] = [
        "requests",
        "transactions",
        "tokens",
        "sessions",
        "authentications",
        "checkouts",
        "batches",
        "callbacks",
        "sms",
        "faults",
    ];
    for list in LISTS {
        for value in values() {
            let value: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
            for target in [
                format!("/_sandbox/{list}?limit={value}"),
                format!("/_sandbox/{list}?before={value}&limit=1"),
                format!("/_sandbox/{list}?merchant={value}&method={value}"),
                format!("/_sandbox/{list}/{value}"),
                format!("/_sandbox/pages/{list}?before={value}&limit={value}"),
                format!("/_sandbox/pages/{list}/{value}"),
                format!("/_sandbox/pages/decoder?url={value}"),
                format!("/pay/{value}?visit={value}"),
                format!("/3ds/{value}?outcome={value}"),
                format!("/session-error?errorCode={value}"),
            ] {
                let request = Request::get(&target).body(Bytes::new()).unwrap();
                let reply = shop.sandbox.handle(shop.now, request);
                assert!(reply.status().as_u16() < 500, "{target}: {reply:?}");
            }
        }
    }
}

/// With an extreme clock setting, every method still gets a response.
#[test]
fn at_the_ends_of_time_every_method_gets_an_answer() {
    for end in ["1970-01-01T00:00:00Z", "2999-12-31T23:59:59Z"] {
        let mut shop = Shop::open();
        let set = format!("{{\"set\":\"{end}\",\"speed\":1000}}");
        let told = shop.send("/_sandbox/clock", "application/json", set);
        assert_eq!(told.status(), 200, "{end}: {told:?}");
        for _ in 0..3 {
            shop.now = shop.now.plus(std::time::Duration::from_secs(86_400 * 365));
            shop.send("/_sandbox/clock", "application/json", r#"{"advanceSeconds": 3153600000}"#.to_owned());
            for method in METHODS {
                let reply = shop.call(method, None);
                assert!(reply.status().as_u16() < 500, "{end} {method:?}: {reply:?}");
                for name in ["sessionKey", "transactionKey", "cardKey", "batchKey", "tokenid", "authenticationKey"] {
                    shop.known.extend(found_in(&reply, name).map(|found| (name, found)));
                }
            }
            shop.sandbox.due(shop.now);
        }
    }
}

/// The same bytes at any place of a form. Damaged forms soon lock their address out, so each is sent from its own address.
#[test]
fn a_form_that_was_cut_or_damaged_at_any_byte_gets_an_answer() {
    let mut shop = Shop::open();
    let body =
        "apiKey=a%20b&apiPassword=%C3%A9&itemName0=Tea&itemPrice0=499&currency=GBP&shaSignature=0123456789abcdef";
    for (number, at) in (0_u32..).zip(0..=body.len()) {
        for byte in [&b""[..], b"%", b"&", b"=", b"+", b"\xff", b"\0", b"[", b"%00", b"%E2%80%AE"] {
            let damaged = [&body.as_bytes()[..at], byte, body.as_bytes().get(at + 1..).unwrap_or_default()].concat();
            for sent in [damaged, body.as_bytes()[..at].to_vec()] {
                let mut request = Request::post("/v3/transaction/auth/json").body(Bytes::from(sent)).unwrap();
                let form = http::HeaderValue::from_static("application/x-www-form-urlencoded");
                request.headers_mut().insert("content-type", form);
                request.extensions_mut().insert(Peer(IpAddr::from((0x0a00_0000 + number).to_be_bytes())));
                let reply = shop.sandbox.handle(shop.now, request);
                assert!(matches!(reply.status().as_u16(), 400..=403), "{at} {byte:?}: {reply:?}");
            }
        }
    }
}
