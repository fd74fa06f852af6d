#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tokenlane_train::fuzzing::train(bytes));
