import type { Pool } from 'pg';
import type { Intent, Intents } from '../server.ts';

/** A row for each. Its commit need not wait for the disk: it comes to it before that of the operation, which is later. */
export function postgresIntents(pool: Pool): Intents {
  return {
    put: async ({ id, text, dueAt }) => {
      await pool.query(
        `INSERT INTO hooks_intents (id, text, due_at) VALUES ($1, $2, $3)
           ON CONFLICT (id) DO UPDATE SET text = EXCLUDED.text, due_at = EXCLUDED.due_at`,
        [id, text, dueAt],
      );
    },
    remove: async (id) => {
      await pool.query('DELETE FROM hooks_intents WHERE id = $1', [id]);
    },
    take: async ({ now, againAt, limit }) => {
      const { rows } = await pool.query<Pick<Intent, 'id' | 'text'>>(
        `UPDATE hooks_intents SET due_at = $2 WHERE id IN (
           SELECT id FROM hooks_intents WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
         RETURNING id, text`,
        [now, againAt, limit],
      );
      return rows.map((row) => ({ ...row, dueAt: againAt }));
    },
  };
}
