//! The hand-over from the writer to the syncer, in every interleaving of the two threads.
//!
//! They share a channel, the file that is synced, and nothing else. So the threads interact where the syncer waits,
//! looks for more, begins a sync and ends one; at each of these points the writer may have advanced by any number of
//! steps. The test tries all of these numbers with the function that the thread runs.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
};

use super::*;

/// So many groups are committed, with one answer each.
const COMMITS: usize = 3;

/// The choices of one run; the next run makes the next ones.
#[derive(Default)]
struct Choices {
    made: Vec<(usize, usize)>,
    next: usize,
}

impl Choices {
    /// A number from zero to `most`.
    fn choose(&mut self, most: usize) -> usize {
        if self.next == self.made.len() {
            self.made.push((0, most));
        }
        let (choice, _) = self.made[self.next];
        self.next += 1;
        choice
    }

    /// Whether untried choices are left.
    fn advance(&mut self) -> bool {
        self.next = 0;
        while let Some((choice, most)) = self.made.pop() {
            if choice < most {
                self.made.push((choice + 1, most));
                return true;
            }
        }
        false
    }
}

/// The writer and the disk, as far as the syncer sees them.
struct World<'c> {
    choices: RefCell<&'c mut Choices>,
    /// The writer's steps so far: it commits a group, then hands it over, then commits the next one.
    steps: Cell<usize>,
    channel: RefCell<VecDeque<Vec<usize>>>,
    /// So many commits are certainly on the disk.
    durable: Cell<usize>,
    /// The sync that fails, if one does.
    fails: usize,
    syncs: Cell<usize>,
    released: RefCell<Vec<usize>>,
}

impl<'c> World<'c> {
    fn new(choices: &'c mut Choices) -> Self {
        let fails = choices.choose(COMMITS);
        Self {
            choices: RefCell::new(choices),
            steps: Cell::default(),
            channel: RefCell::default(),
            durable: Cell::default(),
            fails,
            syncs: Cell::default(),
            released: RefCell::default(),
        }
    }

    fn committed(&self) -> usize {
        self.steps.get().div_ceil(2)
    }

    fn step(&self) {
        if self.steps.get() % 2 == 1 {
            self.channel.borrow_mut().push_back(vec![self.committed()]);
        }
        self.steps.set(self.steps.get() + 1);
    }

    /// Lets the writer go on by any number of steps.
    fn meet(&self) {
        let left = 2 * COMMITS - self.steps.get();
        let steps = self.choices.borrow_mut().choose(left);
        (0..steps).for_each(|_| self.step());
    }

    /// Contains the commits before its start; later ones may be missing, so they count as lost.
    fn sync(&self) -> Result<(), StoreError> {
        self.meet();
        let certain = self.committed();
        self.meet();
        self.syncs.set(self.syncs.get() + 1);
        if self.syncs.get() == self.fails {
            return Err(StoreError::Unsynced("the disk is gone".to_owned()));
        }
        self.durable.set(certain);
        Ok(())
    }

    /// Keeps the answers, or says which of them was not on the disk.
    fn release(&self, answers: Vec<usize>, early: &Cell<Option<usize>>) {
        self.meet();
        if let Some(answer) = answers.iter().find(|answer| **answer > self.durable.get()) {
            early.set(Some(*answer));
        }
        self.released.borrow_mut().extend(answers);
    }
}

impl Groups<usize> for World<'_> {
    fn wait(&self) -> Option<Vec<usize>> {
        self.meet();
        while self.channel.borrow().is_empty() && self.steps.get() < 2 * COMMITS {
            self.step();
        }
        self.channel.borrow_mut().pop_front()
    }

    fn more(&self) -> Option<Vec<usize>> {
        self.meet();
        self.channel.borrow_mut().pop_front()
    }
}

/// Runs every order, and gives their number and the first answer that went too early.
fn every_order(syncer: impl Fn(&World<'_>, &Cell<Option<usize>>, &OnceLock<StoreError>)) -> (usize, Option<usize>) {
    let (mut choices, mut orders) = (Choices::default(), 0);
    loop {
        let (early, failure) = (Cell::new(None), OnceLock::new());
        let world = World::new(&mut choices);
        syncer(&world, &early, &failure);
        orders += 1;
        if early.get().is_some() {
            return (orders, early.get());
        }
        let released = world.released.borrow();
        assert!(released.is_sorted() && released.windows(2).all(|pair| pair[0] != pair[1]), "{released:?}");
        let failed = world.fails > 0 && world.syncs.get() >= world.fails;
        assert_eq!(failure.get().is_some(), failed);
        assert!(failed || released.len() == COMMITS, "{released:?}");
        drop(released);
        if !choices.advance() {
            return (orders, None);
        }
    }
}

#[test]
fn no_answer_goes_before_its_commit_is_on_the_disk_in_any_order_of_the_threads() {
    let (orders, early) = every_order(|world, early, failure| {
        let unknown = run(world, || world.sync(), |answers| world.release(answers, early), failure);
        assert_eq!(failure.get().is_some(), !unknown.is_empty());
        assert!(unknown.iter().all(|answer| !world.released.borrow().contains(answer)));
    });
    assert_eq!(early, None);
    assert!(orders > 1_000, "{orders}");
}

/// A syncer that looks for more after its sync, so that the test above can fail.
#[test]
fn a_syncer_that_takes_more_after_its_sync_is_found() {
    let (_, early) = every_order(|world, early, _| {
        while let Some(mut answers) = world.wait() {
            if world.sync().is_err() {
                return;
            }
            while let Some(more) = world.more() {
                answers.extend(more);
            }
            world.release(answers, early);
        }
    });
    assert!(early.is_some());
}

/// The writer ends a group early only while nothing is being synced.
#[tokio::test]
async fn a_syncer_is_idle_once_every_response_is_sent() {
    let file = tempfile::tempfile().unwrap();
    let mut release = Release::start(Some(Syncer::new(file)), Arc::new(Failure::new(None))).unwrap();
    assert!(release.is_idle());
    for _ in 0..3 {
        let (to, answered) = oneshot::channel();
        release.after_sync(vec![(to, Response::default())]);
        answered.await.unwrap();
        assert!(release.is_idle());
    }
    // A response waits for a sync.
    let Release::Synced(synced) = &mut release else { panic!("it syncs") };
    synced.handed_over += 1;
    assert!(!release.is_idle());
    assert!(
        !Release::start(None, Arc::new(Failure::new(None))).unwrap().is_idle(),
        "a commit of a store that needs no sync is not early"
    );
}
