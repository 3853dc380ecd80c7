//! The page that explains the others: credentials, retry classes, formats.

use super::{
    super::{formats::FORMATS, tables::Tables},
    markdown::{code, table, text},
};

const CREDENTIALS: &str = "## Credentials\n\n\
    | Class | Parameters | Source |\n| --- | --- | --- |\n\
    | signed | `apiKey`, `apiPassword`, and `shaSignature` over all the others | 1 §5 |\n\
    | session | none: a customer's browser posts the form, and its `sessionKey` replaces them | 2 §4.2 |\n\
    | enterprise | `api_key`, `api_password` and `version`, which is 5 | 3 §4 |\n\n\
    The pages of the services omit these parameters.\n\n";

const RETRY: &str = "## Retry classes\n\n\
    Whether a request may be sent again if it is unknown whether it was executed.\n\n\
    | Class | What to do |\n| --- | --- |\n\
    | safe | Send it again: a repetition does no harm. |\n\
    | lookup-first | Look the payment up by its `uniqueMerchantReference`. Only if nothing is found, send it again with the same reference. |\n\
    | never | Do not resend it automatically. If a payment, capture, cancellation or refund carried a `uniqueMerchantReference`, look it up by that; otherwise a person decides. The method's page says why. |\n\n";

pub(super) fn page(tables: &Tables) -> String {
    let services = tables.services.iter().map(|service| {
        let info = &service.info;
        vec![format!("[{}]({}.md)", info.title, info.name), text(&info.doc), service.methods.len().to_string()]
    });
    let formats = FORMATS.iter().map(|format| {
        let pattern = if format.pattern.is_empty() { String::new() } else { code(format.pattern) };
        let name = format!("<a id=\"{0}\"></a>{0}", format.name);
        vec![name, text(format.description), pattern]
    });
    format!(
        "# Reference\n\nEvery method, parameter, reply and code, from the tables in `crates/pg-model/tables`. Sources name\n\
         document and section. The same facts as OpenAPI: [openapi.yaml](openapi.yaml). What the documents leave open:\n\
         [assumptions](assumptions.md). Of the five APIs, card tokenisation and the account updater share the path `token/` and a row.\n\n\
         {}[Codes](codes.md) · [Records](records.md)\n\n{CREDENTIALS}{RETRY}\
         ## Formats\n\nThe format of a value. Lengths are checked separately and count characters, not bytes. An optional\n\
         text may be empty: no format or length refuses that, and `updateCardKeyDetails` erases the stored value. A number, an amount,\n\
         a currency, a time, a flag or a choice from a list must not be empty: a service that drops empty values would use the default,\n\
         and refund everything for an empty `transactionValue`. So leave out what\n\
         you do not mean to send ([A09](assumptions.md#a09), [A151](assumptions.md#a151)).\n\n{}",
        table(&["Service", "What it is for", "Methods"], services),
        table(&["Format", "A value is", "Pattern"], formats),
    )
}
