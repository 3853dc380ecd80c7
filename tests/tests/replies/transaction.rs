//! The payment gateway (spec 2 §2.3, §4.4).

use pg_model::{
    Acknowledgement, AuthenticationStatus, Currency, LiabilityShift, Named, Outcome, ResultCode, StatusCode,
    ThreeDSecureInitiation, Transaction, TransactionType, Transactions,
};

use pg_sandbox::codes::SandboxStatusCode;

use crate::replies::golden;

fn approved(kind: TransactionType, first_digits: &str, bank: &[(&str, &str)]) -> Transaction {
    Transaction::default().with(|record| {
        record.transaction_status_code = StatusCode::APPROVED;
        record.transaction_status = "Transaction approved".into();
        record.transaction_type = kind;
        record.transaction_key = format!("{first_digits}f2d3b4c5a697887766554433221100").into();
        record.bank = bank.iter().copied().collect::<Named>();
    })
}

// spec: 2 §4.3, A88; codes StatusCode 600
#[test]
fn payments() {
    let all_bank_data = [
        ("bankAuthCode", "093711"),
        ("bankTransId", "5512009871"),
        ("bankResponseCode", "00"),
        ("bankResponseMessage", "Approved"),
        ("bankOrderId", "ord-0001"),
    ];
    golden("transaction/auth").is(&approved(TransactionType::AUTH, "10", &all_bank_data));
    golden("transaction/authCardKey").is(&approved(TransactionType::AUTH, "20", &[("bankAuthCode", "093712")]));
    let session_bank_data = [("bankAuthCode", "093713"), ("bankTransId", "5512009873")];
    golden("transaction/authSessionKey").is(&approved(TransactionType::AUTH, "30", &session_bank_data));
    golden("transaction/preauth").is(&approved(TransactionType::PRE_AUTH, "40", &[("bankAuthCode", "093714")]));
}

#[test]
fn payments_after_three_d_secure() {
    let auth = [("bankAuthCode", "093715"), ("bankECIValue", "05")];
    golden("transaction/auth3DSecure").is(&approved(TransactionType::AUTH, "50", &auth));
    let preauth = [("bankAuthCode", "093716"), ("bankECIValue", "05")];
    golden("transaction/preauth3DSecure").is(&approved(TransactionType::PRE_AUTH, "60", &preauth));
}

#[test]
fn operations_on_a_transaction() {
    let bank = |id| [("bankTransId", id)];
    golden("transaction/capturepreauth").is(&approved(TransactionType::CAPTURE, "70", &bank("5512009877")));
    golden("transaction/cancelpreauth").is(&approved(TransactionType::CANCEL_PRE_AUTH, "80", &bank("5512009878")));
    golden("transaction/refund").is(&approved(TransactionType::REFUND, "90", &bank("5512009879")));
    golden("transaction/update").is(&Acknowledgement::default().with(|record| {
        record.result = ResultCode::OK;
    }));
}

#[test]
fn a_decline_is_an_outcome() {
    let declined = Transaction::default().with(|record| {
        record.transaction_status_code = SandboxStatusCode::DECLINED.as_str().into();
        record.transaction_status = "Transaction declined".into();
        record.transaction_type = TransactionType::AUTH;
        record.transaction_key = "11f2d3b4c5a697887766554433221100".into();
        record.bank = Named::from_iter([("bankResponseCode", "05"), ("bankResponseMessage", "Do not honour")]);
    });
    golden("transaction/auth-declined").is(&declined);
    assert!(matches!(Outcome::read(declined, &pg_sandbox::dialect()), Outcome::Declined(_)));
}

// spec: codes StatusCode 607 608
#[test]
fn three_d_secure_initiation() {
    for (name, letter) in
        [("transaction/initiate3DSecureSessionKey", 'a'), ("transaction/initiate3DSecureCardKey", 'b')]
    {
        golden(name).is(&ThreeDSecureInitiation::default().with(|record| {
            record.transaction_status_code = StatusCode::THREE_D_SECURE_SUCCESS;
            record.transaction_status = "Success".into();
            record.transaction_key = format!("{letter}0f2d3b4c5a697887766554433221100").into();
            record.bank_eci_value = "05".into();
            record.authentication_key = format!("{letter}1c2d3e4f5061728394a5b6c7d8e9f00").into();
            record.authentication_url = format!("https://acs.bank.example/challenge?k={letter}1&v=2").into();
        }));
    }
}

// spec: 2 §4.4, A105
#[test]
fn a_failed_three_d_secure_initiation_brings_no_key_and_no_address() {
    golden("transaction/initiate3DSecureSessionKey-failed").is(&ThreeDSecureInitiation::default().with(|record| {
        record.transaction_status_code = StatusCode::THREE_D_SECURE_FAILED;
        record.transaction_status = "Failed".into();
        record.transaction_key = "c0f2d3b4c5a697887766554433221100".into();
        record.bank_eci_value = "07".into();
    }));
}

// spec: 2 §4.4, A106
#[test]
fn three_d_secure_status() {
    golden("transaction/getAuthenticationStatus").is(&AuthenticationStatus::default().with(|record| {
        record.transaction_status_code = StatusCode::APPROVED;
        record.transaction_status = "Success".into();
        record.transaction_key = "a0f2d3b4c5a697887766554433221100".into();
        record.bank_eci_value = "05".into();
        record.liability_shift = LiabilityShift::SHIFTED;
    }));
}

/// The shape is not shown; it is the one of assumption A21.
#[test]
fn lookup() {
    let preauth = approved(TransactionType::PRE_AUTH, "40", &[("bankAuthCode", "093714")]).with(|record| {
        record.merchant_reference = "order-7".into();
        record.unique_merchant_reference = "order-7-attempt-1".into();
        record.merchant_customer_reference = "customer-42".into();
        record.currency = Currency::GBP;
        record.transaction_value = "1098".into();
        record.created_on = "2026-03-14T09:26:53+00:00".into();
    });
    let capture = approved(TransactionType::CAPTURE, "70", &[]).with(|record| {
        record.merchant_reference = "order-7".into();
        record.currency = Currency::GBP;
        record.transaction_value = "599".into();
        record.original_transaction_key = preauth.transaction_key.clone();
        record.created_on = "2026-03-15T10:00:00+00:00".into();
    });
    golden("transaction/lookup").is(&Transactions::default().with(|record| {
        record.transactions = vec![preauth, capture];
    }));
}
