-- Tournaments with their history, and the games of all fronts. SQLite and PostgreSQL both know this SQL: texts and whole
-- numbers only, ids are ours, moments are RFC 3339 in UTC.

CREATE TABLE tournament (
    id           BIGINT PRIMARY KEY,
    name         TEXT   NOT NULL,
    -- Tournaments of one name follow each other, from 1.
    edition      BIGINT NOT NULL,
    kind         TEXT   NOT NULL,
    time_control TEXT   NOT NULL,
    -- running, paused or complete
    state        TEXT   NOT NULL,
    -- JSON; of a tournament that is not in the configuration file
    settings     TEXT,
    opened       TEXT   NOT NULL,
    closed       TEXT,
    UNIQUE (name, edition)
);

CREATE TABLE game (
    id            TEXT PRIMARY KEY,
    -- The front: contest, imcs, tuc.
    source        TEXT NOT NULL,
    kind          TEXT NOT NULL,
    tournament_id BIGINT REFERENCES tournament (id),
    round         BIGINT,
    opening       BIGINT,
    white         TEXT NOT NULL,
    black         TEXT NOT NULL,
    time_control  TEXT,
    -- NULL: the usual position
    start         TEXT,
    -- An earlier game without a result, which this one repeats.
    repeats       TEXT,
    began         TEXT NOT NULL,
    -- Moves between spaces, each with the milliseconds left behind an @ if there is a clock. Of tuc: the messages to both
    -- players, which show the prizes too.
    moves         TEXT NOT NULL,
    -- From here on NULL while the game runs.
    ended         TEXT,
    -- 1-0, 0-1, 1/2-1/2 or *
    result        TEXT,
    reason        TEXT,
    -- As in PGN; forfeit: it was not played.
    termination   TEXT,
    -- Among the events of the tournament.
    place         BIGINT,
    -- Result in place of the one at the board.
    corrected     TEXT
);

CREATE INDEX game_of_tournament ON game (tournament_id, place);

-- What changed a tournament besides the results of games, in its order.
CREATE TABLE event (
    tournament_id BIGINT NOT NULL REFERENCES tournament (id),
    place         BIGINT NOT NULL,
    at            TEXT   NOT NULL,
    kind          TEXT   NOT NULL,
    player        TEXT,
    seat          BIGINT,
    -- Address that has the player's name.
    holder        TEXT,
    game_id       TEXT,
    note          TEXT,
    PRIMARY KEY (tournament_id, place)
);
