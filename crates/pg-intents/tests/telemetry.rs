//! The metrics and spans that the guide documents are those that are emitted.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, atomic::Ordering},
    time::Duration,
};

use pg_intents::{IntentKind, IntentStatus, IntentStore as _, ShareWish};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use crate::world::{World, by_key};

const GUIDE: &str = include_str!("../../../docs/guide/fleet.md");

type Seen = BTreeMap<(String, String), BTreeSet<String>>;

/// Keeps the name, the instrument and the attributes of each metric, and the fields of each span by its name.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<(Seen, Seen)>>);

/// The fields with a value.
#[derive(Default)]
struct Fields(Vec<String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, _: &dyn std::fmt::Debug) {
        self.0.push(field.name().to_owned());
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let fields = span.metadata().fields().iter().map(|field| field.name().to_owned());
        let key = (span.metadata().name().to_owned(), String::new());
        self.0.lock().unwrap().1.entry(key).or_default().extend(fields);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        if event.metadata().target() != "pg.metrics" {
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let (metrics, attributes): (Vec<_>, Vec<_>) = fields
            .0
            .into_iter()
            .partition(|name| ["histogram.", "monotonic_counter."].iter().any(|prefix| name.starts_with(prefix)));
        let [metric] = &metrics[..] else { panic!("one metric an event: {metrics:?}") };
        let (instrument, name) = metric.split_once('.').unwrap();
        let instrument = instrument.trim_start_matches("monotonic_").to_owned();
        self.0.lock().unwrap().0.entry((name.to_owned(), instrument)).or_default().extend(attributes);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The rows of the table of the guide whose first column has this title: their cells.
fn table(title: &str) -> Vec<Vec<String>> {
    let lines = GUIDE.lines().skip_while(|line| !line.starts_with(&format!("| {title} | "))).skip(2);
    let rows: Vec<Vec<String>> = lines
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect())
        .collect();
    assert!(!rows.is_empty(), "no table {title}");
    rows
}

fn names(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Everything that is measured happens once.
async fn everything() {
    let (world, wire, key) = World::with_card().await;
    let fleet = world.worker("one", &wire).await;
    // The charge waits for the probe share, which another process has.
    let account = format!("{} probe", fleet.account());
    let probe = |lease, most| ShareWish {
        account: &account,
        owner: "other",
        total: 1,
        most,
        lease,
        longest: Duration::from_secs(600),
        quarantine: Duration::ZERO,
    };
    assert_eq!(world.store.shares(probe(Duration::from_secs(600), 1)).await.unwrap(), 1);
    let (settled, ()) = tokio::join!(fleet.charge(by_key(&key, "order-1")), async {
        tokio::task::yield_now().await;
        world.store.shares(probe(Duration::ZERO, 0)).await.unwrap();
    });
    assert_eq!(settled.unwrap().name(), "approved");
    fleet.submit(by_key(&key, "order-2")).await.unwrap();
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    fleet.submit(by_key(&key, "order-3")).await.unwrap();
    let kinds = [IntentKind { name: "charge authCardKey".to_owned(), version: 1 }];
    for _ in 0..20 {
        world.store.claim(fleet.account(), "dies#1", 1, Duration::ZERO, &kinds).await.unwrap();
    }
    fleet.work_once().await.unwrap();
    let parked = world.store.find(&pg_intents::IntentKey::new(fleet.account(), "order-3")).await.unwrap().unwrap();
    assert_eq!(parked.status, IntentStatus::Parked);
    wire.invalid.store(true, Ordering::SeqCst);
    assert_eq!(fleet.charge(by_key(&key, "order-4")).await.unwrap().name(), "unknown");
}

#[tokio::test]
async fn the_guide_lists_every_metric_and_span_with_its_unit_and_attributes() {
    let recorder = Recorder::default();
    {
        let _guard = pg_support::traced_by(recorder.clone());
        everything().await;
    }
    let (metrics, spans) = recorder.0.lock().unwrap().clone();
    let rows = table("metric");
    let documented: BTreeSet<(String, String)> =
        rows.iter().map(|row| (row[0].trim_matches('`').to_owned(), row[1].clone())).collect();
    assert_eq!(metrics.keys().cloned().collect::<BTreeSet<_>>(), documented);
    for row in &rows {
        let (name, instrument, unit) = (row[0].trim_matches('`'), &*row[1], row[2].trim_matches('`'));
        let is_duration = instrument == "histogram" && name.ends_with(".duration");
        let counted = name.rsplit('.').next().unwrap().trim_end_matches('s');
        let expected = if is_duration { "s".to_owned() } else { format!("{{{counted}}}") };
        assert_eq!(unit, expected, "{name}");
        let emitted = &metrics[&(name.to_owned(), instrument.to_owned())];
        // A statement of SQLite has no name, and not everything fails here.
        let missing: Vec<_> = names(&row[3]).difference(emitted).cloned().collect();
        assert!(
            missing.iter().all(|name| ["error.type", "db.operation.name"].contains(&&**name)),
            "{name}: {missing:?}"
        );
        assert!(emitted.is_subset(&names(&row[3])), "{name}: {emitted:?}");
    }
    for row in table("span") {
        let name = names(&row[0]).into_iter().find(|name| !name.starts_with("pg.fleet")).unwrap();
        let fields = &spans[&(name.clone(), String::new())];
        let fields: BTreeSet<String> = fields.iter().filter(|name| *name != "otel.kind").cloned().collect();
        assert_eq!(fields, names(&row[1]), "{name}");
    }
    let known: BTreeSet<String> = table("span").iter().flat_map(|row| names(&row[0])).collect();
    let calls = BTreeSet::from(["pg.call".to_owned()]);
    for (name, _) in spans.keys() {
        assert!(known.contains(name) || calls.contains(name), "the guide does not list the span {name}");
    }
}
