import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../temporary-folder.ts';

const CONFIG = {
  sources: {
    web: { writeKey: 'hunter2', destinations: { Webhooks: {}, Archive: { sharedSecret: 'hunter2' } } },
    'mobile-app': {},
    // Shells must never evaluate this name.
    '$(touch evaluated)': {},
  },
};

/** A folder with a config, a file and a folder to complete. */
export async function placeToComplete(config: object | undefined = CONFIG): Promise<string> {
  const cwd = temporaryFolder(config === undefined ? {} : { '.hooksrc.json': JSON.stringify(config) });
  await mkdir(join(cwd, 'captures'));
  await writeFile(join(cwd, 'day.ndjson'), '');
  return cwd;
}
