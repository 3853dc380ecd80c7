//! What a valid form leaves in its session (spec 2 §1.1; assumption 84).

use pg_model::{Method as _, ParameterSink, PostForm, field::Field};

use super::{Context, Refusal, entered};
use crate::records::{Details, HeldCard, Session};

/// Texts that belong to the card and are replaced with it.
const OF_THE_CARD: [&str; 2] = ["cardholderName", "cardDescription"];

/// The collected inputs of the session with those of a form: a name keeps its place and gets its
/// newest value.
pub(super) fn collected(session: &Session, form: &PostForm) -> Vec<(String, String)> {
    let mut all = session.collected.clone();
    let number = form.card_number.expose();
    for (name, value) in form.collect.iter() {
        let (name, value) = (entered::without_number(name, number), entered::without_number(value, number));
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, held)) => *held = value,
            None => all.push((name, value)),
        }
    }
    all
}

/// Stores a valid form: its card takes the place of an earlier one, other texts are added to the
/// earlier ones. The CV2 is not among them.
pub(super) fn store(
    context: &mut Context<'_>,
    session: &mut Session,
    form: &PostForm,
    collected: Vec<(String, String)>,
) -> Result<(), Refusal> {
    if session.card.is_some() {
        context.basis.assume(84);
    }
    let number = form.card_number.expose();
    let (month, year) = entered::valid_expiry(form, context.now).unwrap_or_default();
    let card = HeldCard::seal(context.vault, context.keys.dice(), &session.key, number, (&month, &year));
    session.card = Some(card);
    session.collected = collected;
    session.details.retain(|name, _| !OF_THE_CARD.contains(&name.as_str()));
    form.visit(&mut Texts { details: &mut session.details, number });
    context.agenda.note_session(session.expires);
    Ok(context.records.put(session)?)
}

/// Takes the texts of card, customer and addresses out of a form; an empty one removes what was there.
struct Texts<'a> {
    details: &'a mut Details,
    number: &'a str,
}

impl ParameterSink for Texts<'_> {
    fn credentials(&mut self) {}

    fn parameter(&mut self, field: &'static Field, name: &str, value: &str) {
        if field.sensitive || !is_text(field.wire) {
            return;
        }
        if value.is_empty() {
            self.details.remove(name);
        } else {
            self.details.insert(name.to_owned(), entered::without_number(value, self.number));
        }
    }

    fn list(&mut self, _field: &'static Field, _name: &str, _values: &mut dyn Iterator<Item = &str>) {}
}

fn is_text(wire: &str) -> bool {
    OF_THE_CARD.contains(&wire) || wire.starts_with("customer") || wire.starts_with("cardholderAddress")
}
