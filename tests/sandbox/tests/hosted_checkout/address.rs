//! UK addresses (spec 3 §2.4, §4.7; A128).

use pg_model::AddressReply;

use crate::hosted_checkout::Shop;

// spec: 3 §2.4, A128: The result contains the status and the address.
// spec: 3 §4.7, A128: property_name and a UK postcode find an address.
// spec: 3 §1; method enterprise/address
#[test]
fn every_listed_address_is_found_however_it_is_written() {
    let mut shop = Shop::new();
    let known = shop.control("addresses");
    for listed in known.as_array().unwrap() {
        let text = |name: &str| listed[name].as_str().unwrap();
        let (property, postcode) =
            (text("property_name").to_lowercase(), text("postcode").replace(' ', "").to_lowercase());
        let answer = shop.done("address", &[("property_name", &property), ("postcode", &postcode)]);
        let found = answer.record::<AddressReply>().address;
        assert_eq!(found.status.as_str(), "1");
        let left_out = text("address_2").is_empty() || text("county").is_empty();
        assert_eq!(answer.basis.contains("A42"), left_out, "{answer:?}");
        let lines = [&found.address_1, &found.address_2, &found.town, &found.county, &found.postcode];
        assert_eq!(lines, ["address_1", "address_2", "town", "county", "postcode"].map(text));
    }
    assert!(known.as_array().unwrap().len() > 2);
}

// spec: 3 §4.7, A128: Failures have error codes.
// spec: codes SandboxErrorCode 970
#[test]
fn unknown_postcodes_find_nothing_and_invalid_ones_are_refused() {
    let mut shop = Shop::new();
    let code = |shop: &mut Shop, property: &str, postcode: &str| {
        shop.refused("address", &[("property_name", property), ("postcode", postcode)])
    };
    assert_eq!(code(&mut shop, "99", "ZZ1 1AA"), "970");
    assert_eq!(code(&mut shop, "1", "ZZ9 9ZZ"), "970");
    assert_eq!(code(&mut shop, "1", "90210"), "937");
    assert_eq!(code(&mut shop, "1", "ZZ11AAA"), "937");
    assert_eq!(code(&mut shop, &"1".repeat(33), "ZZ1 1AA"), "937");
    assert_eq!(code(&mut shop, "1", &"Z".repeat(16)), "937");
}
