//! The payments that are made: `transaction/auth` with a raw card, signed.

use bytes::Bytes;
use http::{Request, header};
use pg_crypto::ShaKey;
use pg_sandbox::{Settings, merchants::Merchant};

/// Makes payments of the account `main`, each with its own reference.
pub(crate) struct Payments {
    settings: Settings,
    made: u64,
}

impl Payments {
    /// Payments with unique references: `series` tells them apart.
    pub(crate) fn new(series: u64) -> Self {
        Self { settings: Settings::default(), made: series << 32 }
    }

    /// Prepares requests, each for one of the connections.
    pub(crate) fn requests(&mut self, connections: usize, each: usize) -> Vec<Vec<Request<Bytes>>> {
        let mut lists = vec![Vec::with_capacity(each); connections];
        for _ in 0..each {
            for list in &mut lists {
                list.push(self.next());
            }
        }
        lists
    }

    /// The next one.
    pub(crate) fn next(&mut self) -> Request<Bytes> {
        self.made += 1;
        let merchant = self.settings.merchants.by_name("main").expect("a built-in account");
        Request::post("/v3/transaction/auth/json")
            .header(header::HOST, "127.0.0.1")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body(merchant, &reference(self.made)))
            .expect("a request")
    }
}

/// References of a shop that gives random ones: in no order, so that they are spread over the whole store.
pub(crate) fn reference(number: u64) -> String {
    format!("order-{:016x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

fn body(merchant: &Merchant, reference: &str) -> Bytes {
    let basket = format!("basket-{}", reference.trim_start_matches("order-"));
    let mut parameters = vec![
        ("apiKey", merchant.api_key.expose()),
        ("apiPassword", merchant.api_password.expose()),
        ("cardNumber", "4111111111111111"),
        ("cardExpiryMonth", "12"),
        ("cardExpiryYear", "49"),
        ("cardCV2", "123"),
        ("cardholderName", "A N Other"),
        ("currency", "GBP"),
        ("itemName0", "Darjeeling tea, second flush"),
        ("itemPrice0", "499"),
        ("itemQuantity0", "2"),
        ("merchantReference", &basket),
        ("uniqueMerchantReference", reference),
    ];
    let signature = pg_crypto::sign(&parameters, &ShaKey::new(merchant.sha_key.expose())).to_string();
    parameters.push(("shaSignature", &signature));
    form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish().into()
}
