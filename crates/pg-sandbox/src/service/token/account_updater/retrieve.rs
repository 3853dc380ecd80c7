//! `token/retrieveAccountUpdater` (spec 1 §4.9).

use pg_model::{AccountUpdaterBatch, ErrorCode, RetrieveAccountUpdater};

use super::{Context, Merchant, Refusal, shown};
use crate::{
    records::{Batch, BatchCards},
    service::{
        gate::Signature,
        method::{Permission, Serve},
    },
};

impl Serve for RetrieveAccountUpdater {
    const PERMISSION: Permission = Permission::AccountUpdater;
    const SIGNATURE: Signature = Signature::OptionalWhereAllowed;

    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<AccountUpdaterBatch, Refusal> {
        let found = context.records.get_of::<Batch>(&merchant.name, self.batch_key.as_str())?;
        let batch = found.ok_or_else(|| Refusal::from(ErrorCode::INVALID_BATCH_KEY).assuming(56).assuming(72))?;
        if !batch.finished {
            return Err(Refusal::from(ErrorCode::BATCH_PENDING).assuming(73));
        }
        let cards = context.records.get::<BatchCards>(&batch.key)?.filter(|_| !batch.spoiled);
        let cards = cards.ok_or_else(|| Refusal::from(ErrorCode::BATCH_DATA_ERROR).assuming(72))?;
        [42, 73, 74, 75].into_iter().for_each(|number| context.basis.assume(number));
        Ok(shown::batch(&batch, &cards))
    }
}
