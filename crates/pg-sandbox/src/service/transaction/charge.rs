//! A charge: a valid order of the account, and its recorded data.

use std::collections::BTreeMap;

use pg_model::{ApiRequest, ErrorCode, Item, Order, ParameterSink, field::Field};

use super::{Context, Refusal};
use crate::codes::SandboxErrorCode;
use crate::{
    assumed,
    merchants::Merchant,
    records::{Details, Payment, Service},
    secret::Secret,
    vault::{NotOurs, Sealed},
};

/// The maximum amount of one payment, in minor units (A90).
pub(in crate::service) const MOST: u64 = 999_999_999_999;

/// An order whose amount, currency and terminal are valid.
pub(in crate::service) struct Charge {
    /// The service that received it.
    pub(in crate::service) service: Service,
    /// The transaction whose card is charged again.
    pub(in crate::service) parent: Option<String>,
    /// Minor units.
    pub(in crate::service) amount: u64,
    pub(in crate::service) currency: String,
    pub(in crate::service) merchant_reference: Option<String>,
    /// Whether an update set the reference on the transaction that it is copied from.
    pub(in crate::service) reference_added: bool,
    pub(in crate::service) unique_reference: Option<String>,
    pub(in crate::service) customer_reference: Option<String>,
    /// Items, terminal and cardholder, by wire name.
    pub(in crate::service) details: Details,
    /// The parameters for category code 6012, by wire name.
    pub(in crate::service) recipient: BTreeMap<String, Secret>,
}

impl Charge {
    /// Returns the charge of a request. Its order must fit the account (A45, A90 and A91).
    pub(super) fn of<M: ApiRequest>(
        request: &M,
        order: &Order,
        context: &mut Context<'_>,
        merchant: &Merchant,
    ) -> Result<Self, Refusal> {
        if !merchant.currencies.iter().any(|enabled| enabled == order.currency.as_str()) {
            return Err(
                Refusal::from(ErrorCode::CURRENCY_NOT_SUPPORTED).assuming(assumed::ERROR_CODES_OF_SINGLE_PARAMETERS)
            );
        }
        let amount = total(&order.items).ok_or_else(|| {
            Refusal::from(ErrorCode::INVALID_TRANSACTION_VALUE).assuming(assumed::AMOUNT_OF_A_PAYMENT)
        })?;
        if let Some(key) = given(order.terminal_key.as_ref()) {
            if !merchant.terminals.contains(&key) {
                return Err(SandboxErrorCode::UNKNOWN_TERMINAL.into());
            }
            context.basis.assume(assumed::TERMINALS);
        }
        let recipient = recipient(order);
        if !recipient.is_empty() {
            context.basis.assume(assumed::REQUIRED_MCC_FIELDS);
        }
        Ok(Self {
            service: Service::V3,
            parent: None,
            amount,
            currency: order.currency.as_str().to_owned(),
            merchant_reference: given(order.merchant_reference.as_ref()),
            reference_added: false,
            unique_reference: given(order.unique_merchant_reference.as_ref()),
            customer_reference: given(order.merchant_customer_reference.as_ref()),
            details: details(request),
            recipient,
        })
    }

    /// Returns the charge of a 3-D Secure check, with its references (A109).
    pub(super) fn of_check(context: &Context<'_>, check: &Payment) -> Result<Self, Refusal> {
        let open = |(name, sealed): (&String, &Sealed)| Ok((name.clone(), context.vault.open(&check.key, sealed)?));
        let recipient = check.recipient.iter().map(open).collect::<Result<_, NotOurs>>()?;
        Ok(Self {
            service: check.service,
            parent: None,
            amount: check.amount,
            currency: check.currency.clone(),
            merchant_reference: check.merchant_reference.clone(),
            reference_added: check.reference_added,
            unique_reference: check.unique_reference.clone(),
            customer_reference: check.customer_reference.clone(),
            details: check.details.clone(),
            recipient,
        })
    }
}

/// Returns the sum of price times quantity, from 1 to [`MOST`].
fn total(items: &[Item]) -> Option<u64> {
    let line = |item: &Item| match item.quantity {
        Some(0) => None,
        quantity => item.price.checked_mul(quantity.unwrap_or(1)),
    };
    let sum = items.iter().try_fold(0_u64, |sum, item| sum.checked_add(line(item)?))?;
    (1..=MOST).contains(&sum).then_some(sum)
}

/// Returns a text that is present and not empty (A09).
pub(super) fn given<T: AsRef<str>>(text: Option<&T>) -> Option<String> {
    text.map(AsRef::as_ref).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn recipient(order: &Order) -> BTreeMap<String, Secret> {
    let mcc = &order.mcc;
    let sent = [
        ("mccAccountIdentifier", &mcc.account_identifier),
        ("mccSurname", &mcc.surname),
        ("mccPostcode", &mcc.postcode),
        ("mccDateOfBirth", &mcc.date_of_birth),
    ];
    let given = sent.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    given
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_owned(), Secret::new(value.expose())))
        .collect()
}

/// Returns the items, terminal and cardholder of a request, as on the wire, without sensitive values and values with
/// their own field in a payment.
fn details<M: ApiRequest>(request: &M) -> Details {
    let mut recorded = Recorded(Details::new());
    request.visit(&mut recorded);
    recorded.0
}

struct Recorded(Details);

const OWN_FIELDS: &[&str] = &[
    "currency",
    "merchantReference",
    "uniqueMerchantReference",
    "merchantCustomerReference",
    "cardExpiryMonth",
    "cardExpiryYear",
    "cardKey",
    "sessionKey",
    "returnUrl",
];

impl ParameterSink for Recorded {
    fn credentials(&mut self) {}

    fn parameter(&mut self, field: &'static Field, name: &str, value: &str) {
        if !field.sensitive && !value.is_empty() && !OWN_FIELDS.contains(&field.wire) {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }

    fn list(&mut self, _field: &'static Field, _name: &str, _values: &mut dyn Iterator<Item = &str>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total_of(lines: &[(u64, Option<u64>)]) -> Option<u64> {
        let item = |&(price, quantity): &(u64, Option<u64>)| {
            let mut item = Item::new("Tea", price);
            item.quantity = quantity;
            item
        };
        total(&lines.iter().map(item).collect::<Vec<_>>())
    }

    // spec: 2 §4.3, A90
    #[test]
    fn sums_are_checked() {
        assert_eq!(total_of(&[(499, Some(2)), (1, None)]), Some(999));
        assert_eq!(total_of(&[(0, None), (1, None)]), Some(1));
        assert_eq!(total_of(&[(MOST, None)]), Some(MOST));
        assert_eq!(total_of(&[(MOST, None), (1, None)]), None);
        assert_eq!(total_of(&[(1, Some(MOST))]), Some(MOST));
        assert_eq!(total_of(&[(1, Some(MOST + 1))]), None);
        // Without checks, this product is 0 and this sum is 1 in 64 bits.
        assert_eq!(total_of(&[(1 << 32, Some(1 << 32)), (1, None)]), None);
        assert_eq!(total_of(&[(u64::MAX, None), (2, None)]), None);
        assert_eq!(total_of(&[(499, Some(0))]), None);
        assert_eq!(total_of(&[(499, None), (499, Some(0))]), None);
        assert_eq!(total_of(&[(0, None)]), None);
        assert_eq!(total_of(&[]), None);
    }
}
