//! Outgoing callbacks: journaled with the request that causes them, returned when they are due, and
//! updated with their results. Only finished batches and hosted payments cause one (A138).

use std::time::Duration;

use http::StatusCode;

use super::{Context, Refusal};
use crate::{
    assumed,
    outgoing::{BadTarget, Outgoing, Target},
    records::{
        Callback, CallbackBehaviour, CallbackBody, CallbackDestination, CallbackKind, CallbackStatus, Meta,
        Misbehaviour,
    },
    store::StoreError,
    timestamp::Timestamp,
};

/// How long a process that shares the store has to send a callback. Afterwards another process sends it. Longer than an
/// attempt may take.
pub(crate) const CLAIM: Duration = Duration::from_secs(60);

/// A new callback.
pub(crate) struct NewCallback<'a> {
    /// The merchant's name.
    pub(crate) merchant: &'a str,
    /// Its kind.
    pub(crate) kind: CallbackKind,
    /// The key of its batch or transaction.
    pub(crate) about: &'a str,
    /// Its URL, accepted by [`check`].
    pub(crate) url: &'a str,
    /// The content type of the body.
    pub(crate) content_type: &'static str,
    /// The body, which contains no card number.
    pub(crate) body: String,
}

/// Refuses a URL that is not allowed for callbacks of this kind: error 184 (A18 and A77).
pub(crate) fn check(context: &mut Context<'_>, kind: CallbackKind, url: &str) -> Result<(), Refusal> {
    match Target::parse(url, kind, &context.settings.outgoing) {
        Ok(target) => {
            if kind == CallbackKind::Checkout && !target.has_web_port() {
                context.basis.assume(assumed::PORTS_OF_THE_VERSION_5_CALLBACK);
            }
            Ok(())
        }
        Err(reason) => {
            let refusal = Refusal::from(pg_model::ErrorCode::INVALID_CALLBACK_URL).about(&reason.to_string());
            Err(refusal.assuming(assumed::ERROR_CODES_OF_SINGLE_PARAMETERS).assuming(match reason {
                BadTarget::Port => assumed::PORTS_OF_THE_VERSION_5_CALLBACK,
                _ => assumed::WHICH_CALLBACK_ADDRESSES_ARE_ACCEPTED,
            }))
        }
    }
}

/// Schedules a callback at `now`. Unless the behaviour of callbacks was changed, it is sent when the request that
/// causes it is durable. It is sent again only if it is not acknowledged and retries are configured (A345). A
/// registered destination receives it in place of the URL in the request (A346).
pub(crate) fn enqueue(context: &mut Context<'_>, new: NewCallback<'_>, now: Timestamp) -> Result<(), StoreError> {
    let misbehaviour = next_misbehaviour(context)?;
    let destination = destination(context, new.merchant, new.kind)?;
    let retries = destination.as_ref().map_or(context.settings.callback_retries, |found| found.retries);
    let (url, requested_url) = match destination {
        Some(found) if found.url != new.url => (found.url, Some(new.url.to_owned())),
        _ => (new.url.to_owned(), None),
    };
    let key = context.keys.record(now);
    let mut callback = Callback {
        merchant: new.merchant.to_owned(),
        kind: new.kind,
        about: new.about.to_owned(),
        url,
        requested_url,
        content_type: new.content_type.to_owned(),
        body_bytes: u64::try_from(new.body.len()).unwrap_or(u64::MAX),
        status: CallbackStatus::Pending,
        due: misbehaviour.map_or(now, |told| now.plus(told.delay())),
        deliveries_left: misbehaviour.map_or(1, Misbehaviour::deliveries),
        retries_left: retries.min(Callback::MOST_RETRIES),
        attempts: 0,
        last: None,
        claimed_until: None,
        created: now,
        own_clock: context.account.is_some(),
        key: key.clone(),
    };
    if callback.deliveries_left == 0 {
        callback.give_up(now, "the callback was set to fail, and was not sent");
    } else {
        context.schedule.note_callback(callback.due);
    }
    context.records.put(&CallbackBody { key, merchant: new.merchant.to_owned(), text: new.body })?;
    context.records.put(&callback)
}

/// Returns the due callbacks, up to the limit of callbacks in flight. The caller must mark them as departed when the
/// transaction is durable.
pub(crate) fn hand_out(context: &mut Context<'_>) -> Result<Vec<Outgoing>, StoreError> {
    let mut outgoing: Vec<Outgoing> = Vec::new();
    let now = context.now;
    let mut left = Vec::new();
    for callback in waiting(context, now)? {
        if outgoing.len() == context.schedule.room() {
            break;
        }
        match ready(context, &callback)? {
            Ok(one) => {
                if context.is_shared {
                    let claimed_until = Some(context.real_now.plus(CLAIM));
                    context.records.put(&Callback { claimed_until, ..callback })?;
                }
                outgoing.push(one);
            }
            // Another process may have been started with other flags.
            Err(_) if context.is_shared && now < callback.due.plus(CLAIM) => left.push(callback.key),
            Err(reason) => {
                let mut callback = callback;
                callback.give_up(context.now, &reason);
                context.records.put(&callback)?;
            }
        }
    }
    let others = waiting(context, Timestamp::MAX)?;
    let is_handled = |key: &String| left.contains(key) || outgoing.iter().any(|one| one.id == *key);
    let next = others.iter().find(|callback| !is_handled(&callback.key));
    context.schedule.next_callback_is(next.map(|callback| callback.due));
    Ok(outgoing)
}

/// Lets the callbacks that were due be due at the time to which the clock is set back, too.
pub(super) fn turn_back(context: &mut Context<'_>, now: Timestamp) -> Result<(), StoreError> {
    for callback in context.find_due::<Callback>(u32::MAX, Callback::DUE, context.now)? {
        if now < callback.due {
            context.schedule.note_callback(now);
            context.records.put(&Callback { due: now, ..callback })?;
        }
    }
    Ok(())
}

/// Returns pending callbacks that are due by then and not in flight, the earliest first; if there are enough, at least
/// one more than there is room for.
fn waiting(context: &mut Context<'_>, by: Timestamp) -> Result<Vec<Callback>, StoreError> {
    let limit = u32::try_from(crate::schedule::IN_FLIGHT + 1).unwrap_or(u32::MAX);
    let mut found = context.find_due::<Callback>(limit, Callback::DUE, by)?;
    let real_now = context.real_now;
    found.retain(|callback| !context.schedule.is_in_flight(&callback.key) && !callback.is_claimed(real_now));
    Ok(found)
}

/// Returns the request that delivers a callback, or why it cannot be sent.
fn ready(context: &mut Context<'_>, callback: &Callback) -> Result<Result<Outgoing, String>, StoreError> {
    let Some(body) = context.records.get::<CallbackBody>(&callback.key)? else {
        return Ok(Err("the callback's body is lost".to_owned()));
    };
    let outgoing = Outgoing::of(callback, body.text, &context.settings.outgoing);
    Ok(outgoing.map_err(|reason| format!("the URL is not allowed for callbacks: {reason}")))
}

/// Records the result of a callback that is in flight.
pub(crate) fn mark(context: &mut Context<'_>, id: &str, result: Result<StatusCode, String>) -> Result<(), StoreError> {
    // Another claim: the result was recorded by a commit that seemed to fail, or another process sends the callback.
    let claim = context.schedule.claim(id);
    if let Some(mut callback) = context.records.get::<Callback>(id)?.filter(|found| found.claimed_until == claim) {
        callback.attempted(context.now, result);
        if callback.status == CallbackStatus::Pending {
            context.schedule.note_callback(callback.due);
        }
        context.records.put(&callback)?;
    }
    Ok(())
}

/// Sends a callback again. A scheduled callback is sent now; a callback that is in flight or was sent is sent once more,
/// even if another process sends it. Returns `None` if the request's clock has no such callback.
pub(crate) fn redeliver(context: &mut Context<'_>, id: &str) -> Result<Option<Callback>, StoreError> {
    let Some(mut callback) = context.records.get::<Callback>(id)? else { return Ok(None) };
    if callback.own_clock != context.account.is_some()
        || context.account.is_some_and(|own| own.account.name != callback.merchant)
    {
        return Ok(None);
    }
    let is_in_flight = context.schedule.is_in_flight(id) || callback.is_claimed(context.real_now);
    if callback.status != CallbackStatus::Pending || is_in_flight {
        callback.deliveries_left += 1;
    }
    callback.status = CallbackStatus::Pending;
    callback.due = context.now;
    context.schedule.note_callback(callback.due);
    context.records.put(&callback)?;
    Ok(Some(callback))
}

/// Returns the settings for the next callbacks.
pub(crate) fn behaviour(context: &mut Context<'_>) -> Result<Vec<CallbackBehaviour>, StoreError> {
    let known = context.records.get::<Meta>(&context.meta_key(Meta::CALLBACK_BEHAVIOUR))?;
    known.map_or(Ok(Vec::new()), |meta| meta.read())
}

/// Changes the settings for the next callbacks; an empty list restores the default.
pub(crate) fn set_behaviour(context: &mut Context<'_>, list: &[CallbackBehaviour]) -> Result<(), StoreError> {
    context.put_meta(Meta::callback_behaviour(&context.meta_key(Meta::CALLBACK_BEHAVIOUR), list))
}

fn next_misbehaviour(context: &mut Context<'_>) -> Result<Option<Misbehaviour>, StoreError> {
    let mut list = behaviour(context)?;
    let Some(first) = list.first_mut() else { return Ok(None) };
    let misbehaviour = first.misbehaviour;
    first.times = first.times.saturating_sub(1);
    list.retain(|behaviour| behaviour.times > 0);
    set_behaviour(context, &list)?;
    Ok(Some(misbehaviour))
}

/// Returns the registered destinations.
pub(crate) fn destinations(context: &mut Context<'_>) -> Result<Vec<CallbackDestination>, StoreError> {
    let known = context.records.get::<Meta>(&context.meta_key(Meta::CALLBACK_DESTINATIONS))?;
    known.map_or(Ok(Vec::new()), |meta| meta.read())
}

/// Changes the registered destinations.
pub(crate) fn set_destinations(context: &mut Context<'_>, list: &[CallbackDestination]) -> Result<(), StoreError> {
    context.put_meta(Meta::callback_destinations(&context.meta_key(Meta::CALLBACK_DESTINATIONS), list))
}

/// Returns the destination of an account's callbacks of a kind, if one is registered.
pub(crate) fn destination(
    context: &mut Context<'_>,
    merchant: &str,
    kind: CallbackKind,
) -> Result<Option<CallbackDestination>, StoreError> {
    let all = destinations(context)?;
    Ok(all.into_iter().find(|one| one.merchant == merchant && one.kind == kind))
}
