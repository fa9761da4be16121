import type { Pool } from 'pg';
import type { Fact, Facts } from '../server.ts';
import { GatheredWrites } from './gathered-writes.ts';

const FORGET_MS = 60_000;
const PUT_AT_ONCE = 1_000;
/** Maximum facts that one transaction removes. */
const FORGOTTEN_AT_ONCE = 10_000;

/** Stores each fact in a row of a table. Processes that put facts remove expired facts once a minute. */
export function postgresFacts(pool: Pool): Facts {
  const putting = new GatheredWrites<Fact>({ write: (facts) => put(pool, facts), most: PUT_AT_ONCE });
  let forgotAt = -Infinity;
  return {
    put: async (facts) => {
      await putting.write(facts);
      if (Date.now() < forgotAt + FORGET_MS) return;
      forgotAt = Date.now();
      // Does not wait for the removal of expired facts, and ignores its failure: later commands report a lasting one.
      forget(pool).catch(() => {});
    },
    get: async (names) => {
      const { rows } = await pool.query<{ name: string; text: string }>(
        'SELECT name, text FROM hooks.facts WHERE name = ANY($1) AND (expires_at IS NULL OR expires_at > $2)',
        [names, Date.now()],
      );
      const texts = new Map(rows.map(({ name, text }) => [name, text]));
      return names.map((name) => texts.get(name));
    },
    remove: async (names) => void (await pool.query('DELETE FROM hooks.facts WHERE name = ANY($1)', [names])),
  };
}

async function put(pool: Pool, all: readonly Fact[]): Promise<void> {
  // Keeps one fact per name, because a statement cannot write a row twice. Sorts the facts to avoid deadlocks.
  const facts = [...new Map(all.map((fact) => [fact.name, fact])).values()].toSorted((one, other) =>
    one.name < other.name ? -1 : 1,
  );
  await pool.query(
    `INSERT INTO hooks.facts (name, text, expires_at) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
       ON CONFLICT (name) DO UPDATE SET text = EXCLUDED.text, expires_at = EXCLUDED.expires_at`,
    [
      facts.map(({ name }) => name),
      facts.map(({ text }) => text),
      facts.map(({ expiresAt }) => (expiresAt === undefined ? null : Math.ceil(expiresAt))),
    ],
  );
}

async function forget(pool: Pool): Promise<void> {
  for (let count = FORGOTTEN_AT_ONCE; count === FORGOTTEN_AT_ONCE;) {
    const { rowCount } = await pool.query(
      `DELETE FROM hooks.facts WHERE name IN (
         SELECT name FROM hooks.facts WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
      [Date.now(), FORGOTTEN_AT_ONCE],
    );
    count = rowCount ?? 0;
  }
}
