//! Runs a generic test for the request type of every method.

use std::fmt::Debug;

use pg_model::{ApiRequest, METHODS, field::Field, method::MethodInfo};

/// What a test does with one method.
pub(crate) trait EachMethod {
    fn run<M: ApiRequest + PartialEq + Debug>(&mut self);
}

/// The types of all 33 methods, in the order of the documents.
macro_rules! each_type {
    ($test:expr; $($name:ident)*) => {{
        let types = [$(pg_model::$name::INFO),*];
        assert!(types.iter().zip(METHODS).all(|(a, b)| std::ptr::eq(*a, *b)) && types.len() == METHODS.len());
        $($test.run::<pg_model::$name>();)*
    }};
}

/// Runs it for all of them.
pub(crate) fn for_each_method(test: &mut impl EachMethod) {
    each_type!(test;
        TokenLookup EnableToken DisableToken DeleteToken UpdateCardKeyDetails TokeniseTransactionKey
        RequestAccountUpdater RetrieveAccountUpdater
        Initiate PostForm
        Auth AuthCardKey AuthSessionKey Preauth InitiateThreeDSecureSessionKey InitiateThreeDSecureCardKey
        GetAuthenticationStatus AuthThreeDSecure PreauthThreeDSecure CapturePreauth CancelPreauth Refund
        UpdateTransaction TransactionLookup
        GetToken Repeat EnterpriseRefund EnterpriseCapture EnterpriseCancel Sms AddressLookup
        EnterpriseTransactionLookup CancelToken);
}

/// Returns the method `service/name`.
pub(crate) fn info(path: &str) -> &'static MethodInfo {
    pg_model::method::method(path).unwrap_or_else(|| panic!("no method {path}"))
}

/// Returns the wire names of a field for this number of items: itself, one for each item, or two that share its prefix.
pub(crate) fn names(field: &Field, items: usize) -> Vec<String> {
    if let Some(prefix) = field.wire.strip_suffix('*') {
        return vec![format!("{prefix}Size"), format!("{prefix}_b")];
    }
    if !field.wire.contains("{n}") {
        return vec![field.wire.to_owned()];
    }
    (0..items).map(|number| field.wire.replace("{n}", &number.to_string())).collect()
}
