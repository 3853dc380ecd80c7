//! The listings are fresh, and what they show is what others can name.

use super::*;
use crate::workspace;

#[test]
fn the_committed_listings_are_fresh() {
    run(&workspace::root().unwrap(), true).unwrap();
}

/// A crate of these files.
fn listed(files: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        workspace::write(folder.path(), path, text).unwrap();
    }
    listing::of_crate(&Sources::read(&folder.path().join("lib.rs")).unwrap(), "a").concat()
}

#[test]
fn items_stand_under_the_path_by_which_they_are_reached() {
    let inner = "/// A type.\n#[derive(Clone, Debug)]\npub struct Tea { pub price: u64, secret: u8 }\n\
                 impl Tea { pub fn new(price: u64,\n    ) -> Self { todo!() } fn own(&self) {} }\n\
                 impl<'a> From<&'a str> for Tea { fn from(_: &'a str) -> Self { todo!() } }\n\
                 pub struct Hidden;";
    let text =
        listed(&[("lib.rs", "mod inner;\npub use inner::Tea as Drink;\npub use http as web;"), ("inner.rs", inner)]);
    assert_eq!(
        text,
        "struct a::Drink\n    price: u64\n    …\n    derive Clone, Debug\n    fn new(price: u64) -> Self\n    \
         impl<'a> From<&'a str> for Tea\nuse a::web from http\n"
    );
}

#[test]
fn enums_traits_functions_and_conditions_are_spelt_out() {
    let text = listed(&[(
        "lib.rs",
        "#[non_exhaustive] pub enum Cup { Empty, Of(Tea), With { milk: bool } }\n\
         pub trait Pour: Send { type Into; const HOT: bool; fn pour(&self) -> Self::Into; fn stop(&self) {} }\n\
         impl<T: Send> Pour for T { type Into = Cup; }\n\
         #[cfg(feature = \"std\")] pub const fn boil<const N: usize>() {}\n\
         #[cfg(test)] pub fn gone() {}\npub type Pot<T = u8> = Vec<T>;\nmod deep { pub mod deeper { pub fn no() {} } }",
    )]);
    assert_eq!(
        text,
        "#[non_exhaustive] enum a::Cup\n    Empty\n    Of { 0: Tea }\n    With { milk: bool }\n\
         type a::Pot<T = u8> = Vec<T>\n\
         trait a::Pour: Send\n    type Into\n    const HOT: bool\n    fn pour(&self) -> Self::Into\n    \
         fn stop(&self) { … }\n    impl<T: Send> Pour for T with Into = Cup\n\
         #[cfg(feature = \"std\")] const fn a::boil<const N: usize>()\n"
    );
}

#[test]
fn items_written_by_a_macro_are_listed() {
    let text = listed(&[(
        "lib.rs",
        "macro_rules! texts { ($name:ident: String) => { texts!($name); impl Own for $name {} };\n\
         ($name:ident) => { impl $name { pub fn text(&self) -> &str { todo!() } } }; }\n\
         pub struct Tea(String);\ntexts!(Tea: String);",
    )]);
    assert_eq!(text, "struct a::Tea\n    …\n    fn text(&self) -> &str\n    impl Own for Tea\n");
    let text = listed(&[(
        "lib.rs",
        "macro_rules! rows { ($name:ident $($rows:tt)*) => { impl Own for $name { inner! { $($rows)* } } }; }\n\
         pub struct Tea(String);\nrows! { Tea; \"a\" => text }",
    )]);
    assert_eq!(text, "struct a::Tea\n    …\n    impl Own for Tea\n");
}

#[test]
fn items_of_conditional_impls_are_listed_below_their_head() {
    let text = listed(&[(
        "lib.rs",
        "pub struct Tea<T>(T);\nimpl<T: Send> Tea<T> { pub fn b(&self) {} fn own() {} }\n\
         impl<T: Send> Tea<T> { pub fn a(&self) {} }\nimpl Tea<u8> { fn none() {} }",
    )]);
    assert_eq!(text, "struct a::Tea<T>\n    …\n    impl<T: Send> Tea<T>\n        fn a(&self)\n        fn b(&self)\n");
}

#[test]
fn hidden_items_are_not_listed() {
    let text = listed(&[(
        "lib.rs",
        "#[doc(hidden)] pub mod inner { pub struct Own; }\npub struct Tea(u8);\n\
         impl Tea { #[doc(hidden)] pub fn own(&self) {} pub fn b(&self) {} }\n#[doc(hidden)] pub use inner::Own;",
    )]);
    assert_eq!(text, "struct a::Tea\n    …\n    fn b(&self)\n");
}
