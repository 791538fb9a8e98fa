//! Client of the shared cache's server: its address with what else the `[cache]` table names.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    path::Path,
};

use redis::{Client, TlsCertificates};
use zeitnot_net::{http, secret::SecretKey};

use super::config::BadSharedUrl;
use crate::cache::Config;

const PASSWORD: SecretKey =
    SecretKey { key: "shared_password", variable: "ZEITNOT_CACHE_PASSWORD", max_length: 512 };
/// Tells where the password is set.
pub(super) const PASSWORD_ADVICE: &str =
    "check the user in `shared`, and its password in `shared_password_file` or ZEITNOT_CACHE_PASSWORD";
/// Maximum length of a file with certificates in bytes.
const MAX_CERTIFICATES: u64 = 1 << 20;

/// Reads the file and the variable that the table names, and returns a client that has not connected yet; `None`: no
/// cache is shared.
///
/// # Errors
/// Line that says what to correct in the configuration.
pub(super) fn open(config: &Config) -> Result<Option<Client>, String> {
    let Some(url) = &config.shared else { return Ok(None) };
    let password = PASSWORD.find(None, config.shared_password_file.as_deref())?;
    let mut info = url.info().clone();
    if let Some(password) = password {
        let login = info.redis_settings().clone().set_password(password.expose());
        info = info.set_redis_settings(login);
    }
    http::provide_tls();
    let client = match &config.shared_ca_file {
        None => Client::open(info),
        Some(file) => {
            let why = |why: &dyn fmt::Display| format!("cannot use shared_ca_file {}: {why}", file.display());
            let root_cert = Some(certificates(file).map_err(|error| why(&error))?);
            let client = Client::build_with_tls(info, TlsCertificates { client_tls: None, root_cert });
            return client
                .map(Some)
                .map_err(|_| why(&"expected certificates (PEM), and an address that begins with rediss://"));
        }
    };
    client.map(Some).map_err(|_| BadSharedUrl::Form.to_string())
}

fn certificates(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(MAX_CERTIFICATES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
