/** An attempt that its signal can abort. */
export interface Abortable {
  /** Index of the attempt in the list of its signal. Only AbortWatch changes it. */
  watchPlace: number;
  abort(): void;
}

interface Watched {
  readonly attempts: Abortable[];
  readonly listener: () => void;
}

/**
 * Aborts the attempts of a signal. Adds one listener per signal, however many attempts share it, because Node warns of a
 * leak at the eleventh listener of a signal, and adding one is slow. Removes the listener with the last attempt. Keeps a
 * list, because a Set that millions of attempts pass through costs memory (see ReusableMap).
 */
export class AbortWatch {
  readonly #watched = new Map<AbortSignal, Watched>();

  add(signal: AbortSignal, attempt: Abortable): void {
    const { attempts } = this.#watched.get(signal) ?? this.#watch(signal);
    attempt.watchPlace = attempts.length;
    attempts.push(attempt);
  }

  delete(signal: AbortSignal, attempt: Abortable): void {
    const watched = this.#watched.get(signal);
    if (watched === undefined || !leave(watched.attempts, attempt) || watched.attempts.length > 0) return;
    signal.removeEventListener('abort', watched.listener);
    this.#watched.delete(signal);
  }

  #watch(signal: AbortSignal): Watched {
    const attempts: Abortable[] = [];
    const listener = (): void => {
      // A copy, because each aborted attempt removes itself from the list.
      for (const attempt of attempts.slice()) attempt.abort();
    };
    const watched = { attempts, listener };
    signal.addEventListener('abort', listener);
    this.#watched.set(signal, watched);
    return watched;
  }
}

/** Removes an attempt from the list and moves the last attempt to its place. Returns false if it is not in the list. */
function leave(attempts: Abortable[], attempt: Abortable): boolean {
  const { watchPlace: place } = attempt;
  if (attempts[place] !== attempt) return false;
  const last = attempts.pop();
  if (last === undefined || last === attempt) return true;
  attempts[place] = last;
  last.watchPlace = place;
  return true;
}
