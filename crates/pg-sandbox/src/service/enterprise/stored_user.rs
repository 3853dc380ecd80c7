//! What a checkout token keeps of its customer (spec 3 §4.1).

use pg_model::{BillingAddress, CheckoutCustomer};

use crate::records::Details;

/// Customer and billing address by wire name, without what is empty. The date of birth is echoed and
/// not kept: nothing needs it later.
pub(super) fn of(customer: &CheckoutCustomer, address: &BillingAddress) -> Details {
    let all = [
        ("salutation", &customer.salutation),
        ("first_name", &customer.first_name),
        ("surname", &customer.surname),
        ("email", &customer.email),
        ("mobile_phone", &customer.mobile_phone),
        ("home_phone", &customer.home_phone),
        ("property_name", &address.property_name),
        ("address_1", &address.address_1),
        ("address_2", &address.address_2),
        ("town", &address.town),
        ("county", &address.county),
        ("postcode", &address.postcode),
        ("country", &address.country),
    ];
    let given = all.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?)));
    given.filter(|(_, text)| !text.is_empty()).map(|(name, text)| (name.to_owned(), text.clone())).collect()
}
