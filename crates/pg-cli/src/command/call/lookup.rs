//! The command that looks up the result of a request.

use pg_model::Parameters;

use crate::shell::word;

/// Keys of a lookup: parameter of the request, method of the lookup and its parameter. Only the first identifies
/// exactly this payment; the others show related records.
const WAYS: [(&str, &str, &str); 4] = [
    ("uniqueMerchantReference", "transaction/lookup", "uniqueMerchantReference"),
    ("merchantReference", "transaction/lookup", "merchantReference"),
    (ORIGINAL, "transaction/lookup", "transactionKey"),
    (ORIGINAL_OF_VERSION_5, "enterprise/transaction_lookup", "trans_key"),
];
const ORIGINAL: &str = "transactionKey";
const ORIGINAL_OF_VERSION_5: &str = "prev_trans_key";

/// How to look up the result of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lookup {
    /// The command.
    pub(super) command: String,
    /// What it may not show; empty if it shows the result.
    pub(super) note: &'static str,
}

impl Lookup {
    /// Returns the lookup, with `account_flags`, if the request has a key for one.
    pub(super) fn of(parameters: &Parameters, account_flags: &str) -> Option<Self> {
        let (value, of, method, name) = WAYS.iter().find_map(|(of, method, name)| {
            parameters.get(of).filter(|value| !value.is_empty()).map(|value| (value, *of, method, name))
        })?;
        let command = format!("pg call{account_flags} {method} {}", word(&format!("{name}={value}")));
        let note = match of {
            ORIGINAL => {
                "; the lookup shows the original transaction, whose capture, cancellation or refund may be a transaction of its \
                 own: look up its merchantReference too, or ask the operator, and send a uniqueMerchantReference next time"
            }
            ORIGINAL_OF_VERSION_5 => {
                "; the lookup shows the original transaction: if its status does not show what was requested, ask the operator"
            }
            _ => "",
        };
        Some(Self { command, note })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(parameters: &[(&str, &str)], flags: &str) -> (String, bool) {
        let found = Lookup::of(&parameters.iter().copied().collect(), flags).unwrap();
        (found.command, found.note.contains("shows the original transaction"))
    }

    #[test]
    fn the_unique_reference_is_preferred_for_a_lookup() {
        let both = [("transactionKey", "k"), ("merchantReference", "m"), ("uniqueMerchantReference", "order 7")];
        let wanted = "pg call --profile shop transaction/lookup 'uniqueMerchantReference=order 7'";
        assert_eq!(lookup(&both, " --profile shop"), (wanted.to_owned(), false));
        assert_eq!(Lookup::of(&Parameters::new(), ""), None);
    }

    #[test]
    fn a_lookup_that_may_show_only_the_original_says_so() {
        let refund = lookup(&[("transactionKey", "k"), ("transactionValue", "100")], "");
        assert_eq!(refund, ("pg call transaction/lookup transactionKey=k".to_owned(), true));
        let v5 = lookup(&[("prev_trans_key", "12")], "");
        assert_eq!(v5, ("pg call enterprise/transaction_lookup trans_key=12".to_owned(), true));
    }
}
