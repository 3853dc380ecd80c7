//! A signature, step by step.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use super::masking::{self, KEY_MARK, Printable};
use crate::sign::{OrderedSigner, SIGNATURE_NAME, ShaKey, Signature, in_order, is_signed};

/// Shows how the signature of these parameters is computed (spec 1 §5).
///
/// Secrets are neither kept nor shown: the key, card numbers, CV2, passwords and API keys are masked.
///
/// ```
/// use pg_crypto::{ShaKey, explain};
///
/// let parameters = [("currency", "GBP"), ("cardNumber", "4111111111111111"), ("cardCV2", "")];
/// let explanation = explain(&parameters, &ShaKey::new("secret"));
/// assert_eq!(explanation.pre_image(), "cardNumber=411111******1111‹shaKey›currency=GBP‹shaKey›");
/// println!("{explanation}");
/// ```
#[must_use]
pub fn explain(parameters: &[(&str, &str)], key: &ShaKey) -> Explanation {
    // Without white space around it, so that the text of a key is found anywhere.
    let secret = key.expose().trim();
    let mut signed = Vec::with_capacity(parameters.len());
    let mut signer = OrderedSigner::new(key);
    in_order(parameters, is_signed, |name, value| {
        signed.push((name, value));
        signer.parameter(name, value);
    });
    let shown = signed.iter().map(|(name, value)| SignedParameter {
        name: masking::text(name, secret),
        value: masking::value(name, value, secret),
    });
    let dropped = parameters.iter().filter(|(name, value)| !is_signed(name, value));
    Explanation {
        ordered: shown.collect(),
        dropped: dropped
            .map(|(name, _)| DroppedParameter {
                name: masking::text(name, secret),
                reason: if *name == SIGNATURE_NAME { DropReason::IsSignature } else { DropReason::NoValue },
            })
            .collect(),
        suspicions: suspicions(&signed, key.expose()),
        signature: signer.finish(),
    }
}

/// How a signature is computed. `Display` shows all steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    ordered: Vec<SignedParameter>,
    dropped: Vec<DroppedParameter>,
    suspicions: Vec<String>,
    signature: Signature,
}

/// A signed parameter, masked for display.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignedParameter {
    /// The name of the parameter.
    pub name: String,
    /// The value, masked if it is sensitive.
    pub value: String,
}

/// A parameter that was not signed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedParameter {
    /// The name of the parameter.
    pub name: String,
    /// Why it was left out.
    pub reason: DropReason,
}

/// Why a parameter is not signed (spec 1 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropReason {
    /// It is `shaSignature` itself.
    IsSignature,
    /// It has no value.
    NoValue,
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IsSignature => "a signature does not sign itself",
            Self::NoValue => "it has no value",
        })
    }
}

impl Explanation {
    /// Returns the signed parameters, in order.
    #[must_use]
    pub fn ordered(&self) -> &[SignedParameter] {
        &self.ordered
    }

    /// Returns the parameters that were left out, in the order given.
    #[must_use]
    pub fn dropped(&self) -> &[DroppedParameter] {
        &self.dropped
    }

    /// Returns likely mistakes as sentences, at most 32; then the last sentence counts the others. A suspicion may be
    /// unfounded.
    #[must_use]
    pub fn suspicions(&self) -> &[String] {
        &self.suspicions
    }

    /// Returns the text that was hashed, with `‹shaKey›` for the key and with sensitive values masked.
    #[must_use]
    pub fn pre_image(&self) -> String {
        let length = |each: &SignedParameter| each.name.len() + 1 + each.value.len() + KEY_MARK.len();
        let mut text = String::with_capacity(self.ordered.iter().map(length).sum());
        for SignedParameter { name, value } in &self.ordered {
            [name, "=", value, KEY_MARK].into_iter().for_each(|part| text.push_str(part));
        }
        text
    }

    /// Returns the signature.
    #[must_use]
    pub const fn signature(&self) -> Signature {
        self.signature
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Signed, in this order:")?;
        for SignedParameter { name, value } in &self.ordered {
            writeln!(f, "  {}={}", Printable(name), Printable(value))?;
        }
        if !self.dropped.is_empty() {
            writeln!(f, "Left out:")?;
        }
        for DroppedParameter { name, reason } in &self.dropped {
            writeln!(f, "  {}: {reason}", Printable(name))?;
        }
        writeln!(f, "Hashed with SHA-512 ({KEY_MARK} is the key, * what is not shown):")?;
        writeln!(f, "  {}", Printable(&self.pre_image()))?;
        write!(f, "Signature:\n  {}", self.signature)?;
        for suspicion in &self.suspicions {
            write!(f, "\nNote: {}", Printable(suspicion))?;
        }
        Ok(())
    }
}

/// Maximum number of reported suspicions.
const MOST_SUSPICIONS: usize = 32;

/// Finds likely mistakes in parameters that are in signing order.
fn suspicions(signed: &[(&str, &str)], key: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut more = 0;
    if key.trim() != key {
        found.push(String::from("the key begins or ends with white space"));
    }
    let mut previous = None;
    for &(name, value) in signed {
        let mut suspect = |what: &str| {
            if found.len() == MOST_SUSPICIONS {
                more += 1;
                return;
            }
            let mut sentence = masking::text(name, key.trim());
            write!(sentence, " {what}").expect("writing to a String cannot fail");
            found.push(sentence);
        };
        if value.trim() != value {
            suspect("begins or ends with white space");
        }
        if looks_percent_encoded(value) {
            suspect("looks URL-encoded; sign values unencoded");
        }
        if previous.replace(name) == Some(name) {
            suspect("occurs more than once");
        }
    }
    if more > 0 {
        found.push(format!("and {more} more"));
    }
    found
}

fn looks_percent_encoded(value: &str) -> bool {
    value.contains('%')
        && value.as_bytes().windows(3).any(|three| three[0] == b'%' && three[1..].iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;
    use alloc::vec;

    use super::{DropReason, explain};
    use crate::{ShaKey, sign};

    const PARAMETERS: &[(&str, &str)] = &[
        ("itemName0", "Tea & cake\n"),
        ("apiKey", "canary-api-key"),
        ("cardNumber", "4111111111111111"),
        ("cardCV2", "987"),
        ("formId", ""),
        ("shaSignature", "abc"),
        ("returnUrl", "https%3A%2F%2Fshop.example"),
        ("returnUrl", "again"),
    ];

    #[test]
    fn of_many_likely_mistakes_the_first_are_told_and_the_others_counted() {
        let key = ShaKey::new("canary-sha-key");
        let told = explain(&vec![("a", " 1"); 40], &key);
        assert_eq!(told.suspicions().len(), 33);
        assert_eq!(told.suspicions()[..2], ["a begins or ends with white space", "a begins or ends with white space"]);
        // 40 values with a blank, and 39 names again.
        assert_eq!(told.suspicions()[32], "and 47 more");
        assert!(told.to_string().ends_with("\nNote: and 47 more"));
    }

    #[test]
    fn tells_every_step() {
        let key = ShaKey::new("canary-sha-key");
        let explanation = explain(PARAMETERS, &key);
        let expected = format!(
            "Signed, in this order:
  apiKey=****
  cardCV2=****
  cardNumber=411111******1111
  itemName0=Tea & cake\\n
  returnUrl=https%3A%2F%2Fshop.example
  returnUrl=again
Left out:
  formId: it has no value
  shaSignature: a signature does not sign itself
Hashed with SHA-512 (‹shaKey› is the key, * what is not shown):
  apiKey=****‹shaKey›cardCV2=****‹shaKey›cardNumber=411111******1111‹shaKey›itemName0=Tea & cake\\n‹shaKey›\
returnUrl=https%3A%2F%2Fshop.example‹shaKey›returnUrl=again‹shaKey›
Signature:
  {}
Note: itemName0 begins or ends with white space
Note: returnUrl looks URL-encoded; sign values unencoded
Note: returnUrl occurs more than once",
            sign(PARAMETERS, &key)
        );
        assert_eq!(explanation.to_string(), expected);
        assert_eq!(explanation.ordered().len(), 6);
        assert_eq!(explanation.dropped()[1].reason, DropReason::IsSignature);
        assert_eq!(explanation.suspicions().len(), 3);
        assert_eq!(explanation.signature(), sign(PARAMETERS, &key));
    }

    #[test]
    fn nothing_secret_is_shown() {
        let explanation = explain(PARAMETERS, &ShaKey::new("canary-sha-key"));
        for shown in [format!("{explanation}"), format!("{explanation:?}")] {
            for secret in ["canary", "987", "4111111111111111"] {
                assert!(!shown.contains(secret), "{secret} in {shown}");
            }
        }
    }

    #[test]
    fn white_space_around_the_key_is_noticed() {
        let explanation = explain(&[("a", "1")], &ShaKey::new("key\n"));
        assert_eq!(explanation.suspicions(), ["the key begins or ends with white space"]);
    }
}
