//! The page: files that `scripts/build-web` builds from `web/`, embedded in the program.

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use rust_embed::{Embed, EmbeddedFile};

#[derive(Embed)]
#[folder = "page/"]
struct Files;

const INDEX: &str = "index.html";
/// First segments of the page's own paths.
const PAGES: [&str; 7] = ["", "game", "play", "table", "tournaments", "tournament", "bot"];
/// Folder of files whose names change with their content.
const HASHED: &str = "assets/";

/// Answers whatever is not of the API.
pub(super) async fn serve(request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")]).into_response();
    }
    let path = request.uri().path().trim_start_matches('/');
    if let Some(file) = Files::get(path) {
        return answer(path, file, request.headers());
    }
    let page = path.split('/').next().unwrap_or_default();
    match Files::get(INDEX).filter(|_| PAGES.contains(&page)) {
        Some(index) => answer(INDEX, index, request.headers()),
        None => (StatusCode::NOT_FOUND, "There is no such page: / shows the games\n").into_response(),
    }
}

fn answer(path: &str, file: EmbeddedFile, asked: &HeaderMap) -> Response {
    let hash = file.metadata.sha256_hash();
    let tag: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    // Weak: compressed it has other bytes.
    let tag = format!("W/\"{tag}\"");
    let caching = if path.starts_with(HASHED) { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = [(header::ETAG, tag.clone()), (header::CACHE_CONTROL, caching.to_owned())];
    let known = asked.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok());
    if known.is_some_and(|known| known.split(',').any(|known| known.trim() == tag)) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, [(header::CONTENT_TYPE, content_type(path))], Body::from(file.data.into_owned()))
        .into_response()
}

/// Returns the type of the kinds of files that the page has.
fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "mp3" => "audio/mpeg",
        "ogg" => "audio/ogg",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
