import { readdirSync, readFileSync } from 'node:fs';

/** Sends a signal to a command and everything it has started. False when no process is left to get it. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

/**
 * Whether any process of the group still runs. A zombie that its parent has not collected yet does not: in a container whose first
 * program collects none it would stay forever.
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

/** Whether a process of the group runs. The format is that of proc(5): `pid (name) state ppid pgrp …`, where a name may hold parentheses. */
function isRunning(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state = '', , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(pgrp) === group && !'ZX'.includes(state);
  } catch {
    return false;
  }
}
