//! Round trips of typed requests: from parameters, onto the wire, and through the sandbox's reader.

use std::{fmt::Debug, sync::LazyLock};

use pg_crypto::{ShaKey, form_arrays, verify};
use pg_model::{
    ApiRequest, Parameters, each_method,
    field::Field,
    format::Format,
    method::{AuthScheme, EachMethod, MethodInfo},
    order_of_names,
};
use pg_proto::{Preview, parameters_of};
use pg_sandbox::form::{Form, FormLimits};

use crate::{
    dice::Dice,
    replies::account,
    secrets::{CARD_NUMBER, SHA_KEY, no_credentials},
};

type Check = fn(&Parameters);

/// Every method with its check, in the alphabetical order of the types: inputs name a method by its place.
static CHECKS: LazyLock<Vec<(&MethodInfo, Check)>> = LazyLock::new(|| {
    let mut checks = Checks(Vec::new());
    each_method(&mut checks);
    checks.0.sort_by_key(|(info, _)| info.rust);
    checks.0
});

struct Checks(Vec<(&'static MethodInfo, Check)>);

impl EachMethod for Checks {
    fn run<M: ApiRequest + PartialEq + Debug>(&mut self) {
        self.0.push((M::INFO, there_and_back::<M>));
    }
}

/// Builds a request of any method from its own parameters and unknown ones.
pub fn request(input: &[u8]) {
    let mut dice = Dice::new(input);
    let (info, check) = CHECKS[dice.below(CHECKS.len())];
    let mut parameters = Parameters::new();
    for _ in 0..64 {
        if dice.is_used_up() {
            break;
        }
        let name = match dice.below(16) {
            15 => dice.text(16),
            _ => {
                let field = dice.one_of(info.fields);
                field.wire.replace("{n}", dice.one_of(&["0", "1", "2", "10"])).replace('*', "Field")
            }
        };
        let value = match info.field(&name) {
            Some(field) if dice.below(4) > 0 => usual(field),
            Some(field) if dice.flag() && !field.values.is_empty() => field.values[0].to_owned(),
            _ => dice.text(32),
        };
        parameters.push(name, value);
    }
    check(&parameters);
}

fn usual(field: &Field) -> String {
    match field.format {
        Format::CardNumber => CARD_NUMBER,
        Format::Month | Format::Flag | Format::Integer => "01",
        Format::Year | Format::Year2 => "49",
        Format::Expiry => "1249",
        Format::Currency => "GBP",
        Format::Country => "GB",
        Format::Minor | Format::Digits | Format::UnixTime => "499",
        Format::Decimal => "4.99",
        Format::Url => "https://shop.example/page?a=b&c",
        Format::DateYmd => "19700131",
        Format::DateDmy => "31011970",
        Format::Cv2 => "917",
        Format::CardKeys => "k1,k2",
        Format::Msisdn | Format::Phone => "447700900000",
        Format::OneOf => field.values.first().copied().unwrap_or_default(),
        _ => "Tea + 1 & ü",
    }
    .to_owned()
}

/// The same parameters in the order in which they are handed out; that of free names, such as `collect…`, is part of a request.
fn in_signing_order(parameters: &Parameters) -> Parameters {
    let mut ordered: Vec<(&str, &str)> = parameters.iter().collect();
    ordered.sort_by(|(a, _), (b, _)| order_of_names(a, b));
    ordered.into_iter().collect()
}

fn there_and_back<M: ApiRequest + PartialEq + Debug>(parameters: &Parameters) {
    let listed = (M::INFO.check)(parameters);
    masked::<M>(parameters, &format!("{listed} {listed:?}"));
    let method = match M::from_parameters(parameters) {
        Ok(method) => method,
        Err(violations) => {
            assert!(!violations.is_empty(), "refused without a reason");
            return masked::<M>(parameters, &format!("{violations} {violations:?}"));
        }
    };
    masked::<M>(parameters, &format!("{method:?}"));
    let back = M::from_parameters(&parameters_of(&method)).unwrap();
    let method = M::from_parameters(&in_signing_order(parameters)).unwrap();
    assert_eq!(back, method, "what was handed out reads as another request");
    let account = account();
    let built = account.request(&method);
    assert_eq!(built.is_ok(), method.check().is_empty(), "{built:?}");
    assert_eq!(listed.is_empty(), built.is_ok(), "{listed}");
    let Ok(request) = built.or_else(|_| account.request_unchecked(&method)) else { return };
    let preview = Preview::of(&request);
    masked::<M>(parameters, &format!("{preview} {preview:?}"));
    arrived(&method, request.body());
}

/// The sandbox reads exactly the sent request, with a valid signature.
fn arrived<M: ApiRequest + PartialEq + Debug>(method: &M, body: &[u8]) {
    let theirs: Vec<_> = form_urlencoded::parse(body).collect();
    let pairs: Vec<(&str, &str)> = theirs.iter().map(|(name, value)| (&**name, &**value)).collect();
    if M::INFO.credentials == AuthScheme::Signed {
        let given = pairs.iter().find(|(name, _)| *name == "shaSignature").unwrap().1;
        let signed = form_arrays(&pairs);
        let signed: Vec<(&str, &str)> = signed.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert!(verify(&signed, &ShaKey::new(SHA_KEY), given).is_ok(), "a wrong signature: {pairs:?}");
    }
    let Ok(form) = Form::parse(body, &FormLimits::default()) else { return };
    let read = M::from_parameters(form.parameters());
    assert_eq!(read.as_ref().ok(), Some(method), "the sandbox reads another request: {pairs:?}");
}

/// Checks that an output shows no card number, unless it was given where none belongs.
fn masked<M: ApiRequest>(parameters: &Parameters, output: &str) {
    let elsewhere = parameters.iter().any(|(name, value)| {
        let own = M::INFO.field(name).is_some_and(|field| field.format == Format::CardNumber);
        name.contains(CARD_NUMBER) || (!own && value.contains(CARD_NUMBER))
    });
    assert!(elsewhere || !output.contains(CARD_NUMBER), "{output}");
    let given = |text: &str| text.contains("cAnArY");
    if !parameters.iter().any(|(name, value)| given(name) || given(value)) {
        no_credentials(output);
    }
}
