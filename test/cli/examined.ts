import { join } from 'node:path';
import { expect } from 'vitest';
import { jsonLines } from '../end-to-end/receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks } from './run-in-process.ts';

interface Line {
  readonly check: string;
  readonly status: string;
  readonly said: string;
  readonly hint?: string;
}

interface Given {
  readonly config?: object | string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** An existing folder with its config. @default a new folder with `config` */
  readonly cwd?: string;
  /** Runs the command. @default in this process */
  readonly run?: typeof hooks;
}

export async function newPlace(config: object | string = {}): Promise<string> {
  return temporaryFolder({ '.hooksrc.json': typeof config === 'string' ? config : JSON.stringify(config) });
}

export async function examined({ config, args = [], env = {}, cwd, run = hooks }: Given) {
  const place = cwd ?? (await newPlace(config));
  const { code, stdout, stderr } = await run(['doctor', '-o', 'json', ...args], {
    cwd: place,
    env: { HOOKS_DATA_DIR: join(place, 'data'), HOOKS_ALLOW_PRIVATE: 'true', ...env },
  });
  expect(stderr).toBe('');
  const lines = jsonLines<Line>(stdout);
  const of = (check: string): readonly Line[] => lines.filter((line) => line.check === check);
  /** The results of a check in one line each. */
  const told = (check: string): string[] => of(check).map(({ status, said }) => `${status}: ${said}`);
  return { code, of, told, output: stdout };
}
