//! Forms, which need no script.

use pg_model::mask;

use super::Html;

/// A form that is being built.
#[derive(Debug)]
pub(in super::super) struct Form(Html);

/// An input.
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) struct Field<'a> {
    /// Its name, unique on its page.
    pub(in super::super) name: &'static str,
    pub(in super::super) label: &'static str,
    /// Its content; card numbers are masked when it is shown again.
    pub(in super::super) value: &'a str,
    /// The allowed values; may be empty.
    pub(in super::super) hint: &'static str,
    /// The keyboard that a phone offers: an `inputmode`; empty for letters.
    pub(in super::super) keyboard: &'static str,
}

/// A list of options, of which one is chosen.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Select<'a> {
    /// Its name, unique on its page.
    pub(in super::super) name: &'static str,
    pub(in super::super) label: &'static str,
    /// Value and label of each option.
    pub(in super::super) options: &'a [(&'a str, &'a str)],
    /// The value that is chosen.
    pub(in super::super) chosen: &'a str,
}

impl Form {
    /// Creates a form that changes something, or whose content must not be in a URL.
    pub(in super::super) fn post(path: &str) -> Self {
        Self(Html::new().raw("<form method=\"post\"").attribute("action", path).raw(">\n"))
    }

    /// Creates a form that requests a page.
    pub(in super::super) fn get(path: &str) -> Self {
        Self(Html::new().raw("<form method=\"get\" class=\"filter\"").attribute("action", path).raw(">\n"))
    }

    /// Adds a hidden input.
    pub(in super::super) fn hidden(self, name: &'static str, value: &str) -> Self {
        let input = Html::new().raw("<input type=\"hidden\"").attribute("name", name).attribute("value", value);
        Self(self.0.put(input).raw(">\n"))
    }

    /// Adds an input of one line.
    pub(in super::super) fn field(self, field: Field<'_>) -> Self {
        let input = opened("<input", field).attribute("value", &mask::text(field.value));
        let input = if field.keyboard.is_empty() { input } else { input.attribute("inputmode", field.keyboard) };
        self.placed(field, input.raw(">"))
    }

    /// Adds an input of several lines.
    pub(in super::super) fn area(self, field: Field<'_>) -> Self {
        // Browsers drop the first line break.
        let area = opened("<textarea rows=\"5\"", field).raw(">\n").text(&mask::text(field.value)).raw("</textarea>");
        self.placed(field, area)
    }

    /// Adds a list of options.
    pub(in super::super) fn select(self, select: Select<'_>) -> Self {
        let options = select.options.iter().map(|(value, words)| {
            let option = Html::new().raw("<option").attribute("value", value);
            let option = if *value == select.chosen { option.raw(" selected") } else { option };
            option.raw(">").text(words).raw("</option>")
        });
        let field = Field { name: select.name, label: select.label, ..Field::default() };
        self.placed(field, opened("<select", field).raw(">").all(options).raw("</select>"))
    }

    /// Adds the submit button.
    pub(in super::super) fn button(self, words: &'static str) -> Html {
        self.0.raw("<button>").raw(words).raw("</button>\n</form>\n")
    }

    /// Adds a secondary button.
    pub(in super::super) fn quiet_button(self, words: &'static str) -> Html {
        self.0.raw("<button class=\"other\">").raw(words).raw("</button>\n</form>\n")
    }

    fn placed(self, field: Field<'_>, control: Html) -> Self {
        let label = Html::new().raw("<label").attribute("for", field.name).raw(">").raw(field.label).raw("</label>\n");
        let placed = self.0.raw("<div class=\"field\">").put(label).put(control);
        let hinted = if field.hint.is_empty() {
            placed
        } else {
            placed.raw("\n<p class=\"hint\"").attribute("id", &hint(field)).raw(">").raw(field.hint).raw("</p>")
        };
        Self(hinted.raw("</div>\n"))
    }
}

/// Returns a control whose tag is still open.
fn opened(tag: &'static str, field: Field<'_>) -> Html {
    let control = Html::new().raw(tag).attribute("id", field.name).attribute("name", field.name);
    let control = control.raw(" autocomplete=\"off\" spellcheck=\"false\"");
    if field.hint.is_empty() { control } else { control.attribute("aria-describedby", &hint(field)) }
}

fn hint(field: Field<'_>) -> String {
    format!("{}-hint", field.name)
}
