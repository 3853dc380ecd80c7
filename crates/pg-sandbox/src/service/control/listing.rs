//! Lists of records: newest first, paged by `?limit=&before=`, of one merchant by
//! `?merchant=`, requests of one method by `?method=`, and filtered by `?find=`.

use bytes::Bytes;
use http::Request;
use serde_json::Value;

use crate::{
    form::{Form, FormLimits},
    store::{Query, StoreError, StoredRecord, Transaction},
};

/// The default and the maximum number of entries on a page.
const USUAL: u32 = 50;
const MOST: u32 = 1_000;
/// The maximum number of records that one request searches for those of a merchant, and the number that it reads at a
/// time. There is no index by merchant, and other requests wait.
const LOOKED_THROUGH: u32 = 10_000;
const AT_A_TIME: u32 = 500;

/// The requested page of a list.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Listing {
    limit: u32,
    before: Option<String>,
    merchant: Option<String>,
    method: Option<String>,
    find: Option<String>,
    /// The account created at run time whose entries are shown, with the times of its clock.
    account: Option<String>,
}

/// A page of a list.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Page<T> {
    pub(in super::super) entries: Vec<T>,
    /// The value of `before` for the next page; `None` on the last page.
    pub(in super::super) next: Option<String>,
}

impl Listing {
    /// Returns the requested page, or the error in the query.
    pub(in super::super) fn of(request: &Request<Bytes>) -> Result<Self, String> {
        Self::parse(request.uri().query().unwrap_or_default())
    }

    /// Returns the newest entries, up to a limit.
    pub(in super::super) const fn newest(limit: u32) -> Self {
        Self { limit, before: None, merchant: None, method: None, find: None, account: None }
    }

    /// Returns the newest entries of one account, up to a limit.
    pub(in super::super) fn of_account(self, name: &str) -> Self {
        Self { merchant: Some(name.to_owned()), ..self }
    }

    fn parse(query: &str) -> Result<Self, String> {
        let query = Form::parse(query.as_bytes(), &FormLimits::default()).map_err(|error| error.to_string())?;
        let known = ["limit", "before", "merchant", "method", "find", "account"];
        if let Some((name, _)) = query.iter().find(|(name, _)| !known.contains(name)) {
            let name = pg_model::mask::text(name);
            return Err(format!("unknown parameter {name:?}: only {} are accepted", known.join(", ")));
        }
        let limit = match query.given("limit") {
            None => USUAL,
            Some(text) => text
                .parse()
                .ok()
                .filter(|limit| (1..=MOST).contains(limit))
                .ok_or_else(|| format!("limit must be from 1 to {MOST}"))?,
        };
        let given = |name: &str| query.given(name).map(str::to_owned);
        let method = query.given("method").map(known_method).transpose()?;
        if let (Some(account), Some(merchant)) = (query.given("account"), query.given("merchant"))
            && account != merchant
        {
            return Err("account and merchant name different accounts".to_owned());
        }
        let find = given("find").map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Ok(Self {
            limit,
            before: given("before"),
            merchant: given("merchant"),
            method,
            find,
            account: given("account"),
        })
    }

    /// Returns the maximum number of entries on the page.
    pub(in super::super) fn limit(&self) -> usize {
        usize::try_from(self.limit).unwrap_or(usize::MAX)
    }

    /// Returns the id of the entry before the page.
    pub(in super::super) fn before(&self) -> Option<&str> {
        self.before.as_deref()
    }

    /// Returns the account of the entries; all accounts if unset.
    pub(in super::super) fn merchant(&self) -> Option<&str> {
        self.account.as_deref().or(self.merchant.as_deref())
    }

    /// The method of the calls, as `service/method`; all if unset. Only requests have methods.
    pub(in super::super) fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// Returns the search text: the beginning of a key or reference, or the last four digits of a card.
    pub(in super::super) fn find_text(&self) -> Option<&str> {
        self.find.as_deref()
    }

    /// Whether an entry matches; every entry does if there is no search text.
    pub(in super::super) fn wants(&self, entry: impl FnOnce() -> Value) -> bool {
        self.find.as_deref().is_none_or(|text| found_in(&entry(), text))
    }

    /// Returns the query of the next page.
    pub(in super::super) fn next(&self, before: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("limit", &self.limit.to_string()).append_pair("before", before);
        self.merchant.iter().for_each(|merchant| {
            query.append_pair("merchant", merchant);
        });
        self.method.iter().for_each(|method| {
            query.append_pair("method", method);
        });
        self.find.iter().for_each(|text| {
            query.append_pair("find", text);
        });
        self.account.iter().for_each(|account| {
            query.append_pair("account", account);
        });
        query.finish()
    }

    /// Returns the records of the page, as `view` shows them. To find the records of one merchant, or those that match,
    /// only a limited number of records is searched. The next page continues where this page stopped.
    pub(in super::super) fn find<T: StoredRecord>(
        &self,
        records: &mut Transaction<'_>,
        view: impl Fn(&T) -> Value,
    ) -> Result<Page<T>, StoreError> {
        if self.merchant().is_none() && self.find.is_none() {
            return self.of_all(records);
        }
        let mut entries = Vec::new();
        let mut before = self.before.clone();
        for _ in 0..LOOKED_THROUGH / AT_A_TIME {
            let found: Vec<T> = records.find(&query(AT_A_TIME, before.as_deref()))?;
            let all = found.len() < count(AT_A_TIME);
            for record in found {
                before = Some(record.key().to_owned());
                let of_merchant = self.merchant().is_none_or(|merchant| record.merchant() == merchant);
                if of_merchant && self.wants(|| view(&record)) {
                    entries.push(record);
                }
                if entries.len() == self.limit() {
                    return Ok(Page { entries, next: before });
                }
            }
            if all {
                return Ok(Page { entries, next: None });
            }
        }
        Ok(Page { entries, next: before })
    }

    fn of_all<T: StoredRecord>(&self, records: &mut Transaction<'_>) -> Result<Page<T>, StoreError> {
        // One more than is shown, to know whether there is a next page.
        let mut entries: Vec<T> = records.find(&query(self.limit + 1, self.before()))?;
        let more = entries.len() > self.limit();
        entries.truncate(self.limit());
        let next = entries.last().filter(|_| more).map(|last| last.key().to_owned());
        Ok(Page { entries, next })
    }
}

/// Whether a key, a reference or a parameter of an entry begins with the text, or its card ends with these four digits.
fn found_in(entry: &Value, text: &str) -> bool {
    let last_four = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = ["/card/cardNumber", "/parameters/cardNumber"];
    let of_card =
        |path: &&str| entry.pointer(path).and_then(Value::as_str).is_some_and(|number| number.ends_with(text));
    let starts = |value: &Value| value.as_str().is_some_and(|value| value.starts_with(text));
    let names = ["Key", "Reference", "Identifier", "id", "parent", "check", "payment", "msisdn"];
    let members = entry.as_object().into_iter().flatten();
    let mut named = members.filter(|(name, _)| names.iter().any(|end| name.ends_with(end)));
    let mut parameters = entry["parameters"].as_object().into_iter().flatten();
    (last_four && numbers.iter().any(of_card))
        || named.any(|(_, value)| starts(value))
        || parameters.any(|(_, value)| starts(value))
}

/// Spelled as in the tables.
fn known_method(asked: &str) -> Result<String, String> {
    let info =
        pg_model::method::method(asked).ok_or("method must be the name of a method, such as transaction/auth")?;
    Ok(format!("{info:?}"))
}

fn query(limit: u32, before: Option<&str>) -> Query<'_> {
    let newest = Query::newest(limit);
    match before {
        Some(before) => newest.before(before),
        None => newest,
    }
}

fn count(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        records::TextMessage,
        store::{Sqlite, Store as _},
        timestamp::Timestamp,
    };

    fn listing(query: &str) -> Listing {
        Listing::parse(query).unwrap()
    }

    #[test]
    fn limit_before_and_merchant_are_read() {
        let wanted = |limit, before: &str, merchant: &str| {
            let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            Listing { limit, before: given(before), merchant: given(merchant), method: None, find: None, account: None }
        };
        assert_eq!(listing(""), wanted(50, "", ""));
        assert_eq!(listing("limit=&before=&merchant="), wanted(50, "", ""));
        assert_eq!(listing("limit=1000&before=a%2Fb&merchant=main"), wanted(1_000, "a/b", "main"));
        for wrong in
            ["limit=0", "limit=1001", "limit=-1", "limit=x", "limit=1&limit=2", "after=1", "limit=%", "method=x"]
        {
            assert!(Listing::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(listing("merchant=a%26b").next("k 1"), "limit=50&before=k+1&merchant=a%26b");
        let of_one_method = listing("method=checkout/gettoken");
        assert_eq!(of_one_method.method(), Some("enterprise/gettoken"));
        assert_eq!(of_one_method.next("k"), "limit=50&before=k&method=enterprise%2Fgettoken");
    }

    #[test]
    fn an_unknown_parameter_is_named() {
        let problem = Listing::parse("limit=1&limt=5").unwrap_err();
        assert_eq!(
            problem,
            "unknown parameter \"limt\": only limit, before, merchant, method, find, account are accepted"
        );
        assert!(!Listing::parse("4000000000001000=1").unwrap_err().contains("4000000000001000"));
    }

    #[test]
    fn entries_are_found_by_keys_references_and_last_digits() {
        let entry = serde_json::json!({
            "transactionKey": "k0123", "parent": "k0999", "merchantReference": "order 7", "amount": 2008, "created": "2026",
            "card": { "cardNumber": "400000******2008" }, "parameters": { "cardNumber": "520000******1005", "x": "y z" },
        });
        for text in ["k01", "k0123", "k0999", "order", "2008", "1005", "y z"] {
            assert!(found_in(&entry, text), "{text}");
        }
        for text in ["0123", "2026", "008", "4000002", "K01", "z", "******2008"] {
            assert!(!found_in(&entry, text), "{text}");
        }
        assert_eq!(listing("find=+a%26b+").next("k"), "limit=50&before=k&find=a%26b");
        assert_eq!(listing("find=+").find_text(), None);
    }

    #[test]
    fn pages_follow_each_other_to_the_end() {
        let mut store = Sqlite::in_memory().unwrap();
        store.begin().unwrap();
        let mut records = Transaction::new(&mut store);
        for number in 0..12_000 {
            let message = TextMessage {
                key: format!("{number:05}"),
                merchant: if number % 4_000 == 0 { "rare" } else { "main" }.to_owned(),
                msisdn: String::new(),
                message: String::new(),
                message_id: None,
                created: Timestamp::MIN,
            };
            records.put(&message).unwrap();
        }
        let mut page = |query: &str| {
            let found: Page<TextMessage> = listing(query)
                .find(&mut records, |message: &TextMessage| serde_json::json!({ "id": message.key }))
                .unwrap();
            (found.entries.into_iter().map(|entry| entry.key).collect::<Vec<_>>(), found.next)
        };
        let key = |text: &str| Some(text.to_owned());
        assert_eq!(page("limit=2"), (vec!["11999".to_owned(), "11998".to_owned()], key("11998")));
        assert_eq!(page("limit=2&before=00002"), (vec!["00001".to_owned(), "00000".to_owned()], None));
        assert_eq!(page("limit=1&merchant=rare"), (vec!["08000".to_owned()], key("08000")));
        assert_eq!(page("merchant=rare"), (vec!["08000".to_owned(), "04000".to_owned()], key("02000")));
        assert_eq!(page("merchant=rare&before=02000"), (vec!["00000".to_owned()], None));
        assert_eq!(page("merchant=nobody&before=00700"), (vec![], None));
        assert_eq!(page("find=0800&merchant=rare"), (vec!["08000".to_owned()], key("02000")));
        assert_eq!(page("find=0000").0.len(), 0);
        assert_eq!(page("find=0000&before=05000").0.len(), 10);
    }
}
