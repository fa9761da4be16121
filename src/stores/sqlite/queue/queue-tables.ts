import { STATE } from './sqlite-rows.ts';

/**
 * The rows of each state (the view `queue` shows the states):
 *
 *   added      deliveries, and waiting or held; one row of order_lines for each of its keys
 *   pending    waiting (may be claimed when due), or held (an order key has an earlier one; not claimable)
 *   sending    still in waiting, and in claims
 *   retrying   waiting, with progress
 *   settled    no longer in waiting, held or order_lines; progress says how it ended
 *
 * Small tables hold what changes often, and bodies, which are large, never change: the cost of a claim does not depend on
 * how many deliveries wait, or on their order. Times are milliseconds since the epoch.
 */
export const QUEUE_TABLES = `
CREATE TABLE lanes (
  lane INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  destination TEXT NOT NULL,
  UNIQUE (source, destination)
);

-- Deliveries as they were added. seq is the order of adding.
CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  lane INTEGER NOT NULL REFERENCES lanes,
  message_id TEXT NOT NULL,
  type TEXT NOT NULL,
  order_keys TEXT NOT NULL, -- JSON: [string]
  created_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL, -- the first one; later ones are in progress
  body BLOB NOT NULL, -- the exact bytes of every attempt
  checksum INTEGER NOT NULL, -- CRC-32 of body, message_id and order_keys (checksum.ts)
  trace TEXT -- the W3C traceparent of the message, and after a space the tracestate
);
CREATE INDEX deliveries_created ON deliveries (created_at);

-- Unsettled deliveries that are first in each of their order keys.
CREATE TABLE waiting (
  lane INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (lane, due_at, seq)
) WITHOUT ROWID;

-- Unsettled deliveries that are behind another one in held_by of their order keys.
CREATE TABLE held (
  seq INTEGER PRIMARY KEY,
  lane INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  held_by INTEGER NOT NULL
);

CREATE TABLE order_lines (
  lane INTEGER NOT NULL,
  order_key TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (lane, order_key, seq)
) WITHOUT ROWID;

-- The processes that deliver. A process whose beats stand still is dead, and its claims are released.
CREATE TABLE owners (
  owner TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  beats INTEGER NOT NULL,
  beat_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE claims (
  seq INTEGER PRIMARY KEY,
  lane INTEGER NOT NULL,
  due_at INTEGER NOT NULL, -- as in waiting
  owner TEXT NOT NULL REFERENCES owners ON DELETE CASCADE,
  token TEXT NOT NULL,
  lease_ends_at INTEGER NOT NULL,
  progress TEXT NOT NULL -- JSON: with the round that the claim began, or as last renewed; copied to the table progress when the claim ends
);

CREATE TABLE progress (
  seq INTEGER PRIMARY KEY REFERENCES deliveries ON DELETE CASCADE,
  lane INTEGER NOT NULL,
  due_at INTEGER NOT NULL, -- when the next round is due, or the last one was
  settled_state TEXT, -- delivered, dead; NULL: not settled
  reason TEXT, -- of a dead letter: rejected, exhausted, invalid, cancelled
  detail TEXT, -- what is wrong with an invalid message
  settled_at INTEGER,
  rounds INTEGER NOT NULL,
  first_attempt_at INTEGER,
  attempts TEXT NOT NULL, -- JSON: [{at, url, round, result, status, error, detail, ms}]
  rejected_by TEXT NOT NULL, -- JSON: [url]
  not_before TEXT NOT NULL -- JSON: {url: until}
);
CREATE INDEX progress_settled ON progress (settled_state, settled_at, lane) WHERE settled_state IS NOT NULL;
-- Partial, so that deliveries that succeed at once cost nothing.
CREATE INDEX progress_undelivered ON progress (settled_state) WHERE settled_state IS NOT 'delivered';

-- For people: SELECT * FROM queue WHERE state = 'dead';
CREATE VIEW queue AS
SELECT
  d.seq, d.id, l.source, l.destination,${STATE},
  p.reason, p.detail, d.message_id, d.type, d.order_keys,
  h.held_by,
  d.created_at, strftime('%Y-%m-%dT%H:%M:%fZ', d.created_at / 1000.0, 'unixepoch') AS created,
  coalesce(p.due_at, d.due_at) AS due_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(p.due_at, d.due_at) / 1000.0, 'unixepoch') AS due,
  p.settled_at, strftime('%Y-%m-%dT%H:%M:%fZ', p.settled_at / 1000.0, 'unixepoch') AS settled,
  p.first_attempt_at, strftime('%Y-%m-%dT%H:%M:%fZ', p.first_attempt_at / 1000.0, 'unixepoch') AS first_attempt,
  coalesce(p.rounds, 0) AS rounds, p.attempts, p.rejected_by, p.not_before,
  c.lease_ends_at, c.owner,
  CAST(d.body AS TEXT) AS body
FROM deliveries d
JOIN lanes l ON l.lane = d.lane
LEFT JOIN progress p ON p.seq = d.seq
LEFT JOIN claims c ON c.seq = d.seq
LEFT JOIN held h ON h.seq = d.seq;

-- One row: the latest time that a process recorded. Due times count from it if the clock was set back later.
CREATE TABLE latest_time (id INTEGER PRIMARY KEY CHECK (id = 1), at INTEGER NOT NULL);

-- Counters, since counting a million rows each time would delay deliveries. insertDeliveries counts added deliveries, the triggers
-- below count the rest.
CREATE TABLE lane_counts (
  lane INTEGER PRIMARY KEY REFERENCES lanes,
  deliveries INTEGER NOT NULL DEFAULT 0,
  tried INTEGER NOT NULL DEFAULT 0, -- unsettled, after at least one round
  delivered INTEGER NOT NULL DEFAULT 0,
  dead INTEGER NOT NULL DEFAULT 0
);

CREATE TRIGGER lane_added AFTER INSERT ON lanes BEGIN
  INSERT INTO lane_counts (lane) VALUES (NEW.lane);
END;
CREATE TRIGGER delivery_removed AFTER DELETE ON deliveries BEGIN
  UPDATE lane_counts SET deliveries = deliveries - 1 WHERE lane = OLD.lane;
END;
CREATE TRIGGER progress_added AFTER INSERT ON progress BEGIN
  UPDATE lane_counts SET
    tried = tried + (NEW.settled_state IS NULL AND NEW.rounds > 0),
    delivered = delivered + (NEW.settled_state IS 'delivered'),
    dead = dead + (NEW.settled_state IS 'dead')
  WHERE lane = NEW.lane;
END;
CREATE TRIGGER progress_removed AFTER DELETE ON progress BEGIN
  UPDATE lane_counts SET
    tried = tried - (OLD.settled_state IS NULL AND OLD.rounds > 0),
    delivered = delivered - (OLD.settled_state IS 'delivered'),
    dead = dead - (OLD.settled_state IS 'dead')
  WHERE lane = OLD.lane;
END;
CREATE TRIGGER progress_changed AFTER UPDATE ON progress
WHEN OLD.settled_state IS NOT NEW.settled_state OR (OLD.rounds > 0) <> (NEW.rounds > 0) BEGIN
  UPDATE lane_counts SET
    tried = tried + (NEW.settled_state IS NULL AND NEW.rounds > 0) - (OLD.settled_state IS NULL AND OLD.rounds > 0),
    delivered = delivered + (NEW.settled_state IS 'delivered') - (OLD.settled_state IS 'delivered'),
    dead = dead + (NEW.settled_state IS 'dead') - (OLD.settled_state IS 'dead')
  WHERE lane = NEW.lane;
END;
`;
