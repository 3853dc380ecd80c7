//! What distinguishes a request from other requests of its method.

use pg_model::{ApiRequest, ParameterSink, field::Field};
use sha2::{Digest, Sha512};

/// Returns 128 bits of a hash of the parameters, without credentials and sensitive values: there are so few card numbers
/// that a hash would not hide one.
pub(super) fn digest(request: &impl ApiRequest) -> String {
    let mut hashed = Hashed(Sha512::new());
    request.visit(&mut hashed);
    hashed.0.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

struct Hashed(Sha512);

impl Hashed {
    fn add(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_be_bytes());
        self.0.update(text);
    }
}

impl ParameterSink for Hashed {
    fn credentials(&mut self) {}

    fn parameter(&mut self, field: &'static Field, name: &str, value: &str) {
        if !field.sensitive {
            self.add(name);
            self.add(value);
        }
    }

    fn list(&mut self, field: &'static Field, name: &str, values: &mut dyn Iterator<Item = &str>) {
        if !field.sensitive {
            self.add(name);
            values.for_each(|value| self.add(value));
        }
    }
}
