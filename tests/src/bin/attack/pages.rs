//! What gets into pages, headers and addresses, and what gets out of files.

use pg_model::{CheckoutItem, Currency, GetToken, Initiate};

use crate::{
    Result, payment,
    row::{Table, Tried},
    target::{Program, Target},
    wire::Reply,
};

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const HOST: (&str, &str) = ("Host", "127.0.0.1");
/// Texts that would be markup, another header, or an escape, where they are not kept from it.
const TEXTS: [&str; 7] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'-alert(1)-'",
    "</title><svg onload=alert(1)>",
    "x\r\nSet-Cookie: a=b",
    "x\u{1b}[2J\u{9b}31m",
    "safe\u{202e}txet\u{2066}\u{200b}",
];

pub(crate) async fn run(program: &Program, table: &mut Table<'_>) -> Result<()> {
    let attack =
        "markup, line breaks and characters that turn text around, in every name and value that pages and headers show";
    table.try_at_sandbox(program, attack, "U+202E was shown", injected).await?;
    let attack = "paths that leave the folder of the decoder, or name files of this machine";
    table.try_at_sandbox(program, attack, "nothing found", traversed).await?;
    let attack = "redirects to another place than the merchant asked for, or to no page of the web";
    table.try_at_sandbox(program, attack, "nothing found", redirected).await?;
    let attack = "the inspector's buttons pressed by a page of another site";
    table.try_at_sandbox(program, attack, "nothing found", pressed).await?;
    Ok(())
}

async fn get(target: &Target, path: &str) -> Result<Reply> {
    target.ask(&format!("GET {path}"), &[HOST], "").await
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Whether a reply contains sent data as markup.
fn is_injected(reply: &Reply) -> bool {
    let page = reply.head.contains("text/html");
    let markup = ["<script>alert", "<img src=x", "<svg onload", "'-alert(1)-'"];
    (page && markup.iter().any(|markup| reply.body.contains(markup)))
        || reply.head.contains("\nset-cookie")
        || ["\u{1b}", "\u{9b}", "\u{202e}", "\u{2066}", "\u{200b}"]
            .iter()
            .any(|trick| reply.body.contains(trick) || reply.head.contains(trick))
}

async fn injected(target: &Target) -> Result<Tried> {
    let (mut tries, mut through) = (0, Vec::new());
    let mut judge = |what: String, reply: &Reply| {
        tries += 1;
        if is_injected(reply) {
            through.push(what);
        }
    };
    for text in TEXTS {
        let sent = encoded(text);
        for line in [
            format!("POST /v3/token/lookup/json?{sent}={sent}"),
            format!("POST /v3/session/postform/json?{sent}"),
            format!("GET /v3/{sent}/{sent}"),
            format!("GET /pay/{sent}"),
            format!("GET /3ds/{sent}"),
            format!("GET /session-error?{sent}={sent}"),
            format!("GET /_sandbox/pages/requests?find={sent}&merchant={sent}&method={sent}"),
            format!("GET /_sandbox/pages/{sent}"),
            format!("GET /_sandbox/{sent}"),
            "POST /_sandbox/pages/decoder".to_owned(),
        ] {
            let body = format!("{sent}={sent}&sessionKey={sent}&cardNumber={sent}&address={sent}&data={sent}");
            let headers =
                [HOST, FORM, ("Sec-Fetch-Site", if line.contains("/pages/") { "same-origin" } else { "none" })];
            let reply = target.ask(&line, &headers, &body).await?;
            judge(line, &reply);
        }
        // A signed request whose values come back on pages.
        let token = GetToken::new().currency(Currency::GBP).item(CheckoutItem::new(text, "4.99")).trans_reference(text);
        if let Ok(body) = payment::signed(target.address, &token) {
            let reply = target.ask("POST /enterprise/gettoken", &[HOST, FORM], &body).await?;
            let token = reply
                .body
                .split("<token>")
                .nth(1)
                .and_then(|rest| rest.split('<').next())
                .unwrap_or_default()
                .to_owned();
            let page = get(target, &format!("/pay/{token}")).await?;
            judge(format!("/pay of {text:?}"), &page);
        }
        for page in ["requests", "checkouts", "sessions", "transactions", ""] {
            let reply = get(target, &format!("/_sandbox/pages/{page}")).await?;
            judge(format!("inspector {page} after {text:?}"), &reply);
        }
        for list in ["requests", "checkouts"] {
            let reply = get(target, &format!("/_sandbox/{list}")).await?;
            judge(format!("control {list} after {text:?}"), &reply);
        }
    }
    Ok((tries, through))
}

async fn traversed(target: &Target) -> Result<Tried> {
    let ways = [
        "../../../../etc/passwd",
        "..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e/%2e%2e/etc/passwd",
        "....//....//etc/passwd",
        "..\\..\\etc\\passwd",
        "..%5c..%5cetc%5cpasswd",
        "%252e%252e%252fetc%252fpasswd",
        "/etc/passwd",
        "%00",
        "web.js%00.html",
        "web.js/../../Cargo.toml",
        ".",
        "..",
    ];
    let mut through = Vec::new();
    let places = ["/_sandbox/pages/decoder/", "/_sandbox/pages/", "/_sandbox/", "/pay/", "/3ds/", "/"];
    for place in places {
        for way in ways {
            let reply = get(target, &format!("{place}{way}")).await?;
            if reply.body.contains("root:")
                || reply.body.contains("[package]")
                || reply.status >= 500
                || reply.status == 0
            {
                through.push(format!("{place}{way}: {}", reply.status));
            }
        }
    }
    Ok((ways.len() * places.len(), through))
}

async fn redirected(target: &Target) -> Result<Tried> {
    let addresses = [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "//evil.example/",
        "\\\\evil.example\\",
        "https:evil.example",
        "https:/evil.example",
        "https://shop.example\\@evil.example/",
        "https://shop.example\r\nSet-Cookie: a=b",
        "https://shop.example/\u{0}",
        " https://shop.example/",
        "https://",
        "https://[::1/",
        "https://shop.example\u{202e}/",
        "blob:https://shop.example/x",
    ];
    let mut through = Vec::new();
    let initiate = payment::signed(target.address, &Initiate::new("https://shop.example/error"))?;
    for address in addresses {
        let reply = target.ask("POST /v3/session/initiate/json", &[HOST, FORM], &initiate).await?;
        let key =
            reply.body.split("\"sessionKey\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        let sent = encoded(address);
        let body = format!(
            "sessionKey={key}&nextPageUrl={sent}&currentPageUrl={sent}&cardNumber=4000000000001000&cardExpiryMonth=12&cardExpiryYear=49"
        );
        let browser = [HOST, FORM, ("Origin", "https://shop.example"), ("Sec-Fetch-Site", "cross-site")];
        let reply = target.ask("POST /v3/session/postform", &browser, &body).await?;
        let location = reply.head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap_or_default();
        let is_ours = location.is_empty()
            || location.starts_with("https://shop.example/error")
            || location.starts_with(&format!("http://{}", target.address))
            || location.starts_with("http://127.0.0.1");
        if !is_ours || reply.head.contains("set-cookie") {
            through.push(format!("{address:?} -> {location}"));
        }
        if payment::signed(target.address, &Initiate::new(address)).is_ok_and(|_| address.starts_with("javascript")) {
            through.push(format!("the client's own check lets {address:?} pass"));
        }
    }
    Ok((addresses.len(), through))
}

async fn pressed(target: &Target) -> Result<Tried> {
    let pages = ["clock", "faults", "updater", "batches", "callbacks", "decoder"];
    let foreign: [&[(&str, &str)]; 6] = [
        &[HOST],
        &[HOST, ("Origin", "https://evil.example")],
        &[HOST, ("Origin", "null")],
        &[HOST, ("Sec-Fetch-Site", "cross-site")],
        &[HOST, ("Sec-Fetch-Site", "same-site"), ("Origin", "http://127.0.0.1")],
        &[HOST, ("Origin", "http://127.0.0.1"), ("Origin", "https://evil.example")],
    ];
    let mut through = Vec::new();
    for page in pages {
        for headers in foreign {
            let headers = [headers, &[FORM]].concat();
            let line = format!("POST /_sandbox/pages/{page}");
            let reply = target.ask(&line, &headers, "advanceSeconds=60&seconds=60&method=*&kind=drop-reply").await?;
            if !matches!(reply.status, 403..=405) {
                through.push(format!("{page} {headers:?}: {}", reply.status));
            }
        }
        let framed = get(target, &format!("/_sandbox/pages/{page}")).await?;
        if framed.status == 200
            && !(framed.head.contains("frame-ancestors 'none'") && framed.head.contains("x-frame-options: deny"))
        {
            through.push(format!("{page} can be framed"));
        }
    }
    Ok((pages.len() * (foreign.len() + 1), through))
}
