//! Values for examples: the same ones wherever a page shows one.

use super::{
    formats::{self, bounds},
    node::Node,
    tables::{Field, Part, Record, Tables},
};

/// Values by type.
const BY_TYPE: &[(&str, &str)] = &[
    ("CardKey", "5f2d81c4-9a3e-7b60-1c2d"),
    ("CardUniqueIdentifier", "10000001"),
    ("TransactionKey", "7d1e6f0a2b3c4d5e6f708192a3b4c5d6"),
    ("SessionKey", "0c9a8b7e6d5f4e3d2c1b0a9f8e7d6c5b"),
    ("AuthenticationKey", "b1a2c3d4e5f60718293a4b5c6d7e8f90"),
    ("BatchKey", "e4d3c2b1a0f9e8d7c6b5a4938271605f"),
    ("TokenId", "a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4"),
    ("MessageId", "1024"),
    ("MerchantReference", "order-7"),
    ("UniqueMerchantReference", "order-7-attempt-1"),
    ("MerchantCustomerReference", "customer-42"),
    ("TerminalKey", "shop-1"),
    ("TraceCode", "12345678"),
    ("FormId", "card-form"),
    ("Currency", "GBP"),
    ("Decimal", "5.95"),
];

/// Values by the end of a parameter's name, in small letters without underscores.
const BY_NAME: &[(&str, &str)] = &[
    ("accountupdaterkey", "updater-1"),
    ("cardholdername", "A Lovelace"),
    ("cardnumber", "400000******1000"),
    ("cardexpirymonth", "12"),
    ("cardexpiryyear", "2030"),
    ("cardtype", "CREDIT"),
    ("cardscheme", "VISA"),
    ("cardbank", "First Test Bank"),
    ("carddescription", "Blue card"),
    ("cardcv2", ""),
    ("title", "Dr"),
    ("salutation", "Dr"),
    ("firstname", "Ada"),
    ("surname", "Lovelace"),
    ("email", "ada@shop.example"),
    ("mobile", "07700900123"),
    ("telephone", "02079460123"),
    ("landline", "02079460123"),
    ("phone", "447700900123"),
    ("msisdn", "447700900123"),
    ("propertyname", "12"),
    ("line1", "Mill Lane"),
    ("line2", "Flat 3"),
    ("line3", "Old Town"),
    ("address1", "Mill Lane"),
    ("address2", "Old Town"),
    ("town", "London"),
    ("county", "Greater London"),
    ("postcode", "NW1 6XE"),
    ("country", "GB"),
    ("dateofbirth", "31011980"),
    ("accountidentifier", "1234567890"),
    ("message", "Your order is on its way."),
    ("applet", "default"),
    ("transclass", "subscription"),
    ("itemname", "Tea"),
    ("reference", "TEA-500"),
    ("collect", "yes"),
    ("bank", "123456"),
    ("createdon", "2026-01-31T12:00:00+00:00"),
    ("creation", "2026-01-31T12:00:00Z"),
    ("tokenstart", "2026-01-31T12:00:00Z"),
    ("tokenexpiry", "2026-02-07T12:00:00Z"),
    ("uses", "-1"),
    ("redemptions", "-1"),
    ("merchant", "Example Shop"),
    ("transactionvalue", "998"),
    ("transactionstatus", "Transaction approved"),
    ("bankecivalue", "05"),
    ("authcode", "123456"),
    ("quantity", "2"),
    ("name", "Tea"),
    ("transtype", "auth"),
    ("value", "5.95"),
    ("status", "Success"),
];

/// Default values of a record.
const OF_RECORD: &[(&str, &str, &str)] = &[
    ("ThreeDSecureInitiation", "transactionStatusCode", "607"),
    ("ThreeDSecureInitiation", "transactionStatus", "Success"),
    ("ThreeDSecureInitiation", "transactionType", "3DSecureCheck"),
    ("AuthenticationStatus", "transactionStatusCode", "607"),
    ("AuthenticationStatus", "transactionStatus", "Success"),
    ("EnterpriseTransaction", "value", "1,000.00"),
    ("SmsResult", "status", "1"),
];

/// Fields that an example leaves out: they come in another situation than the one it shows.
const LEFT_OUT: &[(&str, &str)] = &[
    ("Transaction", "originalTransactionKey"),
    ("ThreeDSecureInitiation", "bank*"),
    ("AuthenticationStatus", "transactionType"),
    ("AuthenticationStatus", "bank*"),
    ("RedirectData", "errors"),
    ("RedirectData", "errorCode"),
    ("RedirectData", "traceCode"),
    ("RedirectData", "errorMessage"),
];

/// Fields of a transaction that only a lookup shows (A21).
const OF_LOOKUP: &[&str] = &[
    "merchantReference",
    "uniqueMerchantReference",
    "merchantCustomerReference",
    "currency",
    "transactionValue",
    "createdOn",
];

/// The last part of a name that an example gives to a parameter with a prefix.
const AFTER_PREFIX: &[(&str, &str)] = &[("collect", "Newsletter"), ("bank", "AuthCode")];

/// The end of a period that begins at the example of `unix-time`.
const WEEK_LATER: &str = "1894060800";

/// A value that is valid in a request.
pub(super) fn of_field(tables: &Tables, field: &Field) -> Node {
    if field.kind.starts_with("Vec<") {
        return vec!["5f2d81c4-9a3e-7b60-1c2d", "8e1c07a5-4d2b-6f93-0a7e"].into();
    }
    let mut example = formats::find(&field.format).map_or("", |format| format.example);
    if field.format == "unix-time" && field.wire.ends_with("expiry") {
        example = WEEK_LATER;
    }
    if matches!(field.kind.as_str(), "u64" | "i64") {
        return Node::Number(example.parse().unwrap_or(1));
    }
    if let Some(value) = field.values.first() {
        return value.into();
    }
    let text = if example.is_empty() || matches!(field.format.as_str(), "text" | "lines" | "alphanumeric" | "url") {
        named(tables, &field.kind, field.prefix.as_deref().unwrap_or(&field.wire)).unwrap_or_else(|| example.to_owned())
    } else {
        example.to_owned()
    };
    let most = field.length.as_deref().and_then(bounds).map_or(usize::MAX, |(_, most)| most.into());
    text.chars().take(most).collect::<String>().into()
}

/// The name that an example gives to a field.
pub(super) fn name(name: &str) -> String {
    match AFTER_PREFIX.iter().find(|(prefix, _)| name == format!("{prefix}*")) {
        Some((prefix, rest)) => format!("{prefix}{rest}"),
        None => name.replace("{n}", "0"),
    }
}

fn named(tables: &Tables, kind: &str, name: &str) -> Option<String> {
    if let Some((_, value)) = BY_TYPE.iter().find(|(known, _)| *known == kind) {
        return Some((*value).to_owned());
    }
    if kind == "Url" {
        return Some(address(name));
    }
    let plain: String = name.replace("{n}", "").chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    if let Some(table) = tables.code_table(kind)
        && kind != "EnterpriseTransactionType"
    {
        return table.codes.first().map(|code| code.code.clone());
    }
    BY_NAME.iter().find(|(end, _)| plain.ends_with(end)).map(|(_, value)| (*value).to_owned())
}

/// `errorPageUrl` → `https://shop.example/error-page`; addresses of the service are elsewhere.
fn address(name: &str) -> String {
    match name {
        "redemption_url" => "https://checkout.example/pay/a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4".to_owned(),
        "authenticationUrl" => "https://gateway.example/3ds/b1a2c3d4e5f60718293a4b5c6d7e8f90".to_owned(),
        _ => {
            let page = super::names::snake(name).replace('_', "-");
            format!("https://shop.example/{}", page.trim_end_matches("-url"))
        }
    }
}

/// A reply with values in it.
pub(super) enum Sample {
    Text(String),
    /// A text of digits that JSON shows as a number.
    Digits(String),
    Record(Vec<(String, Sample)>),
    List {
        item: String,
        indexed: bool,
        items: Vec<Sample>,
    },
}

/// A record with a value in each field. `root` when it is a whole reply.
pub(super) fn of_record(tables: &Tables, record: &Record, root: bool) -> Sample {
    let parts = record.fields.iter().filter(|part| {
        let left_out = LEFT_OUT.contains(&(record.name.as_str(), part.name().as_str()));
        let of_lookup = root && record.name == "Transaction" && OF_LOOKUP.contains(&part.wire.as_str());
        part.map.is_none() && !left_out && !of_lookup
    });
    Sample::Record(parts.map(|part| (name(&part.name()), of_part(tables, record, part))).collect())
}

fn of_part(tables: &Tables, record: &Record, part: &Part) -> Sample {
    if let Some(inner) = part.record.as_deref().and_then(|name| tables.record(name)) {
        return of_record(tables, inner, false);
    }
    if let Some(inner) = part.list.as_deref().and_then(|name| tables.record(name)) {
        return Sample::List {
            item: part.item.clone().unwrap_or_else(|| "item".to_owned()),
            indexed: part.json.as_deref() == Some("indexed"),
            items: vec![of_record(tables, inner, false)],
        };
    }
    let kind = part.kind.as_deref().unwrap_or("String");
    let own = OF_RECORD.iter().find(|(name, wire, _)| *name == record.name && *wire == part.wire);
    let text = own.map_or_else(
        || named(tables, kind, part.prefix.as_deref().unwrap_or(&part.wire)).unwrap_or_else(|| "Example".to_owned()),
        |(.., value)| (*value).to_owned(),
    );
    if part.json.as_deref() == Some("number") { Sample::Digits(text) } else { Sample::Text(text) }
}

impl Sample {
    /// As JSON shows it.
    pub(super) fn json(&self) -> Node {
        match self {
            Self::Text(text) => text.into(),
            Self::Digits(digits) => digits.parse().map_or_else(|_| digits.into(), Node::Number),
            Self::Record(fields) => fields.iter().map(|(name, value)| (name, value.json())).collect(),
            Self::List { indexed: true, items, .. } => {
                items.iter().enumerate().map(|(at, item)| (at.to_string(), item.json())).collect()
            }
            Self::List { items, .. } => Node::List(items.iter().map(Self::json).collect()),
        }
    }

    /// As XML shows it, a whole document.
    pub(super) fn xml(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        self.element(&mut out, "serviceResponse", 0);
        out.trim_end().to_owned()
    }

    fn element(&self, out: &mut String, name: &str, depth: usize) {
        let indent = "  ".repeat(depth);
        let mut children = String::new();
        match self {
            Self::Text(text) | Self::Digits(text) if text.is_empty() => *out += &format!("{indent}<{name}/>\n"),
            Self::Text(text) | Self::Digits(text) => {
                let text = text.replace('&', "&amp;").replace('<', "&lt;");
                *out += &format!("{indent}<{name}>{text}</{name}>\n");
            }
            Self::Record(fields) => {
                fields.iter().for_each(|(name, value)| value.element(&mut children, name, depth + 1))
            }
            Self::List { item, items, .. } => items.iter().for_each(|one| one.element(&mut children, item, depth + 1)),
        }
        if !children.is_empty() {
            *out += &format!("{indent}<{name}>\n{children}{indent}</{name}>\n");
        }
    }
}
