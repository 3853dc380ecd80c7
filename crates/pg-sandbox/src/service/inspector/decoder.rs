//! The content of a card-form redirect (spec 2 §4.2).

use bytes::Bytes;
use http::StatusCode;
use pg_model::{Dialect, RedirectData, decode_into, mask};

use super::{
    Context, Form, Html, Reply, frame,
    site::Place,
    view::{self, Facts, Field, Select, Table},
};
use crate::{dialect::cipher, merchants::Merchant};

/// The only message for unreadable data. A message that distinguishes a wrong key, iv, padding or text would let an
/// attacker decrypt data by trial (spec 2 §4.2).
const OPAQUE: &str = "This cannot be decrypted: it needs another account’s key, the iv is wrong, or the data is damaged. The page does not say which.";
const INCOMPLETE: &str = "Paste an address that has data and iv in its query, or enter data and iv separately.";
const NO_ACCOUNT: &str = "Choose one of the accounts.";

/// Decodes in the page, if the package for JavaScript is available.
const SCRIPT: &str = include_str!("decoder.js");
const BY_PACKAGE: &str = "If scripts can run, the package for JavaScript decodes the redirect in this page; otherwise the sandbox decodes it. The page gets the key, which a sandbox shows anyway. A shop’s page must never contain its key.";
const BY_SANDBOX: &str = "The sandbox decodes the redirect, since the package for JavaScript is not built. After <code>cargo xtask wasm</code> and a restart, this page uses the package.";

/// A file that the page loads to decode redirects in the browser.
pub(super) fn file(context: &Context<'_>, name: &str) -> Option<Reply> {
    let package = context.settings.decoder.as_ref()?;
    if name == "page.js" {
        return Some(Reply::script(Bytes::from_static(SCRIPT.as_bytes())));
    }
    let (_, bytes) = package.files.iter().find(|(file, _)| *file == name)?;
    Some(if name.ends_with(".wasm") { Reply::wasm(bytes.clone()) } else { Reply::script(bytes.clone()) })
}

/// Returns the empty form.
pub(super) fn show(context: &Context<'_>) -> Reply {
    page(context, StatusCode::OK, None, Html::new())
}

/// Returns the form again, and the content of the redirect.
pub(super) fn decode(context: &Context<'_>, form: &Form) -> Reply {
    let (status, result) = match decoded(context, form) {
        Ok(data) => (StatusCode::OK, said(&data)),
        Err(problem) => (StatusCode::BAD_REQUEST, view::alert(problem)),
    };
    page(context, status, Some(form), result)
}

fn decoded(context: &Context<'_>, form: &Form) -> Result<RedirectData, &'static str> {
    let merchant = form.get("merchant").and_then(|name| context.merchant(name)).ok_or(NO_ACCOUNT)?;
    let (data, iv) = parameters(form).ok_or(INCOMPLETE)?;
    // A space at either end may be a plus sign that a query string has lost, or may have been copied with the text.
    let dialect = context.settings.spoken();
    open(merchant, &dialect, &data, &iv).or_else(|| open(merchant, &dialect, data.trim(), &iv)).ok_or(OPAQUE)
}

/// Returns `data` and `iv`, from an address or from their own inputs.
fn parameters(form: &Form) -> Option<(String, String)> {
    let address = form.get("address").unwrap_or_default().trim_matches(['\r', '\n']);
    if address.trim().is_empty() {
        let given = |name| form.given(name).map(|text| text.trim_matches(['\r', '\n']));
        return Some((given("data")?.to_owned(), given("iv")?.trim().to_owned()));
    }
    let bare = address.split('#').next().unwrap_or_default();
    let query = bare.split_once('?').map_or(bare, |(_, query)| query);
    // The service appends its parameters to the merchant's URL, so the last one counts.
    let last = |name| form_urlencoded::parse(query.as_bytes()).filter(|pair| pair.0 == name).last();
    let value = |name| last(name).map(|(_, value)| value.into_owned());
    Some((value("data")?, value("iv")?.trim().to_owned()))
}

fn open(merchant: &Merchant, dialect: &Dialect, data: &str, iv: &str) -> Option<RedirectData> {
    let cipher = cipher(dialect, merchant.api_key.expose()).ok()?;
    let text = cipher.decrypt(data, iv).ok()?;
    let mut read = RedirectData::default();
    decode_into(text.as_str().as_bytes(), &mut read).ok()?;
    Some(read)
}

/// Returns the parts that may be shown. A merchant's data may contain a card number anywhere, so everything is masked;
/// of undocumented fields only the names are shown.
fn said(data: &RedirectData) -> Html {
    let masked = mask::text;
    let collected: Vec<(String, String)> =
        data.collect.iter().map(|(name, value)| (masked(name), masked(value))).collect();
    let unknown: Vec<String> = data.extra.iter().map(|(name, _)| masked(name)).collect();
    let facts = Facts::new()
        .pair("cardholderName", &masked(&data.cardholder_name))
        .pair("cardNumber", &mask::card_number(data.card_number.expose()))
        .pair("cardExpiryMonth", &masked(&data.card_expiry_month))
        .pair("cardExpiryYear", &masked(&data.card_expiry_year))
        .wire(&collected)
        .pair("errorCode", data.error_code.as_str())
        .pair("errorMessage", &masked(&data.error_message))
        .quoted("Unknown members", &unknown.join(", "));
    let errors = data.errors.iter().map(|(name, error)| {
        [view::code(&masked(name)), view::code(error.error_code.as_str()), view::quoted(&masked(&error.error_message))]
    });
    let errors = Table::new("Form errors", &["Field", "Code", "Message"]).rows(errors);
    let warning = "<p class=\"warning\">This data is not authenticated: anyone who has seen the URL may have altered it. Use it to show a form again, never as proof of a card or a payment.</p>\n";
    let content = Html::new().raw(warning).put(facts.into_html()).put(errors.or("The data contains no form errors."));
    view::section("Content", content)
}

fn page(context: &Context<'_>, status: StatusCode, entered: Option<&Form>, result: Html) -> Reply {
    let about =
        "The card form sends customers back to the merchant with encrypted data. This page decrypts and explains it.";
    let form = form(context, entered);
    let Some(_) = context.settings.decoder else {
        let form = view::section("Decode a redirect", view::note(BY_SANDBOX).put(form));
        return shown(context, status, view::lead(about).put(result).put(form));
    };
    let form = view::section("Decode a redirect", view::note(BY_PACKAGE).put(form));
    let said = Html::new().raw("<div id=\"said\">\n").put(result).raw("</div>\n");
    let script = Html::new().raw("<script type=\"module\" src=\"/_sandbox/pages/decoder/page.js\"></script>\n");
    shown(context, status, view::lead(about).put(said).put(form).put(script)).running_scripts()
}

fn shown(context: &Context<'_>, status: StatusCode, content: Html) -> Reply {
    Reply::inspector(status, frame::page(context, Some(Place::Decoder), Place::Decoder.title(), content))
}

fn form(context: &Context<'_>, entered: Option<&Form>) -> Html {
    let value = |name| entered.and_then(|form| form.get(name)).unwrap_or_default();
    let own = context.account.map(|own| own.merchant);
    let accounts = context.merchants().all().iter().chain(own);
    let accounts: Vec<(&str, &str)> = accounts.map(|merchant| (&*merchant.name, &*merchant.name)).collect();
    let address = Field {
        name: "address",
        label: "Address",
        value: value("address"),
        hint: "The whole address of the redirect, or its query.",
        ..Field::default()
    };
    let field = |name, label| Field { name, label, value: value(name), ..Field::default() };
    let chosen = entered.and_then(|form| form.get("merchant")).or(own.map(|own| &*own.name)).unwrap_or_default();
    view::Form::post(&Place::Decoder.here(context))
        .area(address)
        .field(field("data", "or the data alone"))
        .field(field("iv", "and its iv"))
        .select(Select { name: "merchant", label: "Account", options: &accounts, chosen })
        .button("Decode")
}
