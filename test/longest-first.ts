import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, by the ends of their paths. If one started last, a single core would be busy at the end. */
const LONGEST = [
  'end-to-end/idempotence.system.test.ts',
  'system/clients.system.test.ts',
  'end-to-end/examples.system.test.ts',
  'documentation/pages.system.test.ts',
  'end-to-end/scale.system.test.ts',
  'system/runners.system.test.ts',
  'end-to-end/several-machines.system.test.ts',
  'queue/server-cuts.system.test.ts',
  'end-to-end/inbox.system.test.ts',
  'stores/server/queue/server-queue.system.test.ts',
  'app/bit-rot.system.test.ts',
  'cli/queue-server.system.test.ts',
  'end-to-end/disk-faults.system.test.ts',
  'signature/schemes/mutated.system.test.ts',
  'end-to-end/service.system.test.ts',
  'end-to-end/taken-once.system.test.ts',
  'queue/server-torture.system.test.ts',
  'end-to-end/resume-torture.system.test.ts',
  'end-to-end/clock.system.test.ts',
  'answers/answers.built.test.ts',
  'end-to-end/hostile-receivers.built.test.ts',
  'cli/doctor.built.test.ts',
  'end-to-end/test-command.built.test.ts',
  'check/never-ends.test.ts',
  'cli/verbs/test-receiver/idempotence-output.test.ts',
  'cli/foreign-commands.test.ts',
  'app/sync-audience.test.ts',
  'engine/stampede.system.test.ts',
  'transport/reconnect.test.ts',
  'stores/sqlite/queue/sqlite-queue.test.ts',
  'end-to-end/order.test.ts',
  'app/bit-rot.test.ts',
];

/** Starts with the files that take longest, even without the durations of an earlier run. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of the sequencer, which returns a new list
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project.name))];
    const place = ({ project, moduleId }: TestSpecification): number =>
      projects.indexOf(project.name) * (LONGEST.length + 1) + rankOf(moduleId);
    return sorted.toSorted((one, other) => place(one) - place(other));
  }
}

function rankOf(path: string): number {
  const rank = LONGEST.findIndex((end) => path.endsWith(end));
  return rank === -1 ? LONGEST.length : rank;
}
