-- Orders of the organiser: who is paired with whom, and the result that a correction gives.

ALTER TABLE event ADD COLUMN opponent TEXT;
-- 1-0, 0-1, 1/2-1/2, or * for a game that does not count
ALTER TABLE event ADD COLUMN result TEXT;

-- About a game that was forfeited or corrected.
ALTER TABLE game ADD COLUMN note TEXT;
