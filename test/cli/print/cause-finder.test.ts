import { expect, it } from 'vitest';
import { CauseFinder } from '../../../src/cli/print/cause-finder.ts';
import { destination, failed, failing, outcomeOf } from './facts.ts';

const DELIVERED = outcomeOf(destination());
const FAILED = outcomeOf(failed(failing(503)));

it('finds causes in the order of the outcomes, and waits only while the code loads', async () => {
  const finder = new CauseFinder();
  const found: string[] = [];
  const find = (name: string, outcome: typeof FAILED): Promise<void> | undefined =>
    finder.find(outcome, (cause) => {
      found.push(`${name} ${cause?.code ?? 'delivered'}`);
      return undefined;
    });
  expect([find('a', DELIVERED), finder.loading]).toEqual([undefined, undefined]);
  const waiting = [find('b', FAILED), find('c', DELIVERED), find('d', FAILED)];
  expect(found).toEqual(['a delivered']);
  await finder.loading;
  expect(found).toEqual(['a delivered', 'b unavailable', 'c delivered', 'd unavailable']);
  expect(waiting.every((each) => each instanceof Promise)).toBe(true);
  expect([find('e', FAILED), find('f', DELIVERED)]).toEqual([undefined, undefined]);
  expect(found.slice(4)).toEqual(['e unavailable', 'f delivered']);
});
