//! `pg sandbox cards`: the test cards, and the account updater's response for a card.

use pg_model::CardRetrievalCode;
use serde_json::{Value, json};

use super::{print, print_list, text, unknown_subcommand};
use crate::{
    control::{AccountFlags, Control},
    failure::Failure,
    output,
    table::table,
};

/// Lists the test cards; sets the account updater's response for a card
///
/// Any future expiry date and any CV2 are accepted. Payments with a number that is not listed are approved.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  pg sandbox cards                       numbers, and what each card does
  pg sandbox cards --scenario declined   only these
  pg sandbox cards answer 4F2C-91 705    the account updater answers 705 for this card key
  pg sandbox cards answers               what was set
  pg sandbox cards reset"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    at: AccountFlags,
    /// Only cards of this scenario, such as declined or challenge
    #[arg(long, value_name = "SCENARIO")]
    scenario: Option<String>,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(clap::Subcommand)]
enum What {
    /// Sets the account updater's response for a card, for every configured account or that of --account, from now on
    #[command(after_help = "\
Examples:
  pg sandbox cards answer 4F2C-91 705
  pg sandbox cards answer 4000000000001000 703")]
    Answer {
        /// A card key, or the number of a test card
        #[arg(value_name = "CARD")]
        card: String,
        /// A card retrieval code, 700 to 712
        #[arg(value_name = "CODE", value_parser = code)]
        code: String,
    },
    /// Lists the responses that were set
    Answers,
    /// Removes the responses that were set
    Reset,
    #[command(external_subcommand)]
    Unknown(Vec<String>),
}

fn code(text: &str) -> Result<String, String> {
    match CardRetrievalCode::from(text).message() {
        Some(_) => Ok(text.to_owned()),
        None => Err("expected a card retrieval code from 700 to 712".to_owned()),
    }
}

/// Describes what the cards of a scenario do.
const SCENARIOS: [(&str, &str); 12] = [
    ("approved", "every payment is approved"),
    ("declined", "every payment is declined"),
    ("insufficient-funds", "every payment is declined for lack of funds"),
    ("no-response", "the bank does not answer: error 119, nothing is charged"),
    ("no-response-charged", "the bank's answer is lost: error 119, and a lookup finds the charge"),
    ("challenge", "3-D Secure challenges the customer; payments are approved"),
    ("challenge-failed", "3-D Secure challenges the customer and always fails; payments are approved"),
    (
        "challenge-required",
        "3-D Secure challenges the customer; payments after a challenge that was not passed are declined",
    ),
    ("not-enrolled", "the card does not support 3-D Secure; payments are approved"),
    ("updater-700-a", "the account updater answers 700 with the number of updater-700-b"),
    ("updater-700-b", "the account updater answers 700 with the number of updater-700-a"),
    ("updater-702", "the account updater answers 702 with an expiry date one month later"),
];

pub(super) async fn run(arguments: Arguments, json: bool) -> Result<(), Failure> {
    if let Some(What::Unknown(words)) = &arguments.what {
        let word = words.first().map_or("", String::as_str);
        let scenario = crate::suggestion::nearest(word, SCENARIOS.map(|(name, _)| name));
        let meant = scenario.map(|scenario| format!("pg sandbox cards --scenario {scenario}"));
        return Err(unknown_subcommand::<What>("cards", words, meant));
    }
    let control = Control::at_account(&arguments.at)?;
    match arguments.what {
        None | Some(What::Unknown(_)) => list(&control, arguments.scenario.as_deref(), json).await,
        Some(What::Answer { card, code }) => {
            let number = card.bytes().all(|byte| byte.is_ascii_digit()) && (12..=19).contains(&card.len());
            let name = if number { "cardNumber" } else { "cardKey" };
            let set = control.post("cards/updater", &json!({ name: card, "response": code })).await?;
            print(&set, json, |set| {
                let meaning = CardRetrievalCode::from(code.as_str()).message().unwrap_or_default();
                let card = text(&set["card"]);
                output::harmless(&format!("the account updater answers {code} ({meaning}) for {card}")).into_owned()
            })
        }
        Some(What::Answers) => answers(&control.get("cards/updater").await?, json),
        Some(What::Reset) => {
            control.delete("cards/updater").await?;
            if json { output::json(&json!([])) } else { output::page("the account updater answers as usual") }
        }
    }
}

async fn list(control: &Control, scenario: Option<&str>, json: bool) -> Result<(), Failure> {
    let mut cards = control.get("cards").await?;
    if let (Some(scenario), Value::Array(all)) = (scenario, &mut cards) {
        let known: Vec<String> = all.iter().map(|card| text(&card["scenario"])).collect();
        if !known.iter().any(|name| name == scenario) {
            let near = crate::suggestion::nearest(scenario, known.iter().map(String::as_str));
            let meant =
                near.map_or_else(|| "`pg sandbox cards` lists them".to_owned(), |near| format!("did you mean {near}?"));
            return Err(Failure::misuse(format!("unknown scenario {:?}; {meant}", pg_model::mask::text(scenario))));
        }
        all.retain(|card| card["scenario"] == scenario);
    }
    print_list(&cards, json, "pg: the sandbox has no test cards", |cards| {
        let rows: Vec<_> = cards
            .iter()
            .map(|card| {
                let scenario = text(&card["scenario"]);
                let does = SCENARIOS.iter().find(|(name, _)| *name == scenario).map_or("", |(_, does)| does);
                [text(&card["number"]), text(&card["scheme"]), scenario, does.to_owned()]
            })
            .collect();
        table(["NUMBER", "SCHEME", "SCENARIO", "WHAT IT DOES"], &rows)
    })
}

fn answers(answers: &Value, json: bool) -> Result<(), Failure> {
    print_list(answers, json, "pg: no responses are set; the account updater answers as usual", |answers| {
        let rows: Vec<_> = answers
            .iter()
            .map(|answer| {
                let response = text(&answer["response"]);
                let meaning = CardRetrievalCode::from(response.as_str()).message().unwrap_or_default().to_owned();
                [text(&answer["card"]), response, meaning]
            })
            .collect();
        table(["CARD", "ANSWER", "MEANING"], &rows)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_is_described() {
        for card in pg_sandbox::cards::CARDS {
            assert!(SCENARIOS.iter().any(|(name, _)| *name == card.scenario.name()), "{}", card.scenario.name());
        }
        assert!(code("705").is_ok() && code("600").is_err());
    }
}
