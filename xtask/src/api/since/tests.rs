use super::*;

/// Breaking and additive changes between two listings of one item each.
fn between(before: &str, after: &str) -> (Vec<String>, Vec<String>) {
    let heading = "# What a offers.\n\n";
    let changes = changes(&format!("{heading}{before}\n"), &format!("{heading}{after}\n"));
    (changes.breaking, changes.additive)
}

fn breaks(before: &str, after: &str, expected: &str) {
    let (breaking, additive) = between(before, after);
    assert_eq!((breaking, additive), (vec![expected.to_owned()], vec![]), "{before}\n{after}");
}

fn adds(before: &str, after: &str, expected: &str) {
    let (breaking, additive) = between(before, after);
    assert_eq!((breaking, additive), (vec![], vec![expected.to_owned()]), "{before}\n{after}");
}

#[test]
fn the_same_listing_has_no_changes() {
    for name in super::super::CRATES {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/reference/api/{name}.txt"));
        let listing = std::fs::read_to_string(path).unwrap();
        assert_eq!(changes(&listing, &listing), Changes::default());
        // Each block is understood.
        assert_eq!(blocks(&listing).len(), listing.split("\n\n").count() - 1, "{name}");
    }
}

#[test]
fn an_item_that_comes_is_additive_and_one_that_goes_is_breaking() {
    let tea = "struct a::Tea\n    …";
    let both = format!("{tea}\n\nfn a::pour<const N: usize>(tea: Tea)");
    adds(tea, &both, "fn a::pour is new");
    breaks(&both, tea, "fn a::pour was removed");
    let (breaking, additive) = between("fn a::pour()", "const a::pour: u8");
    assert_eq!(
        (breaking, additive),
        (vec!["fn a::pour was removed".to_owned()], vec!["const a::pour is new".to_owned()])
    );
}

#[test]
fn a_field_is_additive_where_no_literal_was_possible() {
    let fields = |head: &str, more: &str| format!("{head}struct a::Tea\n    price: u64{more}");
    for (open, hidden) in [("#[non_exhaustive] ", ""), ("", "\n    …")] {
        let before = fields(open, hidden);
        adds(&before, &fields(open, &format!("\n    milk: bool{hidden}")), "struct a::Tea: field milk is new");
    }
    breaks(
        &fields("", ""),
        &fields("", "\n    milk: bool"),
        "struct a::Tea: field milk is new, and the item was not #[non_exhaustive]",
    );
    breaks(&fields("", "\n    milk: bool"), &fields("", ""), "struct a::Tea: field milk was removed");
    breaks(
        &fields("", ""),
        "struct a::Tea\n    price: u32",
        "struct a::Tea: field price was `price: u64` and is `price: u32`",
    );
    breaks(
        &fields("", ""),
        &fields("", "\n    …"),
        "struct a::Tea has private fields now, so a struct literal no longer makes it",
    );
    breaks(&fields("", ""), &fields("#[non_exhaustive] ", ""), "struct a::Tea is #[non_exhaustive] now");
    adds(&fields("#[non_exhaustive] ", ""), &fields("", ""), "struct a::Tea is no longer #[non_exhaustive]");
}

#[test]
fn a_variant_is_additive_in_an_open_enum_only() {
    let cup = |head: &str, more: &str| format!("{head}enum a::Cup\n    Empty{more}\n    derive Clone");
    let open = "#[non_exhaustive] ";
    adds(&cup(open, ""), &cup(open, "\n    Of { 0: Tea }"), "enum a::Cup: variant Of is new");
    breaks(
        &cup("", ""),
        &cup("", "\n    Of { 0: Tea }"),
        "enum a::Cup: variant Of is new, and the item was not #[non_exhaustive]",
    );
    breaks(
        &cup(open, "\n    Of { 0: Tea }"),
        &cup(open, "\n    Of { tea: Tea }"),
        "enum a::Cup: variant Of was `Of { 0: Tea }` and is `Of { tea: Tea }`",
    );
}

#[test]
fn a_required_method_breaks_implementations_and_a_provided_one_does_not() {
    let pour = |more: &str| format!("trait a::Pour: Send\n    fn pour(&self){more}");
    adds(&pour(""), &pour("\n    fn stop(&self) { … }"), "trait a::Pour: fn stop is new");
    adds(&pour(""), &pour("\n    impl<T: Send> Pour for T"), "trait a::Pour: impl<T: Send> Pour for T is new");
    breaks(&pour(""), &pour("\n    fn stop(&self)"), "trait a::Pour: fn stop is new and required");
    breaks(&pour(""), &pour("\n    type Into"), "trait a::Pour: type Into is new and required");
    breaks(
        &pour("\n    fn stop(&self) { … }"),
        &pour("\n    fn stop(&self)"),
        "trait a::Pour: fn stop is required now",
    );
    breaks(
        &pour(""),
        "trait a::Pour: Send + Sync\n    fn pour(&self)",
        "trait a::Pour was `trait a::Pour: Send` and is `trait a::Pour: Send + Sync`",
    );
}

#[test]
fn signatures_are_compared_without_the_names_of_parameters() {
    let tea = |method: &str| format!("struct a::Tea\n    …\n    {method}");
    let old = tea("fn of<F: Fn(u8) -> u8>(mut self, price: u64, (a, b): (u8, u8)) -> Self");
    let same = tea("fn of<F: Fn(u8) -> u8>(self, minor: u64, both: (u8, u8)) -> Self");
    assert_eq!(between(&old, &same), (vec![], vec![]));
    let other = tea("fn of<F: Fn(u8) -> u8>(self, minor: u32, both: (u8, u8)) -> Self");
    assert_eq!(between(&old, &other).0.len(), 1);
    assert_eq!(between(&tea("fn cold(self)"), &tea("fn cold(&self)")).0.len(), 1);
    assert_eq!(between(&tea("fn cold(&self)"), &tea("async fn cold(&self)")).0.len(), 1);
    // What may run at compile time may still run later.
    assert_eq!(between(&tea("fn cold(&self)"), &tea("const fn cold(&self)")).0, Vec::<String>::new());
    assert_eq!(between(&tea("const fn cold(&self)"), &tea("fn cold(&self)")).0.len(), 1);
    adds(&tea("fn cold(&self)"), &tea("#[deprecated] fn cold(&self)"), "struct a::Tea: fn cold is #[deprecated] now");
}

#[test]
fn items_of_conditional_impls_are_listed_with_their_head() {
    let tea = |method: &str| {
        format!(
            "struct a::Tea<T>\n    …\n    impl<T: Send> Tea<T>\n        fn a(&self){method}\n    impl Default for Tea"
        )
    };
    adds(&tea(""), &tea("\n        fn b(&self)"), "struct a::Tea: impl<T: Send> Tea<T> fn b is new");
    breaks(&tea("\n        fn b(&self)"), &tea(""), "struct a::Tea: impl<T: Send> Tea<T> fn b was removed");
    breaks(
        &tea(""),
        &tea("").replace("\n    impl Default for Tea", ""),
        "struct a::Tea: impl Default for Tea was removed",
    );
}

#[test]
fn a_trait_that_is_derived_or_written_out_is_the_same() {
    let derived = "struct a::Tea\n    …\n    derive Clone, Default";
    let written = "struct a::Tea\n    …\n    derive Clone\n    impl Default for Tea";
    assert_eq!(between(derived, written).0, Vec::<String>::new());
    assert_eq!(between(written, derived).0, Vec::<String>::new());
    breaks(derived, "struct a::Tea\n    …\n    derive Clone", "struct a::Tea no longer derives Default");
}

#[test]
fn conditional_items_are_missing_from_other_builds() {
    let tls = "#[cfg(feature = \"tls\")] fn a::tls()";
    breaks("fn a::tls()", tls, "fn a::tls is #[cfg(feature = \"tls\")] now");
    adds(tls, "fn a::tls()", "fn a::tls is no longer #[cfg(feature = \"tls\")]");
}
