//! Files with permissions, as programs and secrets need them.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

pub fn write(path: impl AsRef<Path>, text: impl AsRef<[u8]>, mode: u32) {
    fs::write(&path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
