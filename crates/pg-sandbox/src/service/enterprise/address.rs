//! `address` (spec 3 §4.7; A128).

use pg_model::{AddressLookup, AddressReply, AddressResult, Flag};

use super::{Context, Refusal, Serve};
use crate::codes::SandboxErrorCode;
use crate::{
    addresses::{self, KNOWN},
    assumed,
    merchants::Merchant,
};

impl Serve for AddressLookup {
    fn serve(self, context: &mut Context<'_>, _merchant: &Merchant) -> Result<AddressReply, Refusal> {
        let postcode = addresses::compared(&self.postcode);
        if !addresses::is_postcode(&postcode) {
            return Err(Refusal::from(SandboxErrorCode::INVALID_PARAMETER)
                .about("postcode")
                .assuming(assumed::ADDRESSES));
        }
        context.basis.assume(assumed::ADDRESSES);
        let property = addresses::compared(&self.property_name);
        let found = KNOWN.iter().find(|known| {
            addresses::compared(known.property) == property && addresses::compared(known.postcode) == postcode
        });
        let known = found.ok_or_else(|| Refusal::from(SandboxErrorCode::ADDRESS_NOT_FOUND))?;
        if known.address_2.is_empty() || known.county.is_empty() {
            context.basis.assume(assumed::EMPTY_FIELDS_IN_REPLIES_OF_THE_SANDBOX);
        }
        let address = AddressResult::default().with(|record| {
            record.status = Flag::YES;
            record.address_1 = known.address_1.to_owned();
            record.address_2 = known.address_2.to_owned();
            record.town = known.town.to_owned();
            record.county = known.county.to_owned();
            record.postcode = known.postcode.to_owned();
        });
        Ok(AddressReply::default().with(|record| {
            record.address = address;
        }))
    }
}
