//! One order that can be paid with 3-D Secure and without: a customer begins the one and pays by the other, or tries the other one after
//! an unknown outcome.

use serde_json::Value;

use super::{Back, ThreeDSecure, back, customer, first_step, opened};
use crate::{
    finding::{Finding, Lane},
    house::SetupError,
    judge::fault,
    plan::Job,
    stage::Stage,
    story::charge::{UNKNOWN, in_another_tab},
};

pub(super) async fn play(stage: &mut Stage, story: &ThreeDSecure) -> Result<Vec<Finding>, SetupError> {
    for is_unknown in [false, true] {
        let order = format!("{}{}", stage.order, if is_unknown { "-unknown" } else { "" });
        let Some(card) = in_another_tab(stage, &order)? else { return Ok(Vec::new()) };
        let line = first_step(stage, &order, story)?;
        if is_unknown {
            stage.wire().set_faults(UNKNOWN);
            stage.run(Job::Charge, &card).await;
            stage.wire().set_faults(&[]);
            let told = "the customer tries again with 3-D Secure, and nothing goes wrong";
            stage.wire().note(Lane::Integration, Lane::Integration, told);
            authenticates(stage, story, &line, None).await;
        } else {
            authenticates(stage, story, &line, Some(&card)).await;
        }
        let charges = stage.entries()?.iter().filter(|entry| entry.is_charge()).count();
        if charges > 1 {
            let what = if is_unknown {
                "the customer pays without 3-D Secure with an unknown outcome, and then with it"
            } else {
                "the customer is at the bank's challenge, pays the order without 3-D Secure in another tab, and then passes"
            };
            let why = format!(
                "{what}: {charges} charges of one order; use one uniqueMerchantReference for both. If no order of yours can be paid in both ways, rehearse them in two plans"
            );
            return Ok(vec![fault("charged-twice", why)]);
        }
    }
    Ok(Vec::new())
}

/// The customer authenticates, and has paid by card meanwhile if so. A shop may refuse to begin.
async fn authenticates(stage: &mut Stage, story: &ThreeDSecure, line: &Value, meanwhile: Option<&Value>) {
    let Some((key, address)) = opened(&stage.run(Job::ThreeDSecure, line).await) else { return };
    if let Some(card) = meanwhile {
        stage.run(Job::Charge, card).await;
    }
    // A shop may have ended the authentication.
    drop(customer(stage, &address, story.answer));
    back(stage, line, &key, Back::Once).await;
}
