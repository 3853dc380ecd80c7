//! The building blocks of pages.

mod facts;
mod form;
mod shown;
mod table;

pub(super) use facts::Facts;
pub(super) use form::{Field, Form, Select};
pub(super) use shown::Shown;
pub(super) use table::Table;

use super::Html;

/// Returns a part of a page with its heading.
pub(super) fn section(heading: &'static str, content: Html) -> Html {
    Html::new().raw("<section>\n<h2>").raw(heading).raw("</h2>\n").put(content).raw("</section>\n")
}

/// Returns a paragraph.
pub(super) fn paragraph(sentence: &'static str) -> Html {
    Html::new().raw("<p>").raw(sentence).raw("</p>\n")
}

/// Returns a paragraph of secondary importance.
pub(super) fn note(sentence: &'static str) -> Html {
    Html::new().raw("<p class=\"note\">").raw(sentence).raw("</p>\n")
}

/// Returns the error of a form.
pub(super) fn alert(problem: &str) -> Html {
    Html::new().raw("<p class=\"alert\" role=\"alert\">").text(problem).raw("</p>\n")
}

/// A link to another page of the inspector or of the sandbox.
pub(super) fn link(path: &str, words: &str) -> Html {
    Html::new().raw("<a").attribute("href", path).raw(">").text(words).raw("</a>")
}

/// Returns a key, a name or a value in its wire form.
pub(super) fn code(text: &str) -> Html {
    if text.is_empty() { Html::new() } else { Html::new().raw("<code>").text(text).raw("</code>") }
}

/// Returns a key in a short form, for tables.
pub(super) fn key(text: &str) -> Html {
    Html::new().raw("<code class=\"key\">").text(text).raw("</code>")
}

/// Returns a value that one click selects completely.
pub(super) fn to_copy(text: &str) -> Html {
    Html::new().raw("<code class=\"copy\">").text(text).raw("</code>")
}

/// Returns a text from a merchant or a customer, which may have another writing direction.
pub(super) fn quoted(text: &str) -> Html {
    if text.is_empty() { Html::new() } else { Html::new().raw("<bdi>").text(text).raw("</bdi>") }
}

/// Returns lines unchanged.
pub(super) fn lines(text: &str) -> Html {
    Html::new().raw("<pre tabindex=\"0\"><code>").text(text).raw("</code></pre>\n")
}

/// Returns the introduction of a page.
pub(super) fn lead(sentence: &'static str) -> Html {
    Html::new().raw("<p class=\"lead\">").raw(sentence).raw("</p>\n")
}

/// The quality of a state. Colours only repeat the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Bad,
    Waiting,
    Plain,
}

/// Returns a label for a state; empty if there is none.
pub(super) fn badge(tone: Tone, word: &str) -> Html {
    if word.is_empty() {
        return Html::new();
    }
    let start = match tone {
        Tone::Good => "<span class=\"badge good\">",
        Tone::Bad => "<span class=\"badge bad\">",
        Tone::Waiting => "<span class=\"badge waiting\">",
        Tone::Plain => "<span class=\"badge\">",
    };
    Html::new().raw(start).text(word).raw("</span>")
}
