-- Games on their way to the files of games: each gets a mark once it is in one.

ALTER TABLE game ADD COLUMN exported BIGINT;
-- Earlier arenas have written theirs.
UPDATE game SET exported = 1 WHERE ended IS NOT NULL;

CREATE INDEX game_to_export ON game (tournament_id) WHERE exported IS NULL AND termination <> 'forfeit';

-- File to which the games of the tournaments of a name are appended.
CREATE TABLE export (
    tournament TEXT   PRIMARY KEY,
    file       TEXT   NOT NULL,
    -- Its length when games were marked last.
    bytes      BIGINT NOT NULL
);
