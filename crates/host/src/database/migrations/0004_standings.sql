-- What the standings and the report file of a tournament need besides its history.

ALTER TABLE tournament ADD COLUMN pairing TEXT;
ALTER TABLE tournament ADD COLUMN rounds BIGINT;
ALTER TABLE tournament ADD COLUMN acceleration TEXT;
-- Names between spaces, in the order in which they decide.
ALTER TABLE tournament ADD COLUMN tie_breaks TEXT;

-- Round of a bye.
ALTER TABLE event ADD COLUMN round BIGINT;
