//! The data of a valid form that its session stores (spec 2 §1.1; A84).

use pg_model::{ApiRequest as _, ParameterSink, PostForm, field::Field};

use super::{Context, Refusal, entered};
use crate::{
    assumed,
    card_numbers::{self, Search},
    records::{Details, HeldCard, Session},
};

/// Texts of the card, which are replaced together with the card.
const OF_THE_CARD: [&str; 2] = ["cardholderName", "cardDescription"];

/// Returns the collected inputs of the session with those of a form. A name keeps its place and gets its newest value.
pub(super) fn collected(session: &Session, form: &PostForm) -> Vec<(String, String)> {
    let number = card_numbers::digits(form.card_number.expose());
    // An earlier post may contain the number in an input that was unknown then.
    let shown = |text: &str| card_numbers::masked(text, Some(&number), Search::Entered).into_owned();
    let mut all: Vec<_> = session.collected.iter().map(|(name, value)| (shown(name), shown(value))).collect();
    for (name, value) in form.collect.iter() {
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, held)) => value.clone_into(held),
            None => all.push((name.to_owned(), value.to_owned())),
        }
    }
    all
}

/// Stores a valid form. Its card replaces an earlier card, and other texts are added to earlier texts. The CV2 is not
/// stored.
pub(super) fn store(
    context: &mut Context<'_>,
    session: &mut Session,
    form: &PostForm,
    collected: Vec<(String, String)>,
) -> Result<(), Refusal> {
    if session.card.is_some() {
        context.basis.assume(assumed::POSTING_SEVERAL_TIMES);
    }
    let number = form.card_number.expose();
    let (month, year) = entered::valid_expiry(form, context.now).unwrap_or_default();
    let card = HeldCard::seal(context.vault, context.keys.dice(), &session.key, number, (&month, &year));
    session.card = Some(card);
    session.collected = collected;
    session.details.retain(|name, _| !OF_THE_CARD.contains(&name.as_str()));
    form.visit(&mut Texts(&mut session.details));
    context.schedule.note_session(session.expires);
    Ok(context.records.put(session)?)
}

/// Stores the texts of card, customer and addresses from a form; an empty text removes the stored one.
struct Texts<'a>(&'a mut Details);

impl ParameterSink for Texts<'_> {
    fn credentials(&mut self) {}

    fn parameter(&mut self, field: &'static Field, name: &str, value: &str) {
        if field.sensitive || !is_text(field.wire) {
            return;
        }
        if value.is_empty() {
            self.0.remove(name);
        } else {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }

    fn list(&mut self, _field: &'static Field, _name: &str, _values: &mut dyn Iterator<Item = &str>) {}
}

fn is_text(wire: &str) -> bool {
    OF_THE_CARD.contains(&wire) || wire.starts_with("customer") || wire.starts_with("cardholderAddress")
}
