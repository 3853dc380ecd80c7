//! The accounts of a store.

use super::Suite;
use crate::IntentStore;

impl<S: IntentStore> Suite<'_, S> {
    pub(super) async fn accounts_are_listed_once_each(&self) {
        let accounts = async |from: &str, most| self.store.accounts(from, most).await.expect("accounts answers");
        let all = accounts("", u32::MAX).await;
        for account in [self.account.clone(), format!("{} other", self.account)] {
            assert_eq!(
                all.iter().filter(|listed| **listed == account).count(),
                1,
                "each account is listed once: {all:?}"
            );
        }
        let at = all.iter().position(|listed| *listed == self.account).expect("it is listed");
        assert_eq!(
            accounts(&self.account, u32::MAX).await,
            all[at..],
            "a list begins with the account that is asked for"
        );
        assert_eq!(accounts(&self.account, 1).await, [&*self.account], "a list of accounts is bounded");
        assert_eq!(accounts(&self.account, 0).await, [""; 0], "a list of accounts is bounded");
        let missing = format!("{} missing", self.account);
        assert_ne!(accounts(&missing, 1).await, [&*missing], "an account without intents is not listed");
    }
}
