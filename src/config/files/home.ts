import { homedir } from 'node:os';

/** The user's home folder. Undefined for a user without one, as a container may run under. */
export function homeFolder(env: Readonly<NodeJS.ProcessEnv>): string | undefined {
  try {
    return env['HOME'] || homedir() || undefined;
  } catch {
    // There is no HOME, and no user with this number in the list of users.
    return undefined;
  }
}
