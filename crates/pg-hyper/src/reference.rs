//! The reference under which a payment can be looked up.

use pg_model::{ApiRequest, ParameterSink, field::Field};

/// Its parameter name, the same in every method that has it (spec 2 §4.3).
pub(crate) const NAME: &str = "uniqueMerchantReference";

/// Returns the `uniqueMerchantReference` of a request. Nothing else is copied.
pub(crate) fn of<M: ApiRequest>(method: &M) -> Option<String> {
    let mut found = Found(None);
    method.visit(&mut found);
    found.0
}

struct Found(Option<String>);

impl ParameterSink for Found {
    fn credentials(&mut self) {}

    fn parameter(&mut self, _: &'static Field, name: &str, value: &str) {
        if name == NAME && !value.is_empty() {
            self.0 = Some(value.to_owned());
        }
    }

    fn list(&mut self, _: &'static Field, _: &str, _: &mut dyn Iterator<Item = &str>) {}
}
