//! A complete charge as a WebAssembly module without imports: the host provides clock, random numbers and network.
//!
//! `host.mjs` beside this is such a driver, for Node; `cargo xtask test` runs it against a sandbox. The module shows
//! that `pg-proto` with its machines needs nothing from its host.
//!
//! ```
//! use pg_wasm_charge::{Charging, Event, Wants};
//!
//! let start = br#"{"baseUrl": "http://localhost", "apiKey": "key", "apiPassword": "password", "shaKey": "sha key",
//!     "order": "order-7"}"#;
//! let mut charging = Charging::begin(start)?;
//! let (wants, request) = charging.step(Event::Begin, 1_700_000_000_000, 4);
//! assert_eq!(wants, Wants::Send);
//! assert_eq!(request["url"], "http://localhost/v3/transaction/auth/json");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod charging;
#[cfg(target_arch = "wasm32")]
mod exports;

pub use charging::{Charging, Event, Wants};
