// Needs mount.
import { describe, it } from 'vitest';
import { hooks } from '../end-to-end/hooks.ts';
import { MAY_MOUNT, SmallDisk } from '../failing-disk.ts';
import { ALL_CASES } from './cases/all.ts';
import { expectAnswer } from './expect-answer.ts';

const MIB = 1_024 * 1_024;

describe.skipIf(!MAY_MOUNT)('on a disk of its own', () => {
  it.concurrent.each(ALL_CASES.filter(({ needsDisk }) => needsDisk))('$id: $title', (answerCase) =>
    expectAnswer(answerCase, { hooks, mount: (path) => new SmallDisk(path, 4 * MIB) }),
  );
});
