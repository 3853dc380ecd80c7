//! Redirect data of the card form, altered in many ways and sent to the return page as by a browser.

mod oracle;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use pg_crypto::SessionCipher;
use serde_json::{Map, Value};

use super::{Played, page};
use crate::{
    finding::{Finding, Lane},
    house::{Card, SetupError, text},
    judge::{broken, doubt, fault},
    plan::Job,
    shop::{Call, Seen, Silent},
    stage::Stage,
};

/// The alteration of the redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Redirect {
    Genuine,
    BitsFlipped,
    Truncated,
    Swapped,
    Replayed,
    Forged,
    Blanks,
    WrongKey,
    PaddingOracle,
    FormatOracle,
    TimingOracle,
    Markup,
    Missing,
    Huge,
    Secrets,
    ErrorPages,
}

/// A genuine redirect and the page that receives it.
pub(crate) struct Genuine {
    pub(crate) data: String,
    pub(crate) iv: String,
    pub(crate) plain: String,
    pub(crate) encoding: &'static str,
    pub(crate) seen: Seen,
    pub(crate) card: Card,
}

impl Genuine {
    /// Whether a page to which the page redirects refuses the customer, for example without a login.
    fn is_hidden(&self) -> bool {
        self.seen.status >= 400
    }

    /// Returns the reply whose status says whether the data was accepted.
    fn judged<'a>(&self, seen: &'a Seen) -> &'a Seen {
        if self.is_hidden() { seen.first() } else { seen }
    }

    /// Returns a warning if this page is one that the runner does not open, or that it may not see.
    fn not_read(&self, seen: &Seen) -> Option<Finding> {
        let refused = || {
            let to = seen.redirects.last()?.location()?;
            let is_refused = self.is_hidden() && seen.status >= 400;
            is_refused.then(|| format!("redirects to {to}, which replies HTTP {}", seen.status))
        };
        let why = page::not_opened(seen).or_else(refused)?;
        Some(doubt("page-not-read", format!("the page {why}: what it shows is not tested")))
    }
}

pub(crate) async fn play(stage: &mut Stage, story: Redirect) -> Played {
    let genuine = match genuine(stage).await? {
        Ok(genuine) => genuine,
        Err(seen) if story == Redirect::Genuine => {
            let why = format!("the page replies to a genuine redirect with HTTP {}, in JSON and in XML", seen.status);
            return Ok(stage.judged(vec![fault("genuine-refused", why)]));
        }
        Err(seen) => {
            let why = format!(
                "the page replies to a genuine redirect with HTTP {}, so no replies can be \
                compared",
                seen.status
            );
            return Ok(stage.judged(vec![broken(why)]));
        }
    };
    let findings = match story {
        Redirect::Genuine => genuine_findings(&genuine),
        Redirect::PaddingOracle | Redirect::FormatOracle | Redirect::TimingOracle => {
            oracle::play(stage, story, &genuine).await?
        }
        Redirect::Replayed => replayed(stage, &genuine).await?,
        Redirect::Blanks => blanks(stage, &genuine).await?,
        Redirect::Markup => markup(stage, &genuine).await?,
        Redirect::Forged => forged(stage, &genuine).await?,
        Redirect::Secrets => {
            let mut found = page::secrets(&stage.house.account, &genuine.seen, "the page");
            found.extend(genuine.not_read(&genuine.seen));
            found
        }
        Redirect::ErrorPages => error_pages(stage, &genuine).await?,
        _ => tampered(stage, story, &genuine).await?,
    };
    let is_unread = findings.is_empty() && reads_nothing(stage, &genuine).await?;
    let why = "the page shows neither the end of the card number nor anything else that differs from its reply to bad data: what it \
               does with the data is not tested. Let it show the last four digits";
    Ok(stage.judged(if is_unread { vec![doubt("page-not-read", why)] } else { findings }))
}

/// Whether the page is the same for a genuine customer and for bad data. A script may then read the data, or nothing.
async fn reads_nothing(stage: &Stage, genuine: &Genuine) -> Result<bool, SetupError> {
    if genuine.seen.body.contains(&genuine.card.number[12..]) {
        return Ok(false);
    }
    let bad = told(stage, "bad data", "%%%", "x").await?;
    Ok(bad.status == genuine.seen.status && bad.body == genuine.seen.body)
}

/// Opens the page with a genuine redirect, in the encoding that the page reads.
async fn genuine(stage: &mut Stage) -> Result<Result<Genuine, Seen>, SetupError> {
    let known = stage.troupe.plan.encoding.clone();
    let encodings: &[&'static str] = match known.as_deref() {
        Some("json") => &["json"],
        Some("xml") => &["xml"],
        _ => &["json", "xml"],
    };
    let (mut refused, mut hidden, mut crashed) = (Seen::default(), None, None);
    for encoding in encodings {
        let card = Card::new(&stage.dice.card_number(), "314");
        let (_, location) = stage.house.session(&card, encoding)?;
        let query = location.split_once('?').map(|(_, query)| query.to_owned()).unwrap_or_default();
        let find = |name: &str| {
            form_urlencoded::parse(query.as_bytes())
                .find(|(known, _)| known == name)
                .map(|(_, value)| value.into_owned())
        };
        let (data, iv) = find("data").zip(find("iv")).ok_or("the card form gave no data")?;
        let plain = cipher(stage)?.decrypt(&data, &iv).map_err(text)?.as_str().to_owned();
        let seen = match stage.visit(Job::OpenRedirect, redirect(stage, &data, &iv)).await {
            Ok(seen) => seen,
            Err(Silent::Crashed { why, .. }) => {
                crashed = Some(why);
                continue;
            }
            Err(silent) => return Err(unopened(&silent)),
        };
        if seen.first().status >= 400 {
            refused = seen;
            continue;
        }
        let genuine = Genuine { data, iv, plain, encoding, seen, card };
        if !genuine.is_hidden() {
            return Ok(Ok(genuine));
        }
        hidden.get_or_insert(genuine);
    }
    match (hidden, crashed) {
        (Some(genuine), _) => Ok(Ok(genuine)),
        (None, Some(why)) => Err(unopened(&why)),
        (None, None) => Ok(Err(refused)),
    }
}

fn unopened(why: &dyn std::fmt::Display) -> SetupError {
    format!("cannot open the page: {why}")
}

/// A browser's call with these parameters.
fn redirect(stage: &Stage, data: &str, iv: &str) -> Call {
    Call::page(&stage.address(Job::OpenRedirect), &[("formId", "card"), ("data", data), ("iv", iv)])
}

pub(crate) fn cipher(stage: &Stage) -> Result<SessionCipher, SetupError> {
    SessionCipher::new(&stage.house.account.api_key).map_err(text)
}

/// Opens the page with these parameters.
pub(crate) async fn open(stage: &Stage, data: &str, iv: &str) -> Result<Seen, SetupError> {
    opened(stage, redirect(stage, data, iv)).await
}

/// Opens the page. If its program crashes, a web server replies with HTTP 500 and what was printed.
async fn opened(stage: &Stage, call: Call) -> Result<Seen, SetupError> {
    match stage.visit(Job::OpenRedirect, call).await {
        Err(Silent::Crashed { printed, .. }) => Ok(Seen { status: 500, body: printed, ..Seen::default() }),
        seen => seen.map_err(|silent| unopened(&silent)),
    }
}

async fn told(stage: &Stage, what: &str, data: &str, iv: &str) -> Result<Seen, SetupError> {
    let seen = open(stage, data, iv).await?;
    stage.wire().note(Lane::Wire, Lane::Integration, format!("redirect: {what}"));
    stage.note_page(&seen);
    Ok(seen)
}

fn genuine_findings(genuine: &Genuine) -> Vec<Finding> {
    let mut findings: Vec<Finding> = genuine.not_read(&genuine.seen).into_iter().collect();
    if page::says_paid(&genuine.seen) {
        findings.push(fault("redirect-trusted", "the page says paid after the card form, but nothing was charged"));
    }
    findings
}

/// Checks a page's response to unreadable data.
fn unread(seen: &Seen, genuine: &Genuine, what: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if page::says_paid(seen) {
        findings.push(fault("redirect-trusted", format!("{what}: the page says paid")));
    }
    let last = &genuine.card.number[12..];
    let shown = genuine.seen.body.contains(last);
    if seen.status < 400 && shown && seen.body.contains(last) {
        findings
            .push(fault("tampering-unnoticed", format!("{what}: the page shows the card as if nothing had happened")));
    }
    let status = genuine.judged(seen).status;
    if status >= 500 {
        findings.push(doubt("server-error", format!("{what}: the page returns HTTP {status}")));
    }
    findings
}

async fn tampered(stage: &mut Stage, story: Redirect, genuine: &Genuine) -> Result<Vec<Finding>, SetupError> {
    let bytes = STANDARD.decode(&genuine.data).map_err(text)?;
    let mut cases: Vec<(String, String, String)> = Vec::new();
    match story {
        Redirect::BitsFlipped => {
            for block in 0..bytes.len() / 16 {
                let mut altered = bytes.clone();
                altered[block * 16 + usize::try_from(stage.dice.below(16)).unwrap_or(0)] ^= 0x81;
                cases.push((
                    format!("bits flipped in block {}", block + 1),
                    STANDARD.encode(&altered),
                    genuine.iv.clone(),
                ));
            }
        }
        Redirect::Truncated => {
            for end in [bytes.len() - 16, bytes.len() - 1, 16, 1] {
                cases.push((format!("cut to {end} bytes"), STANDARD.encode(&bytes[..end]), genuine.iv.clone()));
            }
        }
        Redirect::Swapped => {
            let other = Card::new(&stage.dice.card_number(), "271");
            let (_, location) = stage.house.session(&other, genuine.encoding)?;
            let query = location.split_once('?').map(|(_, query)| query.to_owned()).unwrap_or_default();
            let iv = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "iv");
            let iv = iv.map(|(_, value)| value.into_owned()).unwrap_or_default();
            cases.push(("data of one session, iv of another".to_owned(), genuine.data.clone(), iv));
        }
        Redirect::WrongKey => {
            let other = SessionCipher::new(stage.dice.letters(32)).map_err(text)?;
            let data = other.encrypt(&genuine.plain, &genuine.iv).map_err(text)?;
            cases.push(("encrypted with another merchant's key".to_owned(), data, genuine.iv.clone()));
        }
        Redirect::Huge => {
            let data = "A".repeat(60_000);
            cases.push(("60,000 characters of data".to_owned(), data, genuine.iv.clone()));
        }
        _ => {
            cases.push(("data and iv empty".to_owned(), String::new(), String::new()));
            cases.push(("no iv".to_owned(), genuine.data.clone(), String::new()));
        }
    }
    let mut findings = Vec::new();
    let mut hidden = None;
    for (what, data, iv) in cases {
        match told(stage, &what, &data, &iv).await {
            Ok(seen) => {
                findings.extend(unread(&seen, genuine, &what));
                hidden = hidden.or_else(|| genuine.not_read(&seen));
            }
            // A server may close the connection when the URL is too long.
            Err(_) if story == Redirect::Huge => {}
            Err(trouble) => return Err(trouble),
        }
    }
    findings.extend(hidden);
    let after = open(stage, &genuine.data, &genuine.iv).await?;
    if genuine.judged(&after).status >= 500 {
        findings.push(fault("page-down", "afterwards the page fails for a genuine redirect as well"));
    }
    Ok(findings)
}

async fn replayed(stage: &Stage, genuine: &Genuine) -> Result<Vec<Finding>, SetupError> {
    let mut hidden = None;
    for _ in 0..2 {
        let seen = told(stage, "the same redirect once more", &genuine.data, &genuine.iv).await?;
        hidden = genuine.not_read(&seen);
    }
    let charges = stage.entries()?.iter().filter(|entry| entry.is_charge()).count();
    Ok(if charges > 1 {
        vec![fault("charged-twice", format!("opening the page again charged again: {charges} charges"))]
    } else {
        hidden.into_iter().collect()
    })
}

/// Sends data in which URL decoding has turned a `+` into a space.
async fn blanks(stage: &mut Stage, genuine: &Genuine) -> Result<Vec<Finding>, SetupError> {
    let mut genuine_data = genuine.data.clone();
    let mut iv = genuine.iv.clone();
    // Repeats until the data contains a plus sign.
    for _ in 0..64 {
        if genuine_data.contains('+') {
            break;
        }
        iv = stage.dice.letters(16);
        genuine_data = cipher(stage)?.encrypt(&genuine.plain, &iv).map_err(text)?;
    }
    let query = format!("formId=card&data={}&iv={iv}", genuine_data.replace('/', "%2F").replace('=', "%3D"));
    let call = Call::raw_page(&stage.address(Job::OpenRedirect), &query);
    let seen = opened(stage, call).await?;
    let status = genuine.judged(&seen).status;
    Ok(if status >= 400 {
        let why = format!("the page returns HTTP {status} when a + of the data arrives as a space");
        vec![fault("blank-for-plus", why)]
    } else {
        genuine.not_read(&seen).into_iter().collect()
    })
}

/// Forged data in the encoding that the page reads.
async fn forged(stage: &Stage, genuine: &Genuine) -> Result<Vec<Finding>, SetupError> {
    let more = [
        ("result", "OK"),
        ("status", "accepted"),
        ("transactionStatusCode", "600"),
        ("transactionStatus", "Transaction approved"),
        ("paid", "true"),
    ];
    let data = cipher(stage)?.encrypt(&with(genuine, &more), &genuine.iv).map_err(text)?;
    let seen = told(stage, "a forgery that says accepted", &data, &genuine.iv).await?;
    let charged = stage.entries()?.iter().any(crate::books::Entry::is_charge);
    Ok(if page::says_paid(&seen) && !charged {
        vec![fault("redirect-trusted", "the page trusts forged data that says accepted, but nothing was charged")]
    } else {
        genuine.not_read(&seen).into_iter().collect()
    })
}

const MARKUP: &str = "\"><script>pgRehearse()</script>";

/// The cardholder's name is free text from the card form.
async fn markup(stage: &Stage, genuine: &Genuine) -> Result<Vec<Finding>, SetupError> {
    let data = cipher(stage)?.encrypt(&with(genuine, &[("cardholderName", MARKUP)]), &genuine.iv).map_err(text)?;
    let seen = told(stage, "a cardholder's name that is markup", &data, &genuine.iv).await?;
    Ok(if seen.is_html() && seen.body.contains("<script>pgRehearse()") {
        vec![fault(
            "markup-not-escaped",
            "customer input becomes part of the page's markup: a script in a name would run",
        )]
    } else {
        genuine.not_read(&seen).into_iter().collect()
    })
}

/// Returns the genuine plaintext with other members.
fn with(genuine: &Genuine, members: &[(&str, &str)]) -> String {
    if let Ok(mut object) = serde_json::from_str::<Map<String, Value>>(&genuine.plain) {
        for (name, value) in members {
            object.insert((*name).to_owned(), (*value).into());
        }
        return Value::from(object).to_string();
    }
    let mut plain = genuine.plain.clone();
    for (name, value) in members {
        let escaped = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        plain = match (plain.find(&open), plain.find(&close)) {
            (Some(start), Some(end)) => format!("{}{open}{escaped}{}", &plain[..start], &plain[end..]),
            _ => {
                let end = plain.rfind("</").unwrap_or(plain.len());
                format!("{}{open}{escaped}{close}{}", &plain[..end], &plain[end..])
            }
        };
    }
    plain
}

async fn error_pages(stage: &Stage, genuine: &Genuine) -> Result<Vec<Finding>, SetupError> {
    let bytes = STANDARD.decode(&genuine.data).map_err(text)?;
    let cut = STANDARD.encode(&bytes[..bytes.len() - 16]);
    let mut findings = Vec::new();
    let mut hidden = None;
    for (what, data, iv) in [("garbage", "%%%", "x"), ("a cut ciphertext", &*cut, &*genuine.iv), ("nothing", "", "")] {
        let seen = told(stage, what, data, iv).await?;
        if let Some(sign) = page::inside(&seen.body) {
            findings.push(fault("inside-shown", format!("for {what} the page shows internals of the shop: “{sign}”")));
        }
        findings.extend(page::secrets(&stage.house.account, &seen, "an error page"));
        hidden = hidden.or_else(|| genuine.not_read(&seen));
    }
    findings.dedup();
    findings.extend(hidden);
    Ok(findings)
}
