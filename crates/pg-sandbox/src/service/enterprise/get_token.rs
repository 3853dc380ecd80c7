//! `gettoken` (spec 3 §4.1; A14, A42, A90, A114 to A118, A122, A143).

use std::time::Duration;

use pg_model::{
    BillingAddress, CheckoutCustomer, CheckoutToken as Reply, EnterpriseTransactionType, ErrorCode, Flag, GetToken,
    TransactionCategory,
};

use super::{Context, Refusal, Serve, amount, checkout_reply, country, repeat};
use crate::codes::SandboxErrorCode;
use crate::{
    assumed,
    merchants::Merchant,
    records::{CallbackKind, CheckoutItem, CheckoutToken, Details, UNLIMITED},
    service::callback,
    timestamp::Timestamp,
};

/// The default lifetime of a token (A114).
const LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

impl Serve for GetToken {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Reply, Refusal> {
        let (start, expires) = times(&self, context.now)?;
        let success_url = page(context, self.success_url.as_ref(), "success_url")?;
        let cancel_url = page(context, self.cancel_url.as_ref(), "cancel_url")?;
        let currency = currency(given(self.currency.as_ref()), merchant)?;
        let items: Vec<CheckoutItem> = self.items.iter().map(item).collect();
        check_country(&self)?;
        let amount = total(&items, &currency)?;
        let callback_url = match given(self.callback_url.as_ref()) {
            Some(url) => {
                callback::check(context, CallbackKind::Checkout, &url)?;
                Some(url)
            }
            // Spec 3 §2: URLs as supplied or defaulted.
            None => {
                let default = callback::destination(context, &merchant.name, CallbackKind::Checkout)?;
                default.map(|found| {
                    context.basis.assume(assumed::REGISTERED_CALLBACK_DESTINATIONS);
                    found.url
                })
            }
        };
        let redemption_redirect_url = page(context, self.redemption_redirect_url.as_ref(), "redemption_redirect_url")?;
        let applet = applet(given(self.applet.as_ref()), merchant)?;
        let options = options(&self, merchant)?;
        assume(context, &self);
        let base = context.own_address();
        let token = CheckoutToken {
            key: context.keys.record(context.now),
            merchant: merchant.name.clone(),
            start,
            expires,
            uses: self.token_uses.unwrap_or(UNLIMITED),
            redemptions: self.token_redemptions.unwrap_or(UNLIMITED),
            paid: false,
            unheard: false,
            success_url: success_url.unwrap_or_else(|| format!("{base}/pay/success")),
            cancel_url: cancel_url.unwrap_or_else(|| format!("{base}/pay/cancelled")),
            callback_url,
            redemption_redirect_url,
            auto_redirect: self.auto_redirect == Some(Flag::YES),
            currency,
            amount,
            items,
            kind: repeat::kind(self.trans_type.as_ref().unwrap_or(&EnterpriseTransactionType::REQUEST_AUTH)),
            reference: given(self.trans_reference.as_ref()),
            category: word(self.trans_cat.as_ref()).unwrap_or_else(|| TransactionCategory::PURCHASE.to_string()),
            applet,
            options,
            three_d_secure: self.three_d_secure == Some(Flag::YES),
            user: stored_user(&self.checkout_customer, &self.billing_address),
            cancelled: None,
            created: context.now,
        };
        context.records.put(&token)?;
        let date_of_birth = self.checkout_customer.date_of_birth.as_ref();
        let user = checkout_reply::user(&token.user).with(|record| {
            record.date_of_birth = date_of_birth.cloned().unwrap_or_default();
        });
        Ok(checkout_reply::of(&token, &base).with(|reply| reply.user = user))
    }
}

/// Names what the reply of an accepted request follows.
fn assume(context: &mut Context<'_>, request: &GetToken) {
    context.basis.assume_all([
        assumed::NUMBERING_OF_ITEMS,
        assumed::EMPTY_FIELDS_IN_REPLIES_OF_THE_SANDBOX,
        assumed::MERCHANT_DEFAULTS_OF_GETTOKEN,
        assumed::FORM_OF_A_CHECKOUT_TOKEN,
        assumed::PLACE_OF_THE_BILLING_ADDRESS_IN_THE_REPLY_OF_GETTOKEN,
        assumed::OPTIONS_OF_A_CHECKOUT_TOKEN,
    ]);
    let also = [
        ([request.token_uses, request.token_redemptions].contains(&Some(0)), assumed::LIMITS_OF_A_CHECKOUT_TOKEN),
        (has_other_case(request), assumed::ENUMERATED_VALUES_OF_VERSION_5),
        (request.items.iter().any(|item| item.quantity == Some(0)), assumed::AMOUNT_OF_A_PAYMENT),
        (request.items.is_empty(), assumed::A_CHECKOUT_WITHOUT_ITEMS),
    ];
    context.basis.assume_all(also.into_iter().filter_map(|(follows, number)| follows.then_some(number)));
}

/// Returns a text if it is present and not empty (A09).
fn given<T: AsRef<str>>(text: Option<&T>) -> Option<String> {
    text.map(AsRef::as_ref).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns one of the document's words, in the spelling of replies (A143).
fn word<T: AsRef<str>>(text: Option<&T>) -> Option<String> {
    given(text).map(|text| text.to_ascii_lowercase())
}

/// Whether a word differs from the document's spelling.
fn has_other_case(request: &GetToken) -> bool {
    let kind = request.trans_type.as_ref().is_some_and(repeat::has_other_case);
    let words = [given(request.trans_cat.as_ref()), given(request.payment_source.as_ref())];
    kind || words.into_iter().flatten().any(|word| word != word.to_ascii_lowercase())
}

/// Refuses a code that belongs to no country, as parsers of ISO 3166-1 do (A143).
fn check_country(request: &GetToken) -> Result<(), Refusal> {
    match given(request.billing_address.country.as_ref()) {
        Some(code) if !country::is_assigned(&code) => Err(Refusal::from(SandboxErrorCode::INVALID_PARAMETER)
            .about("country")
            .assuming(assumed::ENUMERATED_VALUES_OF_VERSION_5)),
        _ => Ok(()),
    }
}

/// Returns when the token begins and stops working (A114 and A117).
fn times(request: &GetToken, now: Timestamp) -> Result<(Timestamp, Timestamp), Refusal> {
    let start = instant(request.token_start, "token_start")?.unwrap_or(now);
    let default = (LIFETIME <= Timestamp::MAX.since(start)).then(|| start.plus(LIFETIME));
    let expires = instant(request.token_expiry, "token_expiry")?.or(default);
    // Times are shown in seconds.
    match expires.filter(|expires| expires.seconds() > start.seconds() && *expires > now) {
        Some(expires) => Ok((start, expires)),
        None => Err(Refusal::from(SandboxErrorCode::INVALID_PARAMETER)
            .about("token_expiry")
            .assuming(assumed::LIMITS_OF_A_CHECKOUT_TOKEN)),
    }
}

fn instant(seconds: Option<u64>, name: &str) -> Result<Option<Timestamp>, Refusal> {
    let Some(seconds) = seconds else { return Ok(None) };
    let millis = i64::try_from(seconds).ok().and_then(|seconds| seconds.checked_mul(1000));
    let held = millis.filter(|&millis| millis <= Timestamp::MAX.millis());
    held.map(|millis| Some(Timestamp::from_millis(millis))).ok_or_else(|| {
        Refusal::from(SandboxErrorCode::INVALID_PARAMETER).about(name).assuming(assumed::LIMITS_OF_A_CHECKOUT_TOKEN)
    })
}

/// Returns an address to which the customer's browser may be sent.
fn page<T: AsRef<str>>(context: &mut Context<'_>, url: Option<&T>, name: &str) -> Result<Option<String>, Refusal> {
    let Some(url) = given(url) else { return Ok(None) };
    match context.page(name, &url) {
        None => Err(Refusal::from(SandboxErrorCode::INVALID_PARAMETER).about(name).because_of(name)),
        Some(_) => Ok(Some(url)),
    }
}

fn currency(asked: Option<String>, merchant: &Merchant) -> Result<String, Refusal> {
    let currency = asked.or_else(|| merchant.currencies.first().cloned()).unwrap_or_default();
    if merchant.currencies.contains(&currency) {
        Ok(currency)
    } else {
        Err(Refusal::from(ErrorCode::CURRENCY_NOT_SUPPORTED).assuming(assumed::ERROR_CODES_OF_SINGLE_PARAMETERS))
    }
}

fn item(item: &pg_model::CheckoutItem) -> CheckoutItem {
    CheckoutItem {
        name: item.name.clone(),
        price: item.price.as_str().to_owned(),
        quantity: item.quantity,
        reference: given(item.reference.as_ref()),
    }
}

/// Returns the sum of price times quantity; without items it is 0, and the token cannot be paid (A90 and A118).
fn total(items: &[CheckoutItem], currency: &str) -> Result<u64, Refusal> {
    if items.is_empty() {
        return Ok(0);
    }
    let mut sum = 0_u64;
    for item in items {
        let price = amount::price(&item.price.as_str().into(), currency)?;
        let line = price.checked_mul(item.pieces());
        sum =
            line.and_then(|line| sum.checked_add(line)).ok_or_else(|| amount::invalid(assumed::AMOUNT_OF_A_PAYMENT))?;
    }
    amount::total(sum)
}

/// Returns the chosen applet, or the account's first applet (A122).
fn applet(asked: Option<String>, merchant: &Merchant) -> Result<String, Refusal> {
    match asked {
        None => Ok(merchant.applets.first().cloned().unwrap_or_default()),
        Some(applet) if merchant.applets.contains(&applet) => Ok(applet),
        Some(_) => Err(SandboxErrorCode::UNKNOWN_APPLET.into()),
    }
}

/// Returns options that are only recorded; a terminal must belong to the account (A91 and A122).
fn options(request: &GetToken, merchant: &Merchant) -> Result<Details, Refusal> {
    let terminal = given(request.terminal_key.as_ref());
    if terminal.as_ref().is_some_and(|terminal| !merchant.terminals.contains(terminal)) {
        return Err(SandboxErrorCode::UNKNOWN_TERMINAL.into());
    }
    let all = [
        ("payment_source", word(request.payment_source.as_ref())),
        ("trans_class", given(request.trans_class.as_ref())),
        ("terminal_key", terminal),
    ];
    Ok(all.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?))).collect())
}

/// Returns the customer data of a token (spec 3 §4.1): customer and billing address by wire name, without empty values.
/// The date of birth is echoed but not stored, since it is not needed later.
fn stored_user(customer: &CheckoutCustomer, address: &BillingAddress) -> Details {
    let all = [
        ("salutation", &customer.salutation),
        ("first_name", &customer.first_name),
        ("surname", &customer.surname),
        ("email", &customer.email),
        ("mobile_phone", &customer.mobile_phone),
        ("home_phone", &customer.home_phone),
        ("property_name", &address.property_name),
        ("address_1", &address.address_1),
        ("address_2", &address.address_2),
        ("town", &address.town),
        ("county", &address.county),
        ("postcode", &address.postcode),
        ("country", &address.country),
    ];
    let given = all.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?)));
    given.filter(|(_, text)| !text.is_empty()).map(|(name, text)| (name.to_owned(), text.clone())).collect()
}
