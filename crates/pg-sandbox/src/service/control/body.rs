//! Reads the bodies of calls: each is one JSON object, and each member is given once.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _, MapAccess, Visitor},
};
use serde_json::{Map, Value};

/// The maximum number of characters of a problem, which repeats names and values of the body.
const LONGEST: usize = 300;

/// Returns the members of the object. The problem shows an `example`, and names a repeated member.
pub(super) fn members(body: &[u8], example: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_slice(body) {
        Ok(Members(members)) => Ok(members),
        Err(error) if error.is_data() => Err(problem(example, &error)),
        Err(_) => Err(example.to_owned()),
    }
}

/// Reads the object. The problem names the unknown or missing member, or the value of a wrong type, and shows an
/// `example`.
pub(super) fn parsed<T: DeserializeOwned>(body: &[u8], example: &str) -> Result<T, String> {
    serde_json::from_value(members(body, example)?.into()).map_err(|error| problem(example, &error))
}

fn problem(example: &str, error: &serde_json::Error) -> String {
    let problem = error.to_string();
    let problem = problem.rsplit_once(" at line ").map_or(&*problem, |(problem, _)| problem);
    let problem = pg_model::mask::text(problem);
    let end = problem.char_indices().nth(LONGEST).map_or(problem.len(), |(end, _)| end);
    let more = if end < problem.len() { " …" } else { "" };
    format!("{example}: {}{more}", &problem[..end])
}

/// The members of an object. The derived reader of a struct would take an array too, and that of a map the last of two
/// members with one name.
struct Members(Map<String, Value>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Object)
    }
}

struct Object;

impl<'de> Visitor<'de> for Object {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut given: A) -> Result<Members, A::Error> {
        let mut members = Map::new();
        while let Some((name, value)) = given.next_entry::<String, Value>()? {
            if members.contains_key(&name) {
                return Err(A::Error::custom(format_args!("`{name}` is given twice")));
            }
            members.insert(name, value);
        }
        Ok(Members(members))
    }
}
