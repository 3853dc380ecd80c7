//! The error code of a broken parameter rule (A45).

use pg_model::{
    ApiRequest as _, ErrorCode, RequestAccountUpdater, Rule, Violation, Violations, format::Format, method::MethodInfo,
};

use super::{names::Names, refusal::Refusal};
use crate::{assumed, codes::SandboxErrorCode};

/// Returns the refusal for the first violation in the order of the method's table. Further violations are not reported
/// (A51).
pub(crate) fn refusal(info: &MethodInfo, violations: &Violations) -> Option<Refusal> {
    let names = Names::of(info);
    let item = info.fields.iter().position(|field| field.is_numbered());
    // An unexpected item is reported before its missing fields.
    let place = |violation: &Violation| match is_gap(violation) {
        true => (item, false),
        false => (names.find(&violation.name).map(|known| known.place), true),
    };
    let with_place = violations.iter().map(|violation| (place(violation), violation)).filter(|(at, _)| at.0.is_some());
    let first = with_place.min_by_key(|(at, _)| *at).map(|(_, violation)| violation);
    let first = first.or_else(|| violations.iter().next());
    // Which of several violations is reported.
    let order = (violations.iter().count() > 1).then_some(assumed::ORDER_OF_THE_CHECKS);
    first.map(|violation| {
        let refusal = of(violation).because_of(&violation.name);
        decided_by(info, violation).into_iter().chain(order).fold(refusal, Refusal::assuming)
    })
}

/// Returns the assumption behind the broken rule itself, besides the assumption that chooses its code.
fn decided_by(info: &MethodInfo, violation: &Violation) -> Option<u16> {
    let (service, name) = (info.service.name, violation.name.as_str());
    match violation.rule {
        Rule::EMPTY_VALUE => Some(assumed::EMPTY_VALUES),
        Rule::Required if service == "transaction" && is_of_order(name) => Some(assumed::REQUIRED_FIELDS_OF_AN_ORDER),
        Rule::Required
            if service == "token"
                && matches!(name, "transactionKey" | "cardKey")
                && info.name != RequestAccountUpdater::INFO.name =>
        {
            Some(assumed::REQUIRED_PARAMETERS_OF_THE_TOKEN_METHODS)
        }
        Rule::Length(_) if service != "transaction" && name == "merchantCustomerReference" => {
            Some(assumed::LENGTH_OF_A_CUSTOMER_REFERENCE)
        }
        Rule::Length(_) | Rule::Format(Format::Alphanumeric)
            if matches!(name, "transactionKey" | "authenticationKey" | "batchKey") =>
        {
            Some(assumed::KEYS_OF_EXACTLY_32_LETTERS_AND_DIGITS_ARE_CHECKED_STRICTLY)
        }
        Rule::Format(Format::Decimal) => Some(assumed::DECIMAL_AMOUNTS),
        Rule::Format(Format::Currency) => Some(assumed::LETTER_CASE_OF_CURRENCY_CODES),
        Rule::Format(Format::Url) if !matches!(name, "callbackUrl" | "callback_url") => Some(assumed::MERCHANT_PAGES),
        Rule::Range(..) if matches!(name, "token_uses" | "token_redemptions") => {
            Some(assumed::LIMITS_OF_A_CHECKOUT_TOKEN)
        }
        _ => None,
    }
}

fn is_of_order(name: &str) -> bool {
    matches!(name, "currency" | "cardNumber" | "cardExpiryMonth" | "cardExpiryYear")
        || ["itemName", "itemPrice"].iter().any(|start| name.starts_with(start))
}

/// The only rule about several items is how they are numbered (A14).
fn is_gap(violation: &Violation) -> bool {
    matches!(violation.rule, Rule::ITEM_AFTER_A_GAP | Rule::MISNUMBERED_ITEM)
}

fn of(violation: &Violation) -> Refusal {
    let missing = matches!(violation.rule, Rule::Required | Rule::EMPTY_VALUE);
    let code = match violation.name.as_str() {
        "cardNumber" => ErrorCode::INVALID_CARD_NUMBER,
        "cardExpiryMonth" | "cardExpiryYear" | "cardExpiryDate" => ErrorCode::INVALID_CARD_EXPIRY,
        "cardCV2" => ErrorCode::INVALID_CARD_CV2,
        name if is_gap(violation) => {
            return Refusal::from(SandboxErrorCode::INVALID_PARAMETER)
                .about(name)
                .assuming(assumed::NUMBERING_OF_ITEMS);
        }
        "currency" if missing => ErrorCode::CURRENCY_NOT_SUPPLIED,
        "currency" => ErrorCode::CURRENCY_NOT_SUPPORTED,
        // The only rule about several references is that an update must set one (A98).
        "merchantReference" if matches!(violation.rule, Rule::Together(_)) => {
            return SandboxErrorCode::NOTHING_TO_UPDATE.into();
        }
        "merchantReference" | "uniqueMerchantReference" | "merchantCustomerReference" | "trans_reference" => {
            ErrorCode::INVALID_MERCHANT_REFERENCE
        }
        "sessionKey" => ErrorCode::INVALID_SESSION_KEY,
        "errorPageUrl" => ErrorCode::ERROR_PAGE_URL_NOT_SUPPLIED,
        "accountUpdaterKey" => ErrorCode::INVALID_ACCOUNT_UPDATER_KEY,
        "batchKey" => {
            return Refusal::from(ErrorCode::INVALID_BATCH_KEY)
                .assuming(assumed::ERROR_CODES_OF_SINGLE_PARAMETERS)
                .assuming(assumed::CODES_183_AND_181);
        }
        // The list of an account updater request (A70).
        "cardKey" if violation.rule == Rule::TOO_MANY_CARD_KEYS => {
            return SandboxErrorCode::TOO_MANY_CARD_KEYS.into();
        }
        "cardKey" if violation.rule == Rule::DUPLICATE_CARD_KEY => {
            return SandboxErrorCode::DUPLICATE_CARD_KEYS.into();
        }
        "callbackUrl" | "callback_url" => {
            return Refusal::from(ErrorCode::INVALID_CALLBACK_URL)
                .about("it is not an absolute http or https URL")
                .assuming(assumed::ERROR_CODES_OF_SINGLE_PARAMETERS)
                .assuming(assumed::WHICH_CALLBACK_ADDRESSES_ARE_ACCEPTED);
        }
        name if violation.rule == Rule::MISSPELT_AMOUNT => {
            return Refusal::from(SandboxErrorCode::MISPLACED_AMOUNT)
                .about(name)
                .assuming(assumed::AMOUNTS_THAT_A_METHOD_DOES_NOT_HAVE)
                .assuming(assumed::MISSPELT_AMOUNTS);
        }
        name if is_amount(name) => ErrorCode::INVALID_TRANSACTION_VALUE,
        name => {
            let code = if missing { SandboxErrorCode::MISSING_PARAMETER } else { SandboxErrorCode::INVALID_PARAMETER };
            let refusal = Refusal::from(code).about(name);
            return if matches!(violation.rule, Rule::OneOf(_)) {
                refusal.assuming(assumed::ENUMERATED_VALUES_OF_VERSION_5)
            } else {
                refusal
            };
        }
    };
    Refusal::from(code).assuming(assumed::ERROR_CODES_OF_SINGLE_PARAMETERS)
}

fn is_amount(name: &str) -> bool {
    matches!(name, "transactionValue" | "trans_value")
        || ["itemPrice", "itemQuantity", "item_price", "item_quantity"].iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use pg_model::{
        Auth, DisableToken, GetToken, Initiate, Parameters, Refund, TokeniseTransactionKey, UpdateTransaction,
    };

    use super::*;

    fn code(pairs: &[(&str, &str)]) -> String {
        let parameters: Parameters = pairs.iter().copied().collect();
        let violations = (Auth::INFO.check)(&parameters);
        refusal(Auth::INFO, &violations)
            .map(|refusal| format!("{} {}", refusal.code(), refusal.message()))
            .unwrap_or_default()
    }

    // spec: 1 §7, A45
    #[test]
    fn every_parameter_has_its_code() {
        let good = [
            ("currency", "GBP"),
            ("cardNumber", "4111111111111111"),
            ("cardExpiryMonth", "01"),
            ("cardExpiryYear", "30"),
            ("itemName0", "Tea"),
            ("itemPrice0", "499"),
        ];
        assert_eq!(code(&good), "");
        for (name, value, wanted) in [
            ("cardNumber", "1", "108 "),
            ("cardExpiryMonth", "13", "109 "),
            ("currency", "", "120 "),
            ("currency", "pounds", "111 "),
            ("itemPrice0", "4.99", "107 "),
            ("itemName0", "", "938 Missing parameter: itemName0"),
        ] {
            let mut changed = good;
            changed.iter_mut().filter(|pair| pair.0 == name).for_each(|pair| pair.1 = value);
            assert!(code(&changed).starts_with(wanted), "{name} {}", code(&changed));
        }
    }

    // spec: 2 §2.4, A14: Items are numbered from 0 without gaps, four parameters each.
    #[test]
    fn items_are_numbered_from_zero_without_gaps() {
        let good = [
            ("cardNumber", "4111111111111111"),
            ("cardExpiryMonth", "01"),
            ("cardExpiryYear", "30"),
            ("itemName0", "Tea"),
            ("itemPrice0", "499"),
        ];
        let with = |more: &[(&str, &str)]| code(&[&good, more].concat());
        assert_eq!(with(&[("currency", "GBP"), ("itemPrice1", "1"), ("itemName1", "Milk")]), "");
        assert_eq!(with(&[("currency", "GBP"), ("itemPrice2", "1")]), "937 Invalid parameter: itemPrice2");
        let far = [("currency", "GBP"), ("itemPrice1", "1"), ("itemName1", "Milk"), ("itemReference3", "x")];
        assert_eq!(with(&far), "937 Invalid parameter: itemReference3");
        let from_one = [("currency", "GBP"), ("itemPrice1", "1"), ("itemName1", "Milk")];
        assert_eq!(code(&[&good[..3], &from_one].concat()), "937 Invalid parameter: itemName1");
    }

    // spec: 2 §2.4, A14
    #[test]
    fn every_spelling_of_an_item_is_found() {
        let good = [
            ("cardNumber", "4111111111111111"),
            ("cardExpiryMonth", "01"),
            ("cardExpiryYear", "30"),
            ("currency", "GBP"),
            ("itemName0", "Tea"),
            ("itemPrice0", "499"),
        ];
        for name in [
            "itemPrice",
            "itemPrice01",
            "itemPrice00",
            "itemPrice1234567",
            "itemPrice-1",
            "itemPrice[1]",
            "itemPrice[]",
            "itemPriceA",
            "itemprice0",
            "ItemName1",
            "item_price_1",
            "item_price[1]",
            "itemQuantity",
            "itemQuantity 0",
            "ITEMREFERENCE0",
        ] {
            assert_eq!(code(&[&good[..], &[(name, "1")]].concat()), format!("937 Invalid parameter: {name}"));
        }
        // A card number in a name is not repeated.
        let name = "itemPrice4000000000001000";
        assert_eq!(code(&[&good[..], &[(name, "1")]].concat()), "937 Invalid parameter: itemPrice400000******1000");
        // Other names may be parameters of the appendices (A55).
        for name in ["itemDescription0", "itemPriceBand", "items", "myItemPrice0"] {
            assert_eq!(code(&[&good[..], &[(name, "1")]].concat()), "", "{name}");
        }
    }

    // spec: 2 §4.3, A170: A misspelt name of an amount does not make the service skip it.
    #[test]
    fn every_spelling_of_an_amount_is_found() {
        let refund = |name: &str| {
            let key = "0".repeat(32);
            let parameters: Parameters = [("transactionKey", key.as_str()), (name, "100")].into_iter().collect();
            let violations = (Refund::INFO.check)(&parameters);
            refusal(Refund::INFO, &violations).map(|refusal| refusal.code().to_owned())
        };
        for name in ["transactionvalue", "TransactionValue", "transaction_value"] {
            assert_eq!(refund(name), Some("964".to_owned()), "{name}");
        }
        assert_eq!(refund("transactionValue"), None);
        assert_eq!(refund("value"), None);
        let parameters: Parameters = [("Currency", "JPY")].into_iter().collect();
        assert_eq!(refusal(GetToken::INFO, &(GetToken::INFO.check)(&parameters)).unwrap().code(), "964");
    }

    // spec: 1 §4.2, §4.7, 2 §4.3, §4.4, 3 §2, §4.1, A03, A04, A05, A08, A13, A19, A117, A134
    #[test]
    fn a_refusal_names_the_assumption_that_is_the_broken_rule() {
        let long = "x".repeat(46);
        for (info, name, value, wanted) in [
            (Refund::INFO, "transactionKey", "0", Some(3)),
            (Initiate::INFO, "merchantCustomerReference", &*long, Some(4)),
            (TokeniseTransactionKey::INFO, "merchantCustomerReference", &*long, Some(4)),
            (Auth::INFO, "merchantCustomerReference", &*long, None),
            (Auth::INFO, "currency", "", Some(5)),
            (Auth::INFO, "itemName0", "", Some(5)),
            (GetToken::INFO, "item_name[0]", "", None),
            (TokeniseTransactionKey::INFO, "transactionKey", "", Some(8)),
            (DisableToken::INFO, "cardKey", "", Some(8)),
            (RequestAccountUpdater::INFO, "cardKey", "", None),
            (GetToken::INFO, "item_price[0]", "5,95", Some(13)),
            (GetToken::INFO, "token_uses", "-2", Some(117)),
            (Initiate::INFO, "errorPageUrl", "shop", Some(134)),
            (Refund::INFO, "transactionValue", "", Some(9)),
            (GetToken::INFO, "trans_type", "", Some(9)),
            (Auth::INFO, "currency", "gbp", Some(19)),
            (GetToken::INFO, "currency", "gbp", Some(19)),
        ] {
            let parameters: Parameters =
                [(name, value), ("itemPrice0", "1"), ("item_price[0]", "1")].into_iter().collect();
            let violations = (info.check)(&parameters);
            let violation = violations.iter().find(|violation| violation.name == name).unwrap();
            assert_eq!(decided_by(info, violation), wanted, "{info:?} {name}");
            let alone = std::iter::once(violation.clone()).collect();
            let assumptions = refusal(info, &alone).unwrap().basis().assumptions().to_vec();
            assert!(wanted.is_none_or(|wanted| assumptions.contains(&wanted)), "{info:?} {name}: {assumptions:?}");
        }
    }

    // spec: 2 §3.2, §4.4, 3 §4.1, A09, A45: An empty value is answered as a missing one, whose default is not used.
    #[test]
    fn an_empty_amount_or_choice_has_the_code_of_a_missing_one() {
        for (info, name, wanted) in [
            (Refund::INFO, "transactionValue", "107"),
            (Auth::INFO, "itemQuantity0", "107"),
            (GetToken::INFO, "item_quantity[0]", "107"),
            (GetToken::INFO, "currency", "120"),
            (GetToken::INFO, "trans_type", "938"),
            (GetToken::INFO, "token_uses", "938"),
        ] {
            let key = "0".repeat(32);
            let others = [
                ("transactionKey", &*key),
                ("itemName0", "Tea"),
                ("itemPrice0", "1"),
                ("item_name[0]", "Tea"),
                ("item_price[0]", "1"),
            ];
            let parameters: Parameters = [(name, "")].into_iter().chain(others).collect();
            let violations = (info.check)(&parameters);
            let alone = violations.iter().filter(|violation| violation.name == name).cloned().collect();
            assert_eq!(refusal(info, &alone).unwrap().code(), wanted, "{info:?} {name}");
        }
    }

    // spec: 1 §7, A51
    #[test]
    fn a_refusal_of_several_violations_names_the_order_of_the_checks() {
        let bases = |parameters: &[(&str, &str)]| {
            let parameters: Parameters = parameters.iter().copied().collect();
            refusal(Refund::INFO, &(Refund::INFO.check)(&parameters)).unwrap().basis().assumptions().to_vec()
        };
        assert!(!bases(&[("transactionKey", "0")]).contains(&51));
        assert!(bases(&[("transactionKey", "0"), ("transactionValue", "x")]).contains(&51));
    }

    #[test]
    fn gaps_are_reported_in_table_order() {
        for info in [Auth::INFO, GetToken::INFO] {
            let item = info.fields.iter().position(|field| field.is_numbered()).unwrap();
            for field in info.fields.iter().filter(|field| !field.is_numbered() && field.required) {
                let gap = info.fields[item].wire.replace("{n}", "7");
                let parameters: Parameters = [(gap.as_str(), "1")].into_iter().collect();
                let violations = (info.check)(&parameters);
                let told = refusal(info, &violations).unwrap().message().to_owned();
                let place = info.fields.iter().position(|other| std::ptr::eq(*other, *field)).unwrap();
                assert!(place > item || !told.contains(&gap), "{info:?}: {told}");
            }
        }
    }

    // spec: codes SandboxErrorCode 945 946
    #[test]
    fn the_list_of_the_account_updater_has_codes_of_its_own() {
        let many: Vec<String> = (0..5_001).map(|number| number.to_string()).collect();
        for (keys, wanted) in [("", "938"), ("a,,b", "937"), ("a,b,a", "945"), (&many.join(","), "946")] {
            let parameters: Parameters = [("accountUpdaterKey", "k"), ("cardKey", keys)].into_iter().collect();
            let violations = (RequestAccountUpdater::INFO.check)(&parameters);
            assert_eq!(refusal(RequestAccountUpdater::INFO, &violations).unwrap().code(), wanted);
        }
    }

    // spec: 2 §4.4, A98
    #[test]
    fn an_update_has_to_set_something() {
        let key = "0".repeat(32);
        let parameters: Parameters =
            [("transactionKey", key.as_str()), ("merchantReference", "")].into_iter().collect();
        let violations = (UpdateTransaction::INFO.check)(&parameters);
        assert_eq!(refusal(UpdateTransaction::INFO, &violations).unwrap().code(), "955");
    }
}
