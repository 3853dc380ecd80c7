//! Finds methods by name.

use pg_model::{METHODS, mask, method::MethodInfo};

use crate::{failure::Failure, suggestion};

/// `service/method`.
pub(crate) fn path(info: &MethodInfo) -> String {
    format!("{}/{}", info.service.name, info.name)
}

/// Finds a method.
///
/// # Errors
/// If the name is unknown; the message suggests the nearest name.
pub(crate) fn method(typed: &str) -> Result<&'static MethodInfo, Failure> {
    if let Some(info) = pg_model::method::method(typed) {
        return Ok(info);
    }
    let paths: Vec<String> = METHODS.iter().map(|info| path(info)).collect();
    // If the service is missing, the method's name is compared.
    let by_name = paths.iter().find(|path| path.split_once('/').is_some_and(|(_, name)| name == typed));
    let meant = by_name.map(String::as_str).or_else(|| suggestion::nearest(typed, paths.iter().map(String::as_str)));
    let hint = meant.map_or_else(|| "`pg methods` lists them".to_owned(), |path| format!("did you mean {path}?"));
    // If the method was left out, the argument may be a card number.
    let typed = mask::text(typed);
    Err(Failure::misuse(format!("there is no method {typed:?}; {hint}")))
}
