//! Names of configured accounts and of accounts created at run time.

use super::*;

/// An earlier version of the program, which knows no reserved names, may have created the account.
#[test]
fn an_account_created_under_a_reserved_name_is_found_at_each_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.sqlite");
    let mut sandbox = Sandbox::open(&path, Settings::default(), [1; 32]).unwrap();
    let (status, created) = post(&mut sandbox, "/_sandbox/accounts", r#"{"name":"shop"}"#);
    assert!(status.is_success(), "{created}");
    put(&mut sandbox, &Meta::reserved(&["shop".to_owned()]));
    drop(sandbox);
    let mut settings = Settings::default();
    let key = crate::secret::Secret::new("ShopApiKey0000000000000000000000");
    let shop = Merchant { name: "shop".to_owned(), api_key: key, enterprise: None, ..account("main") };
    settings.merchants = crate::merchants::Merchants::with(vec![shop]).unwrap();
    let refused = Sandbox::open(&path, settings, [2; 32]).map(drop).unwrap_err();
    assert!(matches!(&refused, OpenError::NameTaken(name) if name == "shop"), "{refused}");
}
