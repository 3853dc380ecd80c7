//! Every machine resumes with the account that it was saved for, and with no other.

use pg_model::{
    AuthCardKey, CheckoutItem, Currency, EnterpriseTransactionLookup, GetToken, InitiateThreeDSecureCardKey, Item,
    Order, TokenLookup,
};

use crate::{
    Account, BaseUrl, Credentials, EnterpriseCredentials,
    machine::{
        Machine as _, ResumeError, SavedState,
        account_update::{AccountUpdate, UpdatePlan},
        charge::{Charge, ChargeBounds},
        checkout::{Checkout, CheckoutPlan},
        retry::{Retry, RetryBounds},
        three_d_secure::{ThreeDSecure, ThreeDSecurePlan},
    },
};

const BASE: &str = "https://gateway.example";
const KEY: &str = "an-api-key-of-32-characters-0001";
const SECRETS: [&str; 6] = [KEY, "canary-password", "canary-sha", "canary-v5-key", "canary-v5-password", "another key"];

fn base(text: &str) -> BaseUrl {
    BaseUrl::parse(text).unwrap()
}

fn with(at: &str, key: &str, enterprise_at: &str, enterprise_key: &str) -> Account {
    Account::new(base(at), Credentials::new(key, "canary-password", "canary-sha"))
        .enterprise(base(enterprise_at), EnterpriseCredentials::new(enterprise_key, "canary-v5-password"))
}

fn account() -> Account {
    with(BASE, KEY, "https://gateway.example/enterprise", "canary-v5-key")
}

fn order() -> Order {
    Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7")
}

fn token() -> GetToken {
    let mut request = GetToken::new();
    request.currency = Some(Currency::GBP);
    request.items = vec![CheckoutItem::new("Tea", "4.99")];
    request
}

type Resumed = Result<(), ResumeError>;

/// A machine: how it is saved and resumed.
struct Kind {
    name: &'static str,
    gateway: bool,
    enterprise: bool,
    saved: fn(Account) -> SavedState,
    resume: fn(&SavedState, Account) -> Resumed,
}

const fn kind(
    name: &'static str,
    saved: fn(Account) -> SavedState,
    resume: fn(&SavedState, Account) -> Resumed,
) -> Kind {
    Kind { name, gateway: true, enterprise: false, saved, resume }
}

const KINDS: [Kind; 6] = [
    kind(
        "charge",
        |account| Charge::new(account, AuthCardKey::new("card", order()), ChargeBounds::default()).unwrap().save(),
        |saved, account| Charge::<AuthCardKey>::resume(saved, account, None).map(|_| ()),
    ),
    kind(
        "3-D Secure",
        |account| {
            let initiation = InitiateThreeDSecureCardKey::new("card", order());
            ThreeDSecure::new(account, initiation, ThreeDSecurePlan::default()).unwrap().save()
        },
        |saved, account| ThreeDSecure::resume(saved, account).map(|_| ()),
    ),
    kind(
        "account update",
        |account| AccountUpdate::new(account, UpdatePlan::new("updater")).unwrap().save(),
        |saved, account| AccountUpdate::resume(saved, account, UpdatePlan::new("updater")).map(|_| ()),
    ),
    kind(
        "retry",
        |account| Retry::new(account, TokenLookup::new().card_key("card"), RetryBounds::default()).unwrap().save(),
        |saved, account| Retry::resume(saved, account, TokenLookup::new().card_key("card")).map(|_| ()),
    ),
    Kind {
        gateway: false,
        enterprise: true,
        ..kind(
            "retry of version 5",
            |account| {
                Retry::new(account, EnterpriseTransactionLookup::new("k"), RetryBounds::default()).unwrap().save()
            },
            |saved, account| Retry::resume(saved, account, EnterpriseTransactionLookup::new("k")).map(|_| ()),
        )
    },
    Kind {
        enterprise: true,
        ..kind(
            "checkout",
            |account| Checkout::new(account, token(), CheckoutPlan::default()).unwrap().save(),
            |saved, account| Checkout::resume(saved, account, CheckoutPlan::default()).map(|_| ()),
        )
    },
];

// spec: 1 §5, A144: A saved machine resumes only with the account that it was saved for.
#[test]
fn every_machine_refuses_another_account_and_another_address() {
    let v5 = "https://gateway.example/enterprise";
    for one in &KINDS {
        let saved = SavedState::from_text((one.saved)(account()).text());
        assert!(SECRETS.iter().all(|secret| !saved.text().contains(secret)), "{saved}");
        assert_eq!((one.resume)(&saved, account()), Ok(()), "{}", one.name);
        for (what, other, of_enterprise) in [
            ("API key", with(BASE, "another key", v5, "canary-v5-key"), false),
            ("address", with("https://staging.example", KEY, v5, "canary-v5-key"), false),
            ("version 5 API key", with(BASE, KEY, v5, "another key"), true),
            ("version 5 address", with(BASE, KEY, "https://staging.example", "canary-v5-key"), true),
        ] {
            let needed = if of_enterprise { one.enterprise } else { one.gateway };
            let resumed = (one.resume)(&saved, other);
            match resumed {
                Ok(()) => assert!(!needed, "{} with another {what}", one.name),
                Err(ResumeError::OtherAccount { .. }) => assert!(needed, "{} with another {what}", one.name),
                Err(error) => panic!("{} with another {what}: {error}", one.name),
            }
        }
    }
}

#[test]
fn another_way_to_write_the_address_and_new_passwords_are_the_same_account() {
    let same = Account::new(base("https://GATEWAY.example:443/"), Credentials::new(KEY, "new password", "new sha key"))
        .enterprise(
            base("https://gateway.example/enterprise/"),
            EnterpriseCredentials::new("canary-v5-key", "new password"),
        );
    for one in &KINDS {
        assert_eq!((one.resume)(&(one.saved)(account()), same.clone()), Ok(()), "{}", one.name);
    }
}

/// Earlier versions saved the dot that ends a complete host name.
#[test]
fn a_state_that_was_saved_with_another_spelling_of_the_address_resumes() {
    let dotted = || with("https://gateway.example.", KEY, "https://gateway.example./enterprise", "canary-v5-key");
    for one in &KINDS {
        let text = (one.saved)(account()).text().replace("gateway.example", "gateway.example.");
        let saved = SavedState::from_text(&*text);
        for same in [dotted(), account()] {
            assert_eq!((one.resume)(&saved, same), Ok(()), "{}", one.name);
        }
        let elsewhere = SavedState::from_text(text.replace("gateway.example.", "gateway.example.org."));
        let refused = (one.resume)(&elsewhere, account());
        assert!(matches!(refused, Err(ResumeError::OtherAccount { .. })), "{}: {refused:?}", one.name);
    }
}

// spec: 1 §5, A144
#[test]
fn a_replaced_api_key_needs_the_identity_that_was_saved() {
    let replaced = || with(BASE, "another key", "https://gateway.example/enterprise", "canary-v5-key");
    let resume = |saved: &SavedState, account| Charge::<AuthCardKey>::resume(saved, account, None).map(|_| ());
    let saved_for = |account| (KINDS[0].saved)(account);

    // Named before the key was replaced.
    let named = saved_for(account().identity("shop-uk"));
    assert_eq!(resume(&named, replaced().identity("shop-uk")), Ok(()));
    for other in [replaced(), replaced().identity("shop-de"), account(), account().identity("shop-de")] {
        assert!(matches!(resume(&named, other), Err(ResumeError::OtherAccount { .. })));
    }
    // A name that is set later, while the key is the same.
    let unnamed = saved_for(account());
    assert_eq!(resume(&unnamed, account().identity("shop-uk")), Ok(()));
    assert!(matches!(resume(&unnamed, replaced().identity("shop-uk")), Err(ResumeError::OtherAccount { .. })));

    // The key was replaced without a name: the error contains the fingerprint, which can be set as the name.
    let Err(ResumeError::OtherAccount { saved, given }) = resume(&unnamed, replaced()) else { panic!("refused") };
    let fingerprint = saved.split('"').nth(1).unwrap();
    assert!(fingerprint.starts_with("key-") && fingerprint.len() == 16, "{fingerprint}");
    assert!(saved.ends_with("at https://gateway.example"), "{saved}");
    assert_ne!(saved, given);
    assert_eq!(resume(&unnamed, replaced().identity(fingerprint)), Ok(()));
}

/// A program of an earlier version, whose account has no name, goes on with what a later one has saved.
#[test]
fn an_account_named_by_its_fingerprint_is_the_account_without_a_name() {
    let unnamed = account().bound_identity();
    let fingerprint = unnamed.split(" at ").next().unwrap();
    for one in &KINDS {
        let named = || account().identity(fingerprint);
        assert_eq!((one.resume)(&(one.saved)(account()), named()), Ok(()), "{}", one.name);
        let back = (one.resume)(&(one.saved)(named()), account());
        // Version 5 has an API key of its own, and so another fingerprint.
        assert_eq!(back.is_ok(), !one.enterprise, "{}: {back:?}", one.name);
    }
}

#[test]
fn a_state_saved_without_its_account_is_refused_until_rebound() {
    for one in &KINDS {
        let saved = (one.saved)(account());
        let mut members: serde_json::Value = serde_json::from_str(saved.text()).unwrap();
        members.as_object_mut().unwrap().remove("books").unwrap();
        let old = SavedState::from_text(members.to_string());
        let Err(error @ ResumeError::Unbound { .. }) = (one.resume)(&old, account()) else { panic!("{}", one.name) };
        assert!(error.to_string().contains("SavedState::rebind"), "{error}");
        assert_eq!((one.resume)(&old.rebind(&account()).unwrap(), account()), Ok(()), "{}", one.name);
    }
    assert!(matches!(SavedState::from_text("{}").rebind(&account()), Err(ResumeError::Unreadable(_))));
}

#[test]
fn a_saved_state_names_its_account() {
    let saved = (KINDS[0].saved)(account().identity("shop-uk"));
    let other = with("https://staging.example", KEY, "https://staging.example", "k").identity("shop-uk");
    let error = (KINDS[0].resume)(&saved, other).unwrap_err().to_string();
    assert!(error.starts_with(
        "the machine was saved for account \"shop-uk\" at https://gateway.example and cannot be resumed for account \"shop-uk\" at \
         https://staging.example: "
    ));
    assert!(error.contains("Account::identity") && error.contains("SavedState::rebind"), "{error}");
    let moved = with("https://staging.example", KEY, "https://staging.example", "k").identity("shop-uk");
    assert_eq!((KINDS[0].resume)(&saved.rebind(&moved).unwrap(), moved), Ok(()));
}
