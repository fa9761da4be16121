import type { Sql, Store } from './file/store.ts';

/**
 * Binds the file to a config, unless it is bound already. Returns the config to which it is bound. With `replaces`, binds
 * also a file that is bound to another config, and returns that one.
 */
export async function bindConfig(
  store: Store,
  config: string,
  { replaces = false } = {},
): Promise<string | undefined> {
  const before = await boundConfig(store);
  if (before !== undefined && !replaces) return before;
  return store.write((sql) => {
    sql(TABLE).run();
    const found = read(sql);
    if (found === undefined || replaces) sql('INSERT OR REPLACE INTO bound_config VALUES (1, ?)').run(config);
    return replaces ? found : (found ?? config);
  });
}

/** Returns the config to which the file is bound. Undefined for a file that no command with a config has written yet. */
export function boundConfig(store: Store): Promise<string | undefined> {
  return store.read((sql) => (sql(FIND_TABLE).get() === undefined ? undefined : read(sql)));
}

function read(sql: Sql): string | undefined {
  const config = sql('SELECT config FROM bound_config').get()?.['config'];
  return config === undefined ? undefined : String(config);
}

// Created when it is needed, and not with the other tables, so that files of earlier versions stay usable in both directions.
const TABLE = `
  CREATE TABLE IF NOT EXISTS bound_config (id INTEGER PRIMARY KEY CHECK (id = 1), config TEXT NOT NULL)`;
const FIND_TABLE = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'bound_config'";
