//! A reply, before it becomes an HTTP response.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use pg_model::{Encoding, Record};
use serde_json::Value;

use super::{inspector::style, page::html as hosted};

/// A response that is being built.
#[derive(Debug)]
pub(crate) struct Reply {
    status: StatusCode,
    content: Content,
    body: Bytes,
    location: Option<HeaderValue>,
    form_target: FormTarget,
    frames: Frames,
    site: Site,
    scripts: Scripts,
    error_code: Option<String>,
    link: Option<HeaderValue>,
    asks_for_a_password: bool,
    allow: Option<&'static str>,
    cookie: Option<HeaderValue>,
    /// The length of the body that a response to HEAD leaves out.
    left_out: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Xml,
    Json,
    Html,
    Text,
    JavaScript,
    Wasm,
}

/// The pages to which the response to a page's form may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormTarget {
    /// To a page of the sandbox.
    Here,
    /// To any page of a merchant, by a redirect.
    Away,
}

/// The origins that may show a page in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frames {
    /// No origin.
    None,
    /// Any page of the web.
    Any,
}

/// The audience of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Site {
    /// Pages for customers.
    Hosted,
    /// Pages for developers.
    Inspector,
}

/// The scripts that a page may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scripts {
    /// Nothing.
    None,
    /// The sandbox's own scripts and WebAssembly, which may call the sandbox only.
    Own,
}

impl Reply {
    /// Creates a record of the service, with HTTP 200 (spec 1 §4.1).
    pub(crate) fn record(record: &dyn Record, encoding: Encoding) -> Self {
        Self::encoded(StatusCode::OK, encoding, pg_model::encode(record, encoding))
    }

    /// Creates a body that is encoded already.
    pub(crate) fn encoded(status: StatusCode, encoding: Encoding, body: String) -> Self {
        let content = match encoding {
            Encoding::Xml => Content::Xml,
            Encoding::Json => Content::Json,
        };
        Self::new(status, content, body)
    }

    /// Returns JSON of the control interface.
    pub(crate) fn json(status: StatusCode, value: &Value) -> Self {
        // Programs show this JSON on terminals.
        let text = format!("{value:#}\n");
        Self::new(status, Content::Json, pg_model::json::escape_invisible(&text).into_owned())
    }

    /// Creates a page for people.
    pub(crate) fn page(status: StatusCode, html: String) -> Self {
        Self::new(status, Content::Html, html)
    }

    /// Creates a page of the inspector.
    pub(crate) fn inspector(status: StatusCode, html: String) -> Self {
        Self { site: Site::Inspector, ..Self::page(status, html) }
    }

    /// Creates a script of the inspector.
    pub(crate) fn script(script: Bytes) -> Self {
        Self { body: script, ..Self::new(StatusCode::OK, Content::JavaScript, String::new()) }
    }

    /// Creates WebAssembly of the inspector.
    pub(crate) fn wasm(module: Bytes) -> Self {
        Self { body: module, ..Self::new(StatusCode::OK, Content::Wasm, String::new()) }
    }

    /// Returns the same page with permission to run the sandbox's own scripts.
    pub(crate) fn running_scripts(self) -> Self {
        Self { scripts: Scripts::Own, ..self }
    }

    /// Creates a line of text.
    pub(crate) fn text(status: StatusCode, text: &str) -> Self {
        Self::new(status, Content::Text, format!("{text}\n"))
    }

    /// Redirects a browser to another page, which it requests with GET.
    pub(crate) fn see_other(location: HeaderValue) -> Self {
        Self { location: Some(location), ..Self::text(StatusCode::SEE_OTHER, "See other") }
    }

    /// Returns the same page with permission to redirect its form to a merchant: browsers apply the policy of a form's
    /// page to every redirect that follows.
    pub(crate) fn leading_away(self) -> Self {
        Self { form_target: FormTarget::Away, ..self }
    }

    /// Returns the same page with permission for merchants to show it in a frame (spec 2 §3.3).
    pub(crate) fn in_frames(self) -> Self {
        Self { frames: Frames::Any, ..self }
    }

    fn new(status: StatusCode, content: Content, body: String) -> Self {
        Self {
            status,
            content,
            body: Bytes::from(body),
            location: None,
            form_target: FormTarget::Here,
            frames: Frames::None,
            site: Site::Hosted,
            scripts: Scripts::None,
            error_code: None,
            link: None,
            asks_for_a_password: false,
            allow: None,
            cookie: None,
            left_out: None,
        }
    }

    /// Returns the same reply as an error with this code.
    pub(crate) fn with_error_code(self, code: String) -> Self {
        Self { error_code: Some(code), ..self }
    }

    /// Returns the same reply with a `Link` to the next page (RFC 8288).
    pub(crate) fn linking(self, link: HeaderValue) -> Self {
        Self { link: Some(link), ..self }
    }

    /// Returns the same reply with a request for user and password, for which browsers show their form.
    pub(crate) fn asking_for_a_password(self) -> Self {
        Self { asks_for_a_password: true, ..self }
    }

    /// Returns the same reply with the HTTP methods that the address accepts (RFC 9110 §10.2.1).
    pub(crate) fn allowing(self, methods: &'static str) -> Self {
        Self { allow: Some(methods), ..self }
    }

    /// Returns the same reply with a cookie (RFC 6265 §4.1).
    pub(crate) fn setting_cookie(self, cookie: HeaderValue) -> Self {
        Self { cookie: Some(cookie), ..self }
    }

    /// Sets the response to HEAD: the headers of GET, with the length of the body that is left out.
    pub(super) fn without_body(mut self) -> Self {
        self.left_out = Some(std::mem::take(&mut self.body).len());
        self
    }

    /// Returns the HTTP status.
    pub(crate) const fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the code of an error.
    pub(crate) fn error_code(&self) -> Option<&str> {
        self.error_code.as_deref()
    }

    /// Returns the target of a redirect.
    pub(crate) const fn location(&self) -> Option<&HeaderValue> {
        self.location.as_ref()
    }

    /// Returns the body.
    pub(crate) const fn body(&self) -> &Bytes {
        &self.body
    }

    /// Whether it is a page for people.
    pub(crate) fn is_page(&self) -> bool {
        self.content == Content::Html
    }

    /// Returns the HTTP response.
    pub(super) fn into_response(self) -> Response<Bytes> {
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content.media_type()));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if let Some(length) = self.left_out {
            headers.insert(header::CONTENT_LENGTH, length.into());
        }
        if let Some(link) = self.link {
            headers.insert(header::LINK, link);
        }
        if self.asks_for_a_password {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"sandbox control\""));
        }
        if let Some(methods) = self.allow {
            headers.insert(header::ALLOW, HeaderValue::from_static(methods));
        }
        if let Some(cookie) = self.cookie {
            headers.insert(header::SET_COOKIE, cookie);
        }
        if let Some(location) = self.location {
            headers.insert(header::LOCATION, location);
            headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        }
        if self.content == Content::Html {
            if let Ok(policy) = HeaderValue::try_from(policy(self.site, self.scripts, self.form_target, self.frames)) {
                headers.insert(header::CONTENT_SECURITY_POLICY, policy);
            }
            if self.frames == Frames::None {
                headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
            }
            match self.site {
                Site::Hosted => {
                    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
                }
                Site::Inspector => {
                    // With `no-referrer`, browsers would send `Origin: null` with the forms of the page.
                    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
                    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
                    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
                }
            }
        }
        response
    }
}

/// Returns the content security policy. Pages load nothing and run nothing, except the page that decodes by script.
/// Their icon is a part of them.
fn policy(site: Site, scripts: Scripts, form_target: FormTarget, frames: Frames) -> String {
    let form_action = match form_target {
        FormTarget::Here => "'self'",
        FormTarget::Away => "'self' http: https:",
    };
    let ancestors = match frames {
        Frames::None => "'none'",
        Frames::Any => "*",
    };
    let style = match site {
        Site::Hosted => hosted::style_source(),
        Site::Inspector => style::source(),
    };
    let scripts = match scripts {
        Scripts::None => "",
        Scripts::Own => " script-src 'self' 'wasm-unsafe-eval'; connect-src 'self';",
    };
    format!(
        "default-src 'none';{scripts} style-src {style}; img-src data:; form-action {form_action}; \
         frame-ancestors {ancestors}; base-uri 'none'"
    )
}

impl Content {
    /// Returns the content type; A41 for the encodings of the service.
    const fn media_type(self) -> &'static str {
        match self {
            Self::Xml => "application/xml; charset=utf-8",
            Self::Json => "application/json; charset=utf-8",
            Self::Html => "text/html; charset=utf-8",
            Self::Text => "text/plain; charset=utf-8",
            Self::JavaScript => "text/javascript; charset=utf-8",
            Self::Wasm => "application/wasm",
        }
    }
}
