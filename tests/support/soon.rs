//! Waiting that ends, also where what is waited for never comes.

use std::time::Duration;

use tokio::time::timeout;

/// Nothing in the tests takes this long, unless it never comes.
const LONG: Duration = Duration::from_secs(10);

pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    timeout(LONG, future).await.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}
