//! The stories of drills: preparation, fault, and final checks.

pub(crate) mod callback;
pub(crate) mod charge;
pub(crate) mod checkout;
pub(crate) mod later;
pub(crate) mod order;
pub(crate) mod page;
pub(crate) mod redirect;
pub(crate) mod search;
pub(crate) mod three_d_secure;
pub(crate) mod update;

use std::sync::Arc;

use self::{
    callback::Callback,
    charge::{Charge, Judged},
    checkout::Checkout,
    later::Later,
    redirect::Redirect,
    three_d_secure::{Back, ThreeDSecure},
    update::Update,
};
use crate::{
    drill::Drill,
    finding::{Finding, Verdict},
    house::SetupError,
    judge,
    plan::Job,
    report::Outcome,
    stage::{Setting, Stage, Troupe},
    wire::Act,
};

/// The story of a drill.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Story {
    Charge(Charge),
    /// One after the other.
    Later(Job, &'static [Later]),
    Redirect(Redirect),
    Callback(Callback),
    Checkout(Checkout),
    /// One after the other.
    ThreeDSecure(&'static [ThreeDSecure]),
    Update(Update),
}

/// A drill with its story.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) drill: Drill,
    pub(crate) story: Story,
}

impl Story {
    pub(crate) const fn job(&self) -> Job {
        match self {
            Self::Charge(_) => Job::Charge,
            Self::Later(job, _) => *job,
            Self::Redirect(_) => Job::OpenRedirect,
            Self::Callback(_) => Job::Callback,
            Self::Checkout(checkout) => checkout.job(),
            Self::ThreeDSecure(_) => Job::ThreeDSecure,
            Self::Update(_) => Job::UpdateCards,
        }
    }

    /// Returns the faults of requests that it begins with.
    fn setting(&self, troupe: &Troupe) -> Result<Setting, SetupError> {
        Ok(match self {
            Self::Charge(story) => story.setting(troupe)?,
            Self::Later(..) => Setting::plain(),
            Self::Redirect(_) => Setting::plain(),
            Self::Callback(story) => story.setting(),
            Self::Checkout(_) => Setting::plain(),
            Self::ThreeDSecure(_) => Setting::plain(),
            Self::Update(story) => Setting::with(story.rules),
        })
    }
}

impl Scene {
    /// Whether the drill charges if the plan has that job.
    pub(crate) fn charges(&self) -> bool {
        match self.story {
            Story::Charge(_) => true,
            Story::Checkout(story) => story == Checkout::TwoLinks,
            Story::ThreeDSecure(stories) => stories.iter().any(|story| story.back == Back::ByCard),
            _ => false,
        }
    }

    /// Whether the drill is about what the others have left, too.
    pub(crate) fn is_about_all(&self) -> bool {
        let Story::Charge(Charge { judged: Judged::Secrets(places), .. }) = &self.story else { return false };
        search::is_of_all_logs(places)
    }

    /// Whether the drill kills the integration, which a running shop survives.
    fn kills(&self) -> bool {
        let rules = match &self.story {
            Story::Charge(story) => story.rules,
            Story::Later(_, stories) => stories[0].fault.as_slice(),
            Story::ThreeDSecure(stories) => stories[0].rules,
            Story::Update(story) => story.rules,
            Story::Redirect(_) | Story::Callback(_) | Story::Checkout(_) => &[],
        };
        rules.iter().any(|rule| matches!(rule.act, Act::Kill { .. }))
    }
}

/// Runs a drill and judges it.
pub(crate) async fn play(troupe: &Arc<Troupe>, scene: &'static Scene, round: u32) -> Outcome {
    let Scene { drill, story } = scene;
    if !troupe.plan.has(drill.job()) {
        return Outcome::not_applicable(drill, format!("the plan has no job {}", drill.job().name()));
    }
    if scene.kills() && troupe.plan.calls_shop(drill.job()) {
        let why = "a running shop cannot be killed and started again for one order: rehearse a command";
        return Outcome::not_applicable(drill, why.to_owned());
    }
    let set = match story.setting(troupe) {
        Ok(setting) => Stage::set(troupe, drill, round, setting).await,
        Err(trouble) => Err(trouble),
    };
    let mut stage = match set {
        Ok(stage) => stage,
        // The integration has said nothing yet that would have to be masked.
        Err(trouble) => return Outcome::empty(drill, Verdict::Passed).judged(not_prepared(&trouble)),
    };
    let stage = &mut stage;
    let played = match story {
        Story::Charge(story) => charge::play(stage, story).await,
        Story::Later(job, stories) => later::play(stage, *job, stories).await,
        Story::Redirect(story) => redirect::play(stage, *story).await,
        Story::Callback(story) => callback::play(stage, *story).await,
        Story::Checkout(story) => checkout::play(stage, *story).await,
        Story::ThreeDSecure(stories) => three_d_secure::play(stage, stories).await,
        Story::Update(story) => update::play(stage, story).await,
    };
    played.unwrap_or_else(|trouble| stage.judged(not_prepared(&trouble)))
}

/// Returns the finding of a drill that could not be prepared.
fn not_prepared(trouble: &str) -> Vec<Finding> {
    vec![judge::broken(format!("cannot run the drill: {trouble}"))]
}

/// Findings, or why the drill does not apply to the shop.
pub(crate) type Asked = Result<Vec<Finding>, String>;

/// The result of a drill, or why its preparation failed.
pub(crate) type Played = Result<Outcome, SetupError>;
