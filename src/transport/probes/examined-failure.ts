/** The result of examining a failed request: the code of its cause, and the values that the explanation quotes. */
export interface ExaminedFailure {
  readonly cause: string;
  /** Results of tests (PROBES) that the explanation quotes, by the name of the probe. */
  readonly shown?: Readonly<Record<string, string>>;
  /** The environment variable that sets the proxy, such as `https_proxy`. Absent without a proxy. */
  readonly proxy?: string;
}

export interface FailureToExamine {
  readonly url: string;
  /** The stable error code of the failure, such as `refused`. */
  readonly error: string;
  readonly status?: number | undefined;
  /** Code of the cause that is already known. If that cause is exact, nothing is examined. */
  readonly cause?: string | undefined;
  /** Other URLs of the config: the user may have meant one of their hosts. @default none */
  readonly urls?: readonly string[];
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly signal: AbortSignal;
  /** Time limit of each probe, in ms. @default 1000 */
  readonly timeoutMs?: number;
  /** Resolves a host name. @default the resolver of the system */
  readonly lookUp?: (hostname: string) => Promise<{ readonly address: string }>;
}
