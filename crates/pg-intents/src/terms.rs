//! The stored form of a payment before it begins: its reference, a digest that distinguishes it from other payments,
//! and the payment itself if it contains no card data.

use std::fmt::Write as _;

use pg_hyper::proto::{
    Misuse,
    model::{
        ApiRequest, CancelPreauth, CapturePreauth, Outcome, ParameterSink, Parameters, Refund, Transaction,
        field::Field,
    },
};
use sha2::{Digest as _, Sha512};

use crate::{IntentKey, StoreError};

/// A payment that a fleet can charge: by card, card key or session key, as an authorisation or a reservation.
pub trait Payment: ApiRequest<Output = Outcome<Transaction>> + Clone + Send + Sync + 'static {}

impl<P: ApiRequest<Output = Outcome<Transaction>> + Clone + Send + Sync + 'static> Payment for P {}

/// An operation on an earlier payment that a fleet can carry out: [`CapturePreauth`], [`CancelPreauth`] or [`Refund`].
pub trait PaymentOperation: Payment + sealed::Sealed {}

impl PaymentOperation for CapturePreauth {}
impl PaymentOperation for CancelPreauth {}
impl PaymentOperation for Refund {}

/// Workers resume a fixed list of kinds, so no other request may be stored.
mod sealed {
    use super::{CancelPreauth, CapturePreauth, Refund};

    pub trait Sealed {}

    impl Sealed for CapturePreauth {}
    impl Sealed for CancelPreauth {}
    impl Sealed for Refund {}
}

/// The stored bytes of the digest: enough to distinguish all payments of a shop.
const DIGEST_BYTES: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) key: IntentKey,
    pub(crate) kind: String,
    pub(crate) digest: String,
    /// The stored request; `None` if it contains data that must not be stored.
    pub(crate) request: Option<String>,
}

impl Terms {
    /// Creates the terms of a checked request, under the reference of its intent.
    pub(crate) fn of(account: &str, reference: &str, kind: String, payment: &impl ApiRequest) -> Self {
        let mut sink = Sink { stored: Some(Vec::new()), digest: Sha512::new() };
        payment.visit(&mut sink);
        let digest = sink.digest.finalize().iter().take(DIGEST_BYTES).fold(String::new(), |mut text, byte| {
            // Writing into a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        let request = sink.stored.and_then(|pairs| serde_json::to_string(&pairs).ok());
        Self { key: IntentKey::new(account, reference), kind, digest, request }
    }
}

/// A request as it is stored: names and values.
pub(crate) type Pairs = Vec<(String, String)>;

/// Returns the stored form of a request; `None` if it contains data that must not be stored.
pub(crate) fn pairs(request: &impl ApiRequest) -> Option<Pairs> {
    let mut sink = Sink { stored: Some(Vec::new()), digest: Sha512::new() };
    request.visit(&mut sink);
    sink.stored
}

/// Returns the request with this stored form.
pub(crate) fn of_pairs<P: ApiRequest>(pairs: Pairs) -> Result<P, StoreError> {
    let parameters: Parameters = pairs.into_iter().collect();
    P::from_parameters(&parameters).map_err(|violations| unreadable(&Misuse::Invalid(violations)))
}

/// Returns the stored request.
pub(crate) fn request<P: ApiRequest>(request: &str) -> Result<P, StoreError> {
    of_pairs(serde_json::from_str(request).map_err(|error| unreadable(&error))?)
}

fn unreadable(what: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unreadable(format!("its request: {what}"))
}

struct Sink {
    stored: Option<Pairs>,
    digest: Sha512,
}

impl ParameterSink for Sink {
    fn credentials(&mut self) {}

    fn parameter(&mut self, field: &'static Field, name: &str, value: &str) {
        if field.sensitive {
            // Not even a digest of such data is stored: there are so few card numbers that a digest would not hide one.
            self.stored = None;
            return;
        }
        for part in [name, value] {
            self.digest.update(part.len().to_be_bytes());
            self.digest.update(part);
        }
        if let Some(stored) = &mut self.stored {
            stored.push((name.to_owned(), value.to_owned()));
        }
    }

    fn list(&mut self, field: &'static Field, name: &str, values: &mut dyn Iterator<Item = &str>) {
        let values: Vec<&str> = values.collect();
        self.parameter(field, name, &values.join(","));
    }
}

#[cfg(test)]
mod tests {
    use pg_hyper::proto::model::{Auth, AuthCardKey, AuthSessionKey, CardDetails, Currency, Item, Order};

    use super::*;

    fn terms_of(payment: &impl ApiRequest) -> Terms {
        Terms::of("shop", "order-7", "charge".to_owned(), payment)
    }

    fn order() -> Order {
        Order::new(Currency::GBP).item(Item::new("Tea", 499).quantity(2)).unique_merchant_reference("order-7")
    }

    #[test]
    fn a_payment_without_card_data_round_trips() {
        let paid = AuthCardKey::new("card-key", order());
        assert_eq!(request::<AuthCardKey>(&terms_of(&paid).request.unwrap()), Ok(paid));
        let paid = AuthSessionKey::new("0123456789abcdef0123456789abcdef", order());
        assert_eq!(request(&terms_of(&paid).request.unwrap()), Ok(paid));
    }

    #[test]
    fn card_data_is_neither_stored_nor_distinguished() {
        let by_card = |number: &str, amount| {
            let order = Order::new(Currency::GBP).item(Item::new("Tea", amount)).unique_merchant_reference("order-7");
            terms_of(&Auth::new(CardDetails::new(number, "12", "49").cv2("123"), order))
        };
        let one = by_card("4000000000001000", 499);
        assert_eq!(one.request, None);
        assert_eq!(one.digest, by_card("4000000000002008", 499).digest);
        assert_ne!(one.digest, by_card("4000000000001000", 500).digest);
        let with_cv2 = AuthCardKey::new("card-key", order()).card_cv2("123");
        assert_eq!(terms_of(&with_cv2).request, None);
    }

    #[test]
    fn another_card_key_is_another_payment() {
        let of = |key: &str| terms_of(&AuthCardKey::new(key, order())).digest;
        assert_ne!(of("one"), of("other"));
        assert_eq!(of("one"), of("one"));
    }
}
