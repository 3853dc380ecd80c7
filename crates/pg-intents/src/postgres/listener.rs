//! Learns of changes by `LISTEN`.

use std::{future::poll_fn, sync::Arc, time::Duration};

use pg_connections::{PostgresUrl, explain};
use tokio::{sync::Notify, task::JoinHandle};
use tokio_postgres::AsyncMessage;

/// The pause between two attempts to connect.
const PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Listener {
    heard: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Listener {
    pub(super) fn start(database: PostgresUrl) -> Self {
        let heard = Arc::<Notify>::default();
        let tell = Arc::clone(&heard);
        let task = tokio::spawn(async move {
            loop {
                if let Err(error) = listen(&database, &tell).await {
                    tracing::debug!(target: "pg.fleet", error = explain(&error), "LISTEN has ended; workers poll");
                }
                pause().await;
            }
        });
        Self { heard, task }
    }

    pub(super) async fn heard(&self) {
        self.heard.notified().await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(database: &PostgresUrl, heard: &Notify) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = database.connect().await?;
    let mut listening = std::pin::pin!(client.batch_execute("LISTEN payment_intents"));
    let mut listens = false;
    loop {
        tokio::select! {
            said = &mut listening, if !listens => {
                said?;
                listens = true;
                // A change may have happened before.
                heard.notify_waiters();
            }
            message = poll_fn(|context| connection.poll_message(context)) => match message {
                Some(Ok(AsyncMessage::Notification(_))) => heard.notify_waiters(),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error),
                None => return Ok(()),
            },
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the connection to the database is an edge of the system")]
async fn pause() {
    tokio::time::sleep(PAUSE).await;
}
