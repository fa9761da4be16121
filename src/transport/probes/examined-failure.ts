/** The result of examining the port of a failed request. */
export interface ExaminedFailure {
  readonly cause: string;
  /** The URL or protocol that was found instead, or the status of the proxy. */
  readonly location?: string;
  /** Results of the probes that the sentence quotes, by name. */
  readonly shown?: Readonly<Record<string, string>>;
  /** The variable that names the proxy, such as `https_proxy`. */
  readonly proxy?: string;
}

export interface FailureToExamine {
  /** The URL of the failed request, without userinfo. */
  readonly url: string;
  /** The stable error code of the failure, such as `refused`. */
  readonly error: string;
  /** The status of the response, if there was one. */
  readonly status?: number | undefined;
  /** The cause that is known. A cause that leaves nothing to examine is kept. */
  readonly cause?: string | undefined;
  /** Other URLs of the config, whose hosts may be meant by a host that does not exist. @default none */
  readonly urls?: readonly string[];
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly signal: AbortSignal;
  /** Time, in ms, in which all probes end. @default 1000 */
  readonly timeoutMs?: number;
  /** Finds the address of a host. @default the resolver of the system */
  readonly lookUp?: (hostname: string) => Promise<{ readonly address: string }>;
  /** Path of the file that gives hosts their addresses. @default that of the system */
  readonly hostsFile?: string;
  /** Path of the file that names the name servers. @default /etc/resolv.conf */
  readonly resolverFile?: string;
}
