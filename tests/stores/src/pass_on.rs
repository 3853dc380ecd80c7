//! Stores that wrap another one pass most methods on to it.

/// Passes methods of [`Store`](pg_sandbox::store::Store) on to the store in a field: `pass_on!(inner: begin, commit, get);`
///
/// The types of their arguments come from the module that uses it, since the tests in `pg-sandbox` have a `Store` of their own.
#[macro_export]
macro_rules! pass_on {
    ($field:tt: $($method:ident),+) => { $($crate::pass_on!(@$method $field);)+ };
    (@begin $field:tt) => { fn begin(&mut self) -> Result<(), StoreError> { self.$field.begin() } };
    (@commit $field:tt) => { fn commit(&mut self) -> Result<(), StoreError> { self.$field.commit() } };
    (@rollback $field:tt) => { fn rollback(&mut self) { self.$field.rollback(); } };
    (@settle $field:tt) => {
        fn settle(&mut self, interrupted: &mut dyn FnMut() -> bool) { self.$field.settle(interrupted); }
    };
    (@syncer $field:tt) => { fn syncer(&self) -> Option<Syncer> { self.$field.syncer() } };
    (@in_transaction $field:tt) => { fn in_transaction(&self) -> bool { self.$field.in_transaction() } };
    (@change $field:tt) => { fn change(&self) -> Change { self.$field.change() } };
    (@may_try_again $field:tt) => { fn may_try_again(&self) -> bool { self.$field.may_try_again() } };
    (@get $field:tt) => {
        fn get(&mut self, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
            self.$field.get(kind, key)
        }
    };
    (@holds $field:tt) => {
        fn holds(&mut self, kind: &'static Kind, key: &str) -> Result<bool, StoreError> { self.$field.holds(kind, key) }
    };
    (@put $field:tt) => {
        fn put(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<(), StoreError> { self.$field.put(kind, row) }
    };
    (@remove $field:tt) => {
        fn remove(&mut self, kind: &'static Kind, key: &str) -> Result<(), StoreError> { self.$field.remove(kind, key) }
    };
    (@select $field:tt) => {
        fn select(&mut self, kind: &'static Kind, query: &Query<'_>) -> Result<Vec<String>, StoreError> {
            self.$field.select(kind, query)
        }
    };
}
