//! The HTTP status and the text of each error code.

use pg_model::{ErrorCode, SandboxErrorCode};

/// The documents give texts and, for two codes, a status (spec 1 §7, 2 §7); the rest is assumption 40, written down a
/// second time.
#[test]
fn each_code_has_its_text_and_its_status() {
    let documented = (101..=111).chain(119..=123).chain([125, 129]).chain(133..=136).chain(180..=184).chain([1, 3]);
    for code in documented {
        let known = ErrorCode::from(code.to_string());
        let status = match code {
            3 | 102 | 105 | 123 => 401,
            106 | 121 | 122 => 403,
            _ => 400,
        };
        assert_eq!(known.http_status(), Some(status), "{code}");
        assert!(known.message().is_some_and(|text| (1..=100).contains(&text.chars().count())), "{code}");
    }
    let invented = (930..=946).chain(950..=957).chain(960..=962).chain([970, 998, 999]);
    for code in invented {
        let known = SandboxErrorCode::from(code.to_string());
        let status = match code {
            936 => 403,
            998 | 999 => 500,
            _ => 400,
        };
        assert_eq!(known.http_status(), Some(status), "{code}");
    }
}
