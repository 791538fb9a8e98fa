//! Where a client comes from, as the limits for an address count it.

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
};

/// Unit of the limits for an address: one of IPv4, or the network of 64 bits that a subscriber has in IPv6.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin(IpAddr);

impl From<IpAddr> for Origin {
    fn from(address: IpAddr) -> Origin {
        Origin(match address.to_canonical() {
            IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
            v4 => v4,
        })
    }
}

impl Origin {
    /// Reads what is shown of it.
    pub fn read(text: &str) -> Option<Origin> {
        text.strip_suffix("/64").unwrap_or(text).parse::<IpAddr>().ok().map(Origin::from)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(address) => address.fmt(f),
            IpAddr::V6(network) => write!(f, "{network}/64"),
        }
    }
}
