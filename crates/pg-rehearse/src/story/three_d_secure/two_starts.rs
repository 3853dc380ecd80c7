//! One order that the customer begins to pay in two tabs of the browser: the shop may refuse the second start, repeat the first
//! authentication, or begin another one, and is paid once.

use super::{Back, ThreeDSecure, back, customer, first_step, judged_by, not_opened, opened, paid_at_start};
use crate::{
    adapter::{Claim, End},
    finding::Finding,
    house::SetupError,
    judge::{add_new, are_warnings, broken},
    plan::Job,
    stage::Stage,
};

pub(super) async fn play(stage: &mut Stage, story: &ThreeDSecure) -> Result<Vec<Finding>, SetupError> {
    let order = stage.order.clone();
    let lines = [first_step(stage, &order, story)?, first_step(stage, &order, story)?];
    let mut tabs = Vec::new();
    for line in lines {
        let started = stage.run(Job::ThreeDSecure, &line).await;
        if started.claim == Some(Claim::Paid) {
            return Ok(vec![paid_at_start()]);
        }
        match (opened(&started), &started.end) {
            (Some((key, address)), _) => tabs.push((line, key, address)),
            (None, _) if tabs.is_empty() => return not_opened(stage, &started, story),
            (None, End::Replied(400..500)) => {}
            (None, _) if started.claim.is_some() => {}
            (None, _) => return Ok(vec![broken(started.trouble())]),
        }
    }
    for (at, (_, _, address)) in tabs.iter().enumerate() {
        if tabs[..at].iter().all(|(_, _, earlier)| earlier != address) {
            customer(stage, address, story.answer)?;
        }
    }
    let mut findings = Vec::new();
    for (line, key, _) in &tabs {
        let before = stage.ran().len();
        back(stage, line, key, Back::Once).await;
        // A shop may deny the tab whose authentication it does not pay with, until it has paid with the other one.
        add_new(&mut findings, judged_by(stage, story, &stage.ran()[before..])?);
        if !are_warnings(&findings) {
            break;
        }
    }
    Ok(findings)
}
