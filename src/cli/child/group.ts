import { readdirSync, readFileSync } from 'node:fs';

/** To a command and everything it has started. False when nobody is there to get it. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

/**
 * Whether anything of the group still runs. What has ended but was not yet collected by its parent does not: in a container whose
 * first program collects nobody it would stay for ever.
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

/** From proc(5): `pid (name) state ppid pgrp …`, where a name may hold parentheses. */
function isRunning(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state = '', , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(pgrp) === group && !'ZX'.includes(state);
  } catch {
    return false;
  }
}
