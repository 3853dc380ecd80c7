//! Forms, which need no script.

use pg_model::mask;

use super::Html;

/// A form in the making.
#[derive(Debug)]
pub(in super::super) struct Form(Html);

/// An input.
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) struct Field<'a> {
    /// Its name, unique on its page.
    pub(in super::super) name: &'static str,
    pub(in super::super) label: &'static str,
    /// What is in it; card numbers are masked when it is shown again.
    pub(in super::super) value: &'a str,
    /// The allowed values; may be empty.
    pub(in super::super) hint: &'static str,
    /// The keyboard that a phone offers: an `inputmode`; empty for letters.
    pub(in super::super) keyboard: &'static str,
}

/// A choice of one.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Select<'a> {
    /// Its name, unique on its page.
    pub(in super::super) name: &'static str,
    pub(in super::super) label: &'static str,
    /// Value and words of each.
    pub(in super::super) options: &'a [(&'a str, &'a str)],
    /// The value that is chosen.
    pub(in super::super) chosen: &'a str,
}

impl Form {
    /// A form that changes something, or whose content belongs into no address.
    pub(in super::super) fn post(path: &str) -> Self {
        Self(Html::new().raw("<form method=\"post\"").attribute("action", path).raw(">\n"))
    }

    /// A form that asks for a page.
    pub(in super::super) fn get(path: &str) -> Self {
        Self(Html::new().raw("<form method=\"get\" class=\"filter\"").attribute("action", path).raw(">\n"))
    }

    /// With something that is not seen.
    pub(in super::super) fn hidden(self, name: &'static str, value: &str) -> Self {
        let input = Html::new().raw("<input type=\"hidden\"").attribute("name", name).attribute("value", value);
        Self(self.0.put(input).raw(">\n"))
    }

    /// With an input of one line.
    pub(in super::super) fn field(self, field: Field<'_>) -> Self {
        let input = opened("<input", field).attribute("value", &mask::text(field.value));
        let input = if field.keyboard.is_empty() { input } else { input.attribute("inputmode", field.keyboard) };
        self.placed(field, input.raw(">"))
    }

    /// With an input of several lines.
    pub(in super::super) fn area(self, field: Field<'_>) -> Self {
        // Browsers drop the first line break.
        let area = opened("<textarea rows=\"5\"", field).raw(">\n").text(&mask::text(field.value)).raw("</textarea>");
        self.placed(field, area)
    }

    /// With a choice.
    pub(in super::super) fn select(self, select: Select<'_>) -> Self {
        let options = select.options.iter().map(|(value, words)| {
            let option = Html::new().raw("<option").attribute("value", value);
            let option = if *value == select.chosen { option.raw(" selected") } else { option };
            option.raw(">").text(words).raw("</option>")
        });
        let field = Field { name: select.name, label: select.label, ..Field::default() };
        self.placed(field, opened("<select", field).raw(">").all(options).raw("</select>"))
    }

    /// With the button that sends it.
    pub(in super::super) fn button(self, words: &'static str) -> Html {
        self.0.raw("<button>").raw(words).raw("</button>\n</form>\n")
    }

    /// With a button that matters less.
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

/// A control whose tag is still open.
fn opened(tag: &'static str, field: Field<'_>) -> Html {
    let control = Html::new().raw(tag).attribute("id", field.name).attribute("name", field.name);
    let control = control.raw(" autocomplete=\"off\" spellcheck=\"false\"");
    if field.hint.is_empty() { control } else { control.attribute("aria-describedby", &hint(field)) }
}

fn hint(field: Field<'_>) -> String {
    format!("{}-hint", field.name)
}
