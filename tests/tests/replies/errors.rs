//! Refusals in place of a reply (spec 2 §7, 3 §7).

use pg_model::{Encoding, EnterpriseResult, ErrorCode, METHODS, ServiceError, Transaction, decode, decode_as};

use crate::replies::{golden, golden_xml};

// spec: 2 §7, A38
#[test]
fn a_refusal_of_version_3() {
    let refusal = ServiceError::default().with(|record| {
        record.error_code = ErrorCode::ERROR_PAGE_URL_NOT_SUPPLIED;
        record.trace_code = "123456789".into();
        record.error_message = "Error page URL not supplied".into();
    });
    golden("errors/gateway").is_record(&refusal);
    for encoding in [Encoding::Xml, Encoding::Json] {
        let reply = decode::<Transaction>(golden("errors/gateway").body(encoding).as_bytes()).expect("a refusal");
        assert_eq!(reply.error, refusal);
        assert_eq!(reply.record, Transaction::default());
    }
}

// spec: 3 §7, A39
#[test]
fn a_refusal_of_version_5_holds_only_a_number() {
    let refusal = ServiceError::default().with(|record| {
        record.error_code = ErrorCode::ENTERPRISE_NO_MERCHANT_KEY;
    });
    let golden = golden_xml("errors/enterprise").one_of_several_shapes();
    golden.is_record(&refusal);
    let reply = decode::<EnterpriseResult>(golden.body(Encoding::Xml).as_bytes()).expect("a refusal");
    assert_eq!(reply.error, refusal);
}

/// No record takes the error for a field of its own, or lacks a field so badly that the refusal is not seen.
// spec: 2 §7, A38
#[test]
fn every_method_sees_a_refusal() {
    for info in METHODS {
        let encodings = if info.service.version == 5 { &[Encoding::Xml][..] } else { &[Encoding::Xml, Encoding::Json] };
        let refusal =
            if info.service.version == 5 { golden_xml("errors/enterprise") } else { golden("errors/gateway") };
        for &encoding in encodings {
            let body = refusal.body(encoding);
            let reply = decode_as(body.as_bytes(), (info.new_reply)()).expect("a refusal");
            assert!(!reply.error.error_code.is_empty(), "{info:?} as {encoding:?}");
        }
    }
}
