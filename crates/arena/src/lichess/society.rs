//! Who follows, blocks and writes to whom, and who is in which team. It lasts as long as the server runs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Value, json};

use zeitnot_wire::lichess::UserId;

use super::{
    answer::{Answer, Body, Outcome},
    config::TeamConfig,
    desk::DeskActor,
    open::since_1970,
};

/// Whom one account can follow or block.
const MOST_RELATIONS: usize = 1000;
/// Letters between two accounts that are kept; the oldest go first.
const MOST_LETTERS: usize = 100;
/// Conversations of one account.
const MOST_THREADS: usize = 100;
/// The longest letter.
const LONGEST_LETTER: usize = 8000;

/// What is asked of the society.
#[derive(Debug)]
pub(super) enum Social {
    Relate(Relation, UserId),
    Following,
    Write(UserId, String),
    Thread(UserId),
    JoinTeam(String, Option<String>),
    QuitTeam(String),
}

/// What an account is to another from now on.
#[derive(Copy, Clone, Debug)]
pub(super) enum Relation {
    Follow,
    Unfollow,
    Block,
    Unblock,
}

#[derive(Debug)]
struct Team {
    config: TeamConfig,
    members: BTreeSet<UserId>,
}

impl Team {
    fn name(&self) -> &str {
        self.config.name.as_deref().unwrap_or(&self.config.id)
    }

    fn told(&self) -> Value {
        json!({
            "id": self.config.id, "name": self.name(), "description": "", "open": true, "leaders": [],
            "nbMembers": self.members.len(),
        })
    }
}

#[derive(Debug)]
struct Letter {
    from: UserId,
    text: String,
    at: u64,
}

/// See the module's comment.
#[derive(Debug, Default)]
pub(super) struct Society {
    follows: BTreeMap<UserId, BTreeSet<UserId>>,
    blocks: BTreeMap<UserId, BTreeSet<UserId>>,
    /// By the two who write, in the order of their names.
    letters: BTreeMap<[UserId; 2], VecDeque<Letter>>,
    teams: BTreeMap<String, Team>,
}

impl Society {
    pub(super) fn new(teams: &[TeamConfig]) -> Society {
        let team = |config: &TeamConfig| {
            (config.id.clone(), Team { config: config.clone(), members: BTreeSet::new() })
        };
        Society { teams: teams.iter().map(team).collect(), ..Society::default() }
    }

    pub(super) fn follows(&self, who: &UserId, whom: &UserId) -> bool {
        self.follows.get(who).is_some_and(|follows| follows.contains(whom))
    }

    pub(super) fn blocks(&self, who: &UserId, whom: &UserId) -> bool {
        self.blocks.get(who).is_some_and(|blocks| blocks.contains(whom))
    }

    pub(super) fn has_team(&self, id: &str) -> bool {
        self.teams.contains_key(id)
    }

    pub(super) fn is_member(&self, id: &str, who: &UserId) -> bool {
        self.teams.get(id).is_some_and(|team| team.members.contains(who))
    }

    fn relate(&mut self, who: &UserId, relation: Relation, whom: &UserId) -> Result<(), Answer> {
        let remove = |lists: &mut BTreeMap<UserId, BTreeSet<UserId>>, who: &UserId, whom: &UserId| {
            lists.get_mut(who).is_some_and(|list| list.remove(whom))
        };
        let list = match relation {
            Relation::Unfollow => {
                remove(&mut self.follows, who, whom);
                return Ok(());
            }
            Relation::Unblock => {
                remove(&mut self.blocks, who, whom);
                return Ok(());
            }
            Relation::Follow if self.blocks(whom, who) => return Err(Answer::bad("You cannot follow them")),
            Relation::Follow => {
                remove(&mut self.blocks, who, whom);
                self.follows.entry(who.clone()).or_default()
            }
            Relation::Block => {
                remove(&mut self.follows, who, whom);
                remove(&mut self.follows, whom, who);
                self.blocks.entry(who.clone()).or_default()
            }
        };
        if list.len() >= MOST_RELATIONS && !list.contains(whom) {
            return Err(Answer::bad("Too many relations"));
        }
        list.insert(whom.clone());
        Ok(())
    }

    fn write(&mut self, from: &UserId, to: &UserId, text: &str) -> Result<(), Answer> {
        let threads = self.letters.keys().filter(|pair| pair.contains(from)).count();
        let thread = pair(from, to);
        if self.blocks(to, from) || (threads >= MOST_THREADS && !self.letters.contains_key(&thread)) {
            return Err(Answer::bad("You cannot write to them"));
        }
        let text = text.chars().take(LONGEST_LETTER).collect();
        let letters = self.letters.entry(thread).or_default();
        if letters.len() == MOST_LETTERS {
            letters.pop_front();
        }
        let at = u64::try_from(since_1970().as_millis()).unwrap_or_default();
        letters.push_back(Letter { from: from.clone(), text, at });
        Ok(())
    }

    /// What two wrote each other, the latest first.
    fn thread(&self, who: &UserId, whom: &UserId) -> Value {
        let letters = self.letters.get(&pair(who, whom)).into_iter().flatten().rev();
        let told = letters.map(|letter| json!({"text": letter.text, "user": letter.from, "date": letter.at}));
        json!({ "contact": { "id": whom }, "msgs": told.collect::<Vec<_>>() })
    }

    fn team(&mut self, id: &str) -> Result<&mut Team, Answer> {
        self.teams.get_mut(id).ok_or_else(|| Answer::missing("Not found"))
    }

    fn join(&mut self, who: &UserId, id: &str, password: Option<&str>) -> Result<(), Answer> {
        let team = self.team(id)?;
        if team.config.password.as_deref().is_some_and(|needed| password != Some(needed)) {
            return Err(Answer::bad("Incorrect team password"));
        }
        team.members.insert(who.clone());
        Ok(())
    }
}

fn pair(one: &UserId, other: &UserId) -> [UserId; 2] {
    let mut pair = [one.clone(), other.clone()];
    pair.sort();
    pair
}

impl DeskActor {
    pub(super) fn social(&mut self, who: &UserId, call: Social) -> Outcome {
        if let Social::Relate(_, whom) | Social::Write(whom, _) | Social::Thread(whom) = &call {
            let other = self.people.find(whom).filter(|_| whom != who);
            other.ok_or_else(|| Answer::missing("Not found"))?;
        }
        match call {
            Social::Relate(relation, whom) => self.society.relate(who, relation, &whom)?,
            Social::Write(whom, text) => self.society.write(who, &whom, &text)?,
            Social::JoinTeam(id, password) => self.society.join(who, &id, password.as_deref())?,
            Social::QuitTeam(id) => {
                self.society.team(&id)?.members.remove(who);
            }
            Social::Thread(whom) => return Ok(Answer::value(&self.society.thread(who, &whom))),
            Social::Following => {
                let follows = self.society.follows.get(who).into_iter().flatten();
                let people = follows.filter_map(|id| self.people.find(id));
                let lines =
                    people.map(|person| serde_json::to_string(&person.user).unwrap_or_default() + "\n");
                return Ok(Answer::of(Body::Lines(lines.collect())));
            }
        }
        Ok(Answer::done())
    }

    pub(super) fn team(&self, id: &str) -> Outcome {
        let team = self.society.teams.get(id).ok_or_else(|| Answer::missing("Not found"))?;
        Ok(Answer::value(&team.told()))
    }

    /// The teams that somebody is in.
    pub(super) fn teams_of(&self, who: &UserId) -> Answer {
        let teams = self.society.teams.values().filter(|team| team.members.contains(who));
        Answer::value(&teams.map(Team::told).collect::<Vec<_>>())
    }

    /// Everybody in a team.
    pub(super) fn members(&self, id: &str) -> Outcome {
        let team = self.society.teams.get(id).ok_or_else(|| Answer::missing("Not found"))?;
        let people = team.members.iter().filter_map(|id| self.people.find(id));
        let lines = people.map(|person| serde_json::to_string(&person.user).unwrap_or_default() + "\n");
        Ok(Answer::of(Body::Lines(lines.collect())))
    }
}
