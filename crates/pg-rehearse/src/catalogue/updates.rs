//! The account updater.

use super::Text;
use crate::{
    drill::{Family, Severity},
    story::{Scene, Story, update::Update},
    wire::{Act, Answer, Edit, On, Rule},
};

pub(super) const SCENES: &[Scene] = &[
    Text {
        id: "U01",
        title: "Cards refreshed, callback never comes",
        severity: Severity::High,
        basis: "1 §4.8, 1 §4.9",
        imitates: "One card gets a new number, one gets a new expiry date, one stays the same, and the service never sends a callback.",
        mend: "Retrieve the batch by its batchKey until it has finished; error 182 means that it is still pending.",
    }
    .told(Family::StoredCards, Story::Update(Update::PLAIN)),
    Text {
        id: "U02",
        title: "Account closed",
        severity: Severity::High,
        basis: "1 §2.3",
        imitates: "The card schemes report one account as closed, and ask the shop to contact the cardholder of another.",
        mend: "Read the response of each entry: 701 is closed, 706 is unchanged, and 705 needs the cardholder. Only an entry with a cardKey has a new card.",
    }
    .told(Family::StoredCards, Story::Update(Update { responses: &["701", "705", "706"], ..Update::PLAIN })),
    Text {
        id: "U03",
        title: "Submission lost",
        severity: Severity::Medium,
        basis: "1 §4.8",
        imitates: "The list never reaches the service, and the connection is closed.",
        mend: "Before you send the list, store that it is being submitted. After an unclear reply, keep it as doubtful: the service cannot be asked about it, and a second batch creates a second set of card keys.",
    }
    .told(Family::StoredCards, Story::Update(Update { rules: &[Rule::first(On::Submission, Act::DropRequest)], doubt: true, ..Update::PLAIN })),
    Text {
        id: "U04",
        title: "Submission accepted, reply lost",
        severity: Severity::High,
        basis: "1 §4.8",
        imitates: "The service accepts the list, and its reply with the batchKey is lost.",
        mend: "Before you send the list, store that it is being submitted. After an unclear reply, keep it as doubtful: the service cannot be asked about it, and a second batch creates a second set of card keys.",
    }
    .told(Family::StoredCards, Story::Update(Update { rules: &[Rule::first(On::Submission, Act::DropReply)], doubt: true, ..Update::PLAIN })),
    Text {
        id: "U05",
        title: "Submission accepted, HTTP 502",
        severity: Severity::High,
        basis: "1 §4.8",
        imitates: "The service accepts the list, and a proxy answers HTTP 502.",
        mend: "Before you send the list, store that it is being submitted. After an unclear reply, keep it as doubtful: the service cannot be asked about it, and a second batch creates a second set of card keys.",
    }
    .told(Family::StoredCards, Story::Update(Update { rules: &[Rule::first(On::Submission, Act::Answer { executed: true, answer: Answer::Gateway(502) })], doubt: true, ..Update::PLAIN })),
    Text {
        id: "U06",
        title: "Killed after the submission",
        severity: Severity::High,
        basis: "1 §4.8",
        imitates: "The service accepts the list; the process is killed before the reply arrives, and is restarted.",
        mend: "Before you send the list, store that it is being submitted. After an unclear reply, keep it as doubtful: the service cannot be asked about it, and a second batch creates a second set of card keys.",
    }
    .told(Family::StoredCards, Story::Update(Update { rules: &[Rule::first(On::Submission, Act::Kill { executed: true, answered: false })], doubt: true, ..Update::PLAIN })),
    Text {
        id: "U07",
        title: "Killed after the reply",
        severity: Severity::High,
        basis: "1 §4.8",
        imitates: "The process is killed just after the batchKey has arrived, and is restarted.",
        mend: "Store the batchKey first, and continue with it.",
    }
    .told(Family::StoredCards, Story::Update(Update { rules: &[Rule::first(On::Submission, Act::Kill { executed: true, answered: true })], doubt: true, ..Update::PLAIN })),
    Text {
        id: "U08",
        title: "Result pending for a long time",
        severity: Severity::Medium,
        basis: "1 §4.9",
        imitates: "The first eight retrievals find the batch pending.",
        mend: "Retrieve the batch by its batchKey until it has finished; error 182 means that it is still pending.",
    }
    .told(Family::StoredCards, Story::Update(Update { haste: 15, ..Update::PLAIN })),
    Text {
        id: "U09",
        title: "Result lost, then truncated",
        severity: Severity::High,
        basis: "1 §4.9",
        imitates: "The batch has finished. The first reply is lost, and the second reply is truncated.",
        mend: "Retrieving changes nothing, so repeat it until a complete reply arrives, and apply the results only then.",
    }
    .told(Family::StoredCards, Story::Update(Update { haste: 200, rules: &[Rule::first(On::Retrieval, Act::DropReply), Rule { on: On::Retrieval, from: 2, times: 1, act: Act::Edit(Edit::Truncate) }], ..Update::PLAIN })),
    Text {
        id: "U10",
        title: "Item reported twice",
        severity: Severity::Medium,
        basis: "1 §2.2",
        imitates: "The reply contains one entry twice, and its entries in another order than the list.",
        mend: "Match entries by oldCardKey, and apply each once.",
    }
    .told(Family::StoredCards, Story::Update(Update { rules: &[Rule::all(On::Retrieval, Act::Edit(Edit::EntryTwice))], ..Update::PLAIN })),
    Text {
        id: "U11",
        title: "Duplicate card key in the list",
        severity: Severity::Medium,
        basis: "1 §4.8",
        imitates: "The list contains one card key twice, and the service refuses a list with duplicates.",
        mend: "Remove duplicates before you submit the list.",
    }
    .told(Family::StoredCards, Story::Update(Update { repeated: true, ..Update::PLAIN })),
];
