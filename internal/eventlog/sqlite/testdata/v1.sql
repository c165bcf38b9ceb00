-- A log of version 1: one flow of five events, the first three of them in a
-- block, one inbox entry and one checkpoint.
CREATE TABLE flows (
	id    INTEGER PRIMARY KEY,
	name  TEXT    NOT NULL UNIQUE,
	epoch INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE events (
	pos   INTEGER PRIMARY KEY,
	flow  INTEGER NOT NULL REFERENCES flows,
	seq   INTEGER NOT NULL,
	at    INTEGER NOT NULL,
	id    TEXT    NOT NULL,
	agent TEXT    NOT NULL,
	kind  TEXT    NOT NULL,
	body  BLOB
) STRICT;
CREATE TABLE blocks (
	flow  INTEGER NOT NULL,
	first INTEGER NOT NULL,
	n     INTEGER NOT NULL,
	lo    INTEGER NOT NULL,
	hi    INTEGER NOT NULL,
	data  BLOB    NOT NULL,
	PRIMARY KEY (flow, first)
) STRICT, WITHOUT ROWID;
CREATE TABLE covered (pos INTEGER NOT NULL) STRICT;
CREATE TABLE inbox (
	n     INTEGER PRIMARY KEY AUTOINCREMENT,
	flow  INTEGER NOT NULL REFERENCES flows,
	id    TEXT    NOT NULL,
	agent TEXT    NOT NULL,
	kind  TEXT    NOT NULL,
	body  BLOB,
	UNIQUE (flow, id)
) STRICT;
CREATE TABLE checkpoints (
	flow    INTEGER NOT NULL REFERENCES flows,
	name    TEXT    NOT NULL,
	version INTEGER NOT NULL,
	seq     INTEGER NOT NULL,
	data    BLOB,
	PRIMARY KEY (flow, name)
) STRICT, WITHOUT ROWID;

INSERT INTO flows VALUES (1, 'run-1', 4);
INSERT INTO events VALUES
	(1, 1, 1, 1794732130123456789, 'a', 'claude', 'settled', CAST('{"request":"1","spent":{}}' AS BLOB)),
	(2, 1, 2, 1794732130123456790, 'b', 'claude', 'settled', CAST('{"request":"2","spent":{}}' AS BLOB)),
	(3, 1, 3, 1794732130123456791, 'c', '', 'from_the_future', CAST('{ "kept":  "as it is" }' AS BLOB)),
	(4, 1, 4, 1794732130123456792, 'd', '', 'from_the_future', NULL),
	(5, 1, 5, -9223372036854775808, 'e', 'claude', 'settled', CAST('{"request":"5","spent":{}}' AS BLOB));
INSERT INTO blocks VALUES (1, 1, 3, 1, 3, X'0101018CEC01864CDC63AFF2EF01864CDE63AFA5F101864CDF63AF000002000100E9A1B342');
INSERT INTO covered VALUES (3);
INSERT INTO inbox VALUES (7, 1, 'said', '', 'settled', CAST('{"request":"7","spent":{}}' AS BLOB));
INSERT INTO checkpoints VALUES (1, 'card', 2, 5, X'00FF');
PRAGMA user_version = 1;
