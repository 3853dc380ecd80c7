//! Values for parameters.

use pg_model::{
    field::{Field, Length},
    format::Format,
};

/// Returns a valid value of a field. Numbers that name a resource name none that exists.
///
/// # Panics
/// If the tables have a format without a sample.
#[must_use]
pub fn sample(field: &Field) -> String {
    let length = match field.length {
        Length::Any => 8,
        Length::Between(least, most) => usize::from(least.max(1).max(most.min(8))),
    };
    match field.format {
        Format::Text | Format::Lines | Format::Alphanumeric => "a1".chars().cycle().take(length).collect(),
        Format::Digits | Format::Minor => "1".repeat(length),
        Format::Integer | Format::Flag => "1".to_owned(),
        Format::Decimal => "5.95".to_owned(),
        Format::Url => "https://shop.example/x".to_owned(),
        Format::Currency => "GBP".to_owned(),
        Format::Country => "GB".to_owned(),
        Format::Month => "12".to_owned(),
        Format::Year => "2049".to_owned(),
        Format::Year2 => "49".to_owned(),
        Format::Expiry => "1249".to_owned(),
        Format::DateYmd => "19700131".to_owned(),
        Format::DateDmy => "31011970".to_owned(),
        Format::UnixTime => "1900000000".to_owned(),
        Format::CardNumber => "4111111111111111".to_owned(),
        Format::Cv2 => "123".to_owned(),
        Format::OneOf => field.values.first().copied().unwrap_or_default().to_owned(),
        Format::CardKeys => "4f2c-91".to_owned(),
        Format::Msisdn | Format::Phone => "447700900000".to_owned(),
        other => unreachable!("no sample of {other:?}"),
    }
}
