//! The traits that every generated record has, besides its fields.

/// Implements the common traits of a generated record. The struct itself is written out beside the call.
macro_rules! record_traits {
    ($name:ident) => {
        impl $name {
            /// Returns the record with some of its fields changed by `set`, for tests and for programs that act as the
            /// service. Begin with `default`.
            #[must_use]
            pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
                set(&mut self);
                self
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::serialize::record(self, serializer)
            }
        }
    };
}
pub(crate) use record_traits;
