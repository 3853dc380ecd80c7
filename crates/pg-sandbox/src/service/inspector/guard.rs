//! Accepts only forms of the inspector's own pages.

use http::{HeaderMap, Request, header};

const FOREIGN: &str = "this form was not sent by a page of the inspector; scripts must use the control interface";

/// Refuses a form that a page of another site may have sent.
///
/// A browser sends the origin with every form. A client that sends no origin is not a browser, and can use the control
/// interface. A test's request that did not arrive over HTTP has no host and needs no origin.
pub(super) fn check<B>(request: &Request<B>) -> Result<(), &'static str> {
    let headers = request.headers();
    let over_http = headers.contains_key(header::HOST) || request.uri().authority().is_some();
    let said = headers.contains_key(header::ORIGIN) || headers.contains_key(SITE);
    if (over_http && !said) || !is_same_site(headers) { Err(FOREIGN) } else { Ok(()) }
}

/// The header of browsers about the page that sent a request (Fetch Metadata).
const SITE: &str = "sec-fetch-site";

/// Whether the form came from the inspector itself. An `Origin` of another site was refused before, as everywhere in
/// the control interface.
fn is_same_site(headers: &HeaderMap) -> bool {
    headers.get_all(SITE).iter().all(|site| site == "same-origin")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(pairs: &[(&str, &str)]) -> bool {
        let request = pairs.iter().fold(Request::post("/"), |request, (name, value)| request.header(*name, *value));
        check(&request.body(()).unwrap()).is_ok()
    }

    #[test]
    fn only_own_pages_send_forms() {
        let host = ("host", "127.0.0.1:8480");
        let origin = ("origin", "http://127.0.0.1:8480");
        assert!(allowed(&[]));
        assert!(allowed(&[host, origin]));
        assert!(allowed(&[host, ("sec-fetch-site", "same-origin")]));
        assert!(!allowed(&[host]));
        for site in ["cross-site", "same-site", "none", ""] {
            assert!(!allowed(&[host, origin, ("sec-fetch-site", site)]), "{site}");
            assert!(!allowed(&[("sec-fetch-site", site)]), "{site}");
        }
        assert!(!allowed(&[host, ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")]));
    }
}
