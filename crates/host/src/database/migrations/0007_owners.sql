-- Several arenas on one database: whose the tournaments and states are, and whose games run.

CREATE TABLE owner (
    -- tournament:ID, lichess or refusals
    subject TEXT   PRIMARY KEY,
    -- Run of an arena: a number drawn at its start.
    run     BIGINT NOT NULL
);

-- Run of the arena that plays it.
ALTER TABLE game ADD COLUMN run BIGINT;

CREATE INDEX game_running ON game (run) WHERE result IS NULL;
