//! Choice of the evaluation of chess: that by hand, the net in the program, or a net in a file.

use std::{
    fmt,
    path::PathBuf,
    str::FromStr,
    sync::{Arc, LazyLock},
};

use serde::{Deserialize, Deserializer, de};

use super::{NetError, Weights, evaluation::Net};

/// The file of the net in the program.
const SHIPPED: &[u8] = include_bytes!(env!("ZEITNOT_NET"));

static SHIPPED_NET: LazyLock<Option<Arc<Net>>> = LazyLock::new(|| {
    // A test reads it.
    let weights = Weights::from_bytes(SHIPPED).ok()?;
    Net::new(&weights).ok().map(Arc::new)
});

/// Evaluation of chess that the search uses, as an option or the configuration names it: `hand-made`, `net` for the
/// one in the program, or the path of a net, which has been read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EvalFile {
    /// The net in the program.
    #[default]
    Shipped,
    /// The evaluation by hand.
    HandMade,
    /// A net of a file.
    File {
        /// Path of the file.
        path: PathBuf,
        /// The net that was there.
        net: Arc<Net>,
    },
}

const HAND_MADE: &str = "hand-made";
const SHIPPED_NAME: &str = "net";

impl EvalFile {
    /// A net that counts material.
    #[cfg(test)]
    pub(crate) fn material() -> EvalFile {
        let net = Arc::new(Net::new(&Weights::material()).unwrap());
        EvalFile::File { path: PathBuf::from("material.net"), net }
    }

    /// The net; `None` for the evaluation by hand.
    pub fn net(&self) -> Option<Arc<Net>> {
        match self {
            EvalFile::HandMade => None,
            EvalFile::Shipped => SHIPPED_NET.clone(),
            EvalFile::File { net, .. } => Some(net.clone()),
        }
    }
}

impl FromStr for EvalFile {
    type Err = NetError;

    fn from_str(text: &str) -> Result<EvalFile, NetError> {
        match text {
            HAND_MADE => Ok(EvalFile::HandMade),
            SHIPPED_NAME => Ok(EvalFile::Shipped),
            path => {
                let path = PathBuf::from(path);
                let net = Arc::new(Net::open(&path)?);
                Ok(EvalFile::File { path, net })
            }
        }
    }
}

impl fmt::Display for EvalFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalFile::HandMade => f.write_str(HAND_MADE),
            EvalFile::Shipped => f.write_str(SHIPPED_NAME),
            EvalFile::File { path, .. } => path.display().fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for EvalFile {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_net_in_the_program_is_valid() {
        let shipped = EvalFile::default();
        assert!(shipped.net().is_some());
        assert_eq!(SHIPPED_NAME.parse::<EvalFile>().unwrap(), shipped);
    }

    #[test]
    fn each_is_called_as_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("material.net");
        fs::write(&path, Weights::material().to_bytes()).unwrap();
        let path = path.to_str().unwrap();
        let by_file: EvalFile = path.parse().unwrap();
        assert_eq!(by_file.to_string(), path);
        assert_eq!(by_file.net().unwrap().shape().hidden(), 32);
        assert_eq!(by_file, path.parse().unwrap());
        let by_hand: EvalFile = HAND_MADE.parse().unwrap();
        assert_eq!((by_hand.to_string().as_str(), by_hand.net()), (HAND_MADE, None));
        fs::write(path, [0; 9]).unwrap();
        let error = path.parse::<EvalFile>().unwrap_err().to_string();
        assert!(error.ends_with("material.net: is not a net of Zeitnot: docs/net.md describes the file"));
    }
}
