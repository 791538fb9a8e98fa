//! Protection of the page: which requests are answered, from which page, and what a page may load.

use axum::{
    extract::{Request, State},
    http::{
        HeaderName, HeaderValue, Method,
        header::{self, ORIGIN},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::answer::ApiError;
use crate::hosts::{BadHost, Hosts};

/// Headers of every answer. Scripts, styles and sounds come from here alone; pictures may stand in a style.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; \
         frame-ancestors 'none'",
    ),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

fn check(hosts: &Hosts, request: &Request) -> Result<(), BadHost> {
    let host = hosts.host(request.headers(), request.uri())?;
    let is_socket = request.headers().contains_key(header::UPGRADE);
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    match request.headers().get(ORIGIN).filter(|_| is_socket || changes) {
        Some(origin) if !hosts.is_own_page(origin, &host) => Err(BadHost::OtherPage),
        // Only browsers send it, and they always do then.
        _ => Ok(()),
    }
}

/// Checks host and origin, and adds the headers of every answer.
pub(super) async fn protect(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let mut answer = match check(&hosts, &request) {
        Ok(()) => next.run(request).await,
        Err(error) => ApiError::new(error.status(), error.to_string()).into_response(),
    };
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

#[cfg(test)]
mod tests {
    use axum::http::header::HOST;

    use super::*;
    use crate::hosts::PublicUrl;

    #[test]
    fn other_names_and_other_pages_are_refused() {
        let public = PublicUrl::try_from("https://chess.example.org/".to_owned()).unwrap();
        assert_eq!(public.as_str(), "https://chess.example.org");
        let hosts = Hosts::new(Some(public), "[arena.web]");
        let is_admitted = |method: &str, host: &str, origin: Option<&str>| {
            let mut request = Request::builder().method(method).uri("/api/games").header(HOST, host);
            if let Some(origin) = origin {
                request = request.header(ORIGIN, origin);
            }
            check(&hosts, &request.body(axum::body::Body::empty()).unwrap()).is_ok()
        };
        for host in ["127.0.0.1:8080", "localhost:1", "[::1]:8080", "192.168.1.4", "Chess.Example.org"] {
            assert!(
                is_admitted("GET", host, Some("https://evil.example")),
                "{host}: reading is not a change"
            );
            assert!(is_admitted("POST", host, None), "{host}");
            assert!(is_admitted("POST", host, Some(&format!("http://{host}"))), "{host}");
            assert!(is_admitted("POST", host, Some("https://chess.example.org")), "{host}");
            assert!(!is_admitted("POST", host, Some("https://evil.example")), "{host}");
            assert!(!is_admitted("POST", host, Some("null")), "{host}");
        }
        assert!(!is_admitted("POST", "127.0.0.1:8080", Some("http://127.0.0.1:9090")));
        for host in ["evil.example", "127.0.0.1.evil.example", "evil.localhost.example:80", "", "a b"] {
            assert!(!is_admitted("GET", host, None), "{host}");
        }
    }
}
