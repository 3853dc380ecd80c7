//! What names of secrets contain, in lower case and without separators.
//!
//! `pg-model` and `pg-crypto` each have this file, since neither uses the other; `cargo xtask tidy` checks that both are equal.

/// Names of a CV2. `cid` is missing, since it is part of too many names.
pub(super) const CV2: [&str; 9] =
    ["cv2", "cvv", "cvc", "cvn", "csc", "securitycode", "verificationcode", "verificationvalue", "verificationnumber"];

/// Names of passwords, keys, and data about a person.
pub(super) const OTHER: [&str; 9] = [
    "pass",
    "secret",
    "apikey",
    "shakey",
    "accountupdaterkey",
    "birth",
    "mccaccountidentifier",
    "mccpostcode",
    "mccsurname",
];
