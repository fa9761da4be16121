/** Headers of a response that tell where it comes from. No other is kept: most are noise, and some are secret. */
export const EVIDENCE_HEADERS: readonly string[] = [
  'server',
  'location',
  'www-authenticate',
  'content-type',
  'via',
  'retry-after',
  'cf-mitigated',
  'cf-ray',
  'ngrok-error-code',
  'x-amzn-errortype',
  'x-azure-ref',
  'x-powered-by',
  'x-squid-error',
];

const MAX_VALUE_LENGTH = 500;

/** Picks the headers that tell where a response comes from; of a repeated one the first. */
export function evidenceHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const name of EVIDENCE_HEADERS) {
    const value = headers[name];
    const first = typeof value === 'string' ? value : value?.[0];
    if (first !== undefined) kept[name] = first.slice(0, MAX_VALUE_LENGTH);
  }
  return kept;
}
