//! Parameters of methods, generated from the tables.

use pg_model::{
    ApiRequest, ParameterSink, Parameters,
    field::{Field, Length},
    format::Format,
    method::MethodInfo,
};
use proptest::prelude::*;

use crate::requests::methods::names;

/// What a request hands out: names and values in its order, and where the credentials belong.
#[derive(Default)]
pub(crate) struct Visited {
    pub(crate) pairs: Vec<(String, String)>,
    pub(crate) credentials: Vec<usize>,
}

impl Visited {
    pub(crate) fn of(request: &impl ApiRequest) -> Self {
        let mut visited = Self::default();
        request.visit(&mut visited);
        visited
    }

    pub(crate) fn parameters(&self) -> Parameters {
        self.pairs.iter().cloned().collect()
    }
}

impl ParameterSink for Visited {
    fn credentials(&mut self) {
        self.credentials.push(self.pairs.len());
    }

    fn parameter(&mut self, field: &'static Field, name: &str, value: &str) {
        assert!(field.is_named(name), "{name} is not {}", field.wire);
        self.pairs.push((name.to_owned(), value.to_owned()));
    }

    fn list(&mut self, field: &'static Field, name: &str, values: &mut dyn Iterator<Item = &str>) {
        let joined = values.collect::<Vec<_>>().join(",");
        self.parameter(field, name, &joined);
    }
}

/// A request that fits all rules of its fields: the required ones and some of the others, in no order.
pub(crate) fn valid(info: &'static MethodInfo) -> BoxedStrategy<Parameters> {
    pairs(info, |field| valid_value(field).boxed())
}

/// A request whose values are anything, required ones included.
pub(crate) fn any_values(info: &'static MethodInfo) -> BoxedStrategy<Parameters> {
    pairs(info, |field| prop_oneof![3 => valid_value(field), 2 => any_value()].boxed())
}

fn pairs(
    info: &'static MethodInfo,
    value: impl Fn(&'static Field) -> BoxedStrategy<String> + Clone + 'static,
) -> BoxedStrategy<Parameters> {
    (0_usize..13)
        .prop_flat_map(move |items| {
            let value = value.clone();
            let chosen: Vec<_> = info
                .fields
                .iter()
                .flat_map(|field| names(field, items).into_iter().map(|name| (*field, name)))
                .map(|(field, name)| (Just(name), sometimes(field, value(field))))
                .collect();
            chosen
        })
        .prop_shuffle()
        .prop_map(|pairs| pairs.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
        .boxed()
}

/// A value where it is required, and often elsewhere.
fn sometimes(field: &Field, value: BoxedStrategy<String>) -> BoxedStrategy<Option<String>> {
    if field.required { value.prop_map(Some).boxed() } else { proptest::option::weighted(0.4, value).boxed() }
}

/// Text of any kind: empty, too long, not ASCII, with control characters, numbers.
pub(crate) fn any_value() -> BoxedStrategy<String> {
    prop_oneof![
        "[ -~]{0,40}",
        "[é€😀 a-z]{0,70}",
        "[\u{0}-\u{20}\u{80}-\u{a0}]{1,3}",
        "-?[0-9]{1,21}",
        "[0-9]{0,3}\\.[0-9]{0,3}",
        Just(String::new()),
        Just("é".repeat(200)),
    ]
    .boxed()
}

fn valid_value(field: &'static Field) -> BoxedStrategy<String> {
    let (least, most) = match field.length {
        Length::Any => (1, 60),
        Length::Between(least, most) => (usize::from(least.max(1)), usize::from(most)),
    };
    let of_length =
        |class: &str| proptest::string::string_regex(&format!("{class}{{{least},{most}}}")).expect("a pattern").boxed();
    match field.format {
        Format::Text => of_length("[a-zA-Z0-9 .,'&+%=éß€😀-]"),
        Format::Lines => of_length("[a-zA-Z0-9 .,'&+%=éß€😀\n\r-]"),
        Format::Alphanumeric => of_length("[a-zA-Z0-9]"),
        Format::Digits | Format::CardNumber | Format::Cv2 => of_length("[0-9]"),
        Format::Integer => whole(field).boxed(),
        Format::Minor | Format::UnixTime => any::<u64>().prop_map(|number| number.to_string()).boxed(),
        Format::Decimal => "(0|[1-9][0-9]{0,12})(\\.[0-9]{1,3})?".boxed(),
        Format::Url => {
            "https?://[a-z]{1,9}\\.example(:[0-9]{2,4})?(/[a-z0-9]{0,5}){0,3}(\\?[a-z]=[a-z%20]{0,4})?".boxed()
        }
        Format::Currency => "[A-Z]{3}".boxed(),
        Format::Country => "[A-Z]{2}".boxed(),
        Format::Month => "0[1-9]|1[0-2]".boxed(),
        Format::Year => "[0-9]{2}|20[0-9]{2}".boxed(),
        Format::Year2 => "[0-9]{2}".boxed(),
        Format::Expiry => "(0[1-9]|1[0-2])([0-9]{2}|20[0-9]{2})".boxed(),
        // Days that every month has.
        Format::DateYmd => "(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|1[0-9]|2[0-8])".boxed(),
        Format::DateDmy => "(0[1-9]|1[0-9]|2[0-8])(0[1-9]|1[0-2])(19|20)[0-9]{2}".boxed(),
        Format::OneOf => proptest::sample::select(field.values).prop_map(str::to_owned).boxed(),
        Format::Flag => "[01]".boxed(),
        Format::CardKeys => proptest::collection::btree_set("[0-9a-f]{4}-[0-9a-f]{2}", 1..9)
            .prop_map(|keys| keys.into_iter().collect::<Vec<_>>().join(","))
            .boxed(),
        Format::Msisdn => "(00|\\+)?[1-9][0-9]{8,11}".boxed(),
        Format::Phone => "[1-9][0-9]{5,14}".boxed(),
        other => panic!("no values for {other:?}"),
    }
}

fn whole(field: &'static Field) -> BoxedStrategy<String> {
    match field.range {
        Some((least, most)) => (least..=most).prop_map(|number| number.to_string()).boxed(),
        None => any::<u64>().prop_map(|number| number.to_string()).boxed(),
    }
}
