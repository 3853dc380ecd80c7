//! A state in a word, and whether it is a good one.

use super::Html;

/// The quality of a state. Colours only repeat the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Tone {
    Good,
    Bad,
    Waiting,
    Plain,
}

/// The word of a state; nothing for none.
pub(in super::super) fn badge(tone: Tone, word: &str) -> Html {
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
