//! The output format of a card's result.

use std::fmt::Write;

use clap::ValueEnum;
use pg_hyper::proto::machine::account_update::{BatchEnd, BatchResult};
use pg_model::{CardKey, CardNumber, UpdatedCard, json, mask};
use serde::{Deserialize, Serialize};

use crate::redactor::cards;

/// The format of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    /// A table with a header (RFC 4180)
    Csv,
    /// An array with one object per line
    Json,
}

/// The columns of a table.
const COLUMNS: &str = "oldCardKey,status,response,cardKey,cardUniqueIdentifier,merchantCustomerReference,enabled,\
                       cardDescription,cardholderName,cardNumber,cardExpiryMonth,cardExpiryYear,cardType,cardScheme,\
                       cardBank,batchKey,error\r\n";

impl Format {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }

    /// Returns the text before the first row.
    pub(super) const fn head(self) -> &'static str {
        match self {
            Self::Csv => COLUMNS,
            Self::Json => "[",
        }
    }

    /// Returns the text after the last row.
    pub(super) const fn foot(self) -> &'static str {
        match self {
            Self::Csv => "",
            Self::Json => "\n]\n",
        }
    }

    /// Returns the rows of a batch, one for each of its card keys, and their number; `before` rows were written
    /// earlier.
    pub(super) fn rows(self, batch: &BatchResult, before: u64) -> (String, u64) {
        let mut text = String::new();
        let mut rows = before;
        let left_out = LeftOut::of(batch);
        let batch_key = batch.batch_key.as_ref().map_or("", |key| key.as_str());
        let answered = batch.entries.iter().map(|entry| (masked(entry), LeftOut::ANSWERED));
        let not_answered = batch.unanswered.iter().map(|key| (nothing_new(key), left_out.clone()));
        for (entry, status) in answered.chain(not_answered) {
            match self {
                Self::Csv => csv(&mut text, &entry, &status, batch_key),
                Self::Json => {
                    text.push_str(if rows == 0 { "\n" } else { ",\n" });
                    object(&mut text, &entry, &status, batch_key);
                }
            }
            rows += 1;
        }
        (text, rows - before)
    }
}

/// The columns added to the service's result of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LeftOut {
    status: &'static str,
    error: String,
}

impl LeftOut {
    const ANSWERED: Self = Self { status: "answered", error: String::new() };

    /// Returns the columns of cards without a result in their batch.
    fn of(batch: &BatchResult) -> Self {
        let (status, error) = match &batch.how {
            BatchEnd::Finished => ("unanswered", String::new()),
            BatchEnd::Refused { code, .. } => ("refused", code.clone()),
            BatchEnd::Doubtful => ("doubtful", String::new()),
            BatchEnd::DoubtfulRefusal { code, .. } => ("doubtful", code.clone()),
            BatchEnd::Failed { code } => ("failed", code.clone()),
            BatchEnd::Overdue => ("overdue", String::new()),
            _ => ("unknown", String::new()),
        };
        Self { status, error }
    }
}

/// Returns a result for the output: the card number and texts for people are masked. What the service should not send is masked in the
/// rows.
fn masked(entry: &UpdatedCard) -> UpdatedCard {
    let mut entry = entry.clone();
    let card = &mut entry.card;
    card.card_number = CardNumber::from(card.card_number.masked());
    for text in [&mut card.card_description, &mut card.cardholder_name, &mut card.card_bank] {
        *text = mask::text(text);
    }
    entry
}

fn nothing_new(key: &CardKey) -> UpdatedCard {
    UpdatedCard::default().with(|record| {
        record.old_card_key = key.clone();
    })
}

fn csv(text: &mut String, entry: &UpdatedCard, left_out: &LeftOut, batch_key: &str) {
    let card = &entry.card;
    let fields = [
        entry.old_card_key.as_str(),
        left_out.status,
        entry.response.as_str(),
        entry.card_key.as_str(),
        entry.card_unique_identifier.as_str(),
        entry.merchant_customer_reference.as_str(),
        entry.enabled.as_str(),
        &card.card_description,
        &card.cardholder_name,
        card.card_number.expose(),
        &card.card_expiry_month,
        &card.card_expiry_year,
        &card.card_type,
        &card.card_scheme,
        &card.card_bank,
        batch_key,
        &left_out.error,
    ];
    for (at, (field, name)) in fields.into_iter().zip(COLUMNS.split(',')).enumerate() {
        if at > 0 {
            text.push(',');
        }
        let field = cards::value(name, field);
        if field.contains(['"', ',', '\r', '\n']) {
            text.push('"');
            text.push_str(&field.replace('"', "\"\""));
            text.push('"');
        } else {
            text.push_str(&field);
        }
    }
    text.push_str("\r\n");
}

/// The members of the service's result, and the added columns.
fn object(text: &mut String, entry: &UpdatedCard, left_out: &LeftOut, batch_key: &str) {
    // A record is an object, so its text begins with a brace. It is not empty, since it contains the old card key.
    let record = json::write(entry);
    let record = cards::masked(&record);
    let quoted = |text: &str| serde_json::Value::from(text);
    // Writing into a string cannot fail.
    let _ = write!(text, "{{\"status\":\"{}\",\"batchKey\":{},", left_out.status, quoted(batch_key));
    if !left_out.error.is_empty() {
        let _ = write!(text, "\"error\":{},", quoted(&left_out.error));
    }
    text.push_str(record.get(1..).unwrap_or("}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(how: BatchEnd) -> BatchResult {
        let mut entry = UpdatedCard::default().with(|record| {
            record.old_card_key = "a-1".into();
            record.response = "700".into();
            record.card_key = "n-1".into();
        });
        entry.card.cardholder_name = "Smith, \"Ann\" 4111111111111111".to_owned();
        entry.card.card_number = "4111111111111111".into();
        let finished = how == BatchEnd::Finished;
        let mut batch = BatchResult::new(0, how);
        batch.end = 2;
        batch.batch_key = finished.then(|| "b".into());
        batch.entries = if finished { vec![entry] } else { Vec::new() };
        batch.unanswered = vec!["b-2".into()];
        batch
    }

    #[test]
    fn a_table_has_a_row_for_each_key_and_no_card_number() {
        let (text, rows) = Format::Csv.rows(&batch(BatchEnd::Finished), 0);
        let expected = "a-1,answered,700,n-1,,,,,\"Smith, \"\"Ann\"\" 411111******1111\",411111******1111,,,,,,b,\r\n\
                        b-2,unanswered,,,,,,,,,,,,,,b,\r\n";
        assert_eq!((text.as_str(), rows), (expected, 2));
        let columns = |line: &str| line.matches(',').count();
        assert_eq!(columns(Format::Csv.head()), columns("b-2,unanswered,,,,,,,,,,,,,,b,"));
        let refused = BatchEnd::Refused { code: "905".into(), message: "no".into() };
        let (text, rows) = Format::Csv.rows(&batch(refused), 5);
        assert_eq!((text.as_str(), rows), ("b-2,refused,,,,,,,,,,,,,,,905\r\n", 1));
    }

    /// What the service should not send.
    #[test]
    fn no_row_has_a_card_number_or_a_cv2() {
        let mut entry = UpdatedCard::default().with(|record| {
            record.old_card_key = "a-1".into();
            record.card_key = "0d5c4929-4205-4735-9570-494111111111".into();
            record.merchant_customer_reference = "4929420573595709".into();
        });
        entry.card.card_expiry_year = "49".to_owned();
        for (name, text) in [("newPan", "4929420573595709"), ("cardCV2", "917"), ("note", "order 12345")] {
            entry.extra.push(name, pg_model::Value::Text(text.into()));
        }
        let mut batch = BatchResult::new(0, BatchEnd::Finished);
        (batch.end, batch.entries) = (1, vec![entry]);
        for format in [Format::Csv, Format::Json] {
            let (text, _) = format.rows(&batch, 0);
            assert!(!text.contains("4929420573595709") && !text.contains("917"), "{text}");
            assert!(
                text.contains("492942******5709") && text.contains("0d5c4929-4205-4735-9570-494111111111"),
                "{text}"
            );
        }
        assert!(Format::Json.rows(&batch, 0).0.contains("order 12345"));
    }

    #[test]
    fn an_array_is_closed_at_the_end() {
        let (first, rows) = Format::Json.rows(&batch(BatchEnd::Finished), 0);
        let (second, _) = Format::Json.rows(&batch(BatchEnd::Failed { code: "183".into() }), rows);
        let whole = format!("{}{first}{second}{}", Format::Json.head(), Format::Json.foot());
        assert!(!whole.contains("4111111111111111"), "{whole}");
        let values: serde_json::Value = serde_json::from_str(&whole).unwrap();
        assert_eq!(values[0]["oldCardKey"], "a-1");
        assert_eq!(values[0]["card"]["cardNumber"], "411111******1111");
        assert_eq!((&values[1]["status"], &values[1]["batchKey"]), (&"unanswered".into(), &"b".into()));
        assert_eq!((&values[2]["status"], &values[2]["error"]), (&"failed".into(), &"183".into()));
        assert_eq!(whole.lines().count(), 5);
    }
}
