//! What every generated record has, beside the fields and their names.

/// Gives a generated record what all records have. The struct itself is written out beside the call.
macro_rules! record_traits {
    ($name:ident) => {
        impl $name {
            /// The record with some of its fields set: for tests and for programs that act as the service. Begin with `default`.
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
