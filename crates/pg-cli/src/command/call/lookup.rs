//! The command that looks up the result of a request.

use pg_model::{Parameters, method::MethodInfo};

use crate::shell::word;

/// Keys of a lookup: parameter of the request, method of the lookup and its parameter. Only the first identifies
/// exactly this payment; the others show related records.
const WAYS: [(&str, &str, &str); 4] = [
    (UNIQUE, "transaction/lookup", UNIQUE),
    (NOT_UNIQUE, "transaction/lookup", NOT_UNIQUE),
    (ORIGINAL, "transaction/lookup", "transactionKey"),
    (ORIGINAL_OF_VERSION_5, "enterprise/transaction_lookup", "trans_key"),
];
const UNIQUE: &str = "uniqueMerchantReference";
const NOT_UNIQUE: &str = "merchantReference";
const ORIGINAL: &str = "transactionKey";
const ORIGINAL_OF_VERSION_5: &str = "prev_trans_key";

/// How to look up the result of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lookup {
    /// The command.
    pub(super) command: String,
    /// What it may not show, or not yet; empty if it shows the result.
    pub(super) note: &'static str,
}

impl Lookup {
    /// Returns the lookup, with `account_flags`, if the request has a key for one.
    pub(super) fn of(info: &MethodInfo, parameters: &Parameters, account_flags: &str) -> Option<Self> {
        let has_own_reference = info.field(UNIQUE).is_some();
        let finds = |of| match of {
            NOT_UNIQUE => has_own_reference,
            // The lookup finds no stored card.
            ORIGINAL => info.service.name == "transaction",
            _ => true,
        };
        let (value, of, method, name) = WAYS.iter().filter(|(of, ..)| finds(of)).find_map(|(of, method, name)| {
            parameters.get(of).filter(|value| !value.is_empty()).map(|value| (value, *of, method, name))
        })?;
        // `name=-` and `name=@…` would be read from elsewhere.
        let input = if value == "-" { "printf %s - | " } else { "" };
        let escape = if value.starts_with('@') { "@" } else { "" };
        let command = format!("{input}pg call{account_flags} {method} {}", word(&format!("{name}={escape}{value}")));
        let note = match of {
            UNIQUE => {
                "; a lookup that finds nothing proves nothing yet, since the request may still arrive (A140): look again after some \
                 minutes, and send it again only with this uniqueMerchantReference"
            }
            NOT_UNIQUE => {
                "; the lookup shows every transaction with this merchantReference: an earlier one says nothing about this request, so \
                 compare the time and the amount, or ask the operator, and send a uniqueMerchantReference next time"
            }
            // A repeat is a payment of its own (spec 3 §4.2).
            ORIGINAL_OF_VERSION_5 if info.name == "repeat" => {
                "; the lookup shows only the original payment, never the repeat, which is a payment of its own: ask the operator \
                 whether the repeat was made"
            }
            // An update is no transaction: the original shows it.
            ORIGINAL if has_own_reference => {
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

    fn of(method: &str, parameters: &[(&str, &str)], flags: &str) -> Option<Lookup> {
        Lookup::of(pg_model::method::method(method).unwrap(), &parameters.iter().copied().collect(), flags)
    }

    fn lookup(method: &str, parameters: &[(&str, &str)], flags: &str) -> (String, bool) {
        let found = of(method, parameters, flags).unwrap();
        (found.command, found.note.contains("shows the original transaction"))
    }

    #[test]
    fn the_unique_reference_is_preferred_for_a_lookup() {
        let both = [("transactionKey", "k"), ("merchantReference", "m"), ("uniqueMerchantReference", "order 7")];
        let wanted = "pg call --profile shop transaction/lookup 'uniqueMerchantReference=order 7'";
        assert_eq!(lookup("transaction/refund", &both, " --profile shop"), (wanted.to_owned(), false));
        let note = of("transaction/refund", &both, "").unwrap().note;
        assert!(note.contains("proves nothing yet") && note.contains("(A140)"), "{note}");
        assert_eq!(of("transaction/refund", &[], ""), None);
    }

    #[test]
    fn a_lookup_that_may_show_only_the_original_says_so() {
        let refund = lookup("transaction/refund", &[("transactionKey", "k"), ("transactionValue", "100")], "");
        assert_eq!(refund, ("pg call transaction/lookup transactionKey=k".to_owned(), true));
        let v5 = lookup("enterprise/refund", &[("prev_trans_key", "12")], "");
        assert_eq!(v5, ("pg call enterprise/transaction_lookup trans_key=12".to_owned(), true));
    }

    #[test]
    fn a_reference_is_not_read_from_a_file_or_from_standard_input() {
        let command = |reference| lookup("transaction/auth", &[("uniqueMerchantReference", reference)], "").0;
        assert_eq!(command("@x"), "pg call transaction/lookup 'uniqueMerchantReference=@@x'");
        assert_eq!(command("-"), "printf %s - | pg call transaction/lookup uniqueMerchantReference=-");
    }

    // spec: 1 §4.7, 2 §4.4
    #[test]
    fn a_request_without_a_reference_of_its_own_is_found_by_none() {
        let key = [("transactionKey", "k"), ("merchantReference", "m")];
        assert_eq!(of("token/tokeniseTransactionKey", &key[..1], ""), None);
        // The transaction shows what an update has set.
        let update = of("transaction/update", &key, "").unwrap();
        assert_eq!((&*update.command, update.note), ("pg call transaction/lookup transactionKey=k", ""));
    }

    // spec: 3 §4.2
    #[test]
    fn a_lookup_that_never_shows_a_repeat_says_so() {
        let repeat = of("enterprise/repeat", &[("prev_trans_key", "12")], "").unwrap();
        assert!(
            repeat.note.contains("never the repeat") && repeat.note.contains("ask the operator"),
            "{}",
            repeat.note
        );
    }

    // spec: 2 §2.3
    #[test]
    fn a_lookup_by_a_reference_that_may_repeat_says_so() {
        let found = of("transaction/auth", &[("merchantReference", "subscription")], "").unwrap();
        assert_eq!(found.command, "pg call transaction/lookup merchantReference=subscription");
        assert!(found.note.contains("an earlier one says nothing about this request"), "{}", found.note);
    }
}
