/** Common values that are not a signature. `found` follows "the signature" (`is a JSON Web Token`). */
const KNOWN_VALUES: readonly {
  readonly pattern: RegExp;
  readonly found: string;
  readonly fix: string;
}[] = [
  {
    pattern: /^(?:undefined|null|None|nil|NaN|true|false)$/,
    found: 'is a word for nothing: the sender had no digest when it wrote the header',
    fix: 'Compute the digest before the header is written, and return it from the function that signs',
  },
  {
    pattern: /^\[object \w+\]$/,
    found: 'is the text of an object: a Promise that was not awaited, or the HMAC without its digest',
    fix: 'Await the function that signs, and end the HMAC with .digest("hex")',
  },
  {
    pattern: /^\$|^%\w+%$|^\{\{/,
    found: 'is the name of a variable that was not expanded',
    fix: 'Give its value: "$SIGNATURE" in double quotes, not in single ones',
  },
  {
    pattern: /^t=\d+,.*v\d=/,
    found: 'has the form of Stripe-Signature: a time, and digests over the time and the body',
    fix: 'Give the whole header: --scheme stripe -H "Stripe-Signature: t=…,v1=…"',
  },
  {
    pattern: /^v1a?,/,
    found: 'has the form of webhook-signature (Standard Webhooks), over an id, a time and the body',
    fix: 'Give all three headers: --scheme standard-webhooks -H "webhook-id: …" -H "webhook-timestamp: …" -H "webhook-signature: v1,…"',
  },
  {
    pattern: /^v0=/,
    found: 'has the form of X-Slack-Signature, over a time and the body',
    fix: 'Give both headers: --scheme slack -H "X-Slack-Request-Timestamp: …" -H "X-Slack-Signature: v0=…"',
  },
  {
    pattern: /^eyJ/,
    found: 'is a JSON Web Token, not a digest of the body',
    fix: 'Send the HMAC-SHA1 of the body in X-Signature, and a token in Authorization',
  },
];

/** Explains a value that is not a signature; undefined for an unknown one. */
export function knownValue(text: string): { readonly found: string; readonly fix: string } | undefined {
  return KNOWN_VALUES.find(({ pattern }) => pattern.test(text.trim()));
}
