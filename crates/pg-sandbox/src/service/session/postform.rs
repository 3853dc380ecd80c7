//! `session/postform` (spec 2 §4.2): a browser posts the card form and is redirected, whatever the result, to a page of
//! the merchant.

use bytes::Bytes;
use http::{HeaderValue, Method, Request};
use pg_model::{ApiRequest as _, Encoding, ErrorCode, Parameters, PostForm};

use super::{Context, Refusal, erase};
use crate::{
    assumed, card_numbers,
    form::{self, Form, FormError},
    merchants::Merchant,
    records::Session,
    secret::Secret,
    service::{Basis, Call, Reply, cv2, page_url::PageUrl},
};

mod entered;
mod faults;
mod redirect;
mod required;
mod returned;
mod stored;
mod unreadable;

use crate::codes::SandboxErrorCode;
use redirect::Redirect;

/// Answers the card form. The session key is its only credential. With an unknown key, no merchant's page is known, and
/// the browser gets the sandbox's own page (A79).
pub(in super::super) fn postform(
    context: &mut Context<'_>,
    request: &Request<Bytes>,
    call: Call,
    encoding: Option<Encoding>,
) -> Result<Reply, Refusal> {
    context.basis = Basis::new(PostForm::INFO.source);
    if request.method() != Method::POST {
        return Err(SandboxErrorCode::METHOD_NOT_ALLOWED.into());
    }
    let (form, ambiguous) = call.into_form();
    let location = match find(context, request, &form)? {
        Some((session, merchant)) => {
            let redirect = Redirect::new(merchant, encoding.unwrap_or_default(), &form, request.body());
            let form = form.map_err(Refusal::from).and_then(|form| ambiguous.map_or(Ok(form), Err));
            answered(context, session, &redirect, form, encoding)?
        }
        None => {
            context.basis.assume(assumed::THE_SERVICE_HOSTED_ERROR_PAGE);
            HeaderValue::from_static("/session-error?errorCode=129")
        }
    };
    Ok(Reply::see_other(location))
}

/// Returns the key of the session that an invalid form names, if it can be read.
pub(crate) fn session_in_unreadable(error: &FormError, body: &[u8]) -> Option<String> {
    unreadable::only(error, body, "sessionKey")
}

/// Returns the session that a form names, and the session's account.
fn find<'a>(
    context: &mut Context<'a>,
    request: &Request<Bytes>,
    form: &Result<Form, FormError>,
) -> Result<Option<(Session, &'a Merchant)>, Refusal> {
    let key = match form {
        Ok(form) => form.given("sessionKey").map(str::to_owned),
        Err(error) => session_in_unreadable(error, request.body()),
    };
    let Some(key) = key else { return Ok(None) };
    let session = context.records.get::<Session>(&key)?;
    Ok(session.and_then(|session| {
        let merchant = context.merchant(&session.merchant)?;
        Some((session, merchant))
    }))
}

/// Returns the redirect target: a form that cannot be processed goes to the session's error page, with only an error
/// (spec 2 §2.2).
fn answered(
    context: &mut Context<'_>,
    mut session: Session,
    redirect: &Redirect<'_>,
    form: Result<Form, Refusal>,
    encoding: Option<Encoding>,
) -> Result<HeaderValue, Refusal> {
    let error_page = session.error_page_url.clone();
    let refusal = match process(context, &mut session, redirect, form, encoding) {
        Ok(location) => return Ok(location),
        Err(refusal) => refusal,
    };
    context.records.undo()?;
    context.basis.join(refusal.basis());
    let page = PageUrl::parse(&error_page).ok_or_else(|| Refusal::from(SandboxErrorCode::SANDBOX_FAILURE))?;
    let trace_code = context.trace_code();
    redirect.to(context, &page, &refusal.record(trace_code, &context.settings.spoken()), &[])
}

/// Checks the form in the order of A51 and A80, and stores a valid one.
fn process(
    context: &mut Context<'_>,
    session: &mut Session,
    redirect: &Redirect<'_>,
    form: Result<Form, Refusal>,
    encoding: Option<Encoding>,
) -> Result<HeaderValue, Refusal> {
    let at_its_page = |refusal: Refusal| refusal.assuming(assumed::CODE_OF_A_MISSING_FIELD_IN_POSTFORM);
    encoding
        .ok_or_else(|| Refusal::from(ErrorCode::INVALID_RETURN_TYPE).assuming(assumed::ENCODING_SEGMENT))
        .map_err(at_its_page)?;
    let form = form.map_err(at_its_page)?;
    if session.expired(context.now) {
        erase(context, session)?;
        context.records.keep()?;
        return Err(Refusal::from(ErrorCode::SESSION_EXPIRED).assuming(assumed::EXPIRY_OF_A_SESSION));
    }
    for name in ["nextPageUrl", "currentPageUrl"] {
        form.given(name).and_then(|address| context.page(name, address));
    }
    let (next_page, current_page) = required::pages(&form)?;
    required::card(&form)?;
    let form = PostForm::from_parameters(&masked(context, &form))
        .map_err(|_| Refusal::from(SandboxErrorCode::INVALID_PARAMETER))?;

    let mut faults = faults::of(&form, context.now);
    let next_page = next_page.map_err(|mistake| faults.insert(0, mistake)).ok();
    let collected = stored::collected(session, &form);
    let data = returned::data(context, &form, &collected, &faults);
    let Some(next_page) = next_page.filter(|_| faults.is_empty()) else {
        faults.iter().for_each(|fault| context.basis.join(fault.refusal.basis()));
        return redirect.to(context, &current_page, &data, &collected);
    };
    let location = redirect.to(context, &next_page, &data, &collected)?;
    stored::store(context, session, &form, collected)?;
    let cv2 = form.card_cv2.as_ref().filter(|cv2| !cv2.is_empty()).map(|cv2| Secret::new(cv2.expose()));
    cv2::posted(context, session, cv2)?;
    Ok(location)
}

/// Returns the parameters. Card numbers and CV2s that were entered in other fields are masked (A82).
fn masked(context: &mut Context<'_>, form: &Form) -> Parameters {
    let sent: Vec<(&str, &str)> = form.iter().collect();
    let shown = card_numbers::masked_form(&sent);
    for ((name, value), (_, shown)) in sent.iter().zip(&shown) {
        if value != shown {
            context
                .warn(&format!("{} contains a value like a card number or a CV2, which was masked", form::shown(name)));
        }
    }
    shown.into_iter().collect()
}
