//! Compares signing with SHA-512 over the same bytes, already joined.

mod requests;

use std::hint::black_box;

use pg_crypto::{OrderedSigner, ShaKey, sign};
use pg_measure::{Bounds, compare};
use sha2::{Digest, Sha512};

const BOUNDS: Bounds = Bounds::at_most(1.30, 1.10);

fn main() {
    let key = ShaKey::new(requests::SHA_KEY);
    for count in [12, 40] {
        let as_given = requests::auth(count);
        let mut ordered = as_given.clone();
        ordered.sort_by_key(|(name, _)| (name.to_ascii_lowercase(), *name));
        let joined: String =
            ordered.iter().map(|(name, value)| format!("{name}={value}{}", requests::SHA_KEY)).collect();
        let floor = || Sha512::digest(black_box(joined.as_bytes()));
        let in_any_order = || sign(black_box(&as_given), &key);
        let in_signing_order = || {
            let mut signer = OrderedSigner::new(&key);
            for (name, value) in black_box(&ordered) {
                signer.parameter(name, value);
            }
            signer.finish()
        };
        assert_eq!(in_any_order().as_bytes()[..], floor()[..]);
        assert_eq!(in_any_order(), in_signing_order());

        println!("{count} parameters, {} bytes hashed", joined.len());
        let name = format!("sign {count} parameters, any order");
        compare(&name, BOUNDS, in_any_order, floor);
        allocations(&name, in_any_order);
        let name = format!("sign {count} parameters, signing order");
        compare(&name, BOUNDS, in_signing_order, floor);
        allocations(&name, in_signing_order);
        compare(&format!("sort {count} numbers"), Bounds::none(), numbers(&as_given), floor);
    }
    pg_measure::note(
        "Signing in any order includes a sort: its minimum cost is that of the rows `signing order` and `sort … numbers` together.",
    );
}

/// The least that any order costs: sorts numbers of 16 bytes, one for the start of each name, that were made before. Parameters whose names
/// begin alike still have to be sorted after that, and their values fetched from where they are.
fn numbers(parameters: &[(&str, &str)]) -> impl Fn() -> [u128; 40] {
    let mut numbers = [u128::MAX; 40];
    for (at, (name, _)) in parameters.iter().enumerate() {
        let start = name.bytes().map(|byte| byte.to_ascii_lowercase()).chain(std::iter::repeat(0)).take(15);
        numbers[at] = start.fold(0, |sum, byte| sum << 8 | u128::from(byte)) << 8 | at as u128;
    }
    let count = parameters.len();
    move || {
        let mut numbers = black_box(numbers);
        numbers[..count].sort_unstable();
        numbers
    }
}

/// Counts the allocations of one run. The budget is zero.
fn allocations<T>(name: &str, work: impl Fn() -> T) {
    let counted = allocation_counter::measure(|| {
        black_box(work());
    });
    pg_measure::count(&format!("{name}: allocations"), counted.count_total, 0);
}
