//! Converts notes to a dialect.

use pg_proto::model::{
    Dialect, ErrorCode, Remedy, StatusCode,
    dialect::{
        AuthenticationEntry, AuthenticationState, EmptyLookup, ErrorEntry, ReferenceAfterRefusal, Situation,
        StatusEntry,
    },
};

use crate::{
    notes::{Notes, Sighting},
    point::{Point, Seen},
};

/// Situations in which an earlier request may have been executed. After a code that means one of these, or may mean
/// one, clients look the payment up.
const DONE: [&str; 5] = [
    "duplicate-unique-reference",
    "preauth-closed",
    "nothing-to-refund",
    "field-already-set",
    "authentication-already-used",
];

/// Returns the dialect of the observations, without assumptions.
pub(crate) fn written(name: &str, notes: &Notes) -> Dialect {
    let mut dialect = Dialect::documented();
    name.clone_into(&mut dialect.name);
    dialect.session_data = notes.session_data;
    let word = |point: &str| match notes.sighting(point).map(|sighting| &sighting.seen) {
        Some(Seen::Word(word)) => *word,
        _ => "",
    };
    dialect.lookup.nothing = form(word("lookup.nothing"));
    dialect.lookup.no_card = form(word("lookup.no_card"));
    dialect.refused_reference = match word("refused_reference") {
        "free" => Some(ReferenceAfterRefusal::Free),
        "used-up" => Some(ReferenceAfterRefusal::UsedUp),
        _ => None,
    };
    for (point, sighting) in notes.sightings() {
        match &sighting.seen {
            Seen::Status(code) => status(&mut dialect, point, code, sighting),
            Seen::Refused { code, http } if Situation::named(point).is_some() && unwritable(code).is_none() => {
                error(&mut dialect, point, code, *http, sighting);
            }
            _ => {}
        }
    }
    let all_seen = DONE.iter().all(|situation| notes.sighting(situation).is_some());
    for entry in &mut dialect.errors {
        let is_ambiguous = means_more(notes, &entry.code);
        entry.remedy = remedy(entry, all_seen && !is_ambiguous);
    }
    // A dialect file must name the code of a lookup error.
    let has = |situation: &str, dialect: &Dialect| dialect.error_for(situation).is_some();
    if dialect.lookup.nothing == Some(EmptyLookup::Error) && !has("unknown-transaction-key", &dialect) {
        dialect.lookup.nothing = None;
    }
    if dialect.lookup.no_card == Some(EmptyLookup::Error) && !has("unknown-card-key", &dialect) {
        dialect.lookup.no_card = None;
    }
    dialect
}

fn form(word: &str) -> Option<EmptyLookup> {
    match word {
        "empty-list" => Some(EmptyLookup::EmptyList),
        "error" => Some(EmptyLookup::Error),
        "not-found" => Some(EmptyLookup::NotFound),
        _ => None,
    }
}

/// Returns why a dialect file cannot contain a code; `None` if it can.
pub(crate) fn unwritable(code: &str) -> Option<&'static str> {
    if code == ErrorCode::NO_RESPONSE_FROM_BANK.as_str() {
        return Some("the code leaves open whether the bank has charged, and no entry of a dialect changes that");
    }
    let plain = (1..=16).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (!plain).then_some("a dialect can only contain codes of at most 16 ASCII letters and digits")
}

fn status(dialect: &mut Dialect, point: &str, code: &str, sighting: &Sighting) {
    let assumption = Point::named(point).map_or(0, |point| point.assumption);
    let means = match point {
        "authentication.pending" => Some(AuthenticationState::Pending),
        "authentication.not-enrolled" => Some(AuthenticationState::NotEnrolled),
        _ => None,
    };
    let code = StatusCode::from(code.to_owned());
    if unwritable(code.as_str()).is_some() {
        return;
    }
    if let Some(means) = means {
        if dialect.authentication_state(&code).is_none() {
            let mut entry = AuthenticationEntry::new(code, means, assumption);
            entry.message.clone_from(&sighting.message);
            dialect.authentication.push(entry);
        }
    } else if let Some(entry) = dialect.declined.iter_mut().find(|entry| entry.code == code) {
        entry.situations.push(point.to_owned());
    } else {
        let mut entry = StatusEntry::new(code, assumption);
        entry.situations.push(point.to_owned());
        entry.message.clone_from(&sighting.message);
        dialect.declined.push(entry);
    }
}

fn error(dialect: &mut Dialect, situation: &str, code: &str, http: Option<u16>, sighting: &Sighting) {
    let code = ErrorCode::from(code.to_owned());
    if let Some(entry) = dialect.errors.iter_mut().find(|entry| entry.code == code) {
        entry.situations.push(situation.to_owned());
        if entry.http != http {
            entry.http = None;
        }
        return;
    }
    let mut entry = ErrorEntry::new(code, Point::named(situation).map_or(0, |point| point.assumption));
    entry.situations.push(situation.to_owned());
    entry.http = http;
    // The text after a colon is about this request only.
    sighting.message.split(':').next().unwrap_or_default().trim().clone_into(&mut entry.message);
    dialect.errors.push(entry);
}

/// Whether the service also gives the code for a point that is no situation, such as a refund above the amount. It may
/// then mean that an earlier request has used up the amount or the session.
fn means_more(notes: &Notes, code: &ErrorCode) -> bool {
    notes.sightings().any(|(point, sighting)| {
        let is_same = matches!(&sighting.seen, Seen::Refused { code: seen, .. } if seen == code.as_str());
        is_same && Situation::named(point).is_none()
    })
}

/// Returns the safe remedy: "fix the request" only if the code certainly does not mean that an earlier request may have
/// been executed; otherwise a lookup.
fn remedy(entry: &ErrorEntry, is_certain: bool) -> Option<Remedy> {
    let is = |name: &&str| entry.situations.iter().any(|situation| situation == *name);
    let only = |name: &str| entry.situations.iter().all(|situation| situation == name);
    if DONE.iter().any(is) {
        Some(Remedy::LookUp)
    } else if only("rate-limit-exceeded") {
        Some(Remedy::WaitOneMinute)
    } else if entry.code.message().is_some() {
        // The documents define it.
        None
    } else if !is_certain {
        Some(Remedy::LookUp)
    } else if only("authentication-not-finished") {
        Some(Remedy::Retry)
    } else {
        Some(Remedy::FixRequest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Evidence;

    fn notes(sightings: &[(&'static str, &str)]) -> Notes {
        let mut notes = Notes::new(1);
        for (point, code) in sightings {
            let seen = Seen::Refused { code: (*code).to_owned(), http: Some(400) };
            notes.sight(point, seen, &Evidence::default());
        }
        notes
    }

    #[test]
    fn an_unlisted_code_may_mean_a_used_reference_until_all_such_codes_are_listed() {
        let some = written("x", &notes(&[("unknown-card-key", "7")]));
        assert_eq!(some.errors[0].remedy, Some(Remedy::LookUp));
        let every: Vec<(&str, &str)> = DONE.iter().map(|name| (*name, "8")).collect();
        let all = written("x", &notes(&[&every[..], &[("unknown-card-key", "7")]].concat()));
        assert_eq!(all.error(&"7".into()).unwrap().remedy, Some(Remedy::FixRequest));
        assert_eq!(all.error(&"8".into()).unwrap().remedy, Some(Remedy::LookUp));
        let shared = written("x", &notes(&[&every[..], &[("unknown-card-key", "8")]].concat()));
        assert_eq!(shared.errors.len(), 1);
        assert_eq!(shared.errors[0].remedy, Some(Remedy::LookUp));
    }

    #[test]
    fn a_code_of_a_used_session_or_amount_is_looked_up_although_a_situation_has_it_too() {
        let every: Vec<(&str, &str)> = DONE.iter().map(|name| (*name, "8")).collect();
        for point in ["refund.above", "session.payments"] {
            let both = [("unknown-transaction-key", "7"), (point, "7"), ("unknown-card-key", "9")];
            let dialect = written("x", &notes(&[&every[..], &both].concat()));
            assert_eq!(dialect.error(&"7".into()).unwrap().remedy, Some(Remedy::LookUp), "{point}");
            assert_eq!(dialect.error(&"9".into()).unwrap().remedy, Some(Remedy::FixRequest), "{point}");
        }
    }

    /// A malformed body may get 101, and a browser 106. A denied lookup is still no empty one.
    #[test]
    fn a_documented_code_keeps_its_meaning_in_whatever_situation_it_is_seen() {
        let dialect = written("x", &notes(&[("malformed-body", "101"), ("called-by-a-browser", "106")]));
        for code in ["101", "106"] {
            let meaning = |dialect: &Dialect| dialect.error_meaning(3, &code.into(), 403);
            assert_eq!(dialect.error(&code.into()).map(|entry| entry.situations.len()), Some(1), "{code}");
            assert_eq!(meaning(&dialect), meaning(&Dialect::documented()), "{code}");
        }
    }

    #[test]
    fn values_that_a_file_cannot_contain_are_left_out() {
        let dialect = written("x", &notes(&[("unknown-card-key", "1 2"), ("missing-parameter", "119")]));
        assert_eq!(dialect.errors, []);
    }
}
