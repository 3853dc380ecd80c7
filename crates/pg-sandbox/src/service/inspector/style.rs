//! The style of the inspector's pages.

use std::sync::LazyLock;

use super::page::html;

/// A content security policy allows it by its hash.
pub(super) const STYLE: &str = include_str!("style.css");

/// Returns the name of the style in a content security policy.
pub(in super::super) fn source() -> &'static str {
    static SOURCE: LazyLock<String> = LazyLock::new(|| html::source_of(STYLE));
    &SOURCE
}
