/** How many requests are being read, held or passed on: have come, and are not reported or refused yet. */
export class OpenRequests {
  readonly #onBusy: (isBusy: boolean) => void;
  #count = 0;

  /** `onBusy` is called with the first that comes and after the last that is settled. */
  constructor(onBusy: (isBusy: boolean) => void = () => {}) {
    this.#onBusy = onBusy;
  }

  begin(): void {
    this.#count += 1;
    if (this.#count === 1) this.#onBusy(true);
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#onBusy(false);
  }
}
