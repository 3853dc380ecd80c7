//! The parameters of each method by their names. A request of a dozen names meets methods of sixty parameters, and most of its
//! names are asked for more than once.

use std::{collections::HashMap, sync::LazyLock};

use pg_model::{METHODS, field::Field, method::MethodInfo};

/// The parameters of one method.
pub(super) struct Names {
    info: &'static MethodInfo,
    /// Names that stand for themselves, other spellings among them.
    whole: HashMap<&'static str, &'static Field>,
    /// Fields of items, and those that are known by a prefix.
    patterns: Vec<&'static Field>,
}

static NAMES: LazyLock<Vec<Names>> = LazyLock::new(|| METHODS.iter().map(|info| Names::new(info)).collect());

impl Names {
    /// Those of a method of the service.
    pub(super) fn of(info: &MethodInfo) -> &'static Self {
        let known = NAMES.iter().find(|names| std::ptr::eq(names.info, info));
        known.expect("METHODS has every method that a request can name")
    }

    fn new(info: &'static MethodInfo) -> Self {
        let (patterns, whole): (Vec<&'static Field>, Vec<&'static Field>) =
            info.fields.iter().partition(|field| field.is_numbered() || field.wire.ends_with('*'));
        let spellings = |field: &'static Field| std::iter::once(&field.wire).chain(field.aliases);
        let whole = whole.into_iter().flat_map(|field| spellings(field).map(move |name| (*name, field)));
        Self { info, whole: whole.collect(), patterns }
    }

    /// The parameter of a name, as [`MethodInfo::field`] finds it.
    pub(super) fn field(&self, name: &str) -> Option<&'static Field> {
        let whole = self.whole.get(name).copied();
        whole.or_else(|| self.patterns.iter().copied().find(|field| field.is_named(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_the_field_that_the_table_gives() {
        let wires = || {
            METHODS
                .iter()
                .flat_map(|info| info.fields)
                .flat_map(|field| std::iter::once(&field.wire).chain(field.aliases))
        };
        let mut found = 0;
        for info in METHODS {
            for wire in wires() {
                for name in [
                    (*wire).to_owned(),
                    wire.replace("{n}", "0"),
                    wire.replace("{n}", "12"),
                    wire.replace("{n}", "012"),
                    wire.replace('*', "Size"),
                    wire.to_uppercase(),
                    format!("{wire}x"),
                ] {
                    let wanted = info.field(&name).map(|field| field.wire);
                    assert_eq!(Names::of(info).field(&name).map(|field| field.wire), wanted, "{info:?} {name}");
                    found += usize::from(wanted.is_some());
                }
            }
        }
        assert!(found > 1_000, "{found}");
    }
}
