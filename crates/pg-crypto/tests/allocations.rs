//! Checks that signing does not allocate. A separate crate provides the counting allocator, since it needs unsafe code.

use allocation_counter::measure;
use pg_crypto::{OrderedSigner, ShaKey, sign, verify};

#[test]
fn signing_and_verifying_up_to_64_parameters() {
    let names: Vec<String> = (0..64).map(|n| format!("cardholderAddressLine{}", n * 7 % 64)).collect();
    let parameters: Vec<_> = names.iter().map(|name| (name.as_str(), "alphanumeric and symbols")).collect();
    let key = ShaKey::new("secret");
    let given = sign(&parameters, &key).to_string();

    let counted = measure(|| {
        assert_eq!(sign(&parameters, &key).hex().as_str(), given);
        assert!(verify(&parameters, &key, &given).is_ok());
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn signing_in_order_with_a_long_value_in_pieces() {
    let key = ShaKey::new("secret");
    let counted = measure(|| {
        let mut signer = OrderedSigner::new(&key);
        signer.parameter("apiKey", "0123456789abcdef");
        let mut card_keys = signer.begin("cardKey");
        for _ in 0..5_000 {
            card_keys.piece("0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9,");
        }
        card_keys.end();
        let _ = signer.finish();
    });
    assert_eq!(counted.count_total, 0);
}
