//! The facts of a code that the sandbox invents. The tables of codes are generated.

use pg_model::Remedy;

/// A row of a table of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Facts {
    pub(crate) code: &'static str,
    pub(crate) situation: &'static str,
    pub(crate) assumption: u16,
    pub(crate) message: &'static str,
    pub(crate) http_status: u16,
    pub(crate) remedy: Option<Remedy>,
}

impl Facts {
    /// Creates a status, which comes with HTTP 200.
    pub(crate) const fn status(
        code: &'static str,
        situation: &'static str,
        assumption: u16,
        message: &'static str,
    ) -> Self {
        Self { code, situation, assumption, message, http_status: 200, remedy: None }
    }

    /// Marks the code as an error.
    pub(crate) const fn error(self, http_status: u16, remedy: Remedy) -> Self {
        Self { http_status, remedy: Some(remedy), ..self }
    }
}

/// Implements the facts of a code. The struct itself is written out beside the macro call.
macro_rules! facts {
    ($name:ident) => {
        impl $name {
            /// Returns the code as the sandbox sends it by default.
            #[must_use]
            pub const fn as_str(&self) -> &'static str {
                self.0.code
            }

            /// Returns what the code means.
            #[must_use]
            pub const fn message(&self) -> &'static str {
                self.0.message
            }

            /// Its situation, which entries of dialects name.
            #[must_use]
            pub const fn situation(&self) -> &'static str {
                self.0.situation
            }

            /// Returns the number of the assumption that invented the code.
            #[must_use]
            pub const fn assumption(&self) -> u16 {
                self.0.assumption
            }

            /// Returns the HTTP status of the sandbox's reply.
            #[must_use]
            pub const fn http_status(&self) -> u16 {
                self.0.http_status
            }

            /// Returns what to do about an error.
            #[must_use]
            pub const fn remedy(&self) -> Option<pg_model::Remedy> {
                self.0.remedy
            }
        }
    };
}
/// The constants of a table, for its `KNOWN`.
macro_rules! known {
    ($($name:ident)*) => {
        &[$(Self::$name),*]
    };
}

pub(crate) use {facts, known};
