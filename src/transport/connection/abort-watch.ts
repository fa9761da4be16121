/** Something that a signal ends. */
export interface Abortable {
  /** Kept by the watch: its place among those that share the signal. */
  watchPlace: number;
  abort(): void;
}

interface Watched {
  readonly attempts: Abortable[];
  readonly listener: () => void;
}

/**
 * One listener per signal, however many attempts share it: a signal warns of a leak at its eleventh listener, and adding one is
 * dear on the hot path. It is removed with the last attempt. A list, since a Set that millions pass through costs memory (ReusableMap
 * says why).
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
      // Goes over a copy: each attempt that is ended leaves the list.
      for (const attempt of attempts.slice()) attempt.abort();
    };
    const watched = { attempts, listener };
    signal.addEventListener('abort', listener);
    this.#watched.set(signal, watched);
    return watched;
  }
}

/** The last one takes its place. False: it is not among them. */
function leave(attempts: Abortable[], attempt: Abortable): boolean {
  const { watchPlace: place } = attempt;
  if (attempts[place] !== attempt) return false;
  const last = attempts.pop();
  if (last === undefined || last === attempt) return true;
  attempts[place] = last;
  last.watchPlace = place;
  return true;
}
