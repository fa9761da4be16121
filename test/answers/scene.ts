import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeCertificates, type Certificates } from '../certificates.ts';
import type { Given } from './answer-case.ts';
import { startHttp } from './counterparts.ts';

/** What `{name}` stands for. */
export type Values = Readonly<Record<string, string | number>>;

/** Where a case takes place: its folder, its values so far, and what must be undone. */
export interface Scene {
  readonly folder: string;
  readonly values: Values;
  /** Undone in reverse order when the case has ended. */
  readonly onEnd: (undo: () => unknown) => void;
  /** Made by openssl, once for the whole run. */
  readonly certificates: () => Promise<Certificates>;
}

export interface ArrangedCase {
  readonly folder: string;
  readonly values: Values;
  readonly end: () => Promise<void>;
}

/** Sets up what a case begins with. */
export async function arrange(given: Given = {}): Promise<ArrangedCase> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hooks-answers-')));
  const undos: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })];
  const values: Record<string, string | number> = { dir: folder };
  const scene: Scene = { folder, values, onEnd: (undo) => void undos.push(undo), certificates };
  const end = async (): Promise<void> => {
    for (const undo of undos.toReversed()) await undo();
  };
  try {
    if (given.receiver !== undefined) {
      const { port, close } = await startHttp(given.receiver);
      scene.onEnd(close);
      Object.assign(values, { port, url: `http://127.0.0.1:${port}/hook` });
    }
    for (const [name, content] of Object.entries(given.files ?? {})) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), typeof content === 'string' ? filledIn(content, values) : content);
    }
    Object.assign(values, await given.start?.(scene));
    return { folder, values, end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Puts values where their names stand in braces. Other braces stay: JSON is full of them. */
export function filledIn(text: string, values: Values): string {
  return text.replace(/\{([a-z][a-zA-Z]*)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

let made: Promise<Certificates> | undefined;

function certificates(): Promise<Certificates> {
  return (made ??= makeCertificates());
}

export async function removeCertificates(): Promise<void> {
  await (await made)?.remove();
}
