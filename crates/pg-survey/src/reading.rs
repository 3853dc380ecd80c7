//! Decides points by the reply to a probe.

use pg_proto::{
    Account,
    model::{
        AuthenticationStatus, CardKeyDetails, ErrorCode, Session, StatusCode, ThreeDSecureInitiation, Transaction,
        Transactions, mask,
    },
};

use crate::{
    answer::Answer,
    answer::Evidence,
    cards::Role,
    confirmation,
    notes::Notes,
    point::{self, Seen},
    probe::{Cost, Probe, Reads, Request, What},
    probes::NEXT_PAGE,
    session_data,
};

/// Reads the reply to a probe.
pub(crate) fn read(probe: &Probe, answer: &Answer, account: &Account, notes: &mut Notes) {
    if answer.is_foreign() && probe.request.info().is_some() {
        return failed(probe, &format!("not a reply of the service: {}", answer.head()), notes);
    }
    // A later request may succeed, and clients look up what such a reply leaves open, whatever its code (A132).
    if answer.http >= 500 {
        return failed(probe, &format!("the service failed: {}", answer.seen()), notes);
    }
    let evidence = Evidence::of(probe, answer);
    if probe.cost == Cost::Payment && !matches!(probe.reads, Reads::Decline(_)) {
        notes.ordinary(&mask::text(status_code(answer).as_str()));
    }
    match probe.reads {
        Reads::Made(what, name) => made(probe, what, name, answer, notes),
        Reads::Ignored => {}
        Reads::Situation("authentication-not-finished") => unfinished(answer, &evidence, notes),
        Reads::Situation(situation) => refusal(&[situation], answer, &evidence, notes),
        Reads::UsedReference(payment) => used_reference(payment, answer, &evidence, notes),
        Reads::UnlessAs(situation, other) => {
            let is_same = notes.is_same(other, answer);
            if is_same && names_no_record(answer) {
                notes.undecided(&[situation], &documented(answer));
            } else if !answer.is_success() && !notes.is_answered(other) {
                let why = format!("there is no reply to compare with the one that was {}", answer.seen());
                notes.undecided(&[situation], &why);
            } else {
                notes.sight(situation, if is_same { Seen::Accepted } else { answer.seen() }, &evidence);
            }
        }
        Reads::Nothing { point, code_of } => nothing(point, code_of, answer, &evidence, notes),
        Reads::SessionData => decrypted(account, answer, &evidence, notes),
        Reads::CardTaken(session) => {
            if !answer.location.as_deref().is_some_and(|page| page.starts_with(NEXT_PAGE)) {
                let why = format!("the card form returned {}", form_errors(account, answer));
                notes.lacks(session, format!("the service refused the test card: {why}"));
                if let Request::Form(_, Some(card)) = probe.request {
                    notes.unusable(card, &why);
                }
            }
        }
        Reads::Decline(_) | Reads::Authentication(..) => status(probe, answer, &evidence, notes),
        Reads::ReferenceAfterRefusal => refused_reference(answer, &evidence, notes),
        Reads::DeclineLater(point) => confirmation::decline(point, answer, notes),
        Reads::PaymentLater => confirmation::lookups(answer, notes),
        Reads::Again => again(answer, &evidence, notes),
        Reads::Captures => captures(answer, &evidence, notes),
        Reads::Immediate => {
            let found = answer.record::<Transactions>().is_some_and(|found| !found.transactions.is_empty());
            let why = if found {
                "one payment was found at once, which does not prove that every payment is"
            } else {
                "a payment was not found at once: immediate = false"
            };
            notes.undecided(&["lookup.immediate"], why);
        }
    }
    if let Some(point) = probe.confirms {
        // The documents define no code for an unfinished authentication.
        let is_refused = !answer.code.is_empty() && !answer.is_documented();
        let is_shown = if point == "authentication.pending" { is_refused } else { is_approved(answer) };
        confirmation::authentication(point, is_shown, notes);
    }
    notes.answered(probe.name, answer);
}

/// Notes why a probe without a usable reply decides nothing, and why later probes that need its result are not sent.
pub(crate) fn failed(probe: &Probe, why: &str, notes: &mut Notes) {
    notes.undecided(&probe.decides(), why);
    if let Some(name) = probe.makes() {
        notes.lacks(name, why);
    }
}

/// Returns the errors of a card form, or the status of the reply if it has none that can be read.
fn form_errors(account: &Account, answer: &Answer) -> String {
    let content = answer.location.as_deref().and_then(|address| session_data::of(account, address).ok());
    let errors = content.map(|(_, content)| answer.masked(&session_data::errors(&content))).unwrap_or_default();
    if errors.is_empty() { answer.seen().to_string() } else { errors }
}

/// Returns the status of a transaction; empty if the reply is not one.
fn status_code(answer: &Answer) -> StatusCode {
    answer.record::<Transaction>().unwrap_or_default().transaction_status_code
}

fn is_approved(answer: &Answer) -> bool {
    status_code(answer) == StatusCode::APPROVED
}

/// Documented codes that are about the account, the whole request or a parameter that each probe sends as it should.
const OF_ANOTHER_KIND: [ErrorCode; 6] = [
    ErrorCode::ENTERPRISE_NO_DATA_SENT,
    ErrorCode::NO_DATA_SENT,
    ErrorCode::INVALID_FUNCTION_CALL,
    ErrorCode::INVALID_RETURN_TYPE,
    ErrorCode::PERMISSION_DENIED,
    ErrorCode::CURRENCY_NOT_SUPPLIED,
];

/// Whether the documents define the code, and not as one about a reference, so that it does not refuse an unknown record.
fn names_no_record(answer: &Answer) -> bool {
    answer.is_documented() && answer.code != ErrorCode::INVALID_MERCHANT_REFERENCE.as_str()
}

fn documented(answer: &Answer) -> String {
    format!("the documents define error {}, which says nothing about the record", answer.code)
}

/// Reads the refusal of a request. A status other than approved is neither a refusal nor an acceptance.
fn refusal(points: &[&'static str], answer: &Answer, evidence: &Evidence, notes: &mut Notes) {
    let status = status_code(answer);
    if OF_ANOTHER_KIND.iter().any(|code| code.as_str() == answer.code) {
        notes.undecided(points, &documented(answer));
    } else if status.is_empty() || status == StatusCode::APPROVED {
        points.iter().for_each(|point| notes.sight(point, answer.seen(), evidence));
    } else {
        notes.undecided(points, &other_status(answer, &status));
    }
}

fn other_status(answer: &Answer, status: &StatusCode) -> String {
    let status = mask::text(status.as_str());
    if answer.code.is_empty() {
        return format!("the reply had the status {status:?}");
    }
    format!("the reply was {}, status {status:?}", answer.seen())
}

/// Reads the reply to a payment with an authentication that is not finished. If it was approved, the card may have needed no challenge.
fn unfinished(answer: &Answer, evidence: &Evidence, notes: &mut Notes) {
    const POINT: &[&str] = &["authentication-not-finished"];
    if is_approved(answer) {
        let why = "the payment was approved before the end of a challenge: the card needs no challenge, or the service checks no \
                   authentication";
        notes.unusable(Role::Challenge, why);
        return notes.undecided(POINT, why);
    }
    refusal(POINT, answer, evidence, notes);
}

/// Returns why the reply to a second payment under a reference would decide nothing. Then it is not sent: the first one may
/// have no reply, and such a payment is not sent again.
pub(crate) fn cannot_decide(probe: &Probe, notes: &Notes) -> Option<&'static str> {
    match probe.reads {
        Reads::UsedReference(payment) if !notes.succeeded(payment) => {
            Some("the payment with that reference was refused or has no reply")
        }
        Reads::ReferenceAfterRefusal if !was_refused(notes) => {
            Some("the first payment with that reference was not refused")
        }
        _ => None,
    }
}

fn was_refused(notes: &Notes) -> bool {
    matches!(notes.sighting("session-has-no-card"), Some(first) if matches!(first.seen, Seen::Refused { .. }))
}

/// Reads the reply to a second payment under a reference: a refusal, the earlier transaction, or a second charge.
fn used_reference(payment: &'static str, answer: &Answer, evidence: &Evidence, notes: &mut Notes) {
    const POINT: &[&str] = &["duplicate-unique-reference"];
    let made = answer.record::<Transaction>().unwrap_or_default();
    let key = made.transaction_key.to_string();
    match notes.text(payment) {
        _ if !is_approved(answer) => refusal(POINT, answer, evidence, notes),
        Ok(first) if first == key => notes.sight(POINT[0], point::EARLIER_TRANSACTION, evidence),
        Ok(_) if !key.is_empty() => notes.sight(POINT[0], point::CHARGED_AGAIN, evidence),
        _ => notes.undecided(
            POINT,
            "the service approved a second payment with that reference, without the transactionKey of both payments, which \
             would show whether it charged again",
        ),
    }
}

fn again(answer: &Answer, evidence: &Evidence, notes: &mut Notes) {
    if is_approved(answer) {
        return notes.sight("session.payments", Seen::Word("more than once"), evidence);
    }
    refusal(&["session.payments"], answer, evidence, notes);
    if !answer.code.is_empty() && notes.is_same("duplicate-unique-reference", answer) {
        let why = "a payment with a new reference got the same reply";
        notes.retract("duplicate-unique-reference", why);
        notes.retract("refused_reference", why);
    }
}

/// Notes a card that is not of its role, if a request that should have made something shows that.
fn unusable(name: &str, got: &str, answer: &Answer, notes: &mut Notes) {
    let is_of_card = !OF_ANOTHER_KIND.iter().any(|code| code.as_str() == answer.code);
    match name {
        "payment" if is_of_card => notes.unusable(Role::Approved, &format!("no payment was approved: {got}")),
        "pending" if answer.is_success() => {
            notes.unusable(Role::Challenge, &format!("no authentication with a challenge page began: {got}"));
        }
        // The page was opened, so an authentication without a challenge is finished.
        "authenticated"
            if is_of_card && (answer.is_success() || !answer.code.is_empty()) && notes.is_opened("visit") =>
        {
            let why = "no payment was approved after its challenge page was opened: the card needs a challenge, or the page \
                       needs a browser";
            notes.unusable(Role::NotEnrolled, &format!("{why}: {got}"));
        }
        _ => {}
    }
}

fn made(probe: &Probe, what: What, name: &'static str, answer: &Answer, notes: &mut Notes) {
    let text = match what {
        What::Session => answer.record::<Session>().map(|session| session.session_key.to_string()),
        What::Transaction if !is_approved(answer) => None,
        What::Transaction => answer.record::<Transaction>().map(|paid| paid.transaction_key.to_string()),
        What::Card => answer
            .record::<CardKeyDetails>()
            .and_then(|cards| cards.card_key_details.first().map(|card| card.card_key.to_string())),
        What::Authentication => answer.record::<ThreeDSecureInitiation>().map(|begun| {
            notes.note(&format!("challenge page of {name}"), begun.authentication_url.as_str());
            let has_challenge = name != "pending" || !begun.authentication_url.is_empty();
            if has_challenge { begun.authentication_key.to_string() } else { String::new() }
        }),
        What::Nothing => answer.is_success().then(|| "done".to_owned()),
    };
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        return notes.note(name, text);
    }
    let status = status_code(answer);
    let got =
        if status.is_empty() { format!("the reply was {}", answer.seen()) } else { other_status(answer, &status) };
    notes.lacks(name, format!("an earlier request failed ({}): {got}", probe.what));
    unusable(name, &got, answer, notes);
}

/// Reads an empty lookup. HTTP 404 is a separate form, unless the service gives every such refusal this status.
fn nothing(point: &'static str, code_of: &'static str, answer: &Answer, evidence: &Evidence, notes: &mut Notes) {
    use pg_proto::model::dialect::EmptyLookup::{EmptyList, Error, NotFound};

    if names_no_record(answer) {
        notes.undecided(&[point], &documented(answer));
        return;
    }
    let same = notes.is_same(code_of, answer);
    let form = match answer.http {
        _ if answer.is_success() => EmptyList,
        404 if answer.code.is_empty() || !same => NotFound,
        _ if !answer.code.is_empty() => Error,
        _ => {
            notes.undecided(&[point], "the reply was neither a list nor a readable error");
            return;
        }
    };
    let found = answer.record::<Transactions>().map_or(0, |found| found.transactions.len())
        + answer.record::<CardKeyDetails>().map_or(0, |found| found.card_key_details.len());
    if found > 0 {
        notes.undecided(&[point], "the lookup found something that does not exist");
        return;
    }
    let word = Seen::Word(point::nothing(form));
    // Clients take this reply for proof that there is no payment. The service may give it to every lookup of the account.
    let is_confirmed_later = point == confirmation::NOTHING && form != EmptyList;
    if is_confirmed_later {
        notes.undecided(
            &[point],
            "needs payments: only a lookup that finds a payment shows that not every lookup is refused",
        );
        notes.suspect(point, word, evidence);
    } else {
        notes.sight(point, word, evidence);
    }
    // Clients recognise the form by its code, so a dialect must name this code.
    if form == Error && !same {
        if is_confirmed_later {
            notes.suspect(code_of, answer.seen(), evidence);
        } else {
            notes.sight(code_of, answer.seen(), evidence);
        }
    }
}

fn decrypted(account: &Account, answer: &Answer, evidence: &Evidence, notes: &mut Notes) {
    const POINTS: &[&str] = &["session_data.key", "session_data.iv", "session_data.padding", "session_data.text"];
    let address = answer.location.as_deref().ok_or_else(|| "the card form did not redirect".to_owned());
    let form = match address.and_then(|address| session_data::of(account, address)) {
        Ok((form, _)) => form,
        Err(why) => return notes.undecided(POINTS, &why),
    };
    notes.session_data = form;
    let words = [
        ("session_data.key", form.key.map(point::key)),
        ("session_data.iv", form.iv.map(point::iv)),
        ("session_data.padding", form.padding.map(point::padding)),
        ("session_data.text", form.text.map(point::text)),
    ];
    for (name, word) in words {
        match word {
            Some(word) => notes.sight(name, Seen::Word(word), evidence),
            None => {
                notes.undecided(&[name], "the data has none of the known forms, or does not show which form it has")
            }
        }
    }
}

/// Notes an undocumented status of a payment or an authentication, which a later request must confirm.
fn status(probe: &Probe, answer: &Answer, evidence: &Evidence, notes: &mut Notes) {
    let (code, text) = match answer.record::<AuthenticationStatus>() {
        Some(said) if matches!(probe.reads, Reads::Authentication(..)) => {
            (said.transaction_status_code, said.transaction_status)
        }
        _ => {
            let said = answer.record::<Transaction>().unwrap_or_default();
            (said.transaction_status_code, said.transaction_status)
        }
    };
    if let (Reads::Decline(point), true) = (probe.reads, is_approved(answer))
        && let Some(card) = Role::named(point)
    {
        notes.unusable(card, "its payment was approved");
    }
    if code.is_empty() || code.message().is_some() {
        return notes.undecided(&probe.decides(), &other_status(answer, &code));
    }
    let evidence = Evidence { excerpt: answer.masked(&text), ..evidence.clone() };
    let seen = Seen::Status(mask::text(code.as_str()));
    if matches!(probe.reads, Reads::Authentication(..)) && confirmation::is_of_both(&seen, notes) {
        return;
    }
    for point in probe.decides() {
        notes.suspect(point, seen.clone(), &evidence);
    }
}

fn refused_reference(answer: &Answer, evidence: &Evidence, notes: &mut Notes) {
    use pg_proto::model::dialect::ReferenceAfterRefusal::{Free, UsedUp};

    let is_used =
        notes.sighting("duplicate-unique-reference").is_some() && notes.is_same("duplicate-unique-reference", answer);
    let refused = if is_approved(answer) {
        Free
    } else if !answer.code.is_empty() && is_used {
        UsedUp
    } else {
        let why = format!(
            "the reply was {}, which is neither an approval nor the refusal of a used \
            reference",
            answer.seen()
        );
        return notes.undecided(&["refused_reference"], &why);
    };
    notes.sight("refused_reference", Seen::Word(point::reference(refused)), evidence);
}

fn captures(answer: &Answer, evidence: &Evidence, notes: &mut Notes) {
    if is_approved(answer) {
        notes.sight("preauth.captures", Seen::Word("in parts"), evidence);
        return;
    }
    refusal(&["preauth.captures", "preauth-closed"], answer, evidence, notes);
    if notes.sighting("preauth.captures").is_some() {
        notes.sight("preauth.captures", Seen::Word("once"), evidence);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::Response;

    use super::*;

    /// The cards that this reply to the request of this name shows to be wrong.
    fn wrong_cards(name: &str, http: u16, body: &'static str) -> Vec<Role> {
        let mut notes = Notes::new(7);
        notes.note("challenge page of pending", "https://bank.example/");
        let response = Response::builder().status(http).body(Bytes::from_static(body.as_bytes())).unwrap();
        unusable(name, "", &Answer::of(&response, &Bytes::new(), None), &mut notes);
        notes.unusable_cards().map(|(role, _)| role).collect()
    }

    #[test]
    fn no_card_is_blamed_for_what_the_account_may_not_do() {
        let permission = r#"{"errorCode": "106", "errorMessage": "no"}"#;
        let page = "<html>not here</html>";
        for name in ["payment", "pending", "authenticated"] {
            assert_eq!(wrong_cards(name, 403, permission), [], "{name}");
        }
        assert_eq!(wrong_cards("pending", 404, page), []);
        let declined = r#"{"transactionStatusCode": "901"}"#;
        assert_eq!(wrong_cards("payment", 200, declined), [Role::Approved]);
        assert_eq!(wrong_cards("pending", 200, r#"{"transactionStatusCode": "608"}"#), [Role::Challenge]);
    }
}
