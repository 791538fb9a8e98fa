-- State of the Lichess API besides its ended games, which stand in the table of all games, too.

CREATE TABLE lichess (
    -- account, challenge, game or record
    kind  TEXT NOT NULL,
    id    TEXT NOT NULL,
    -- JSON; of a record the PGN, until that is in its file
    value TEXT NOT NULL,
    PRIMARY KEY (kind, id)
);
