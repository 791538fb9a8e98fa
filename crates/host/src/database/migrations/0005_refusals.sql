-- Whom a tournament has refused or thrown out: the latest of them, each in one of a fixed number of slots.

CREATE TABLE refusal (
    -- 0: none that there is
    tournament_id BIGINT NOT NULL,
    slot          BIGINT NOT NULL,
    -- Later ones have higher numbers.
    number        BIGINT NOT NULL,
    at            TEXT   NOT NULL,
    name          TEXT   NOT NULL,
    reason        TEXT   NOT NULL,
    PRIMARY KEY (tournament_id, slot)
);
