import type { Readable } from 'node:stream';
import { openLoadSender } from '../../../../app/load/load-sender.ts';
import type { Sources } from '../../../../engine/options.ts';
import type { ConnectionSlots } from '../../../../replay/load/connection-budget.ts';
import type { LoadShare } from '../../../../replay/load/load-curve.ts';
import { openInputs } from '../../../../replay/reading/inputs.ts';
import { invalidEntry, invalidSentence } from '../invalid-entry.ts';
import { planOf, type ReplayOptions } from '../options.ts';
import { readyOptionsOf } from '../replay.ts';
import { LoadMessages } from './load-messages.ts';
import { LoadRun } from './load-run.ts';

/** Everything that a thread needs to send its share of a load, as data that can be posted to the thread. */
export interface LoadSetup {
  readonly files: readonly string[];
  readonly options: ReplayOptions;
  readonly sources: Sources;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly share: LoadShare;
  /** Limits the number of messages in flight. */
  readonly slots: ConnectionSlots;
  /** Time during which a failed message is retried, in ms. 0 disables retries. */
  readonly retryForMs: number;
}

interface LoadRunContext {
  readonly stdin: Readable;
  /** Called for each invalid entry, with a sentence that describes the problem. */
  readonly onInvalid: (sentence: string) => void;
}

/**
 * Creates the sender, opens the files, and waits for the first messages. Throws HooksError if the webhook or a file is
 * unusable.
 */
export async function openLoadRun(setup: LoadSetup, { stdin, onInvalid }: LoadRunContext): Promise<LoadRun> {
  const { files, options, sources, env, cwd, share, slots, retryForMs } = setup;
  const { exact = false, format, loop = false, order } = options;
  const aborting = new AbortController();
  const sender = await openLoadSender({ sources, proxyEnv: env, signal: aborting.signal });
  const [destination = ''] = Object.values(sources).flatMap(({ destinations }) =>
    Object.keys(destinations).filter((name) => destinations[name]?.enabled === true),
  );
  const messages = new LoadMessages({
    inputs: await openInputs(files, { cwd, stdin }),
    reading: { exact, format },
    readyOptions: await readyOptionsOf(options, { cwd }),
    selection: planOf(options).selection,
    loops: loop,
    share,
    destination,
    keepsOrder: order === 'user',
    onInvalid: (entry, error) => onInvalid(invalidSentence(invalidEntry(entry, error))),
  });
  await messages.begun;
  return new LoadRun({ sender, messages, share, slots, retryForMs, aborting });
}
