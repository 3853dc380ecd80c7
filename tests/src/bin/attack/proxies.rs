//! A reverse proxy in front of the sandbox publishes what is meant for this machine only; and guessed tokens.

use crate::{Result, row::Table, target::Program, wire};

/// What proxies, tunnels and content delivery networks add.
const HEADERS: &[&str] = &[
    "Forwarded",
    "Via",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "X-Forwarded-Port",
    "X-Forwarded-Server",
    "X-Forwarded-Scheme",
    "X-Forwarded-Ssl",
    "X-Forwarded-Prefix",
    "X-Forwarded",
    "X-Original-Forwarded-For",
    "X-Original-Host",
    "X-Original-URL",
    "X-Rewrite-URL",
    "X-Real-IP",
    "X-Client-IP",
    "X-Cluster-Client-IP",
    "X-Remote-IP",
    "X-Remote-Addr",
    "X-Host",
    "X-Scheme",
    "X-ProxyUser-IP",
    "Client-IP",
    "True-Client-IP",
    "Proxy-Client-IP",
    "WL-Proxy-Client-IP",
    "CF-Connecting-IP",
    "CF-Ray",
    "CF-Visitor",
    "CDN-Loop",
    "Fastly-Client-IP",
    "Fastly-FF",
    "Fly-Client-IP",
    "Fly-Forwarded-Port",
    "DO-Connecting-IP",
    "X-Azure-ClientIP",
    "X-Azure-FDID",
    "X-AppEngine-User-IP",
    "X-Cloud-Trace-Context",
    "X-Amzn-Trace-Id",
    "X-Amz-Cf-Id",
    "X-Envoy-External-Address",
    "X-Envoy-Original-Path",
    "X-Vercel-Forwarded-For",
    "X-Nf-Client-Connection-Ip",
    "X-Akamai-Config-Log-Detail",
    "X-Varnish",
    "X-ARR-LOG-ID",
    "Tailscale-User-Login",
    "X-Tunnel-Forwarded",
    "Max-Forwards",
];

const TOKEN: &str = "0123456789abcdef0123";

pub(crate) async fn run(program: &Program, table: &mut Table<'_>) -> Result<()> {
    let attack = "the control interface through a reverse proxy that adds any one of these headers";
    if table.wants(attack) {
        let target = program.sandbox(&[], &[])?;
        let mut through = Vec::new();
        for header in HEADERS {
            for line in ["GET /_sandbox/merchants", "GET /_sandbox/pages/clock"] {
                if target.ask(line, &[("Host", "127.0.0.1"), (header, "1")], "").await?.status == 200 {
                    through.push(format!("{header} {line}"));
                }
            }
        }
        // A proxy that speaks HTTP/1.0, as nginx does by default, and adds nothing.
        let old = b"GET /_sandbox/merchants HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
        if wire::send(target.address, old).await?.status == 200 {
            through.push("HTTP/1.0".to_owned());
        }
        if target.ask("GET /_sandbox/merchants", &[("Host", "127.0.0.1")], "").await?.status != 200 {
            through.push("and a direct request is refused".to_owned());
        }
        table.add_tries(attack, "published", HEADERS.len() * 2 + 1, &through);
    }
    let attack = "the control interface opened to everybody without a token, or with a short one";
    if table.wants(attack) {
        let tries: [&[(&str, &str)]; 3] = [&[], &[("PG_CONTROL_TOKEN", "")], &[("PG_CONTROL_TOKEN", "short")]];
        let mut through = Vec::new();
        for environment in tries {
            let started = program
                .command(&["sandbox", "--listen", "127.0.0.1:0", "--control-from-anywhere", "--json"])
                .envs(environment.iter().copied())
                .output();
            let output = started?;
            if output.status.code() != Some(2) || String::from_utf8_lossy(&output.stderr).contains("short ") {
                through.push(format!("{environment:?}"));
            }
        }
        table.add_tries(attack, "started", tries.len(), &through);
    }
    let attack = "the control interface through a proxy with a wrong token";
    if table.wants(attack) {
        let target = program.sandbox(&["--control-from-anywhere"], &[("PG_CONTROL_TOKEN", TOKEN)])?;
        let wrong = [
            String::new(),
            "Bearer".to_owned(),
            "Bearer ".to_owned(),
            format!("Bearer {}", &TOKEN[1..]),
            format!("Bearer {TOKEN}0"),
            format!("Bearer {}", TOKEN.to_uppercase()),
            format!("Token {TOKEN}"),
            TOKEN.to_owned(),
            "Basic Og==".to_owned(),
        ];
        let mut through = Vec::new();
        for token in &wrong {
            let headers = [("Host", "127.0.0.1"), ("X-Forwarded-For", "192.0.2.1"), ("Authorization", token)];
            if target.ask("GET /_sandbox/merchants", &headers, "").await?.status != 401 {
                through.push(token.clone());
            }
        }
        let right = format!("Bearer {TOKEN}");
        let headers = [("Host", "127.0.0.1"), ("X-Forwarded-For", "192.0.2.1"), ("Authorization", &*right)];
        let reply = target.ask("GET /_sandbox/merchants", &headers, "").await?;
        let journal = target.ask("GET /_sandbox/requests", &headers, "").await?;
        if reply.status != 200 || journal.body.contains(TOKEN) {
            through.push("the right token is refused, or in the journal".to_owned());
        }
        table.add_tries(attack, "no token existed", wrong.len() + 1, &through);
    }
    Ok(())
}
