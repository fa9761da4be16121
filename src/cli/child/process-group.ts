import { readdirSync, readFileSync } from 'node:fs';

/** Sends a signal to all processes of a group. Returns false if no process is left. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

/**
 * Whether any process of the group still runs. Zombies do not count: in a container whose first process does not collect
 * them, they would stay forever.
 */
export function isGroupAlive(group: number): boolean {
  return signalGroup(group, 0) && (process.platform !== 'linux' || isAnyRunning(group));
}

function isAnyRunning(group: number): boolean {
  try {
    return readdirSync('/proc').some((name) => /^\d+$/.test(name) && isRunning(name, group));
  } catch {
    return true;
  }
}

/**
 * Whether a process belongs to the group and runs. Parses proc(5): `pid (name) state ppid pgrp …`; a name can contain
 * parentheses.
 */
function isRunning(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state = '', , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(pgrp) === group && !'ZX'.includes(state);
  } catch {
    return false;
  }
}
