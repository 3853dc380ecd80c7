//! Maps a reply's status to the exit code.

use pg_model::{
    Acknowledgement, AddressReply, BatchRequested, Dialect, EnterpriseResult, Flag, Record, ResultCode, SmsReply,
    StatusMeaning, StatusRecord, ThreeDSecureInitiation, TokenCancellation, Transaction, decode, method::MethodInfo,
};

use super::lookup::Lookup;
use crate::{
    failure::{Exit, Failure},
    refusal,
};

/// Returns how a call ended with a reply in JSON.
///
/// # Errors
/// Anything except success.
pub(super) fn ended(
    info: &MethodInfo,
    reply: &str,
    dialect: &Dialect,
    lookup: Option<&Lookup>,
) -> Result<Exit, Failure> {
    match verdict(info, reply.as_bytes(), dialect) {
        StatusMeaning::Approved => Ok(Exit::Done),
        StatusMeaning::Declined => Err(Failure::new(Exit::Refused, format!("declined: {}", status(reply, dialect)))),
        StatusMeaning::Other => Err(unknown(
            format!(
                "outcome unknown, look it up or ask the operator: {}; neither the documents nor the dialect list this status; if it means a decline, add a [[declined]] with this code to the dialect",
                status(reply, dialect)
            ),
            lookup,
        )),
    }
}

/// Returns the failure of a request that may have been executed, with the lookup to make.
pub(super) fn unknown(message: String, lookup: Option<&Lookup>) -> Failure {
    let failure = Failure::new(Exit::Unknown, message);
    match lookup {
        Some(lookup) => failure.with(lookup.note).next(lookup.command.clone()),
        None => failure,
    }
}

/// Returns the outcome of a reply in one line: whether it was approved, its status and its transaction key.
pub(super) fn told(info: &MethodInfo, reply: &str, dialect: &Dialect) -> String {
    let verdict = match verdict(info, reply.as_bytes(), dialect) {
        StatusMeaning::Approved => "approved",
        StatusMeaning::Declined => "declined",
        StatusMeaning::Other => "outcome unknown",
    };
    let value: serde_json::Value = serde_json::from_str(reply).unwrap_or_default();
    let key = ["transactionKey", "trans_key"].into_iter().find_map(|name| Some((name, value[name].as_str()?)));
    let key = key.map_or_else(String::new, |(name, key)| format!(", {name} {key}"));
    format!("{verdict}: {}{key}", status(reply, dialect))
}

/// Records without a status count as approved.
fn verdict(info: &MethodInfo, reply: &[u8], dialect: &Dialect) -> StatusMeaning {
    let result = |result: &ResultCode| known(*result == ResultCode::OK, *result == ResultCode::ERROR);
    let flag = |flag: &Flag| known(*flag == Flag::YES, *flag == Flag::NO);
    match info.reply {
        "Transaction" => read(reply, |record: &Transaction| record.status_meaning(dialect)),
        "ThreeDSecureInitiation" => read(reply, |record: &ThreeDSecureInitiation| record.status_meaning(dialect)),
        "EnterpriseResult" => read(reply, |record: &EnterpriseResult| record.status_meaning(dialect)),
        "Acknowledgement" => read(reply, |record: &Acknowledgement| result(&record.result)),
        "BatchRequested" => read(reply, |record: &BatchRequested| result(&record.result)),
        "TokenCancellation" => read(reply, |record: &TokenCancellation| flag(&record.status)),
        "SmsReply" => read(reply, |record: &SmsReply| flag(&record.sms.status)),
        "AddressReply" => read(reply, |record: &AddressReply| flag(&record.address.status)),
        _ => StatusMeaning::Approved,
    }
}

/// Returns the members of a reply with its status, unchanged.
fn status(reply: &str, dialect: &Dialect) -> String {
    const MEMBERS: [&str; 4] = ["transactionStatusCode", "transactionStatus", "status", "result"];
    let value: serde_json::Value = serde_json::from_str(reply).unwrap_or_default();
    // Some records have the status one level down: sms > status (spec 3 §2.3).
    let inner = value.as_object().into_iter().flat_map(|members| members.values());
    let found = MEMBERS.map(|name| std::iter::once(&value).chain(inner.clone()).find_map(|level| level[name].as_str()));
    let said: Vec<_> = found.into_iter().flatten().filter(|text| !text.is_empty()).collect();
    if said.is_empty() {
        "the reply has no status".to_owned()
    } else {
        format!("status {}{}", said.join(" "), refusal::note_of_status(said[0], dialect))
    }
}

fn known(yes: bool, no: bool) -> StatusMeaning {
    if yes {
        StatusMeaning::Approved
    } else if no {
        StatusMeaning::Declined
    } else {
        StatusMeaning::Other
    }
}

/// The reply was decoded before, so decoding succeeds.
fn read<R: Record + Default>(reply: &[u8], verdict: impl FnOnce(&R) -> StatusMeaning) -> StatusMeaning {
    decode::<R>(reply).map_or(StatusMeaning::Other, |reply| verdict(&reply.record))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_value_is_neither_true_nor_false() {
        for (path, reply, expected) in [
            ("transaction/auth", r#"{"transactionStatusCode":"600","transactionKey":"k"}"#, StatusMeaning::Approved),
            ("transaction/auth", r#"{"transactionStatusCode":"642","transactionKey":"k"}"#, StatusMeaning::Other),
            ("transaction/initiate3DSecureCardKey", r#"{"transactionStatusCode":"608"}"#, StatusMeaning::Declined),
            ("enterprise/refund", r#"{"status":"0","trans_key":"1"}"#, StatusMeaning::Declined),
            ("enterprise/refund", r#"{"status":"7","trans_key":"1"}"#, StatusMeaning::Other),
            ("enterprise/sms", r#"{"sms":{"status":"0"}}"#, StatusMeaning::Declined),
            ("enterprise/canceltoken", r#"{"status":"1"}"#, StatusMeaning::Approved),
            ("token/enable", r#"{"result":"OK"}"#, StatusMeaning::Approved),
            ("token/requestAccountUpdater", r#"{"result":"ERROR","batchKey":""}"#, StatusMeaning::Declined),
            ("session/initiate", r#"{"sessionKey":"s"}"#, StatusMeaning::Approved),
        ] {
            let info = pg_model::method::method(path).unwrap();
            assert_eq!(verdict(info, reply.as_bytes(), &Dialect::documented()), expected, "{path} {reply}");
        }
    }
}
