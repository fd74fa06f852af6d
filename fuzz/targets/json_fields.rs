#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tokenlane_core::fuzzing::run("json_fields", bytes));
