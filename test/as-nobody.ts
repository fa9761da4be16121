const NOBODY = 65_534;

/** Does it as a user who owns nothing, since root may read and write everywhere. Whoever is not root does it as they are. */
export async function asNobody<T>(act: () => T | Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return act();
  process.seteuid?.(NOBODY);
  try {
    return await act();
  } finally {
    process.seteuid?.(0);
  }
}
