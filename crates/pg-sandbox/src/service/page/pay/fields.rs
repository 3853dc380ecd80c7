//! The inputs of the payment form, each with its label and messages.

use super::{
    super::html,
    brand,
    entered::{Entered, FieldMistake},
    expiry,
};

/// The back of a card, with the position of its code.
const BACK_OF_CARD: &str = "<svg viewBox=\"0 0 36 24\" aria-hidden=\"true\">\
     <rect x=\"1\" y=\"1\" width=\"34\" height=\"22\" rx=\"3\" fill=\"none\" stroke=\"currentColor\"/>\
     <path d=\"M1 5h34v4H1z\" fill=\"currentColor\"/>\
     <path d=\"M5 15h13\" stroke=\"currentColor\" stroke-width=\"2\"/>\
     <rect x=\"20\" y=\"12\" width=\"12\" height=\"6\" rx=\"1\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\"/></svg>";

/// One input with its label.
struct Input {
    name: &'static str,
    label: &'static str,
    /// The hint after the label, in smaller text.
    how: &'static str,
    attributes: &'static str,
}

const NUMBER: Input = Input {
    name: "cardNumber",
    label: "Card number",
    how: "",
    attributes: "required inputmode=\"numeric\" autocomplete=\"cc-number\" maxlength=\"25\"",
};
const EXPIRY: Input = Input {
    name: expiry::TOGETHER,
    label: "Expiry",
    how: "MM / YY",
    attributes: "required inputmode=\"numeric\" autocomplete=\"cc-exp\" maxlength=\"9\"",
};
const CODE: Input = Input {
    name: "cardCV2",
    label: "Security code",
    how: "",
    attributes: "required inputmode=\"numeric\" autocomplete=\"cc-csc\" maxlength=\"4\"",
};
const NAME: Input = Input {
    name: "cardholderName",
    label: "Name on card",
    how: "optional",
    attributes: "autocomplete=\"cc-name\" maxlength=\"128\"",
};

/// All inputs for a customer, with entered values and errors.
pub(super) fn html(entered: &Entered, faults: &[FieldMistake]) -> String {
    let [together, month, year] = entered.expiry.shown();
    let brands: String = brand::SHOWN.iter().map(|scheme| format!("<span>{}</span> ", brand::name(*scheme))).collect();
    [
        NUMBER.html(
            "",
            faults,
            "",
            &format!("<p class=\"hint brands\" id=\"cardNumber-hint\">{}</p>\n", brands.trim_end()),
        ),
        "<div class=\"row\">\n".to_owned(),
        EXPIRY.html(&together, faults, "", ""),
        apart(&month, &year),
        CODE.html(
            "",
            faults,
            BACK_OF_CARD,
            "<p class=\"hint\" id=\"cardCV2-hint\">3 digits on the back; American Express: 4 on the front</p>\n",
        ),
        "</div>\n".to_owned(),
        NAME.html(&entered.name, faults, "", ""),
    ]
    .concat()
}

/// Inputs for month and year, for programs that fill in forms by these names. They are not visible, not read out, and
/// not reachable by keyboard (A180).
fn apart(month: &str, year: &str) -> String {
    let input = |name: &str, label: &str, length: u8, value: &str| {
        format!(
            "<label for=\"{name}\">{label}</label>\n<input id=\"{name}\" name=\"{name}\" type=\"text\" value=\"{}\" \
             tabindex=\"-1\" autocomplete=\"off\" inputmode=\"numeric\" maxlength=\"{length}\">\n",
            html::value(value)
        )
    };
    let [month_name, year_name] = expiry::APART;
    format!(
        "<div class=\"apart\" aria-hidden=\"true\">\n{}{}</div>\n",
        input(month_name, "Expiry month", 2, month),
        input(year_name, "Expiry year", 4, year)
    )
}

impl Input {
    /// The input. The first invalid input has the focus when the page opens.
    fn html(&self, value: &str, faults: &[FieldMistake], picture: &str, hint: &str) -> String {
        let Self { name, label, how, attributes } = self;
        let fault = faults.iter().find(|fault| fault.field == *name);
        let hinted = (!hint.is_empty()).then(|| format!("{name}-hint"));
        let described: Vec<String> = hinted.into_iter().chain(fault.map(|_| format!("{name}-error"))).collect();
        let mut marks = String::new();
        if !described.is_empty() {
            marks = format!(" aria-describedby=\"{}\"", described.join(" "));
        }
        if fault.is_some() {
            marks.push_str(" aria-invalid=\"true\"");
        }
        if faults.first().is_some_and(|first| first.field == *name) {
            marks.push_str(" autofocus");
        }
        let how = if how.is_empty() { String::new() } else { format!(" <span class=\"how\">{how}</span>") };
        let error = fault
            .map(|fault| format!("<p class=\"error\" id=\"{name}-error\">{}</p>\n", fault.message))
            .unwrap_or_default();
        let input = format!(
            "<input id=\"{name}\" name=\"{name}\" type=\"text\" value=\"{}\" {attributes}{marks}>",
            html::value(value)
        );
        let input = if picture.is_empty() { input } else { format!("<span class=\"in\">{input}{picture}</span>") };
        format!("<div class=\"field\">\n<label for=\"{name}\">{label}{how}</label>\n{input}\n{error}{hint}</div>\n")
    }
}
