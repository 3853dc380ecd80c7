//! Receives notifications of changes by `LISTEN`.

use std::{future::poll_fn, sync::Arc, time::Duration};

use pg_connections::{PostgresUrl, explain};
use tokio::{sync::Notify, task::JoinHandle, time::timeout};
use tokio_postgres::AsyncMessage;

use super::pool::PATIENCE;

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
    // If the server does not respond, the connection is tried again.
    let Ok(connected) = timeout(PATIENCE, database.connect()).await else { return Ok(()) };
    let (client, mut connection) = connected?;
    let mut listening = std::pin::pin!(client.batch_execute("LISTEN payment_intents"));
    let mut listens = false;
    loop {
        tokio::select! {
            said = &mut listening, if !listens => {
                said?;
                listens = true;
                // A change may have happened before the connection.
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

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// Virtual time: it passes only while nothing else can happen.
    #[tokio::test(start_paused = true)]
    async fn a_server_that_never_answers_is_tried_again() {
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("postgres://shop@{}/shop?sslmode=require", silent.local_addr().unwrap());
        let listener = Listener::start(PostgresUrl::parse(&url).unwrap());
        let mut open = Vec::new();
        for _ in 0..3 {
            let next = timeout(Duration::from_secs(3_600), silent.accept()).await;
            open.push(next.expect("it is tried again").unwrap());
        }
        drop(listener);
    }
}
