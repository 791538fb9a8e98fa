//! Writes small books in Polyglot's format, as a program that makes books would.

/// Key, move, weight.
#[derive(Clone, Default)]
pub struct Builder(Vec<(u64, u16, u16)>);

impl Builder {
    /// In the position of this key, this move in coordinates (castling is king takes rook) with this weight.
    pub fn entry(self, key: u64, mv: &str, weight: u16) -> Self {
        self.raw(key, packed(mv), weight)
    }

    pub fn raw(mut self, key: u64, mv: u16, weight: u16) -> Self {
        self.0.push((key, mv, weight));
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut entries = self.0.clone();
        entries.sort_by_key(|(key, ..)| *key);
        let entry = |(key, mv, weight): (u64, u16, u16)| {
            [&key.to_be_bytes()[..], &mv.to_be_bytes(), &weight.to_be_bytes(), &[0; 4]].concat()
        };
        entries.into_iter().flat_map(entry).collect()
    }
}

pub fn packed(mv: &str) -> u16 {
    let square = |text: &[u8]| u16::from(text[0] - b'a') | u16::from(text[1] - b'1') << 3;
    let promotion = match mv.as_bytes().get(4) {
        None => 0,
        Some(piece) => 1 + b"nbrq".iter().position(|p| p == piece).unwrap() as u16,
    };
    square(&mv.as_bytes()[2..]) | square(mv.as_bytes()) << 6 | promotion << 12
}
