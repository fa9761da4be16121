import { compareResponses, type ResponseDifference } from '../../../src/replay/compare/compare-responses.ts';
import { partsOfResponse, type ComparedResponse } from '../../../src/replay/compare/compared-response.ts';
import { DifferenceTally } from '../../../src/replay/compare/difference-tally.ts';
import { readIgnoredPaths } from '../../../src/replay/compare/ignored-paths.ts';
import { NoiseModel } from '../../../src/replay/compare/noise-model.ts';

export type Responded = ComparedResponse & { kind: 'response' };

export const ENTRY = { index: 0, origin: { file: 'a', line: 1 }, title: 'track' };
export const NOW = Date.UTC(2026, 10, 28, 12);

/** A response with a JSON body, or with a text. */
export function responded(body: unknown, fields: Partial<Responded> = {}): Responded {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { kind: 'response', status: 200, headers: {}, body: text, ms: 1, ...fields };
}

interface Compared {
  /** Pairs of responses of the old receiver to one message, from which noise is learned first. */
  readonly learned?: readonly (readonly [unknown, unknown])[];
  readonly ignored?: readonly string[];
  /** The body of the request. */
  readonly request?: string;
  readonly noise?: NoiseModel;
}

/** Compares two responses, or two bodies. */
export function differences(
  old: unknown,
  next: unknown,
  compared: Compared = {},
): readonly ResponseDifference[] {
  const { learned = [], ignored = [], request = '', noise = new NoiseModel() } = compared;
  const ignores = readIgnoredPaths(ignored);
  const context = {
    isEchoed: (text: string) => request.includes(text),
    now: NOW,
    entry: ENTRY,
    noise,
    ignores,
  };
  for (const [first, second] of learned.map((pair) => pair.map(responseOf))) {
    if (first === undefined || second === undefined) continue;
    noise.learn(partsOfResponse(first), partsOfResponse(second), context);
    compareResponses(first, first, context);
  }
  const tally = new DifferenceTally();
  tally.add(compareResponses(responseOf(old), responseOf(next), context), ENTRY);
  return tally.kinds(noise).map(({ example }) => example);
}

/** The kinds of the differences, such as `body $.total: number → text`. */
export function kinds(...args: Parameters<typeof differences>): readonly string[] {
  return differences(...args).map(({ what, path, from, to }) => {
    return `${[what, path].filter(Boolean).join(' ')}: ${from} → ${to}`;
  });
}

function responseOf(given: unknown): Responded {
  const isResponse = typeof given === 'object' && given !== null && 'kind' in given;
  return isResponse ? (given as Responded) : responded(given);
}
