//! `/_sandbox/cards/updater`: the account updater's answer for a card. Card numbers are in bodies, since paths are
//! logged.

use bytes::Bytes;
use http::{Request, StatusCode};
use pg_model::CardRetrievalCode;
use serde::Deserialize;
use serde_json::Value;

use super::{Answer, Context, Refusal, error, not_here, parsed, shown};
use crate::{
    cards,
    records::{CardToken, UpdaterAnswer},
    secret::Secret,
    store::{Query, StoredRecord as _},
};

pub(super) fn list(context: &mut Context<'_>) -> Result<Answer, Refusal> {
    let answers = all(context)?;
    let mut views: Vec<Value> = answers.iter().map(UpdaterAnswer::view).collect();
    // The keys have no meaningful order.
    views.sort_by_key(ToString::to_string);
    Ok(shown(views.into()))
}

/// Returns the answers of the sandbox, or of the account created at run time.
fn all(context: &mut Context<'_>) -> Result<Vec<UpdaterAnswer>, Refusal> {
    Ok(context.records.find(&Query::oldest(u32::MAX).of(context.own_name()))?)
}

pub(super) fn forget(context: &mut Context<'_>) -> Result<Answer, Refusal> {
    for answer in all(context)? {
        context.records.remove::<UpdaterAnswer>(answer.key())?;
    }
    list(context)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Asked {
    card_number: Option<String>,
    card_key: Option<String>,
    response: String,
}

pub(super) fn tell(context: &mut Context<'_>, request: &Request<Bytes>) -> Result<Answer, Refusal> {
    const EXAMPLE: &str = r#"the body must be a JSON object such as {"cardKey": "…", "response": "705"}"#;
    let asked: Asked = match parsed(request.body(), EXAMPLE) {
        Ok(asked) => asked,
        Err(problem) => return Ok(error(StatusCode::BAD_REQUEST, &problem)),
    };
    let number = match (asked.card_number.map(Secret::new), asked.card_key) {
        (Some(number), None) if cards::luhn_valid(number.expose()) && (12..=19).contains(&number.expose().len()) => {
            number
        }
        (Some(_), None) => return Ok(error(StatusCode::BAD_REQUEST, "cardNumber must be a valid card number")),
        (None, Some(key)) => {
            match context.records.get::<CardToken>(&key)?.filter(|token| context.concerns(&token.merchant)) {
                Some(token) => token.card.number(context.vault, &token.key)?,
                None => return Ok(not_here("there is no token with this cardKey; a token")),
            }
        }
        _ => return Ok(error(StatusCode::BAD_REQUEST, "give either cardNumber or cardKey")),
    };
    if CardRetrievalCode::from(asked.response.as_str()).message().is_none() {
        return Ok(error(StatusCode::BAD_REQUEST, "response must be a code from 700 to 712"));
    }
    let answer = UpdaterAnswer::new(context.vault, context.own_name(), number.expose(), &asked.response);
    context.records.put(&answer)?;
    Ok(shown(answer.view()))
}
