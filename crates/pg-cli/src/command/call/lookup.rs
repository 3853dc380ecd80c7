//! The command that looks up the result of a request.

use pg_model::Parameters;

use crate::shell::word;

/// Keys of a lookup: parameter of the request, method of the lookup and its parameter. Only the first identifies
/// exactly this payment; the others show related records.
const WAYS: [(&str, &str, &str); 4] = [
    ("uniqueMerchantReference", "transaction/lookup", "uniqueMerchantReference"),
    ("merchantReference", "transaction/lookup", "merchantReference"),
    ("transactionKey", "transaction/lookup", "transactionKey"),
    ("prev_trans_key", "enterprise/transaction_lookup", "trans_key"),
];

/// Returns the command, with `account_flags`, if the request has a key for a lookup.
pub(super) fn command(parameters: &Parameters, account_flags: &str) -> Option<String> {
    let (value, method, name) = WAYS.iter().find_map(|(of, method, name)| {
        parameters.get(of).filter(|value| !value.is_empty()).map(|value| (value, method, name))
    })?;
    Some(format!("pg call{account_flags} {method} {}", word(&format!("{name}={value}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unique_reference_is_preferred_for_a_lookup() {
        let both: Parameters =
            [("merchantReference", "m"), ("uniqueMerchantReference", "order 7")].into_iter().collect();
        assert_eq!(
            command(&both, " --profile shop").as_deref(),
            Some("pg call --profile shop transaction/lookup 'uniqueMerchantReference=order 7'")
        );
        let v5: Parameters = [("prev_trans_key", "12")].into_iter().collect();
        assert_eq!(command(&v5, "").as_deref(), Some("pg call enterprise/transaction_lookup trans_key=12"));
        assert_eq!(command(&Parameters::new(), ""), None);
    }
}
