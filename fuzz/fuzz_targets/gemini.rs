#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| reknit_fuzz::gemini(data));
