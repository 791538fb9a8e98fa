-- Games of chance: positions after the moves, a line each, as the moves alone do not tell them. Moves of tuc are moves now.

ALTER TABLE game ADD COLUMN positions TEXT;
