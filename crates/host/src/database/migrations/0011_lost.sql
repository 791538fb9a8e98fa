-- An earlier arena may have been killed between a game's row and its file: the last games of the tournaments that have no
-- row in export yet are looked for in the files once more. Its queue had 1,024 places.

UPDATE game SET exported = NULL WHERE id IN (
    SELECT game.id FROM game JOIN tournament ON tournament.id = game.tournament_id
    WHERE game.ended IS NOT NULL AND tournament.name NOT IN (SELECT tournament FROM export)
    ORDER BY game.ended DESC, game.id DESC LIMIT 1024
);
