//! File of a network: a header with a checksum, then the weights, all little-endian.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use zeitnot_rules::fnv1a_bytes;

use super::{BUCKETS, FEATURES, MAX_OUTPUT_UNIT, MAX_OUTPUT_WEIGHT, NetShape, QA, SCALE, weights::Weights};

/// First bytes of a file; the last one is the version of the format.
const MAGIC: [u8; 8] = *b"ZNTNET\0\x01";
/// Place of the version.
const VERSION: usize = MAGIC.len() - 1;
/// Magic, six numbers of two bytes, and the checksum of the rest.
const HEADER: usize = 8 + 6 * 2 + 8;

/// A file that is not a network which this engine can use.
#[derive(Debug, thiserror::Error)]
#[error("net {}: {fault}", path.display())]
pub struct NetError {
    /// Path of the file.
    pub path: PathBuf,
    /// Reason.
    pub fault: NetFault,
}

/// Reason why a network cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NetFault {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// The file does not begin as networks do.
    #[error("is not a net of Zeitnot: docs/net.md describes the file")]
    Foreign,
    /// The file is of a newer version of the format.
    #[error("is of version {0} of the format, and this engine knows {KNOWN}: update it, or use another net", KNOWN = MAGIC[VERSION])]
    Newer(u8),
    /// The hidden layer has another size than those supported.
    #[error("has a hidden layer of {0}; supported are multiples of 32 up to 1024")]
    Shape(usize),
    /// The network was trained for another architecture.
    #[error("has {name} {found} where this engine has {expected}")]
    Architecture {
        /// Name of the constant.
        name: &'static str,
        /// Its value in the file.
        found: u16,
        /// Our value.
        expected: i32,
    },
    /// The weights of the output layers are in parts that are too large or too small.
    #[error("has output weights in parts of {0}; supported are 1 to {MAX_OUTPUT_UNIT}")]
    OutputUnit(u16),
    /// The file is too short or too long.
    #[error("has {found} bytes instead of {expected}: download or write it again")]
    Length {
        /// Number of bytes.
        found: usize,
        /// Number of bytes of a network of this size.
        expected: usize,
    },
    /// The checksum does not fit.
    #[error("is damaged, its checksum does not match: download or write it again")]
    Damaged,
    /// A weight of the output layer does not fit its multiplication.
    #[error("has the output weight {0}, above {MAX_OUTPUT_WEIGHT} in magnitude")]
    OutputWeight(i16),
}

impl Weights {
    /// Reads a file.
    ///
    /// # Errors
    /// [`NetError`] if it cannot be read or is not valid.
    pub fn open(path: &Path) -> Result<Weights, NetError> {
        let read = || {
            let longest = file_size(NetShape::MAX_HIDDEN) + 1;
            let mut bytes = Vec::new();
            File::open(path)?.take(longest as u64).read_to_end(&mut bytes)?;
            Weights::from_bytes(&bytes)
        };
        read().map_err(|fault| NetError { path: path.to_owned(), fault })
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// [`NetFault`] if they are not valid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Weights, NetFault> {
        let (header, body) = bytes.split_first_chunk::<HEADER>().ok_or(NetFault::Foreign)?;
        if !header.starts_with(&MAGIC) {
            let is_newer = header.starts_with(&MAGIC[..VERSION]) && header[VERSION] > MAGIC[VERSION];
            return Err(if is_newer { NetFault::Newer(header[VERSION]) } else { NetFault::Foreign });
        }
        let number = |at: usize| u16::from_le_bytes([header[8 + 2 * at], header[9 + 2 * at]]);
        let hidden = usize::from(number(0));
        let shape = NetShape::new(hidden).ok_or(NetFault::Shape(hidden))?;
        let constants =
            [(1, "buckets", BUCKETS as i32), (2, "QA", QA), (4, "SCALE", SCALE), (5, "reserved", 0)];
        for (at, name, expected) in constants {
            let found = number(at);
            if i32::from(found) != expected {
                return Err(NetFault::Architecture { name, found, expected });
            }
        }
        if bytes.len() != file_size(hidden) {
            return Err(NetFault::Length { found: bytes.len(), expected: file_size(hidden) });
        }
        if header[HEADER - 8..] != fnv1a_bytes(body).to_le_bytes() {
            return Err(NetFault::Damaged);
        }
        let weights = Weights::from_body(shape, number(3), body);
        weights.check()?;
        Ok(weights)
    }

    /// Checks the number of the weights, and the output layers.
    pub(super) fn check(&self) -> Result<(), NetFault> {
        let Weights { shape, features, feature_bias, output, output_unit, .. } = self;
        if !(1..=MAX_OUTPUT_UNIT).contains(output_unit) {
            return Err(NetFault::OutputUnit(*output_unit));
        }
        let found = [features.len(), feature_bias.len(), output.len()];
        if found != [shape.feature_weights(), shape.hidden(), shape.output_weights()] {
            let found = HEADER + 2 * found.iter().sum::<usize>() + 4 * BUCKETS;
            return Err(NetFault::Length { found, expected: file_size(shape.hidden()) });
        }
        let too_large = |weight: &&i16| weight.unsigned_abs() > MAX_OUTPUT_WEIGHT.unsigned_abs();
        output.iter().find(too_large).map_or(Ok(()), |&weight| Err(NetFault::OutputWeight(weight)))
    }

    /// Reads the weights, whose number has been checked.
    fn from_body(shape: NetShape, output_unit: u16, body: &[u8]) -> Weights {
        let (small, biases) = body.split_at(body.len() - 4 * BUCKETS);
        let mut small = small.chunks_exact(2).map(|bytes| i16::from_le_bytes([bytes[0], bytes[1]]));
        let mut weights = Weights { output_unit, ..Weights::zero(shape) };
        for part in [&mut weights.features, &mut weights.feature_bias, &mut weights.output] {
            part.iter_mut().zip(&mut small).for_each(|(to, from)| *to = from);
        }
        for (to, from) in weights.output_bias.iter_mut().zip(biases.chunks_exact(4)) {
            *to = i32::from_le_bytes([from[0], from[1], from[2], from[3]]);
        }
        weights
    }

    /// The bytes of a file with these weights, valid if [`Net::new`](super::Net::new) accepts them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = self.body();
        let mut bytes = MAGIC.to_vec();
        for number in [self.shape.hidden() as i32, BUCKETS as i32, QA, self.output_unit.into(), SCALE, 0] {
            bytes.extend((number as u16).to_le_bytes());
        }
        bytes.extend(fnv1a_bytes(&body).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    /// Checksum of the weights: that of the file.
    pub(super) fn checksum(&self) -> u64 {
        fnv1a_bytes(&self.body())
    }

    fn body(&self) -> Vec<u8> {
        let small = [&self.features, &self.feature_bias, &self.output].into_iter().flatten();
        let mut body: Vec<u8> = small.flat_map(|value| value.to_le_bytes()).collect();
        body.extend(self.output_bias.iter().flat_map(|value| value.to_le_bytes()));
        body
    }
}

fn file_size(hidden: usize) -> usize {
    HEADER + 2 * hidden * (FEATURES + 1 + 2 * BUCKETS) + 4 * BUCKETS
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    fn random(hidden: usize) -> Weights {
        Weights::random(NetShape::new(hidden).unwrap(), 7)
    }

    fn fault(bytes: &[u8]) -> String {
        match Weights::from_bytes(bytes) {
            Ok(_) => "none".to_owned(),
            Err(fault) => fault.to_string(),
        }
    }

    /// Bytes of a network with a part of the header replaced.
    fn with(at: usize, new: &[u8]) -> Vec<u8> {
        let mut bytes = random(32).to_bytes();
        bytes[at..at + new.len()].copy_from_slice(new);
        bytes
    }

    #[test]
    fn what_is_written_is_read_and_lies_as_documented() {
        for hidden in [32, 96, 1024] {
            let weights = random(hidden);
            let bytes = weights.to_bytes();
            assert_eq!(bytes.len(), 28 + hidden * 2 * (768 + 1 + 16) + 32);
            assert_eq!(Weights::from_bytes(&bytes).unwrap(), weights);
        }
        let weights = random(64);
        let bytes = weights.to_bytes();
        assert_eq!(bytes[..20], *b"ZNTNET\0\x01\x40\0\x08\0\xff\0\x40\0\x90\x01\0\0");
        let input_700 = 28 + 2 * (700 * 64 + 3);
        assert_eq!(bytes[input_700..input_700 + 2], weights.features[700 * 64 + 3].to_le_bytes());
        assert_eq!(bytes[bytes.len() - 4..], weights.output_bias[7].to_le_bytes());
    }

    #[test]
    fn each_fault_is_named() {
        let whole = random(32).to_bytes();
        assert_eq!(fault(&whole), "none");
        assert!(fault(b"").starts_with("is not a net"), "{}", fault(b""));
        assert!(fault(&with(0, b"CPJKU")).starts_with("is not a net"));
        assert!(fault(&with(7, &[0])).starts_with("is not a net"));
        let newer = "is of version 2 of the format, and this engine knows 1: update it, or use another net";
        assert_eq!(fault(&with(7, &[2])), newer);
        assert!(fault(&with(8, &[33, 0])).starts_with("has a hidden layer of 33;"));
        assert!(fault(&with(8, &[0xff, 0xff])).starts_with("has a hidden layer of 65535;"));
        assert_eq!(fault(&with(10, &[1, 0])), "has buckets 1 where this engine has 8");
        assert_eq!(fault(&with(16, &[0, 1])), "has SCALE 256 where this engine has 400");
        assert!(
            fault(&with(8, &[64, 0])).starts_with("has 50300 bytes instead of 100540:"),
            "{}",
            fault(&with(8, &[64, 0]))
        );
        assert!(fault(&[whole.as_slice(), &[0]].concat()).starts_with("has 50301 bytes instead of 50300:"));
        assert!(fault(&with(whole.len() - 40, &[1, 2, 3])).starts_with("is damaged"));
        assert!(fault(&with(20, &[0; 8])).starts_with("is damaged"));
        let mut weights = random(32);
        weights.output[5] = 128;
        assert_eq!(fault(&weights.to_bytes()), "has the output weight 128, above 127 in magnitude");
        weights.output[5] = i16::MIN;
        assert_eq!(fault(&weights.to_bytes()), "has the output weight -32768, above 127 in magnitude");
    }

    #[test]
    fn a_file_is_named_with_its_fault() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.net");
        let told = || Weights::open(&path).err().map(|error| error.to_string());
        assert!(told().unwrap().ends_with("a.net: cannot be read: No such file or directory (os error 2)"));
        fs::write(&path, random(64).to_bytes()).unwrap();
        assert_eq!(told(), None);
        // Endless, as a device could be.
        fs::write(&path, vec![0; 4 << 20]).unwrap();
        assert!(told().unwrap().contains("a.net: is not a net of Zeitnot"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_net_or_a_fault(mut bytes in prop::collection::vec(any::<u8>(), 0..400), magic: bool) {
            if magic && bytes.len() >= 20 {
                bytes[..20].copy_from_slice(&random(32).to_bytes()[..20]);
            }
            prop_assert!(Weights::from_bytes(&bytes).is_err());
        }

        #[test]
        fn a_net_cut_off_anywhere_is_a_fault(length: prop::sample::Index) {
            let bytes = random(32).to_bytes();
            prop_assert!(Weights::from_bytes(&bytes[..length.index(bytes.len())]).is_err());
        }
    }
}
