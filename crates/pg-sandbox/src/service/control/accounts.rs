//! `/_sandbox/accounts`: creates and removes accounts at run time (A335).

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Context, Refusal, coded, error, parsed, shown};
use crate::{
    config_file::{NAME, is_name},
    service::accounts::{self, MOST},
};

/// The maximum lifetime: a year.
const MOST_SECONDS: u64 = 365 * 24 * 60 * 60;
/// The configured account whose settings a new account gets by default.
const USUAL_MODEL: &str = "main";

/// Returns the accounts, the oldest first, without credentials.
pub(super) fn list(context: &mut Context<'_>) -> Result<Answer, Refusal> {
    let mut views = Vec::new();
    for entry in accounts::listed(&mut context.records)? {
        if let Some(account) = accounts::find(context, &entry.name)? {
            views.push(account.view(context.real_now));
        }
    }
    Ok(shown(views.into()))
}

pub(super) fn show(context: &mut Context<'_>, name: &str) -> Result<Answer, Refusal> {
    Ok(match accounts::find(context, name)? {
        Some(account) => shown(account.view(context.real_now)),
        None => missing(context, name),
    })
}

/// Creates an account and shows its credentials, which are not shown again.
pub(super) fn create(context: &mut Context<'_>, request: &Request<Bytes>) -> Result<Answer, Refusal> {
    let asked = match Asked::parse(request.body()) {
        Ok(asked) => asked,
        Err(problem) => return Ok(error(StatusCode::BAD_REQUEST, &problem)),
    };
    let Some(model) = context.merchants().by_name(&asked.like) else {
        let known: Vec<&str> = context.merchants().all().iter().map(|held| &*held.name).collect();
        let problem = format!("like must be the name of a configured account: {}", known.join(", "));
        return Ok(error(StatusCode::BAD_REQUEST, &problem));
    };
    if let Some(name) = &asked.name
        && (context.merchants().by_name(name).is_some() || accounts::find(context, name)?.is_some())
    {
        let problem = format!("there is already an account {name:?}; choose another name, or leave the name out");
        return Ok(coded(StatusCode::CONFLICT, "name-taken", &problem));
    }
    if let Some(name) = &asked.name
        && accounts::reserved(&mut context.records)?.contains(name)
    {
        let problem = format!("{name:?} is the name of a configured account of this store; choose another name");
        return Ok(coded(StatusCode::CONFLICT, "name-taken", &problem));
    }
    if accounts::listed(&mut context.records)?.len() >= MOST {
        return Ok(error(StatusCode::BAD_REQUEST, &format!("there are already {MOST} accounts; remove one first")));
    }
    let expires = asked.ttl.map(|ttl| context.real_now.plus(ttl));
    let account = accounts::create(context, asked.name, model, expires)?;
    let mut view = account.merchant().with_credentials(account.view(context.real_now));
    let base = context.own_address();
    view["enterpriseBaseUrl"] = format!("{base}/enterprise").into();
    view["baseUrl"] = base.into();
    Ok(shown(view))
}

/// Removes an account with all its records.
pub(super) fn remove(context: &mut Context<'_>, name: &str) -> Result<Answer, Refusal> {
    if accounts::find(context, name)?.is_none() {
        return Ok(missing(context, name));
    }
    accounts::remove(context, name)?;
    Ok(shown(json!({ "removed": 1 })))
}

/// Returns the answer to a call about an account that was not created at run time.
pub(super) fn missing(context: &Context<'_>, name: &str) -> Answer {
    let problem = match context.merchants().by_name(name) {
        Some(_) => {
            format!("{name:?} is a configured account; configured accounts share their clock, faults and entries")
        }
        None => {
            let name = pg_model::mask::text(name);
            format!(
                "there is no account {name:?} that was created at run time: it was removed, has expired, or never existed"
            )
        }
    };
    let lists = "`pg sandbox account list` or GET /_sandbox/accounts lists accounts that were created at run time";
    error(StatusCode::NOT_FOUND, &format!("{problem}; {lists}"))
}

struct Asked {
    name: Option<String>,
    like: String,
    ttl: Option<Duration>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Body {
    name: Option<String>,
    like: Option<String>,
    ttl_seconds: Option<Value>,
}

impl Asked {
    fn parse(body: &[u8]) -> Result<Self, String> {
        const EXAMPLE: &str = r#"the body must be a JSON object such as {"name": "ci-17", "ttlSeconds": 3600, "like": "main"}; each member may be left out"#;
        let Body { name, like, ttl_seconds } = match body {
            b"" => Body::default(),
            body => parsed(body, EXAMPLE)?,
        };
        if name.as_deref().is_some_and(|name| !is_name(name)) {
            return Err(format!("name {NAME}"));
        }
        let ttl = ttl_seconds.map(|given| {
            let seconds = given.as_u64().filter(|seconds| (1..=MOST_SECONDS).contains(seconds));
            seconds.ok_or_else(|| format!("ttlSeconds must be a whole number from 1 to {MOST_SECONDS}, a year"))
        });
        let ttl = ttl.transpose()?.map(Duration::from_secs);
        Ok(Self { name, like: like.unwrap_or_else(|| USUAL_MODEL.to_owned()), ttl })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_accounts_are_named() {
        for (body, problem) in [
            ("x", "JSON object"),
            ("[]", "JSON object"),
            (r#"{"names":"x"}"#, "JSON object"),
            (r#"{"name":7}"#, "JSON object"),
            (r#"{"name":""}"#, "name must be 1 to 32"),
            (r#"{"name":"CI 1"}"#, "name must be 1 to 32"),
            (r#"{"ttlSeconds":0}"#, "ttlSeconds must be"),
            (r#"{"ttlSeconds":-1}"#, "ttlSeconds must be"),
            (r#"{"ttlSeconds":1.5}"#, "ttlSeconds must be"),
            (r#"{"ttlSeconds":"1h"}"#, "ttlSeconds must be"),
            (r#"{"ttlSeconds":31536001}"#, "ttlSeconds must be"),
        ] {
            let found = Asked::parse(body.as_bytes()).err().unwrap();
            assert!(found.contains(problem), "{body}: {found}");
        }
        assert!(Asked::parse(b"").is_ok_and(|asked| asked.like == "main" && asked.ttl.is_none()));
    }
}
