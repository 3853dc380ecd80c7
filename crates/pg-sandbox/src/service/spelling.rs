//! Unknown parameters with a suggestion (A55), and misspelt names of the documents, which are accepted (A23).

use pg_model::method::MethodInfo;

use super::{
    gate, misplaced,
    names::{MOST_COMPARED, Names},
    refusal::Refusal,
};
use crate::form::{Form, shown};
use crate::warning::Warnings;
use crate::{assumed, codes::SandboxErrorCode};

const NOT_READ: &str = " and is ignored";

/// The findings about the names of a request.
#[derive(Default)]
pub(super) struct Spelling {
    /// The assumptions that the reply follows because of them.
    pub(super) assumptions: Vec<u16>,
    /// Warnings about them.
    pub(super) warnings: Warnings,
    /// The refusal of a parameter that was sent under two of its spellings, which counts as sent twice (A23).
    pub(super) twice: Option<Refusal>,
}

/// Checks the names of a request.
pub(super) fn judge(info: &MethodInfo, form: &Form) -> Spelling {
    let names = Names::of(info);
    let stray_currency = misplaced::stray_currency(info, form).is_some();
    let mut spelling = Spelling::default();
    let mut compared = 0;
    // The places of fields that have more than one spelling.
    let mut spelt = Vec::new();
    for (name, value) in form.iter() {
        let found = names.find(name);
        if found.is_some() && value.is_empty() && !spelling.assumptions.contains(&assumed::EMPTY_VALUES) {
            spelling.assumptions.push(assumed::EMPTY_VALUES);
        }
        match found.map(|known| (known, names.field(known))) {
            Some((known, field)) if !field.aliases.is_empty() => {
                if known.plain {
                    spelt.push(known.place);
                }
                if field.aliases.contains(&name) {
                    spelling.assumptions.push(assumed::MISSPELT_NAMES);
                    spelling.warnings.add(&format!("{name} is misspelt and was read as {}", field.wire));
                }
            }
            Some(_) => {}
            None if gate::is_credential(info.credentials, name) => {}
            None => {
                if !spelling.assumptions.contains(&assumed::PARAMETERS_THAT_A_METHOD_DOES_NOT_KNOW) {
                    spelling.assumptions.push(assumed::PARAMETERS_THAT_A_METHOD_DOES_NOT_KNOW);
                }
                // The terminal of an original.
                if names.moves_money() && matches!(name, "terminalKey" | "terminal_key") {
                    spelling.assumptions.push(assumed::TERMINALS);
                }
                // The number of warnings is limited.
                if spelling.warnings.is_full() || compared == MOST_COMPARED {
                    spelling.warnings.leave_out(1);
                } else {
                    compared += 1;
                    spelling.warnings.add(&match name {
                        "currency" if stray_currency => {
                            format!("{}: it is only compared with the currency of the original", not_known(info, name))
                        }
                        _ => ignored(info, names, name),
                    });
                }
            }
        }
    }
    spelling.twice = of_same_field(info, spelt);
    spelling
}

/// Returns the first field whose place occurs twice.
fn of_same_field(info: &MethodInfo, mut places: Vec<usize>) -> Option<Refusal> {
    places.sort_unstable();
    let pair = places.windows(2).find(|pair| pair[0] == pair[1])?;
    Some(
        Refusal::from(SandboxErrorCode::DUPLICATE_PARAMETER)
            .about(info.fields[pair[0]].wire)
            .assuming(assumed::MISSPELT_NAMES),
    )
}

/// Removes the warning that a parameter is not read if that parameter is the reason for the refusal. A suggestion
/// remains.
pub(super) fn take_back(info: &MethodInfo, name: &str, warnings: &mut Warnings) {
    warnings.replace(&not_known(info, name), |told| {
        let (start, suggestion) = told.split_once(NOT_READ)?;
        (!suggestion.is_empty()).then(|| format!("{start}{suggestion}"))
    });
}

/// Returns the beginning of the warning about an unknown parameter.
fn not_known(info: &MethodInfo, name: &str) -> String {
    format!("{} is not a parameter of {info:?}", shown(name))
}

fn ignored(info: &MethodInfo, names: &Names, name: &str) -> String {
    let told = not_known(info, name) + NOT_READ;
    match names.meant(name) {
        Some(meant) => format!("{told}: did you mean {meant}?"),
        None => told,
    }
}
