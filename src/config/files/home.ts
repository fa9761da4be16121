import { homedir } from 'node:os';

/** The user's home folder; undefined if the user has none, which is common in containers. */
export function homeFolder(env: Readonly<NodeJS.ProcessEnv>): string | undefined {
  try {
    return env['HOME'] || homedir() || undefined;
  } catch {
    // No home folder is known: HOME is not set, and the system's list of users does not have this user id.
    return undefined;
  }
}
