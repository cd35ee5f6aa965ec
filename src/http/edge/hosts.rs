//! The host names that a service without tokens accepts, as a defense against DNS rebinding. In
//! such an attack, the host name of the attacker's page resolves to this service once the page has
//! loaded. The browser then considers the page's requests same-origin, but their `Host` header
//! still contains the attacker's host name.

use std::net::IpAddr;

use poem::Request;
use poem::http::header;
use poem::http::uri::Authority;

use crate::http::settings::HttpOptions;

/// Host names that are accepted in addition to `localhost` and IP addresses.
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    pub(crate) fn new(options: &HttpOptions) -> Self {
        let base = url::Url::parse(&options.base_url).ok();
        let base = base.and_then(|base| base.host_str().map(str::to_owned));
        let names = options.server.hosts.iter().cloned().chain(base);
        Self(names.map(|name| name.trim_end_matches('.').to_ascii_lowercase()).collect())
    }

    /// Returns the host that the request was sent to, if that host is not accepted.
    pub(crate) fn foreign_host(&self, request: &Request) -> Option<String> {
        let hosts = request.headers().get_all(header::HOST).into_iter();
        let hosts = hosts.map(|host| String::from_utf8_lossy(host.as_bytes()).into_owned());
        // The request target may also contain a host, which takes precedence over the header.
        let target = request.uri().authority().map(ToString::to_string);
        hosts.chain(target).find(|host| !self.is_own(host))
    }

    fn is_own(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else { return false };
        let name = authority.host().trim_end_matches('.').to_ascii_lowercase();
        let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        // DNS rebinding cannot use these hosts: an attacker does not control what they resolve to.
        address.unwrap_or(&name).parse::<IpAddr>().is_ok()
            || name == "localhost"
            || name.ends_with(".localhost")
            || self.0.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::settings::HttpSettings;

    #[test]
    fn own_hosts_are_recognised() {
        let server = HttpSettings { hosts: vec!["Shotlog".into()], ..HttpSettings::default() };
        let base_url = "https://video.example.org:8443/".into();
        let hosts = Hosts::new(&HttpOptions { server, base_url, ..HttpOptions::default() });
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "localhost.",
            "a.localhost:1",
            "127.0.0.1",
            "127.0.0.1:8080",
            "10.1.2.3:8080",
            "[::1]:8080",
            "video.example.org",
            "Video.Example.org.:1",
            "shotlog:8080",
        ] {
            assert!(hosts.is_own(host), "{host}");
        }
        for host in [
            "evil.test",
            "evil.test:8080",
            "localhost.evil.test",
            "127.0.0.1.evil.test",
            "localhost@evil.test",
            "a.video.example.org",
            "notlocalhost",
            "",
            " ",
            "[::1",
        ] {
            assert!(!hosts.is_own(host), "{host}");
        }
    }
}
