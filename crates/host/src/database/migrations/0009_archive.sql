-- The page lists games that are over, the latest first.

CREATE INDEX game_ended ON game (ended, id);
