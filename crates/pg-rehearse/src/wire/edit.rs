//! Alters replies of the service.

use bytes::Bytes;
use http::{Response, header};

use super::{Edit, body::Reply};

/// Returns a reply with its alteration, and its text for the record.
pub(super) fn edited(edit: Edit, response: Response<Bytes>) -> Response<(Bytes, Reply)> {
    let (mut parts, body) = response.into_parts();
    let half = body.slice(..body.len() / 2);
    let announced = body.len();
    let (text, reply) = match edit {
        Edit::Garble => {
            let garbled: Bytes = [&half[..], b"\xff\xfe<\"{"].concat().into();
            (Bytes::new(), Reply::whole(garbled))
        }
        Edit::Truncate => (half.clone(), Reply::part(half)),
        Edit::HeadOnly => (Bytes::new(), Reply::part(Bytes::new())),
        Edit::MoreFields => whole(more_fields(&String::from_utf8_lossy(&body))),
        Edit::UnknownStatus => whole(unknown_status(&String::from_utf8_lossy(&body))),
        Edit::Numbers => whole(String::from_utf8_lossy(&body).replace("\"600\"", "600")),
        Edit::OtherAmount => whole(other(&String::from_utf8_lossy(&body), &[("998", "499"), ("9.98", "4.99")])),
        Edit::OtherCurrency => whole(other(&String::from_utf8_lossy(&body), &[("GBP", "EUR")])),
        Edit::DecimalAmount => whole(other(&String::from_utf8_lossy(&body), &[("998", "998.00")])),
        Edit::OtherReference => whole(other_reference(&String::from_utf8_lossy(&body))),
        Edit::OtherType => whole(other(
            &String::from_utf8_lossy(&body),
            &[("Auth", "PreAuth "), ("PreAuth", "Auth"), ("PreAuth ", "PreAuth")],
        )),
        Edit::WithoutShift => whole(String::from_utf8_lossy(&body).replace("liabilityShift", "anotherField")),
        Edit::TwoPayments => whole(two_payments(&String::from_utf8_lossy(&body))),
        Edit::EntryTwice => whole(entry_twice(&String::from_utf8_lossy(&body))),
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    if matches!(edit, Edit::Truncate | Edit::HeadOnly) {
        parts.headers.insert(header::CONTENT_LENGTH, announced.into());
    }
    Response::from_parts(parts, (text, reply))
}

fn whole(text: String) -> (Bytes, Reply) {
    Reply::whole_of(Bytes::from(text))
}

fn more_fields(text: &str) -> String {
    if text.trim_start().starts_with('{') {
        text.replacen('{', r#"{"futureField":"42","futureList":[1,{"a":null}],"#, 1)
    } else {
        text.replacen(
            "<serviceResponse>",
            "<serviceResponse><futureField>42</futureField><futureList><a/></futureList>",
            1,
        )
    }
}

/// Returns a batch with its first entry twice and all of them in the reverse order; other bodies unchanged.
fn entry_twice(text: &str) -> String {
    if let Ok(mut value) = serde_json::from_str::<serde_json::Value>(text) {
        if let Some(entries) = value.get_mut("cardKeyDetails").and_then(serde_json::Value::as_array_mut)
            && let Some(first) = entries.first().cloned()
        {
            entries.push(first);
            entries.reverse();
        }
        return value.to_string();
    }
    let (open, close) = ("<cardKeyDetail>", "</cardKeyDetail>");
    let Some((before, _)) = text.split_once(open) else { return text.to_owned() };
    let Some((_, after)) = text.rsplit_once(close) else { return text.to_owned() };
    let mut entries: Vec<&str> = text.split(open).skip(1).filter_map(|rest| Some(rest.split_once(close)?.0)).collect();
    entries.extend(entries.first().copied());
    let entries: String = entries.iter().rev().map(|entry| format!("{open}{entry}{close}")).collect();
    format!("{before}{entries}{after}")
}

/// Returns a lookup of payments of another reference.
fn other_reference(text: &str) -> String {
    let name = "uniqueMerchantReference";
    ["\"{}\":\"", "\"{}\": \"", "<{}>"].iter().fold(text.to_owned(), |text, before| {
        let before = before.replace("{}", name);
        text.replace(&before, &format!("{before}another-"))
    })
}

/// Returns a lookup that lists its first payment twice: declined, and approved with another amount. An empty one unchanged.
fn two_payments(text: &str) -> String {
    let (declined, approved) = (|one: &str| other(one, &[("600", "901")]), |one: &str| other(one, &[("998", "499")]));
    if let Ok(mut value) = serde_json::from_str::<serde_json::Value>(text) {
        if let Some(listed) = value.get_mut("transactions").and_then(serde_json::Value::as_object_mut)
            && let Some(first) = listed.get("0").map(serde_json::Value::to_string)
        {
            for (name, one) in [("0", declined(&first)), ("1", approved(&first))] {
                listed.insert(name.to_owned(), serde_json::from_str(&one).unwrap_or_default());
            }
        }
        return value.to_string();
    }
    let Some((before, rest)) = text.split_once("<transaction>") else { return text.to_owned() };
    let Some((one, after)) = rest.split_once("</transaction>") else { return text.to_owned() };
    let element = |one: String| format!("<transaction>{one}</transaction>");
    format!("{before}{}{}{after}", element(declined(one)), element(approved(one)))
}

/// A status code that no document lists.
fn unknown_status(text: &str) -> String {
    text.replace("\"600\"", "\"640\"")
        .replace("<transactionStatusCode>600<", "<transactionStatusCode>640<")
        .replace("Transaction approved", "Transaction referred")
}

/// Replaces values, in JSON and XML.
fn other(text: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(text.to_owned(), |text, (from, to)| {
        text.replace(&format!("\"{from}\""), &format!("\"{to}\"")).replace(&format!(">{from}<"), &format!(">{to}<"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_has_its_first_entry_twice_and_the_others_in_the_reverse_order() {
        let altered = |text: &'static str| {
            let reply = edited(Edit::EntryTwice, Response::new(Bytes::from(text)));
            String::from_utf8_lossy(&reply.body().0).into_owned()
        };
        assert_eq!(altered(r#"{"cardKeyDetails":["a","b","c"]}"#), r#"{"cardKeyDetails":["a","c","b","a"]}"#);
        let [a, b] = ["<cardKeyDetail>a</cardKeyDetail>", "<cardKeyDetail>b</cardKeyDetail>"];
        assert_eq!(entry_twice(&format!("<r><l>{a}{b}</l></r>")), format!("<r><l>{a}{b}{a}</l></r>"));
        assert_eq!(entry_twice("<r><errorCode>182</errorCode></r>"), "<r><errorCode>182</errorCode></r>");
    }

    #[test]
    fn a_lookup_shows_another_type_than_was_sent_whichever_it_was() {
        for (sent, shown) in [
            (r#"{"transactionType":"Auth"}"#, r#"{"transactionType":"PreAuth"}"#),
            (r#"{"transactionType":"PreAuth"}"#, r#"{"transactionType":"Auth"}"#),
            ("<transactionType>PreAuth</transactionType>", "<transactionType>Auth</transactionType>"),
        ] {
            let reply = edited(Edit::OtherType, Response::new(Bytes::from(sent)));
            assert_eq!(String::from_utf8_lossy(&reply.body().0), shown);
        }
    }
}
