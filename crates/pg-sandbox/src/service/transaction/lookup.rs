//! `transaction/lookup` (spec 2 §4.4; A21, A43, A68 and A99).

use std::collections::HashSet;

use pg_model::{ErrorCode, TransactionLookup, Transactions, dialect::EmptyLookup};

use super::{Context, Refusal, Serve, charge::given, reply};
use crate::{
    assumed,
    codes::SandboxErrorCode,
    merchants::Merchant,
    records::{Payment, PaymentKind, UniqueReference},
    store::{Query, StoreError},
};

impl Serve for TransactionLookup {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transactions, Refusal> {
        let wanted = Wanted {
            key: given(self.transaction_key.as_ref()),
            reference: given(self.merchant_reference.as_ref()),
            unique: given(self.unique_merchant_reference.as_ref()),
        };
        let found = wanted.candidates(context, merchant)?;
        let found = found
            .ok_or_else(|| Refusal::from(ErrorCode::NO_DATA_SENT).assuming(assumed::LOOKUPS_WITHOUT_A_PARAMETER))?;
        let rows: Vec<_> = found.iter().filter(|payment| wanted.fits(payment)).map(reply::row).collect();
        context.basis.assume(if rows.is_empty() {
            assumed::A_LOOKUP_THAT_FINDS_NOTHING
        } else {
            assumed::SHAPE_OF_THE_TRANSACTION_LOOKUP
        });
        if wanted.parameters() > 1 || wanted.reference.is_some() {
            context.basis.assume(assumed::TRANSACTION_LOOKUP_WITH_SEVERAL_PARAMETERS);
        }
        if wanted.key.is_none() {
            context.basis.assume_all(assumed_of_references(found.iter().filter(|payment| wanted.fits(payment))));
        }
        if rows.is_empty() {
            nothing(context.settings.spoken().lookup.nothing)?;
        }
        Ok(Transactions::default().with(|record| {
            record.transactions = rows;
        }))
    }
}

/// Returns the assumptions about references by which these transactions were found: a 3-D Secure payment has those of
/// its check (A109), an operation its own or those of its original (A94).
fn assumed_of_references<'a>(found: impl Iterator<Item = &'a Payment>) -> impl Iterator<Item = u16> {
    let (mut checks, mut payments, mut operated) = (Vec::new(), HashSet::new(), false);
    for payment in found {
        match payment.kind {
            PaymentKind::ThreeDSecureCheck | PaymentKind::ThreeDsAuthenticatedOnly => {
                checks.extend(&payment.unique_reference);
            }
            PaymentKind::Auth | PaymentKind::PreAuth => payments.extend(&payment.unique_reference),
            PaymentKind::Capture | PaymentKind::CancelPreAuth | PaymentKind::Refund => operated = true,
        }
    }
    // Only such a pair shares a unique reference.
    let shared = checks.iter().any(|reference| payments.contains(reference));
    let shared = shared.then_some(assumed::REFERENCES_OF_A_3_D_SECURE_PAYMENT);
    let operated = operated.then_some(assumed::REFERENCES_OF_CAPTURES_CANCELLATIONS_AND_REFUNDS);
    operated.into_iter().chain(shared)
}

/// Returns the form of an empty lookup (A43).
fn nothing(form: Option<EmptyLookup>) -> Result<(), Refusal> {
    let refusal =
        || Refusal::from(SandboxErrorCode::UNKNOWN_TRANSACTION_KEY).assuming(assumed::A_LOOKUP_THAT_FINDS_NOTHING);
    match form {
        Some(EmptyLookup::Error) => Err(refusal()),
        Some(EmptyLookup::NotFound) => Err(refusal().with_status(404)),
        _ => Ok(()),
    }
}

/// The search criteria. All criteria that are given must match.
struct Wanted {
    key: Option<String>,
    reference: Option<String>,
    unique: Option<String>,
}

impl Wanted {
    /// Returns the account's transactions that match the most selective parameter; `None` without parameters.
    fn candidates(&self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Option<Vec<Payment>>, StoreError> {
        let records = &mut context.records;
        let keys = match (&self.key, &self.unique) {
            (None, None) => {
                let Some(reference) = &self.reference else { return Ok(None) };
                let query = Query::oldest(u32::MAX).of(&merchant.name).equal(Payment::MERCHANT_REFERENCE, reference);
                return records.find(&query).map(Some);
            }
            (Some(key), _) => vec![key.clone()],
            (None, Some(unique)) => {
                let key = UniqueReference::key_of(&merchant.name, unique);
                let used = records.get::<UniqueReference>(&key)?;
                used.into_iter().flat_map(|used| [used.transaction, used.payment]).flatten().collect()
            }
        };
        let mut found = Vec::with_capacity(keys.len());
        for key in keys {
            found.extend(records.get_of(&merchant.name, &key)?);
        }
        Ok(Some(found))
    }

    fn fits(&self, payment: &Payment) -> bool {
        // A transaction found by another parameter is compared by its recorded references, including those set by an
        // update.
        let named = self.key.is_some() || self.unique.is_some();
        let reference = if named { payment.merchant_reference.as_deref() } else { payment.found_by() };
        let matches = |wanted: &Option<String>, held: Option<&str>| wanted.is_none() || wanted.as_deref() == held;
        matches(&self.key, Some(&payment.key))
            && matches(&self.reference, reference)
            && matches(&self.unique, payment.unique_reference.as_deref())
    }

    fn parameters(&self) -> usize {
        [&self.key, &self.reference, &self.unique].into_iter().flatten().count()
    }
}
