//! Versions of our files in JSON and TOML. A newer file is refused, and left as it is.

use serde::Deserialize;

/// Version of a file, which is read before the rest: a newer program may have written that otherwise. Files without one
/// are of the first version.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FileVersion {
    #[serde(default = "first")]
    version: u64,
}

const fn first() -> u64 {
    1
}

/// The file is of a newer program.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is of a newer zeitnot (version {found}, known is {known}); update this one")]
pub struct NewerFile {
    found: u64,
    known: u64,
}

impl FileVersion {
    /// The version of this number.
    pub const fn new(version: u64) -> FileVersion {
        FileVersion { version }
    }

    /// Checks that it is not above the one that this program writes.
    ///
    /// # Errors
    /// [`NewerFile`]
    pub fn check(self, known: u64) -> Result<(), NewerFile> {
        let found = self.version;
        if found > known { Err(NewerFile { found, known }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_newer_files_are_refused() {
        for (text, is_known) in [("{}", true), (r#"{"version":1,"x":[]}"#, true), (r#"{"version":3}"#, false)]
        {
            let version: FileVersion = serde_json::from_str(text).unwrap();
            assert_eq!(version.check(2).is_ok(), is_known, "{text}");
        }
        let told = FileVersion::new(3).check(2).unwrap_err().to_string();
        assert_eq!(told, "is of a newer zeitnot (version 3, known is 2); update this one");
    }
}
