//! The HTTP status and the text of each error code.

use pg_model::ErrorCode;
use pg_sandbox::codes::SandboxErrorCode;

/// The texts of the documents (spec 1 §7, 2 §7, 3 §7). They state two of the statuses: 133 has 400 and invalid credentials with
/// 401; the rest is A40. This test states both independently of the tables.
const DOCUMENTED: [(&str, u16, &str); 29] = [
    ("1", 400, "No data sent"),
    ("3", 401, "No merchant key sent (or invalid key)"),
    ("101", 400, "No data sent"),
    ("102", 401, "Invalid API credentials"),
    ("103", 400, "Invalid function call"),
    ("104", 400, "Invalid return type"),
    ("105", 401, "Cannot find API settings for merchant"),
    ("106", 403, "Permission denied to access this function"),
    ("107", 400, "Invalid transaction value"),
    ("108", 400, "Invalid card number"),
    ("109", 400, "Invalid card expiry"),
    ("110", 400, "Invalid card CV2"),
    ("111", 400, "Currency not supported"),
    ("119", 400, "No response from bank"),
    ("120", 400, "Currency not supplied"),
    ("121", 403, "This IP has been blocked for 1 minute because of too many failed attempts"),
    ("122", 403, "This IP has been blocked for 5 minutes because of too many failed attempts"),
    ("123", 401, "SHA Signature could not be verified"),
    ("125", 400, "Invalid merchant reference"),
    ("129", 400, "Invalid session key"),
    ("133", 400, "Error page URL not supplied"),
    ("134", 400, "Next page URL not supplied"),
    ("135", 400, "Current page URL not supplied"),
    ("136", 400, "Session expired"),
    ("180", 400, "Invalid account updater key"),
    ("181", 400, "Error getting data from the batch"),
    ("182", 400, "Account updater batch is still pending"),
    ("183", 400, "Invalid account updater batch key"),
    ("184", 400, "Invalid callback URL"),
];

// spec: 1 §7, A40: A request that cannot be processed gets HTTP 400, 401 or 403, depending on the code.
// spec: 2 §7, A40: Errors have HTTP 400, 401 or 403: 400 for a missing error page, 401 for wrong credentials.
// spec: 2 §7, A38
#[test]
fn each_code_has_its_text_and_its_status() {
    for (code, status, text) in DOCUMENTED {
        let known = ErrorCode::from(code);
        assert_eq!((known.http_status(), known.message()), (Some(status), Some(text)), "{code}");
    }
    let invented = (930..=946).chain(950..=957).chain(960..=962).chain([970, 998, 999]);
    for code in invented {
        let known = SandboxErrorCode::KNOWN.iter().find(|known| known.as_str() == code.to_string());
        let known = known.unwrap_or_else(|| panic!("no code {code}"));
        let status = match code {
            936 => 403,
            998 | 999 => 500,
            _ => 400,
        };
        assert_eq!(known.http_status(), status, "{code}");
        assert!((1..=100).contains(&known.message().chars().count()), "{code}");
    }
}
