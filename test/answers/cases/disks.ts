import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SmallDisk } from '../../failing-disk.ts';
import type { AnswerCase, AnswerTheme, Given } from '../answer-case.ts';
import { responds, startHttp } from '../counterparts.ts';
import type { Scene, Values } from '../scene.ts';
import { sendUntilTaken } from './sending.ts';

const KIB = 1_024;
const FILES = {
  '.hooksrc.yaml': 'webhooks: [http://127.0.0.1:9/]\nwriteKey: wk-of-the-tests\n',
  'day.ndjson': '{"type":"delete","userId":"u1"}\n',
};
/** What `hooks` keeps is on the disk of the case. */
const ENV = { HOOKS_DATA_DIR: '{disk}' };
const QUEUE_ONE = ['send', 'track', '--event', 'A', '--user-id', 'u', '--queue'];

/** A disk of its own, mounted in the folder of the case. */
function mounted({ folder, onEnd, tools }: Scene): SmallDisk {
  const disk = tools.mount(join(folder, 'disk'));
  onEnd(() => disk.remove());
  return disk;
}

/** A disk with this much room, on which nothing was kept so far. Gives {disk}. */
function nearlyFull(kibibytes: number): (scene: Scene) => Values {
  return (scene) => {
    const disk = mounted(scene);
    disk.fill(kibibytes * KIB);
    return { disk: disk.path };
  };
}

/** A disk with a queue that has one message, and whatever happens to it then. Gives {disk}. */
function withQueue(happens: (disk: SmallDisk) => void): (scene: Scene) => Promise<Values> {
  return async (scene) => {
    const disk = mounted(scene);
    // In a process of its own, which has nothing open afterwards: a disk that is in use is not remounted.
    await scene.tools.hooks(QUEUE_ONE, { cwd: scene.folder, env: { HOOKS_DATA_DIR: disk.path } });
    happens(disk);
    return { disk: disk.path };
  };
}

/** Files without a byte, which a full disk leaves where nobody takes them away. The log of a queue is SQLite's own. */
function emptyFiles({ disk }: Values): readonly string[] {
  const names = readdirSync(String(disk), { recursive: true, encoding: 'utf8' });
  return names
    .map((name) => ({ name, found: statSync(join(String(disk), name)) }))
    .filter(({ name, found }) => found.isFile() && found.size === 0 && !name.endsWith('-wal'))
    .map(({ name }) => `leaves ${name} without a byte`);
}

type DiskCase = Pick<AnswerCase, 'id' | 'title' | 'argv' | 'cause' | 'fix' | 'exitCode'> & {
  readonly start?: Given['start'];
  readonly receiver?: Given['receiver'];
};

/** On a disk without room for a byte, where `start` is not given. */
function onDisk({ start = nearlyFull(0), receiver, ...rest }: DiskCase): AnswerCase {
  return {
    ...rest,
    given: { files: FILES, env: ENV, start, ...(receiver && { receiver }) },
    never: ['cannot rollback', 'ENOSPC', 'check who owns it'],
    faultsAfter: emptyFiles,
    needsDisk: true,
  };
}

const QUEUE_FULL = 'hooks.db cannot be written: the disk is full';

/** The first use of a queue makes its file, for which there is no room, or less than a message needs. */
const FIRST_USE: readonly AnswerCase[] = (
  [
    ['serve', 'serve', '--port', '0', '--allow-private'],
    ['worker', 'worker', '--allow-private'],
    ['send', ...QUEUE_ONE],
    ['replay', 'replay', 'day.ndjson', '--queue'],
    ['delete', 'delete', 'u1', '--queue'],
  ] as const
).flatMap(([command, ...argv]) =>
  [0, 16, 140].map((kibibytes) =>
    onDisk({
      id: `disk-first-use-${command}-${kibibytes}`,
      title: `the disk has ${kibibytes} KiB left when ${command} needs a queue for the first time`,
      start: nearlyFull(kibibytes),
      argv,
      cause: QUEUE_FULL,
      fix: 'make room',
      exitCode: 2,
    }),
  ),
);

/** What other commands write. */
const WRITTEN: readonly AnswerCase[] = [
  onDisk({
    id: 'disk-replay-state',
    title: 'the disk is full, so that a replay cannot keep how far it came',
    receiver: responds(200, 'ok'),
    argv: ['replay', 'day.ndjson', '--url', '{url}', '--resume'],
    cause: '--resume cannot continue from here: …cannot be written: the disk is full',
    fix: 'make room, or name another folder in HOOKS_DATA_DIR',
    exitCode: 0,
  }),
  onDisk({
    id: 'disk-replay-failed',
    title: 'the disk is full, so that --failed cannot keep what failed',
    receiver: responds(400),
    argv: ['replay', 'day.ndjson', '--url', '{url}', '--failed', 'disk/failed.ndjson'],
    cause: 'disk/failed.ndjson: cannot be written: the disk is full',
    fix: 'make room, or name a file elsewhere',
    exitCode: 2,
  }),
  onDisk({
    id: 'disk-replay-report',
    title: 'the disk is full, so that a report cannot be written',
    receiver: responds(200),
    argv: ['replay', 'day.ndjson', '--url', '{url}', '--report', 'disk/report.xml'],
    cause: 'disk/report.xml: cannot be written: the disk is full',
    fix: 'make room, or name a file elsewhere',
    exitCode: 2,
  }),
  onDisk({
    id: 'disk-init',
    title: 'the disk is full, so that no config can be written',
    argv: ['init', 'disk/hooks.yaml'],
    cause: 'disk/hooks.yaml: cannot be written: the disk is full',
    fix: 'make room, or name a file elsewhere',
    exitCode: 2,
  }),
  onDisk({
    id: 'disk-listen-save',
    title: 'the disk is full, so that listen cannot save what comes',
    start: async (scene) => {
      const free = await startHttp(() => ({}));
      await free.close();
      sendUntilTaken(`http://127.0.0.1:${free.port}/`, scene);
      return { ...nearlyFull(0)(scene), own: free.port };
    },
    argv: ['listen', '--port', '{own}', '--save', 'disk', '--within', '60s', '--count', '1'],
    cause: 'Cannot save captures in …: the disk is full (--save)',
    fix: 'make room, or name a folder elsewhere',
    exitCode: 2,
  }),
];

const DOCTOR: readonly AnswerCase[] = [
  onDisk({
    id: 'doctor-disk-full',
    title: 'doctor, and the disk of the queue is full',
    argv: ['doctor'],
    cause: 'the disk is full, so nothing is accepted',
    fix: 'make room on that disk, or name another folder with HOOKS_DATA_DIR or --store',
  }),
  onDisk({
    id: 'doctor-queue-full',
    title: 'doctor, and the disk of a queue that is in use is full',
    start: withQueue((disk) => {
      disk.fill();
      rmSync(join(disk.path, 'hooks.db-reserve'), { force: true });
    }),
    argv: ['doctor'],
    cause: QUEUE_FULL,
    fix: 'make room, …; the deliveries in the queue are kept',
  }),
  onDisk({
    id: 'doctor-queue-read-only',
    title: 'doctor, and the disk of the queue is mounted read-only',
    start: withQueue((disk) => disk.remount('ro')),
    argv: ['doctor'],
    cause: 'hooks.db cannot be written: its file system is read-only',
    fix: 'mount it writable, or name another file with --store',
  }),
  onDisk({
    id: 'send-queue-read-only',
    title: 'the disk of the queue is mounted read-only',
    start: withQueue((disk) => disk.remount('ro')),
    argv: QUEUE_ONE,
    cause: 'hooks.db cannot be written: its file system is read-only',
    fix: 'mount it writable, or name another file with --store',
    exitCode: 2,
  }),
];

/** Disks that are full or read-only: real ones, where the tests may mount them. */
export const DISKS: AnswerTheme = {
  title: 'The disk is full or read-only',
  cases: [...FIRST_USE, ...WRITTEN, ...DOCTOR],
};
