//! Decides which IP addresses are public. An address is public if the IANA special-purpose address
//! registries (RFC 6890) consider it globally routable.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 blocks that are not public, each as first address and prefix length.
const V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),        // this network
    (Ipv4Addr::new(10, 0, 0, 0), 8),       // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),    // carrier-grade NAT
    (Ipv4Addr::new(127, 0, 0, 0), 8),      // loopback
    (Ipv4Addr::new(168, 63, 129, 16), 32), // Azure's host agent, reachable from Azure machines only
    (Ipv4Addr::new(169, 254, 0, 0), 16),   // link-local, cloud metadata
    (Ipv4Addr::new(172, 16, 0, 0), 12),    // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),     // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24),     // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24),   // 6to4 relays, withdrawn
    (Ipv4Addr::new(192, 168, 0, 0), 16),   // private
    (Ipv4Addr::new(198, 18, 0, 0), 15),    // benchmarking
    (Ipv4Addr::new(198, 51, 100, 0), 24),  // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),   // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),      // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),      // reserved, broadcast
];

/// IPv6 blocks within global unicast (2000::/3) that are not public, each as first address and
/// prefix length.
const V6: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocols: Teredo, benchmarking, ORCHID
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

const GLOBAL_UNICAST: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
const SIX_TO_FOUR: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16);
const NAT64: (Ipv6Addr, u32) = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

/// Returns whether the address leads to the same host from anywhere on the internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !V4.iter().any(|&(block, length)| {
        u32::from(address) >> (32 - length) == u32::from(block) >> (32 - length)
    })
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let within = |(block, length): (Ipv6Addr, u32)| {
        u128::from(address) >> (128 - length) == u128::from(block) >> (128 - length)
    };
    let bits = u128::from(address);
    // Gateways for these two blocks forward packets to the embedded IPv4 address.
    if within(SIX_TO_FOUR) {
        return is_public_v4(Ipv4Addr::from_bits((bits >> 80) as u32));
    }
    if within(NAT64) {
        return is_public_v4(Ipv4Addr::from_bits(bits as u32));
    }
    within(GLOBAL_UNICAST) && !V6.iter().any(|&block| within(block))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routable_addresses_are_public() {
        let public = [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "168.63.129.17",
            "2606:4700:4700::1111",
            "2a00:1450::1",
            "2400:cb00::1",
            "2002:0808:0808::1",
            "64:ff9b::8.8.8.8",
            "2001:4860:4860::8888",
        ];
        for address in public {
            assert!(is_public(address.parse().expect(address)), "{address} is public");
        }
    }

    #[test]
    fn special_purpose_ipv4_addresses_are_not_public() {
        assert_not_public(&[
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
        ]);
    }

    #[test]
    fn special_purpose_ipv6_addresses_are_not_public() {
        assert_not_public(&[
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "100::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "2001::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "3fff::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "2002:c0a8:101::",
            "64:ff9b::10.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b:1::8.8.8.8",
            "5f00::1",
            "4000::1",
        ]);
    }

    fn assert_not_public(addresses: &[&str]) {
        for address in addresses {
            assert!(!is_public(address.parse().expect(address)), "{address} is not public");
        }
    }
}
