//! Retry classes of methods: a wrong class would let a client send a payment or another request with an effect twice.

use super::{
    super::{
        openapi::retry_class,
        tables::{Method, Retry},
    },
    Checker,
};

/// The methods that may be sent again or looked up first: made from the documents and not from the tables, so that a wrong class in
/// a row is noticed. Every other method is `never`.
const CLASSES: [(&str, Retry); 18] = [
    // These only read.
    ("enterprise/address", Retry::Safe),
    ("enterprise/transaction_lookup", Retry::Safe),
    ("token/lookup", Retry::Safe),
    ("token/retrieveAccountUpdater", Retry::Safe),
    ("transaction/getAuthenticationStatus", Retry::Safe),
    ("transaction/lookup", Retry::Safe),
    // These have an effect, and a copy has no other.
    ("enterprise/canceltoken", Retry::Safe),
    ("enterprise/gettoken", Retry::Safe),
    ("session/initiate", Retry::Safe),
    ("session/postform", Retry::Safe),
    ("token/delete", Retry::Safe),
    ("token/disable", Retry::Safe),
    ("token/enable", Retry::Safe),
    ("token/updateCardKeyDetails", Retry::Safe),
    // These require a unique reference, by which the payment can be found.
    ("transaction/auth", Retry::LookupFirst),
    ("transaction/authCardKey", Retry::LookupFirst),
    ("transaction/authSessionKey", Retry::LookupFirst),
    ("transaction/preauth", Retry::LookupFirst),
];

/// The parameter by which a payment is looked up.
const REFERENCE: &str = "uniqueMerchantReference";

impl Checker<'_> {
    /// Reports a class that differs from that of the documents, or that contradicts the other keys of the row.
    pub(super) fn retry(&mut self, method: &Method) {
        let place = method.places.of("retry");
        let path = format!("{}/{}", place.file, method.name);
        let listed = CLASSES.iter().find(|(name, _)| *name == path).map_or(Retry::Never, |(_, class)| *class);
        let carries = || self.tables.flatten(&method.fields).iter().any(|field| field.wire == REFERENCE);
        if method.retry != listed {
            let what = format!(
                "{path} has to be {:?}: if the documents say otherwise, first change CLASSES in \
                 xtask/src/codegen/check/retry.rs",
                retry_class(listed)
            );
            self.problem(place, what);
        } else if method.retry == Retry::Safe && method.output.is_some() {
            self.problem(place, "a method with an output moves money, so sending it again is not safe");
        } else if method.retry == Retry::LookupFirst && !self.is_endless() && !carries() {
            self.problem(place, format!("the method has no {REFERENCE} by which it could be looked up"));
        }
    }
}
