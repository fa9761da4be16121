import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeCertificates, type Certificates } from '../certificates.ts';
import type { SmallDisk } from '../failing-disk.ts';
import type { Given } from './answer-case.ts';
import { startHttp } from './counterparts.ts';
import type { HooksOptions } from '../end-to-end/running-command.ts';

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
  readonly tools: SceneTools;
}

/** What takes root, or the built program. */
export interface SceneTools {
  readonly mount: (path: string) => SmallDisk;
  /** Runs `hooks` in a process of its own. */
  readonly hooks: (argv: readonly string[], options: HooksOptions) => Promise<unknown>;
}

export interface ArrangedCase {
  readonly folder: string;
  readonly values: Values;
  /** How many requests the receiver of the case has seen. */
  readonly requests: () => number;
  readonly end: () => Promise<void>;
}

const NO_TOOLS: SceneTools = { mount: noTools, hooks: noTools };

function noTools(): never {
  throw new Error('A case that mounts a disk has `needsDisk`');
}

/** Sets up what a case begins with. */
export async function arrange(given: Given = {}, tools = NO_TOOLS): Promise<ArrangedCase> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hooks-answers-')));
  const undos: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })];
  const values: Record<string, string | number> = { dir: folder };
  const scene: Scene = { folder, values, onEnd: (undo) => void undos.push(undo), certificates, tools };
  const end = async (): Promise<void> => {
    for (const undo of undos.toReversed()) await undo();
  };
  const { receiver } = given;
  let requests = 0;
  try {
    if (receiver !== undefined) {
      const { port, close } = await startHttp((request) => {
        requests += 1;
        return receiver(request);
      });
      scene.onEnd(close);
      Object.assign(values, { port, url: `http://127.0.0.1:${port}/hook` });
    }
    for (const [name, content] of Object.entries(given.files ?? {})) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), typeof content === 'string' ? filledIn(content, values) : content);
    }
    Object.assign(values, await given.start?.(scene));
    return { folder, values, requests: () => requests, end };
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
