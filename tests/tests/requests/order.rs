//! Parameters in signing order, and back to the request they came from.

use std::fmt::Debug;

use pg_model::{
    ApiRequest, CheckoutItem, Currency, GetToken, Item, Order, Parameters, each_method,
    method::{AuthScheme, EachMethod},
};
use proptest::{prelude::*, test_runner::TestRunner};

use crate::requests::parameters::{Visited, any_values, valid};

/// The rule of spec 1 §5 put plainly: names as a person would sort them, capitals ignored.
fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.sort_by_key(|name| name.to_ascii_lowercase());
    names
}

fn runner() -> TestRunner {
    TestRunner::new(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })
}

struct SigningOrder;

impl EachMethod for SigningOrder {
    fn run<M: ApiRequest + PartialEq + Debug>(&mut self) {
        runner()
            .run(&valid(M::INFO), |parameters| {
                let request = M::from_parameters(&parameters).expect("a valid request");
                let visited = Visited::of(&request);
                let mut names: Vec<String> = visited.pairs.iter().map(|(name, _)| name.clone()).collect();
                let credentials: &[&str] = match M::INFO.credentials {
                    AuthScheme::Signed => &["apiKey", "apiPassword"],
                    AuthScheme::Enterprise => &["api_key", "api_password"],
                    AuthScheme::Session => &[],
                };
                prop_assert_eq!(visited.credentials.len(), usize::from(!credentials.is_empty()));
                for at in visited.credentials {
                    names.splice(at..at, credentials.iter().map(|name| (*name).to_owned()));
                }
                prop_assert_eq!(&names, &sorted(names.clone()));
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{:?}: {error}", M::INFO));
    }
}

// spec: 1 §5, A02, A29
#[test]
fn every_request_hands_out_its_parameters_in_signing_order() {
    each_method(&mut SigningOrder);
}

#[test]
fn items_come_in_the_order_of_their_names_not_of_their_numbers() {
    let order = |count| (0..count).fold(Order::new(Currency::GBP), |order, n| order.item(Item::new("Tea", n)));
    let checkout = |count| (0..count).fold(GetToken::new(), |token, _| token.item(CheckoutItem::new("Tea", "1")));
    for count in [0, 1, 2, 9, 10, 11, 12, 100, 101, 1234] {
        let visited = Visited::of(&pg_model::AuthCardKey::new("k", order(count)));
        let names: Vec<String> = visited.pairs.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, sorted(names.clone()), "{count} items");
        let visited = Visited::of(&checkout(count));
        let names: Vec<String> = visited.pairs.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, sorted(names.clone()), "{count} checkout items");
    }
}

struct ThereAndBack;

impl EachMethod for ThereAndBack {
    fn run<M: ApiRequest + PartialEq + Debug>(&mut self) {
        runner()
            .run(&valid(M::INFO), |parameters| {
                let request = M::from_parameters(&parameters).expect("a valid request");
                prop_assert_eq!(as_sorted(&Visited::of(&request).parameters()), as_sorted(&parameters));
                comes_back(&request)
            })
            .unwrap_or_else(|error| panic!("{:?}: {error}", M::INFO));
        // Requests that break rules are read back too, if they can be read.
        runner()
            .run(&any_values(M::INFO), |parameters| {
                M::from_parameters(&parameters).map_or(Ok(()), |request| comes_back(&request))
            })
            .unwrap_or_else(|error| panic!("{:?}: {error}", M::INFO));
    }
}

fn comes_back<M: ApiRequest + PartialEq + Debug>(request: &M) -> Result<(), TestCaseError> {
    let visited = Visited::of(request).parameters();
    let again = M::from_parameters(&visited).expect("the same request");
    prop_assert_eq!(Visited::of(&again).parameters(), visited);
    // Parameters that share a prefix keep the order in which they were given until they are sent.
    let in_order = !M::INFO.fields.iter().any(|field| field.wire.ends_with('*'));
    prop_assert!(!in_order || again == *request, "{:?} became {:?}", request, again);
    Ok(())
}

fn as_sorted(parameters: &Parameters) -> Vec<(String, String)> {
    let mut pairs: Vec<_> = parameters.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    pairs.sort();
    pairs
}

#[test]
fn every_request_comes_back_from_its_parameters() {
    each_method(&mut ThereAndBack);
}

/// Parameters of other methods do not affect the order.
#[test]
fn foreign_parameters_are_left_alone() {
    let parameters = Parameters::from_iter([("cardKey", "k"), ("shaSignature", "x"), ("itemName0", "Tea")]);
    let request = pg_model::DeleteToken::from_parameters(&parameters).expect("a request");
    assert_eq!(request, pg_model::DeleteToken::new("k"));
}

// spec: 1 §4.6, A23: The misspelt names of town and county are accepted; both spellings in one request are a duplicate
//   parameter.
// spec: 1 §2.1, A23
#[test]
fn misspelt_names_are_read_and_the_right_ones_sent() {
    let parameters = Parameters::from_iter([
        ("cardKey", "k"),
        ("cardholderAdressTown", "Town"),
        ("cardHolderAddressCounty", "Shire"),
        ("cardHolderName", "A N Other"),
    ]);
    let request = pg_model::UpdateCardKeyDetails::from_parameters(&parameters).expect("a request");
    assert!(request.check().is_empty());
    let names: Vec<String> = Visited::of(&request).pairs.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["cardholderAddressCounty", "cardholderAddressTown", "cardholderName", "cardKey"]);
    assert!(pg_model::UpdateCardKeyDetails::INFO.check_parameters(&parameters).is_empty());
}
