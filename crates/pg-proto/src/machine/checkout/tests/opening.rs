use super::*;

#[test]
fn a_token_leads_to_the_payment_page_until_it_expires() {
    let mut run = Run::new(Some("order-7"));
    assert_eq!(run.step(Event::Begin).method(), "gettoken");
    let Some(Action::Send(sent)) = &run.last else { panic!() };
    let body = String::from_utf8(sent.body().to_vec()).unwrap();
    assert!(body.contains("token_uses=1"), "a token is good for one payment unless it is said otherwise");
    run.say(&token());
    assert_eq!(run.redirect(), ("https://gateway.example/pay/token-1", NOON.after(HOUR)));
    assert_eq!(run.machine.token(), Some("token-1"));
}

#[test]
fn a_token_request_is_retried_up_to_a_limit() {
    let mut run = Run::new(Some("order-7"));
    run.step(Event::Begin).fail(Failure::MaybeSent).wait().fail(Failure::NotSent).wait().say("<html>").wait();
    assert_eq!(run.say_with(503, "").wait().method(), "gettoken");
    run.say(&token());
    assert!(!run.redirect().0.is_empty());
    let mut run = Run::new(Some("order-7"));
    run.step(Event::Begin);
    for _ in 0..7 {
        assert_eq!(run.fail(Failure::MaybeSent).wait().method(), "gettoken");
    }
    assert_eq!(*run.fail(Failure::MaybeSent).ended(), CheckoutOutcome::NotOpened(NotOpenedReason::Unreachable));
}

/// A service that counts items from 1 passes over the first one.
// spec: 3 §2.1, A14: No customer is sent to a page with another amount than was ordered.
#[test]
fn a_token_with_other_items_is_given_to_no_customer() {
    let item = |price: &str, quantity: &str| {
        let quantity = if quantity.is_empty() { String::new() } else { format!("<quantity>{quantity}</quantity>") };
        format!("<item><name>Tea</name><price>{price}</price>{quantity}</item>")
    };
    let listing = |items: &str, currency: &str| {
        let token = token().replace("</token>", &format!("<currency>{currency}</currency></token>"));
        token.replace("</serviceResponse>", &format!("<items>{items}</items></serviceResponse>"))
    };
    for (items, currency, opens) in [
        (item("500.00", "2"), "GBP", true),
        (item("500", "2"), "gbp", true),
        (format!("{}{}", item("500.00", ""), item("500.0", "0")), "GBP", true),
        // Nothing that could be compared.
        (String::new(), "", true),
        (item("", ""), "GBP", true),
        (item("500.00", "two"), "GBP", true),
        (item("500.00", ""), "GBP", false),
        (item("500.00", "1"), "GBP", false),
        (item("1000.00", "2"), "GBP", false),
        (item("500.00", "2"), "EUR", false),
        (String::new(), "EUR", false),
    ] {
        let mut run = Run::new(Some("order-7"));
        run.step(Event::Begin).say(&listing(&items, currency));
        if opens {
            assert!(!run.redirect().0.is_empty(), "{items} {currency}");
        } else {
            assert_eq!(*run.ended(), CheckoutOutcome::NotOpened(NotOpenedReason::OtherItems), "{items} {currency}");
        }
    }
}

#[test]
fn a_refusal_and_a_crash_end_it_before_a_customer_has_an_address() {
    let mut run = Run::new(Some("order-7"));
    assert!(matches!(
        run.step(Event::Begin).refuse("3").ended(),
        CheckoutOutcome::NotOpened(NotOpenedReason::Refused(_))
    ));
    let mut run = Run::new(Some("order-7"));
    let end = run.step(Event::Begin).fail(Failure::HeldBack).ended();
    assert_eq!(*end, CheckoutOutcome::NotOpened(NotOpenedReason::HeldBack));
    // Another machine may have opened it.
    let mut run = Run::new(Some("order-7"));
    let end = run.step(Event::Begin).fail(Failure::Superseded).ended();
    assert!(matches!(end, CheckoutOutcome::Unknown { why: UnknownReason::Superseded, .. }), "{end}");
    let mut run = Run::new(Some("order-7"));
    assert_eq!(*run.step(Event::Begin).crash().ended(), CheckoutOutcome::NotOpened(NotOpenedReason::Interrupted));
    let mut run = Run::new(Some("order-7"));
    assert_eq!(*run.withdraw().ended(), CheckoutOutcome::NotOpened(NotOpenedReason::Withdrawn));
    // No customer has the token that was requested meanwhile.
    for is_lost in [false, true] {
        let mut run = Run::new(Some("order-7"));
        run.step(Event::Begin).withdraw();
        let reply = http::Response::new(Bytes::from(token()));
        run.step(if is_lost { Event::Failed(Failure::MaybeSent) } else { Event::Reply(reply) });
        assert_eq!(*run.ended(), CheckoutOutcome::NotOpened(NotOpenedReason::Withdrawn));
    }
}

#[test]
fn the_amount_must_be_known() {
    let open = |request: GetToken| Checkout::new(account(), request, CheckoutPlan::default()).map(|_| ());
    let mut without = request(None);
    without.currency = None;
    assert_eq!(open(without), Err(CheckoutError::NoAmount));
    let mut without = request(None);
    without.items.clear();
    assert_eq!(open(without), Err(CheckoutError::NoAmount));
    let mut wrong = request(None);
    wrong.token_uses = Some(128);
    assert!(matches!(open(wrong), Err(CheckoutError::Misuse(Misuse::Invalid(_)))));
    let v3 = Account::new(BaseUrl::parse("https://gateway.example").unwrap(), Credentials::new("a", "b", "c"));
    let refused = Checkout::new(v3.clone(), request(None), CheckoutPlan::default()).map(|_| ());
    assert_eq!(refused, Err(CheckoutError::Misuse(Misuse::NoEnterpriseCredentials)));
    let saved = Run::waiting(None).machine.save();
    let refused = Checkout::resume(&saved, v3, CheckoutPlan::default()).map(|_| ());
    assert_eq!(refused, Err(ResumeError::Mismatch("account")));
}

#[test]
fn a_token_without_an_expiry_is_awaited_for_the_time_of_the_plan() {
    let mut run = Run::new(Some("order-7"));
    run.step(Event::Begin).say(&token().replace("2024-05-01T13:00:00Z", "soon"));
    assert_eq!(run.redirect().1, NOON.after(7 * 24 * HOUR));
}

#[test]
fn an_address_is_returned_only_after_it_is_stored() {
    let mut run = Run::waiting(Some("order-7"));
    let end = CheckoutOutcome::NotOpened(NotOpenedReason::HeldBack);
    assert_eq!(*run.step(Event::Failed(Failure::HeldBack)).ended(), end);
    // A customer may have been sent there.
    let mut run = Run::waiting(Some("order-7"));
    run.step(Event::Woken).step(Event::Failed(Failure::HeldBack));
    assert!(!run.redirect().0.is_empty());
    run.crash().step(Event::Failed(Failure::HeldBack));
    assert!(!run.redirect().0.is_empty());
}
