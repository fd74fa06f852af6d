//! The findings of fuzzing, the seeds, and random bytes: a short version of `npm run maintain
//! fuzz`.

use proptest::prelude::*;

use super::{TARGETS, run};

#[test]
fn inputs_found_by_fuzzing_and_seeds() {
    for (name, target) in TARGETS {
        let folder = format!("{}/testdata/fuzz/{name}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("the folder can be read").path();
            println!("{}", path.display());
            target(&std::fs::read(&path).expect("the file can be read"));
        }
    }
}

mod random {
    use super::*;

    macro_rules! each {
        ($($target:ident: $cases:expr, $most:expr;)*) => {$(
            proptest! {
                #![proptest_config(ProptestConfig::with_cases($cases))]
                #[test]
                fn $target(bytes in prop::collection::vec(any::<u8>(), 0..$most)) {
                    run(stringify!($target), &bytes);
                }
            }
        )*};
    }

    each! {
        encode: 150, 400;
        scanner: 150, 300;
        split_points: 200, 300;
        load: 300, 60;
        models: 600, 300;
        sentencepiece: 600, 300;
        decode: 400, 200;
        lengths: 3000, 100;
        limits: 400, 160;
        patterns: 600, 160;
        rows: 40, 200;
        parts: 150, 200;
        json_fields: 6000, 300;
        pool: 300, 900;
    }
}
