//! What an order comes to, and whether the account may take it.

use pg_model::{ErrorCode, Order, SandboxErrorCode};

use super::Refusal;
use crate::merchants::Merchant;

/// The most that one payment may be for, in minor units (assumption 90).
const MOST: u64 = 999_999_999_999;

/// The amount in minor units: the sum of price times quantity, from 1 to [`MOST`] (assumption 90).
pub(super) fn total(order: &Order) -> Result<u64, Refusal> {
    let lines = order.items.iter().map(|item| match item.quantity {
        Some(0) => None,
        quantity => item.price.checked_mul(quantity.unwrap_or(1)),
    });
    let total = lines.into_iter().try_fold(0_u64, |sum, line| sum.checked_add(line?));
    total
        .filter(|amount| (1..=MOST).contains(amount))
        .ok_or_else(|| Refusal::from(ErrorCode::INVALID_TRANSACTION_VALUE).assuming(90))
}

/// Refuses a currency or a terminal that the account does not have (assumptions 19 and 91).
pub(super) fn check(order: &Order, merchant: &Merchant) -> Result<(), Refusal> {
    if !merchant.currencies.iter().any(|enabled| enabled == order.currency.as_str()) {
        return Err(Refusal::from(ErrorCode::CURRENCY_NOT_SUPPORTED).assuming(19));
    }
    match order.terminal_key.as_ref().filter(|key| !key.is_empty()) {
        Some(key) if !merchant.terminals.iter().any(|known| known == key.as_str()) => {
            Err(SandboxErrorCode::UNKNOWN_TERMINAL.into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use pg_model::{Currency, Item};

    use super::*;

    fn total_of(lines: &[(u64, Option<u64>)]) -> Option<u64> {
        let order = lines.iter().fold(Order::new(Currency::from("GBP")), |order, &(price, quantity)| {
            let item = Item::new("Tea", price);
            order.item(match quantity {
                Some(quantity) => item.quantity(quantity),
                None => item,
            })
        });
        total(&order).ok()
    }

    #[test]
    fn sums_are_checked() {
        assert_eq!(total_of(&[(499, Some(2)), (1, None)]), Some(999));
        assert_eq!(total_of(&[(MOST, None)]), Some(MOST));
        assert_eq!(total_of(&[(MOST, None), (1, None)]), None);
        assert_eq!(total_of(&[(u64::MAX, Some(2))]), None);
        assert_eq!(total_of(&[(u64::MAX, None), (1, None)]), None);
        assert_eq!(total_of(&[(499, Some(0))]), None);
        assert_eq!(total_of(&[(0, None)]), None);
        assert_eq!(total_of(&[]), None);
    }
}
