import { systemClock } from '../../src/clock.ts';
import { QUEUE_TABLES } from '../../src/stores/sqlite/queue/queue-tables.ts';
import { openStore } from '../../src/stores/sqlite/file/open-store.ts';
import { loadSqlite } from '../../src/stores/sqlite/file/sqlite.ts';

/** Makes `to` a file with what is in `file`, as a program wrote it that knew only the first `steps` of QUEUE_TABLES. */
export async function makeOlderFile(file: string, to: string, steps: number): Promise<void> {
  const tables = [{ ...QUEUE_TABLES, steps: QUEUE_TABLES.steps.slice(0, steps) }];
  await (await openStore(to, { clock: systemClock, tables })).close();
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(to, { timeout: 5_000 });
  database.exec(`ATTACH '${file}' AS newer`);
  const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid").all();
  for (const name of names.map((row) => String(row['name']))) {
    // Triggers keep the counts.
    if (name === 'schema_versions' || name === 'lane_counts') continue;
    const columns = database.prepare(`SELECT name FROM pragma_table_info('${name}')`).all();
    const list = columns.map((row) => String(row['name'])).join(', ');
    database.exec(`INSERT INTO main.${name} (${list}) SELECT ${list} FROM newer.${name}`);
  }
  database.close();
}
