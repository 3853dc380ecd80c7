//! Requests that are to be read in two ways, or never to be read to the end.

use crate::{
    Result, payment,
    row::{Row, Table, Tried},
    target::{Program, Target},
    wire,
};

const CLOCK: &str = "GET /_sandbox/clock HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

pub(crate) async fn run(program: &Program, table: &mut Table<'_>) -> Result<()> {
    let attack = "smuggling: a second request hidden in one whose length two servers read differently";
    table.try_at_sandbox(program, attack, "nothing found", smuggled).await?;
    table.try_at_sandbox(program, "oversized heads and paths", "nothing found", oversized).await?;
    let attack = "out-of-range numbers, in forms and in the control interface";
    table.try_at_sandbox(program, attack, "nothing found", numbers).await?;
    let attack = "a thousand requests in one write, to one connection";
    if table.wants(attack) {
        let target = program.sandbox(&[], &[])?;
        let many = CLOCK.repeat(999) + &CLOCK.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
        let reply = wire::send(target.address, many.as_bytes()).await?;
        let (count, up) = (reply.count(), is_up(&target).await?);
        table.add(Row {
            attack: attack.to_owned(),
            before: "not measured",
            now: format!("{count} answered, in order; still up: {up}"),
            bar: "each is answered",
            kept: count == 1000 && up,
        });
    }
    Ok(())
}

async fn is_up(target: &Target) -> Result<bool> {
    let headers = [("Host", "127.0.0.1"), ("Content-Type", "application/x-www-form-urlencoded")];
    Ok(target.ask(&format!("POST {}", target.path), &headers, &payment::form(target.address)?).await?.status == 200)
}

/// Heads whose body length can be read in two ways. The following bytes must not count as another request.
const LENGTHS: &[&str] = &[
    "Content-Length: 0\r\nContent-Length: 5",
    "Content-Length: 5\r\nContent-Length: 0",
    "Content-Length: 0, 5",
    "Content-Length: +0",
    "Content-Length: -0",
    "Content-Length: 0x0",
    "Content-Length: 0 0",
    "Content-Length: 18446744073709551616",
    "Content-Length: 99999999999999999999999999",
    "Content-Length : 0",
    "Content-Length\t: 0",
    "Content-Length: \u{b}0",
    "Content-Length: 0\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 0",
    "Transfer-Encoding: chunked, identity",
    "Transfer-Encoding: identity",
    "Transfer-Encoding: xchunked",
    "Transfer-Encoding: \u{b}chunked",
    "Transfer-Encoding : chunked",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    "Transfer-Encoding:\r\n chunked",
    "Transfer-Encoding: gzip, chunked, gzip",
];

async fn smuggled(target: &Target) -> Result<Tried> {
    let mut through = Vec::new();
    for lengths in LENGTHS {
        // Whichever length counts, at most the first request is answered as one; the second may only follow a well-formed first.
        let text =
            format!("POST /v3/token/lookup/json HTTP/1.1\r\nHost: 127.0.0.1\r\n{lengths}\r\n\r\n0\r\n\r\n{CLOCK}");
        let reply = wire::send(target.address, text.as_bytes()).await?;
        let chunked = *lengths == "Content-Length: 0\r\nTransfer-Encoding: chunked"
            || *lengths == "Transfer-Encoding: chunked\r\nContent-Length: 0";
        let clock = String::from_utf8_lossy(&reply.all).contains("\"speed\"");
        // RFC 9112 §6.3: a server may take the chunked body, if it closes the connection after it.
        if clock || (chunked && reply.count() > 1) {
            through.push(format!("{lengths:?}"));
        }
    }
    let lines = [
        "GET /_sandbox/clock HTTP/1.1\nHost: 127.0.0.1\n\nGET /_sandbox/clock HTTP/1.1\nHost: 127.0.0.1\n\n",
        "GET /_sandbox/clock HTTP/1.1\r\nHost: 127.0.0.1\r\n X-Folded: 1\r\n\r\n",
        "GET /_sandbox/clock HTTP/1.1\r\nHost: 127.0.0.1\r\nX\u{0}Y: 1\r\n\r\n",
        "GET /_sandbox/clock HTTP/1.1\r\n Host: evil.example\r\nHost: 127.0.0.1\r\n\r\n",
        "GET /_sandbox/clock\tHTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "GET /_sandbox/clock HTTP/1.1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\nGET /_sandbox/clock HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ];
    for text in &lines[1..] {
        let reply = wire::send(target.address, text.as_bytes()).await?;
        if reply.status == 200 {
            through.push(format!("{text:?}"));
        }
    }
    Ok((LENGTHS.len() + lines.len() - 1, through))
}

async fn oversized(target: &Target) -> Result<Tried> {
    let mut through = Vec::new();
    let bombs = bombs();
    for (name, bytes) in &bombs {
        let reply = wire::send(target.address, bytes).await?;
        if reply.status == 200 || reply.body.contains("panicked") {
            through.push((*name).to_owned());
        }
    }
    let memory = target.peak_memory()?;
    if memory > 100.0 || !is_up(target).await? {
        through.push(format!("{memory:.0} MB, or down"));
    }
    Ok((bombs.len() + 1, through))
}

fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let get =
        |path: &str, headers: &str| format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}\r\n").into_bytes();
    let chunks = |extension: &str| {
        let head = "POST /v3/token/lookup/json HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        format!("{head}{}", format!("1{extension}\r\na\r\n").repeat(20_000)).into_bytes()
    };
    vec![
        ("a header of 10 MB", get("/", &format!("X: {}\r\n", "x".repeat(10 << 20)))),
        ("a name of 1 MB", get("/", &format!("{}: x\r\n", "x".repeat(1 << 20)))),
        ("100,000 headers", get("/", &"a: b\r\n".repeat(100_000))),
        ("1,000 headers", get("/", &(0..1_000).map(|at| format!("x-{at}: b\r\n")).collect::<String>())),
        ("a path of 1 MB", get(&format!("/{}", "a".repeat(1 << 20)), "")),
        ("60,000 slashes", get(&"/".repeat(60_000), "")),
        ("a query of 60 KB", get(&format!("/v3/token/lookup?{}", "a=1&".repeat(15_000)), "")),
        ("chunks with long extensions", chunks(&format!(";{}", "x".repeat(1_000)))),
        ("a chunk of 2^64 bytes", b"POST /v3/token/lookup HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n".to_vec()),
        ("a chunk of 2^63 bytes", b"POST /v3/token/lookup HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\na".to_vec()),
        ("a body of 2^63 bytes", b"POST /v3/token/lookup HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9223372036854775807\r\n\r\na".to_vec()),
        ("trailers without end", {
            let mut text = chunks("");
            text.extend(b"0\r\n");
            text.extend("x: y\r\n".repeat(100_000).into_bytes());
            text
        }),
    ]
}

async fn numbers(target: &Target) -> Result<Tried> {
    let huge =
        ["99999999999999999999999999", "-99999999999999999999", "1e400", "NaN", "0x7f", "18446744073709551615", "９９"];
    let (mut tries, mut through) = (0, Vec::new());
    for number in huge {
        let bodies = [
            ("POST /_sandbox/clock", format!("{{\"advanceSeconds\": {number}}}")),
            ("POST /_sandbox/clock", format!("{{\"speed\": {number}}}")),
            (
                "POST /_sandbox/faults",
                format!("{{\"method\": \"*\", \"kind\": \"delay\", \"delaySeconds\": {number}}}"),
            ),
            ("POST /_sandbox/faults", format!("{{\"method\": \"*\", \"kind\": \"drop-reply\", \"times\": {number}}}")),
            ("POST /_sandbox/faults", format!("{{\"method\": \"*\", \"kind\": \"status\", \"status\": {number}}}")),
        ];
        for (line, body) in bodies {
            tries += 1;
            let reply = target.ask(line, &[("Host", "127.0.0.1")], &body).await?;
            if reply.status < 400 || reply.status >= 500 {
                through.push(format!("{line} {body}: {}", reply.status));
            }
        }
        for list in ["requests", "transactions"] {
            tries += 1;
            let line = format!("GET /_sandbox/{list}?limit={number}&before={number}");
            let reply = target.ask(&line, &[("Host", "127.0.0.1")], "").await?;
            if reply.status >= 500 || reply.status == 0 {
                through.push(format!("{line}: {}", reply.status));
            }
        }
    }
    if !is_up(target).await? {
        through.push("down".to_owned());
    }
    Ok((tries + 1, through))
}
