//! The rules of a request, all at once, the same for a typed request as for its parameters.

use std::{collections::BTreeSet, fmt::Debug};

use pg_model::{
    ApiRequest, Item, Order, Parameters, PostForm, Rule, UpdateTransaction, Violations, each_method, field::Field,
    format::Format, method::EachMethod,
};
use proptest::{prelude::*, test_runner::TestRunner};

use crate::requests::{
    methods::{info, names},
    parameters::{Visited, any_values, valid},
};

fn runner() -> TestRunner {
    TestRunner::new(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })
}

/// Names and rules, in any order.
fn set(violations: &Violations) -> BTreeSet<(String, String)> {
    violations.iter().map(|violation| (violation.name.clone(), violation.rule.to_string())).collect()
}

fn wrong_names(violations: &Violations) -> Vec<String> {
    let mut names: Vec<String> = violations.iter().map(|violation| violation.name.clone()).collect();
    names.sort();
    names
}

struct BothChecksAgree;

impl EachMethod for BothChecksAgree {
    fn run<M: ApiRequest + PartialEq + Debug>(&mut self) {
        runner()
            .run(&any_values(M::INFO), |parameters| {
                if let Ok(request) = M::from_parameters(&parameters) {
                    let visited = Visited::of(&request).parameters();
                    prop_assert_eq!(set(&M::INFO.check_parameters(&visited)), set(&request.check()));
                    prop_assert_eq!(set(&M::INFO.check_parameters(&parameters)), set(&request.check()));
                }
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{:?}: {error}", M::INFO));
    }
}

#[test]
fn a_typed_request_breaks_the_same_rules_as_its_parameters() {
    each_method(&mut BothChecksAgree);
}

struct ValidIsValid;

impl EachMethod for ValidIsValid {
    fn run<M: ApiRequest + PartialEq + Debug>(&mut self) {
        runner()
            .run(&valid(M::INFO), |parameters| {
                let found = M::INFO.check_parameters(&parameters);
                let alone: Vec<_> =
                    found.iter().filter(|violation| !matches!(violation.rule, Rule::Together(_))).collect();
                prop_assert!(alone.is_empty(), "{:?}", alone);
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{:?}: {error}", M::INFO));
    }
}

#[test]
fn values_as_the_tables_ask_for_break_no_rule_of_a_field() {
    each_method(&mut ValidIsValid);
}

/// A value that no rule of the field lets pass; `None` where everything but control characters is allowed and they are
/// what the field is given.
fn wrong_value(field: &Field) -> String {
    match field.format {
        Format::Text => "a\u{7}".into(),
        Format::Alphanumeric => "a-b".into(),
        Format::CardKeys => "a,a".into(),
        _ => "\u{7}x".into(),
    }
}

#[test]
fn everything_wrong_is_reported_at_once_by_its_name_on_the_wire() {
    for method in pg_model::METHODS {
        let mut expected: Vec<String> = method.fields.iter().flat_map(|field| names(field, 12)).collect();
        let parameters: Parameters = method
            .fields
            .iter()
            .flat_map(|field| names(field, 12).into_iter().map(|name| (name, wrong_value(field))))
            .collect();
        expected.sort();
        let found = method.check_parameters(&parameters);
        assert_eq!(wrong_names(&found), expected, "{method:?}");
        for violation in &found {
            let field = method.field(&violation.name).expect("a field of the method");
            assert_eq!(violation.source, field.source, "{method:?} {}", violation.name);
            assert!(!violation.source.is_empty(), "{method:?} {}", violation.name);
        }
    }
}

// spec: 2 §4.3, A05
#[test]
fn all_missing_required_fields_are_reported_at_once() {
    for method in pg_model::METHODS {
        let mut expected: Vec<&str> = method
            .fields
            .iter()
            .filter(|field| field.required && !field.wire.contains("{n}"))
            .map(|field| field.wire)
            .collect();
        expected.sort_unstable();
        let found = method.check_parameters(&Parameters::new());
        let alone: Vec<String> = found
            .iter()
            .filter(|violation| violation.rule == Rule::Required)
            .map(|violation| violation.name.clone())
            .collect();
        let mut alone: Vec<&str> = alone.iter().map(String::as_str).collect();
        alone.sort_unstable();
        assert_eq!(alone, expected, "{method:?}");
    }
}

// spec: 2 §4.3, A05
#[test]
fn an_item_needs_its_name_and_price() {
    let parameters =
        Parameters::from_iter([("cardKey", "k"), ("currency", "GBP"), ("itemReference1", "r"), ("itemName0", "Tea")]);
    let found = info("transaction/authCardKey").check_parameters(&parameters);
    assert_eq!(wrong_names(&found), ["itemName1", "itemPrice0", "itemPrice1"]);
}

/// Items are numbered from 0 without a gap (assumption A14), and an error names an item as it was sent.
// spec: 2 §2.4, A14
#[test]
fn a_gap_in_the_numbers_of_items_is_an_error() {
    let given = [("cardKey", "k"), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "1")];
    let with = |more: &[(&'static str, &'static str)]| given.iter().chain(more).copied().collect::<Parameters>();
    let auth = info("transaction/authCardKey");
    assert!(auth.check_parameters(&with(&[])).is_empty());
    assert_eq!(wrong_names(&auth.check_parameters(&with(&[("itemName2", "Cup"), ("itemPrice2", "1")]))), ["itemName2"]);
    let found = auth.check_parameters(&with(&[("itemName7", "a\u{7}"), ("itemPrice7", "x"), ("itemQuantity10", "1")]));
    assert_eq!(wrong_names(&found), ["itemName10", "itemName7", "itemName7", "itemPrice10", "itemPrice7"]);
    for name in ["itemName01", "itemName+1", "itemName-1", "itemName1000000", "itemName", "itemNamex"] {
        let found = auth.check_parameters(&with(&[(name, "Cup")]));
        assert!(found.iter().any(|violation| violation.name == name && violation.rule == Rule::Unknown), "{name}");
    }
    for (name, read) in [
        ("itemName01", false),
        ("itemPrice1000000", false),
        ("itemName", false),
        ("itemNamex", false),
        ("itemNames0", true),
    ] {
        let request = pg_model::AuthCardKey::from_parameters(&with(&[(name, "1")]));
        assert_eq!(request.is_ok(), read, "{name} is not an item that may be left out");
    }
    let checkout = info("enterprise/gettoken");
    let misnumbered = [("item_name[0]", "Tea"), ("item_price[0]", "1"), ("item_price[01]", "1")];
    assert!(pg_model::GetToken::from_parameters(&misnumbered.into_iter().collect()).is_err());
    let gap = Parameters::from_iter([("item_name[2]", "Tea"), ("item_price[2]", "1")]);
    assert_eq!(wrong_names(&checkout.check_parameters(&gap)), ["item_name[2]"]);
    // Version 5 defines no base: numbers from 1 are as valid as from 0, and errors show the sent numbers.
    let from_one = |price: &'static str| Parameters::from_iter([("item_name[1]", "Tea"), ("item_price[1]", price)]);
    assert!(checkout.check_parameters(&from_one("1")).is_empty());
    assert_eq!(pg_model::GetToken::from_parameters(&from_one("1")).expect("a request").items.len(), 1);
    assert_eq!(wrong_names(&checkout.check_parameters(&from_one("x"))), ["item_price[1]"]);
}

// spec: 2 §8, A14, A47
#[test]
fn many_items_are_read_in_time() {
    let pairs = (0..10_000).flat_map(|n| [(format!("itemName{n}"), "Tea"), (format!("itemPrice{n}"), "1")]);
    let parameters: Parameters = pairs.chain([("cardKey".into(), "k"), ("currency".into(), "GBP")]).collect();
    let request = pg_model::AuthCardKey::from_parameters(&parameters).expect("a request");
    assert_eq!(request.order.items.len(), 10_000);
}

/// A missing one hides neither the violations of the others nor those of rules between fields.
#[test]
fn a_missing_parameter_hides_nothing() {
    let found = PostForm::INFO.check_parameters(&Parameters::from_iter([
        ("cardNumber", "4111"),
        ("cardCV2", "12"),
        ("collectNote", "a\u{7}"),
        ("itemName0", "Tea"),
    ]));
    assert_eq!(
        wrong_names(&found),
        [
            "cardCV2",
            "cardExpiryDate",
            "cardNumber",
            "collectNote",
            "currentPageUrl",
            "itemName0",
            "nextPageUrl",
            "sessionKey"
        ]
    );
    let found = UpdateTransaction::INFO.check_parameters(&Parameters::new());
    assert_eq!(wrong_names(&found), ["merchantReference", "transactionKey"]);
    let found = info("token/requestAccountUpdater").check_parameters(&Parameters::from_iter([("cardKey", "a,,a")]));
    assert_eq!(wrong_names(&found), ["accountUpdaterKey", "cardKey", "cardKey"]);
}

// spec: 2 §4.2, A81
#[test]
fn the_expiry_is_one_field_or_two() {
    let form = |pairs: &[(&'static str, &'static str)]| {
        let all = [
            ("sessionKey", "k"),
            ("cardNumber", "4111111111111111"),
            ("nextPageUrl", "https://a.example/"),
            ("currentPageUrl", "https://b.example/"),
        ];
        wrong_names(&PostForm::INFO.check_parameters(&all.iter().chain(pairs).copied().collect()))
    };
    assert!(form(&[("cardExpiryDate", "1230")]).is_empty());
    assert!(form(&[("cardExpiryDate", "122030")]).is_empty());
    assert!(form(&[("cardExpiryMonth", "12"), ("cardExpiryYear", "2030")]).is_empty());
    assert_eq!(form(&[]), ["cardExpiryDate"]);
    assert_eq!(form(&[("cardExpiryMonth", "12")]), ["cardExpiryYear"]);
    assert_eq!(form(&[("cardExpiryYear", "30")]), ["cardExpiryMonth"]);
    assert_eq!(form(&[("cardExpiryDate", "1330")]), ["cardExpiryDate"]);
    assert_eq!(form(&[("cardExpiryDate", "12300")]), ["cardExpiryDate"]);
}

#[test]
fn an_unknown_parameter_is_named() {
    let found = info("token/lookup").check_parameters(&Parameters::from_iter([("cardkey", "k"), ("itemName0", "x")]));
    assert_eq!(wrong_names(&found), ["cardkey", "itemName0"]);
    assert!(found.iter().all(|violation| violation.rule == Rule::Unknown));
}

#[test]
fn numbers_use_all_64_bits() {
    let order = Order::new("GBP").item(Item::new("Yacht", u64::MAX).quantity(u64::MAX));
    let auth = pg_model::AuthCardKey::new("k", order);
    assert!(auth.check().is_empty());
    let visited = Visited::of(&auth).parameters();
    assert_eq!(visited.get("itemPrice0"), Some("18446744073709551615"));
    assert!(info("transaction/authCardKey").check_parameters(&visited).is_empty());
    assert_eq!(pg_model::AuthCardKey::from_parameters(&visited).expect("the same"), auth);
    for beyond in ["18446744073709551616", "-1", "1.0", "1e3", "+1", " 1", "0x1"] {
        for name in ["itemPrice0", "itemQuantity0"] {
            let mut parameters = Parameters::from_iter([("cardKey", "k"), ("currency", "GBP"), ("itemName0", "Tea")]);
            parameters.push(name, beyond);
            if name != "itemPrice0" {
                parameters.push("itemPrice0", "1");
            }
            let found = info("transaction/authCardKey").check_parameters(&parameters);
            assert_eq!(wrong_names(&found), [name], "{beyond:?}");
        }
    }
}
