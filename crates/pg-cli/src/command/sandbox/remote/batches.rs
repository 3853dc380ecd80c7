//! `pg sandbox batches`: batches of the account updater.

use serde_json::{Value, json};

use super::{print, print_list, segment, text, whole};
use crate::{
    control::{AccountFlags, Control},
    failure::Failure,
    output,
    table::table,
};

/// Lists batches of the account updater, or makes the results of one unreadable
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg sandbox batches               newest first; each finishes after two minutes
  pg sandbox batches show KEY      one batch, with every card
  pg sandbox batches spoil KEY     its results return error 181")]
pub(crate) struct Arguments {
    #[command(flatten)]
    at: AccountFlags,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(clap::Subcommand)]
enum What {
    /// Lists batches, newest first
    List,
    /// Shows one batch with every card, masked
    Show {
        /// The batch key
        #[arg(value_name = "KEY")]
        key: String,
    },
    /// Makes a batch's results unreadable: error 181 once it has finished
    Spoil {
        /// The batch key
        #[arg(value_name = "KEY")]
        key: String,
    },
}

pub(super) async fn run(arguments: Arguments, json: bool) -> Result<(), Failure> {
    let control = Control::at_account(&arguments.at)?;
    match arguments.what {
        None | Some(What::List) => {
            let batches = control.get("batches").await?;
            print_list(&batches, json, "pg: no batches yet", shown)
        }
        Some(What::Show { key }) => {
            let batch = control.get(&format!("batches/{}", segment(&key))).await?;
            print(&batch, json, whole)
        }
        Some(What::Spoil { key }) => {
            let batch = control.post(&format!("batches/{}/spoil", segment(&key)), &json!({})).await?;
            print(&batch, json, |batch| {
                output::harmless(&format!("the results of batch {} return error 181", text(&batch["batchKey"])))
                    .into_owned()
            })
        }
    }
}

fn shown(batches: &[Value]) -> String {
    let rows: Vec<_> = batches
        .iter()
        .map(|batch| {
            let responses = batch["responses"].as_object().into_iter().flatten();
            let responses: Vec<String> = responses.map(|(code, count)| format!("{code} × {count}")).collect();
            let status = if batch["spoiled"] == true { "spoiled".to_owned() } else { text(&batch["status"]) };
            [text(&batch["batchKey"]), status, text(&batch["cards"]), responses.join(", "), text(&batch["due"])]
        })
        .collect();
    table(["BATCH KEY", "STATUS", "CARDS", "RESPONSES", "DUE"], &rows)
}
