//! What the administrator alone may ask for.

use hyper::StatusCode;

use zeitnot_wire::lichess::Token;

use super::{
    answer::{Answer, Body, Outcome},
    config::AccountConfig,
    desk::{Bearer, DeskActor},
};

impl DeskActor {
    pub(super) fn check_admin(&self, bearer: &Bearer) -> Result<(), Answer> {
        match bearer {
            Bearer::Token(token) if self.config.admin_token.as_ref() == Some(token) => Ok(()),
            _ => Err(Answer::refused(StatusCode::UNAUTHORIZED, "No such token")),
        }
    }

    pub(super) fn new_account(
        &mut self,
        bearer: &Bearer,
        name: String,
        title: Option<String>,
        token: Option<Token>,
    ) -> Outcome {
        self.check_admin(bearer)?;
        let token = token.or_else(made_up).ok_or_else(|| {
            Answer::refused(StatusCode::INTERNAL_SERVER_ERROR, "The system has no random numbers for a token")
        })?;
        let mut account = AccountConfig { token: Some(token.clone()), ..AccountConfig::new(name) };
        account.title = title.unwrap_or(account.title);
        let id = self.people.make(account).map_err(|why| Answer::bad(&why.to_string()))?;
        tracing::info!("Lichess: the administrator has made an account for {id}");
        let text = serde_json::json!({ "id": id, "token": token }).to_string();
        Ok(Answer::of(Body::Json(text)))
    }
}

/// A token that nobody guesses.
fn made_up() -> Option<Token> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    format!("lip_{:032x}", u128::from_ne_bytes(bytes)).parse().ok()
}
