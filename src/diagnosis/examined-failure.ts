/** The result of examining the port of a failed request. */
export interface ExaminedFailure {
  readonly cause: string;
  /** The URL or protocol that was found instead, or the status of the proxy. */
  readonly location?: string;
  /** The variable that names the proxy, such as `https_proxy`. */
  readonly proxy?: string;
}

export interface FailureToExamine {
  /** The URL of the failed request, without userinfo. */
  readonly url: string;
  /** The stable error code of the failure, such as `refused`. */
  readonly error: string;
  /** The cause that the transport determined. A cause that leaves nothing to examine is kept. */
  readonly cause?: string | undefined;
  /** Other URLs of the config, whose hosts may be meant by a host that does not exist. @default none */
  readonly urls?: readonly string[];
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly signal: AbortSignal;
  /** Timeout, in ms, of each of the at most three connections that examine the port. @default 1000 */
  readonly timeoutMs?: number;
  /** Finds the address of a host. @default the resolver of the system */
  readonly lookUp?: (hostname: string) => Promise<{ readonly address: string }>;
  /** Path of the file that gives hosts their addresses. @default that of the system */
  readonly hostsFile?: string;
  /** Path of the file that names the name servers. @default /etc/resolv.conf */
  readonly resolverFile?: string;
}
