//! Requests of realistic size: a card payment with its fields in the order of the documents.

pub(crate) const SHA_KEY: &str = "5f2b8c9d1e3a4f607182930415263748";

/// The first `count` of 40 parameters of a card payment (spec 2 §4.3).
pub(crate) fn auth(count: usize) -> Vec<(&'static str, &'static str)> {
    PARAMETERS[..count].to_vec()
}

const PARAMETERS: [(&str, &str); 40] = [
    ("apiKey", "0123456789abcdef0123456789abcdef"),
    ("apiPassword", "s3cretPassw0rd"),
    ("cardholderName", "A N Other"),
    ("cardNumber", "4111111111111111"),
    ("cardExpiryMonth", "12"),
    ("cardExpiryYear", "30"),
    ("cardCV2", "123"),
    ("itemName0", "Darjeeling tea, second flush"),
    ("itemPrice0", "499"),
    ("currency", "GBP"),
    ("merchantReference", "order-000007"),
    ("uniqueMerchantReference", "order-000007-attempt-1"),
    ("itemQuantity0", "2"),
    ("itemReference0", "sku-4711"),
    ("itemName1", "Cup & saucer"),
    ("itemPrice1", "1250"),
    ("itemQuantity1", "6"),
    ("itemReference1", "sku-0815"),
    ("itemName2", "Sugar tongs"),
    ("itemPrice2", "899"),
    ("itemQuantity2", "1"),
    ("itemReference2", "sku-1234"),
    ("merchantCustomerReference", "customer-42"),
    ("terminalKey", "terminal-1"),
    ("mccAccountIdentifier", "account12345"),
    ("mccSurname", "Other"),
    ("mccPostcode", "AB12CD"),
    ("mccDateOfBirth", "19700101"),
    ("cardholderAddressPropertyName", "1"),
    ("cardholderAddressLine1", "High Street"),
    ("cardholderAddressLine2", "Old Quarter"),
    ("cardholderAddressTown", "Springfield"),
    ("cardholderAddressCounty", "Shire"),
    ("cardholderAddressPostcode", "AB1 2CD"),
    ("cardholderAddressCountry", "United Kingdom"),
    ("customerTitle", "Dr"),
    ("customerFirstName", "Alex"),
    ("customerSurname", "Other"),
    ("customerEmail", "alex.other@shop.example"),
    ("customerMobile", "07700900123"),
];
