//! The pieces that pages are made of.

mod facts;
mod form;
mod shown;
mod table;

pub(super) use facts::Facts;
pub(super) use form::{Field, Form, Select};
pub(super) use shown::Shown;
pub(super) use table::Table;

use super::Html;

/// A part of a page under a heading of its own.
pub(super) fn section(heading: &'static str, content: Html) -> Html {
    Html::new().raw("<section>\n<h2>").raw(heading).raw("</h2>\n").put(content).raw("</section>\n")
}

/// A sentence.
pub(super) fn paragraph(sentence: &'static str) -> Html {
    Html::new().raw("<p>").raw(sentence).raw("</p>\n")
}

/// A sentence that matters less.
pub(super) fn note(sentence: &'static str) -> Html {
    Html::new().raw("<p class=\"note\">").raw(sentence).raw("</p>\n")
}

/// What went wrong with a form.
pub(super) fn alert(problem: &str) -> Html {
    Html::new().raw("<p class=\"alert\" role=\"alert\">").text(problem).raw("</p>\n")
}

/// A link to another page of the inspector or of the sandbox.
pub(super) fn link(path: &str, words: &str) -> Html {
    Html::new().raw("<a").attribute("href", path).raw(">").text(words).raw("</a>")
}

/// A key, a name or a value as it is on the wire.
pub(super) fn code(text: &str) -> Html {
    if text.is_empty() { Html::new() } else { Html::new().raw("<code>").text(text).raw("</code>") }
}

/// The same, in a table that has little room for a key.
pub(super) fn key(text: &str) -> Html {
    Html::new().raw("<code class=\"key\">").text(text).raw("</code>")
}

/// A value that is taken whole by one click.
pub(super) fn to_copy(text: &str) -> Html {
    Html::new().raw("<code class=\"copy\">").text(text).raw("</code>")
}

/// A text of a merchant or a customer, whose writing direction may be another one.
pub(super) fn quoted(text: &str) -> Html {
    if text.is_empty() { Html::new() } else { Html::new().raw("<bdi>").text(text).raw("</bdi>") }
}

/// Lines as they came.
pub(super) fn lines(text: &str) -> Html {
    Html::new().raw("<pre tabindex=\"0\"><code>").text(text).raw("</code></pre>\n")
}

/// What a page is about.
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

/// The word of a state; nothing for none.
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
