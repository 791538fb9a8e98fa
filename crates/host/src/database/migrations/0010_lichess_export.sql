-- Games of the Lichess API go to their file by marks, too. Earlier arenas have written theirs, but for those whose PGN waits.

UPDATE game SET exported = 1
    WHERE source = 'lichess' AND ended IS NOT NULL AND id NOT IN (SELECT id FROM lichess WHERE kind = 'record');
UPDATE game SET exported = NULL WHERE id IN (SELECT id FROM lichess WHERE kind = 'record');
DELETE FROM lichess WHERE kind = 'record';

CREATE INDEX game_of_lichess_to_export ON game (ended, id) WHERE source = 'lichess' AND exported IS NULL;
