/** An object that a signal aborts. */
export interface Abortable {
  /** Index in the list of the signal. Only AbortWatch changes it. */
  watchPlace: number;
  abort(): void;
}

interface Watched {
  readonly attempts: Abortable[];
  readonly listener: () => void;
}

/**
 * Adds one listener per signal, however many attempts share it: a signal warns of a leak at its eleventh listener, and
 * adding one is slow on the hot path. Removes the listener with the last attempt. Keeps a list, because a Set that millions
 * pass through costs memory (see ReusableMap).
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
      // Copies the list, because each aborted attempt leaves it.
      for (const attempt of attempts.slice()) attempt.abort();
    };
    const watched = { attempts, listener };
    signal.addEventListener('abort', listener);
    this.#watched.set(signal, watched);
    return watched;
  }
}

/** Removes an attempt, whose place the last one takes. False if the attempt is not in the list. */
function leave(attempts: Abortable[], attempt: Abortable): boolean {
  const { watchPlace: place } = attempt;
  if (attempts[place] !== attempt) return false;
  const last = attempts.pop();
  if (last === undefined || last === attempt) return true;
  attempts[place] = last;
  last.watchPlace = place;
  return true;
}
