const NOBODY = 65_534;

/** Runs `act` as a user who owns nothing, because root may read and write everywhere. Only root can change the user. */
export async function asNobody<T>(act: () => T | Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return act();
  process.seteuid?.(NOBODY);
  try {
    return await act();
  } finally {
    process.seteuid?.(0);
  }
}
