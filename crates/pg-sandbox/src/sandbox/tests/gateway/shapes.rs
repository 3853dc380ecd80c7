//! The bodies in their wire form.

use super::*;

/// Returns the body with random parts replaced by their form.
fn shape(body: &str) -> String {
    let mut shape = String::new();
    let word = |c: char| c.is_ascii_alphanumeric();
    let mut rest = body;
    while let Some(start) = rest.find(word) {
        let end = rest[start..].find(|c| !word(c)).map_or(rest.len(), |length| start + length);
        let (token, digits) = (&rest[start..end], rest[start..end].bytes().all(|byte| byte.is_ascii_digit()));
        shape.push_str(&rest[..start]);
        match token.len() {
            32 => shape.push_str("KEY"),
            6 if digits => shape.push_str("SIX"),
            9 if digits => shape.push_str("NINE"),
            11 if digits => shape.push_str("ELEVEN"),
            _ => shape.push_str(token),
        }
        rest = &rest[end..];
    }
    shape + rest
}

fn body(shop: &mut Shop, path: &str, pairs: &[(&str, &str)]) -> String {
    shape(&text(&shop.response("main", path, pairs)).1)
}

// spec: 1 §2, A41: XML has the root serviceResponse with one child for each parameter; JSON is one object.
// spec: 2 §2.3, A03: transactionKey has 32 letters and digits; capture, cancel, refund and update take it.
// spec: 2 §2.3: transactionStatus is the status in words.
// spec: 2 §4.3, A88: The standard response contains status code, status, type, key and the acquirer's data.
// spec: 2 §2.3, A88, A89
#[test]
fn a_payment_is_the_standard_response_in_its_order() {
    let mut shop = Shop::open();
    assert_eq!(
        body(&mut shop, "auth/json", &raw(PAN, &[])),
        "{\"transactionStatusCode\":\"600\",\"transactionStatus\":\"Transaction approved\",\
         \"transactionType\":\"Auth\",\"transactionKey\":\"KEY\",\"bankAuthCode\":\"SIX\",\
         \"bankTransId\":\"ELEVEN\",\"bankResponseCode\":\"00\",\"bankResponseMessage\":\"Approved\",\
         \"bankOrderId\":\"ELEVEN\"}"
    );
    let xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<serviceResponse>\
         <transactionStatusCode>901</transactionStatusCode><transactionStatus>Transaction declined</transactionStatus>\
         <transactionType>PreAuth</transactionType><transactionKey>KEY</transactionKey>\
         <bankTransId>ELEVEN</bankTransId><bankResponseCode>05</bankResponseCode>\
         <bankResponseMessage>Transaction declined</bankResponseMessage></serviceResponse>";
    for path in ["preauth", "preauth/xml"] {
        assert_eq!(body(&mut shop, path, &raw(DECLINED, &[])), xml);
    }
}

// spec: 2 §2.3, A21
#[test]
fn a_lookup_is_keyed_by_index_in_json_and_repeats_in_xml() {
    let mut shop = Shop::open();
    let references =
        [("merchantReference", "a<b"), ("uniqueMerchantReference", "u"), ("merchantCustomerReference", "c")];
    shop.call("auth", &raw(PAN, &references));
    let json = body(&mut shop, "lookup/json", &[("merchantReference", "a<b")]);
    let row = "\"bankOrderId\":\"ELEVEN\",\"merchantReference\":\"a<b\",\"uniqueMerchantReference\":\"u\",\
               \"merchantCustomerReference\":\"c\",\"currency\":\"GBP\",\"transactionValue\":\"998\",\
               \"createdOn\":\"2026-05-04T10:00:00+00:00\"}}}";
    assert!(
        json.starts_with("{\"transactions\":{\"0\":{\"transactionStatusCode\":\"600\",") && json.ends_with(row),
        "{json}"
    );
    let xml = body(&mut shop, "lookup", &[("merchantReference", "a<b")]);
    let row = "<merchantReference>a&lt;b</merchantReference><uniqueMerchantReference>u</uniqueMerchantReference>\
               <merchantCustomerReference>c</merchantCustomerReference><currency>GBP</currency>\
               <transactionValue>998</transactionValue><createdOn>2026-05-04T10:00:00+00:00</createdOn>\
               </transaction></transactions></serviceResponse>";
    assert!(
        xml.contains("<serviceResponse><transactions><transaction><transactionStatusCode>") && xml.ends_with(row),
        "{xml}"
    );
}

#[test]
fn a_lookup_that_finds_nothing_is_an_empty_list() {
    let mut shop = Shop::open();
    let nothing = [("merchantReference", "nothing")];
    assert_eq!(body(&mut shop, "lookup/json", &nothing), "{\"transactions\":{}}");
    let xml = body(&mut shop, "lookup/xml", &nothing);
    assert!(xml.ends_with("<serviceResponse><transactions></transactions></serviceResponse>"), "{xml}");
}

// spec: 1 §4.3: A success is result OK; anything else is an error.
// spec: 1 §7, A38, A20: An error contains code, trace code and message, in the encoding of the request.
// spec: 2 §7, A38: The gateway's errors have the same shape.
// spec: 2 §4.4; codes ResultCode OK
#[test]
fn errors_and_acknowledgements_have_their_shape() {
    let mut shop = Shop::open();
    assert_eq!(
        body(&mut shop, "auth/json", &raw(SILENT, &[])),
        "{\"errorCode\":\"119\",\"traceCode\":\"NINE\",\"errorMessage\":\"No response from bank\"}"
    );
    let refund = body(&mut shop, "refund", &[("transactionKey", NO_KEY)]);
    let error = "<serviceResponse><errorCode>943</errorCode><traceCode>NINE</traceCode>\
                 <errorMessage>Unknown transaction key</errorMessage></serviceResponse>";
    assert!(refund.ends_with(error), "{refund}");
    let key = pay(&mut shop, 100);
    let updated = body(&mut shop, "update/xml", &[("transactionKey", &key), ("merchantReference", "order 7")]);
    assert!(updated.ends_with("<serviceResponse><result>OK</result></serviceResponse>"), "{updated}");
}

// spec: 1 §2, A41
#[test]
fn a_payment_reads_back_as_its_record() {
    let mut shop = Shop::open();
    for path in ["auth/xml", "auth/json"] {
        let response = shop.response("main", path, &raw(PAN, &[]));
        let paid = pg_model::decode::<pg_model::Transaction>(response.body()).unwrap().record;
        assert_eq!(paid.bank.get("bankResponseCode"), Some("00"));
        assert!(paid.extra.is_empty() && pg_model::Outcome::read(paid, &crate::dialect()).is_approved());
    }
}
