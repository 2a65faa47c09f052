//! Tells the linker that Node provides the functions of its interface.

fn main() {
    napi_build::setup();
}
