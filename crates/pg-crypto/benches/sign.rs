//! What signing costs beside the hash itself: SHA-512 over the same bytes, already joined, is the floor.

mod measure;
mod requests;

use pg_crypto::{OrderedSigner, ShaKey, sign};
use sha2::{Digest, Sha512};
use std::hint::black_box;

/// Ratios to the floor that count as fast enough, and as remarkable.
const BUDGET: f64 = 1.30;
const MOONSHOT: f64 = 1.10;

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
        measure::compare(&format!("sign {count} parameters, any order"), BUDGET, MOONSHOT, in_any_order, floor);
        measure::compare(&format!("sign {count} parameters, signing order"), BUDGET, MOONSHOT, in_signing_order, floor);
        allocations(&format!("sign {count} parameters, any order"), in_any_order);
        allocations(&format!("sign {count} parameters, signing order"), in_signing_order);
    }
}

/// Allocations have a budget of none.
fn allocations<T>(name: &str, work: impl Fn() -> T) {
    let counted = allocation_counter::measure(|| {
        black_box(work());
    });
    println!("ratio\t{name}, allocations\t{}\t0\t0", counted.count_total);
}
