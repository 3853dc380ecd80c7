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
    }
}

/// Counts the allocations of one run. The budget is zero.
fn allocations<T>(name: &str, work: impl Fn() -> T) {
    let counted = allocation_counter::measure(|| {
        black_box(work());
    });
    pg_measure::count(&format!("{name}: allocations"), counted.count_total, 0);
}
