//! An entry as the control interface shows it.

use serde_json::{Map, Value, json};

use super::{Answered, Entry, Parameters};

impl Entry {
    /// Returns the entry as JSON, with this key.
    pub(crate) fn view(&self, key: &str) -> Value {
        let reply = self.reply.as_ref();
        json!({
            "id": key,
            "time": self.at.to_string(),
            "peer": self.peer.to_string(),
            "merchant": self.merchant,
            "httpMethod": self.http_method.as_str(),
            "path": self.path,
            "method": self.info.map(|info| format!("{info:?}")),
            "parameters": parameters(&self.parameters),
            "parametersLeftOut": self.parameters.left_out(),
            "fault": self.fault.map(|fault| fault.name()),
            "status": reply.map(|reply| reply.status),
            "errorCode": reply.and_then(|reply| reply.error_code.as_deref()),
            "basis": reply.and_then(Answered::basis),
            "warnings": reply.map(Answered::warnings),
            "location": reply.and_then(Answered::location),
            "reply": reply.map(Answered::body),
        })
    }
}

fn parameters(parameters: &Parameters) -> Value {
    parameters.iter().map(|(name, value)| (name.to_owned(), value.into())).collect::<Map<_, _>>().into()
}
