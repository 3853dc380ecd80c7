//! Requests: one file a method.

use super::{
    super::{
        names::{literal, snake},
        tables::{Credentials, Method, Retry, Service, Tables},
    },
    PRELUDE, Unit,
    fields::{Member, list_of_fields, members, statics},
    groups::structure,
    visit,
};

pub(super) fn generate(tables: &Tables) -> Vec<Unit> {
    tables.methods().map(|(service, one)| Unit { name: one.rust.clone(), code: code(tables, service, one) }).collect()
}

fn code(tables: &Tables, service: &Service, method: &Method) -> String {
    let members = members(tables, &method.fields);
    let doc = format!(
        "{}\n///\n/// `POST {}{}` (spec {}). {} Retry class: {} ({}).",
        method.doc,
        service.info.prefix,
        method.name,
        method.source,
        answer(method),
        match method.retry {
            Retry::Safe => "safe",
            Retry::LookupFirst => "lookup first",
            Retry::Never => "never",
        },
        method.retry_why,
    );
    let mut checks: String = members.iter().filter_map(Member::check_of_list).collect();
    if method.cross {
        checks += &format!("crate::cross::{}(self, &mut violations);\n", snake(&method.rust));
    }
    let check = if checks.is_empty() {
        String::new()
    } else {
        format!(
            "fn check(&self) -> Violations {{\nlet mut violations = check::each_field(INFO.fields, |checker| self.visit(checker));\n{checks}violations\n}}\n\n"
        )
    };
    let reply = if method.reply.is_empty() { "RedirectData" } else { &method.reply };
    let output = method.output.as_deref().unwrap_or("Self::Reply");
    let mut body = PRELUDE.to_owned();
    body += &structure(&method.rust, &doc, &members, ["", ""]);
    body += &format!(
        "impl ApiRequest for {rust} {{\n\
         const INFO: &'static MethodInfo = &INFO;\n type Reply = {reply};\n type Output = {output};\n\n\
         {check}    request_fields! {{\n{rows}    }}\n}}\n\n",
        rust = method.rust,
        rows = visit::rows(tables, &method.fields, Some(method.credentials)),
    );
    body += &info(tables, service, method, reply);
    body += &statics(&method.fields);
    body
}

/// The reply of a method, in a sentence.
fn answer(method: &Method) -> String {
    let link = |name: &str| format!("[`{name}`](crate::{name})");
    match method.output.as_deref() {
        _ if method.reply.is_empty() => format!("Redirects the browser with {}.", link("RedirectData")),
        Some(output) if output.starts_with("Outcome<") => {
            format!("Returns {} as an {}.", link(&method.reply), link("Outcome"))
        }
        _ => format!("Returns {}.", link(&method.reply)),
    }
}

fn info(tables: &Tables, service: &Service, method: &Method, reply: &str) -> String {
    let fields = list_of_fields(tables, &method.fields);
    format!(
        "pub(crate) static INFO: MethodInfo = MethodInfo {{ \
         service: &super::{service}, name: {name}, rust: {rust}, title: {title}, doc: {doc}, source: {source}, \
         credentials: AuthScheme::{credentials}, retry: RetrySafety::{retry}, retry_why: {why}, fields: {fields}, \
         reply: {reply:?}, new_reply: new_reply::<{type_name}>, check: check_as::<{type_name}> }};\n\n",
        service = service.info.name.to_ascii_uppercase(),
        name = literal(&method.name),
        rust = literal(&method.rust),
        title = literal(&method.title),
        doc = literal(&method.doc),
        source = literal(&method.source),
        credentials = match method.credentials {
            Credentials::Signed => "Signed",
            Credentials::Session => "Session",
            Credentials::Enterprise => "Enterprise",
        },
        retry = match method.retry {
            Retry::Safe => "Safe",
            Retry::LookupFirst => "LookupFirst",
            Retry::Never => "Never",
        },
        why = literal(&method.retry_why),
        type_name = method.rust,
    )
}

/// The services and the list of all methods.
pub(super) fn index(tables: &Tables) -> String {
    let mut text = String::from("\nuse crate::method::{EachMethod, MethodInfo, ServiceInfo};\n\n");
    let (mut all, mut each) = (Vec::new(), String::new());
    for service in &tables.services {
        let info = &service.info;
        text += &format!(
            "/// {title}.\npub(crate) static {constant}: ServiceInfo = ServiceInfo {{ name: {name}, title: {title_text}, \
             prefix: {prefix}, version: {version}, source: {source}, doc: {doc} }};\n\n",
            title = info.title,
            constant = info.name.to_ascii_uppercase(),
            name = literal(&info.name),
            title_text = literal(&info.title),
            prefix = literal(&info.prefix),
            version = info.version,
            source = literal(&info.source),
            doc = literal(&info.doc),
        );
        all.extend(service.methods.iter().map(|method| format!("&{}::INFO", snake(&method.rust))));
        each.extend(service.methods.iter().map(|method| format!("each.run::<{}>();\n", method.rust)));
    }
    text + &format!(
        "/// Every method of every service, in the order of the documents.\npub static METHODS: &[&MethodInfo] = &[{}];\n\n\
         /// Runs a test with the request type of each of [`METHODS`].\n#[doc(hidden)]\n\
         pub fn each_method(each: &mut impl EachMethod) {{\n{each}}}\n",
        all.join(", ")
    )
}
