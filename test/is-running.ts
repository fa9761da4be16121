import { existsSync, readFileSync } from 'node:fs';

/** Returns whether a process runs. A zombie does not. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return !existsSync('/proc/self') && isThere(pid);
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
