//! Expansion of macros that make items. An arm has one name, and after it words or any tokens; the crates have no others.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use syn::Item;

/// The macros of a crate by their names.
pub(super) struct Macros(BTreeMap<String, Vec<Arm>>);

struct Arm {
    /// `name` of `$name:ident`.
    name: String,
    /// The required text after the name, such as `: String`; `None` if any tokens may follow.
    words: Option<String>,
    /// The text between the braces.
    body: String,
}

impl Macros {
    pub(super) fn of<'i>(items: impl Iterator<Item = &'i Item>) -> Self {
        let defined = items.filter_map(|item| match item {
            Item::Macro(definition) => {
                Some((definition.ident.as_ref()?.to_string(), arms(definition.mac.tokens.clone())))
            }
            _ => None,
        });
        Self(defined.collect())
    }

    /// Replaces calls of macros by their items. A call of another form stays.
    pub(super) fn expand(&self, items: Vec<Item>) -> Result<Vec<Item>> {
        let mut expanded = Vec::with_capacity(items.len());
        for item in items {
            match self.expansion(&item)? {
                None => expanded.push(item),
                Some(more) => expanded.extend(self.expand(more)?),
            }
        }
        Ok(expanded)
    }

    fn expansion(&self, item: &Item) -> Result<Option<Vec<Item>>> {
        let Item::Macro(call) = item else { return Ok(None) };
        let Some(arms) = call.mac.path.segments.last().and_then(|last| self.0.get(&last.ident.to_string())) else {
            return Ok(None);
        };
        let mut tokens = call.mac.tokens.clone().into_iter();
        let Some(TokenTree::Ident(name)) = tokens.next().filter(|_| call.ident.is_none()) else { return Ok(None) };
        let words = tokens.collect::<TokenStream>().to_string();
        let Some(arm) = arms.iter().find(|arm| arm.words.as_ref().is_none_or(|own| *own == words)) else {
            return Ok(None);
        };
        let text = arm.body.replace(&format!("${}", arm.name), &name.to_string()).replace("$crate", "crate");
        let file = syn::parse_file(&text).with_context(|| format!("what the macro makes of {name}"))?;
        Ok(Some(file.items))
    }
}

/// Each arm `($name:ident words) => { body };` of a macro.
fn arms(tokens: TokenStream) -> Vec<Arm> {
    let groups: Vec<_> = tokens
        .into_iter()
        .filter_map(|token| match token {
            TokenTree::Group(group) => Some(group),
            _ => None,
        })
        .collect();
    let arm = |pattern: &proc_macro2::Group, body: &proc_macro2::Group| {
        let mut pattern = pattern.stream().into_iter();
        // The dollar; the name; the colon and its kind.
        let name = pattern.nth(1)?.to_string();
        let words = Some(pattern.skip(2).collect::<TokenStream>().to_string()).filter(|words| !words.starts_with('$'));
        let body = body.span().source_text()?;
        let body = body.strip_prefix('{')?.strip_suffix('}')?.to_owned();
        Some(Arm { name, words, body })
    };
    groups.chunks_exact(2).filter_map(|pair| arm(&pair[0], &pair[1])).collect()
}
