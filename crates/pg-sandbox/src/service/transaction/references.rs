//! The references of a transaction: its own, or those copied from an original (A94 and A109).

use pg_model::{MerchantCustomerReference, MerchantReference, UniqueMerchantReference};

use super::charge::{Charge, given};
use crate::records::Payment;

/// The references of a request for its transaction. Version 5 has none.
#[derive(Debug, Default)]
pub(in crate::service) struct References {
    pub(super) merchant: Option<String>,
    pub(super) unique: Option<String>,
    pub(super) customer: Option<String>,
}

impl References {
    /// Returns the references in a request; an empty one counts as missing (A09).
    pub(super) fn of(
        merchant: Option<&MerchantReference>,
        unique: Option<&UniqueMerchantReference>,
        customer: Option<&MerchantCustomerReference>,
    ) -> Self {
        Self { merchant: given(merchant), unique: given(unique), customer: given(customer) }
    }

    /// Adds the references that an operation copies from its original, but never the unique reference (A94).
    pub(super) fn or_of(self, original: &Payment) -> Self {
        Self {
            merchant: self.merchant.or_else(|| original.merchant_reference.clone()),
            unique: self.unique,
            customer: self.customer.or_else(|| original.customer_reference.clone()),
        }
    }

    /// Replaces the references that a 3-D Secure payment copies from its check (A109).
    pub(super) fn replace(self, charge: &mut Charge) {
        charge.reference_added &= self.merchant.is_none();
        for (own, taken_over) in [
            (self.merchant, &mut charge.merchant_reference),
            (self.unique, &mut charge.unique_reference),
            (self.customer, &mut charge.customer_reference),
        ] {
            if own.is_some() {
                *taken_over = own;
            }
        }
    }
}
