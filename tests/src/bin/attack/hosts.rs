//! Web pages that use a developer's browser to reach interfaces for servers and developers.

use std::net::TcpListener;

use pg_model::{CheckoutItem, Currency, GetToken, Initiate, RequestAccountUpdater};

use crate::{
    Result, payment,
    row::{Row, Table, Tried},
    target::{Program, Target},
    wire::Reply,
};

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

/// Headers of a browser when a page of another site sends a request; each alone must suffice for a refusal.
const FOREIGN: &[&[(&str, &str)]] = &[
    &[("Host", "127.0.0.1"), ("Origin", "https://evil.example")],
    &[("Host", "127.0.0.1"), ("Origin", "null")],
    &[("Host", "127.0.0.1"), ("Origin", "")],
    &[("Host", "127.0.0.1"), ("Origin", "http://127.0.0.1.evil.example")],
    &[("Host", "127.0.0.1"), ("ORIGIN", "https://evil.example")],
    &[("Host", "127.0.0.1"), ("Sec-Fetch-Site", "cross-site")],
    &[("Host", "127.0.0.1"), ("Sec-Fetch-Site", "same-site")],
    &[("Host", "127.0.0.1"), ("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "cross-site")],
    &[("Host", "127.0.0.1"), ("Sec-Fetch-Site", "none, cross-site")],
];

/// Names that lead here although they are not ours (DNS rebinding), and invalid hosts.
const HOSTS: &[&[(&str, &str)]] = &[
    &[],
    &[("Host", "")],
    &[("Host", " ")],
    &[("Host", "evil.example")],
    &[("Host", "EVIL.EXAMPLE.")],
    &[("Host", "evil.example:8480")],
    &[("Host", "127.0.0.1.evil.example")],
    &[("Host", "localhost.evil.example")],
    &[("Host", "localhost."), ("Host", "evil.example")],
    &[("Host", "127.0.0.1"), ("Host", "127.0.0.1")],
    &[("Host", "user@127.0.0.1")],
    &[("Host", "user:word@localhost:8480")],
    &[("Host", "127.0.0.1:80:80")],
    &[("Host", "127.0.0.1:port")],
    &[("Host", "127.0.0.1:"), ("Host", "evil.example:80")],
    &[("Host", "127.0.0.1:99999")],
    &[("Host", "127.0.0.1:-1")],
    &[("Host", "127.0.0.1#.evil.example")],
    &[("Host", "127.0.0.1/.evil.example")],
    &[("Host", "127.0.0.1\\.evil.example")],
    &[("Host", "127.0.0.1,evil.example")],
    &[("Host", "[::1].evil.example")],
    &[("Host", "[::1")],
    &[("Host", "[evil.example]")],
    &[("Host", "127.1.evil.example")],
    &[("Host", "xn--evil-.example")],
    &[("Host", "0x7f.1")],
];

/// Our own hosts, in several spellings.
const OURS: &[&str] = &[
    "127.0.0.1",
    "127.0.0.1:8480",
    "localhost",
    "LOCALHOST:1",
    "localhost.",
    "[::1]:8480",
    "192.168.1.2",
    "[fe80::1]",
];

pub(crate) async fn run(program: &Program, table: &mut Table<'_>) -> Result<()> {
    let paid = async |target: &Target| payments(target, FOREIGN).await;
    table.try_at_sandbox(program, "a web page pays, by any header that a browser sends with it", "paid", paid).await?;
    let attack = "a server-to-server method is called by a foreign, missing, repeated or broken Host";
    let paid = async |target: &Target| payments(target, HOSTS).await;
    table.try_at_sandbox(program, attack, "paid", paid).await?;
    let attack = "a page reads or changes something through the control interface, by any of these headers";
    table.try_at_sandbox(program, attack, "two Origins, no Host, user info: served", control).await?;
    let attack = "a request line names another host than the Host header";
    table.try_at_sandbox(program, attack, "not measured", targets).await?;
    let attack = "a web page makes the sandbox post to a port of this machine, or locks the developer out";
    table.try_at_sandbox(program, attack, "posted JSON to any loopback port; locked out", callbacks).await?;
    let attack = "control: our own hosts are accepted";
    if table.wants(attack) {
        let target = program.sandbox(&[], &[])?;
        let mut refused = Vec::new();
        for host in OURS {
            let reply = pay(&target, &[("Host", host)]).await?;
            if reply.status != 200 || target.ask("GET /_sandbox/clock", &[("Host", host)], "").await?.status != 200 {
                refused.push((*host).to_owned());
            }
        }
        table.add(Row {
            attack: attack.to_owned(),
            before: "-",
            now: if refused.is_empty() {
                "all accepted".to_owned()
            } else {
                format!("refused: {}", refused.join("; "))
            },
            bar: "all are accepted",
            kept: refused.is_empty(),
        });
    }
    Ok(())
}

async fn pay(target: &Target, headers: &[(&str, &str)]) -> Result<Reply> {
    let headers = [headers, &[FORM]].concat();
    target.ask(&format!("POST {}", target.path), &headers, &payment::form(target.address)?).await
}

async fn payments(target: &Target, tries: &[&[(&str, &str)]]) -> Result<Tried> {
    let mut through = Vec::new();
    for headers in tries {
        let reply = pay(target, headers).await?;
        if reply.status == 200 || reply.body.contains("\"600\"") {
            through.push(format!("{headers:?}"));
        }
    }
    Ok((tries.len(), through))
}

async fn control(target: &Target) -> Result<Tried> {
    let mut through = Vec::new();
    for headers in FOREIGN.iter().chain(HOSTS) {
        for (line, body) in [("GET /_sandbox/merchants", ""), ("POST /_sandbox/clock", "{\"advanceSeconds\": 60}")] {
            let reply = target.ask(line, headers, body).await?;
            if reply.status == 200 {
                through.push(format!("{line} {headers:?}"));
            }
        }
    }
    Ok(((FOREIGN.len() + HOSTS.len()) * 2, through))
}

async fn targets(target: &Target) -> Result<Tried> {
    let path = &target.path;
    let body = payment::form(target.address)?;
    let lines = [
        format!("POST http://evil.example{path}"),
        format!("POST https://evil.example:443{path}"),
        format!("POST http://127.0.0.1@evil.example{path}"),
        format!("POST http://user@127.0.0.1{path}"),
        format!("POST //evil.example{path}"),
        format!("POST http:/{path}"),
        format!("POST evil.example:80{path}"),
        "POST *".to_owned(),
        "CONNECT 127.0.0.1:80".to_owned(),
        "POST http://evil.example/_sandbox/clock".to_owned(),
        "GET http://evil.example/_sandbox/merchants".to_owned(),
    ];
    let mut through = Vec::new();
    for line in &lines {
        let reply = target.ask(line, &[("Host", "127.0.0.1"), FORM], &body).await?;
        if reply.status == 200 {
            through.push(line.clone());
        }
    }
    Ok((lines.len(), through))
}

async fn callbacks(target: &Target) -> Result<Tried> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let url = format!("http://{}/", listener.local_addr()?);
    let browser: &[(&str, &str)] = &[("Host", "127.0.0.1"), ("Origin", "https://evil.example"), FORM];
    let mut through = Vec::new();
    let checkout =
        GetToken::new().currency(Currency::GBP).item(CheckoutItem::new("Tea", "4.99")).callback_url(url.as_str());
    let batch = RequestAccountUpdater::new("MainSandboxUpdaterKey00000000000", ["a"]).callback_url(url.as_str());
    let calls = [
        ("POST /enterprise/gettoken", payment::signed(target.address, &checkout)?),
        ("POST /v3/token/requestAccountUpdater/json", payment::signed(target.address, &batch)?),
    ];
    for (line, body) in &calls {
        let reply = target.ask(line, browser, body).await?;
        if reply.status == 200 {
            through.push((*line).to_owned());
        }
    }
    target.ask("POST /_sandbox/clock", &[("Host", "127.0.0.1")], "{\"advanceSeconds\": 86400}").await?;
    if listener.accept().is_ok() {
        through.push("a callback was posted".to_owned());
    }
    // More failures than an address may have, by a page.
    for _ in 0..12 {
        target.ask("POST /v3/token/lookup/json", browser, "apiKey=x&apiPassword=y").await?;
    }
    let session = payment::signed(target.address, &Initiate::new("https://shop.example/error"))?;
    if target.ask("POST /v3/session/initiate/json", &[("Host", "127.0.0.1"), FORM], &session).await?.status != 200 {
        through.push("the developer is locked out".to_owned());
    }
    Ok((calls.len() + 2, through))
}
