-- What is known of the players of a game besides their names.

ALTER TABLE game ADD COLUMN white_rating BIGINT;
ALTER TABLE game ADD COLUMN black_rating BIGINT;
-- 1: plays by itself, 0: does not
ALTER TABLE game ADD COLUMN white_bot BIGINT;
ALTER TABLE game ADD COLUMN black_bot BIGINT;
