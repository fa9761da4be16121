import { MASK } from './redact.ts';

/** Masks what looks like a credential in a text of another program: in URLs, after `password=`, and known tokens. */
export function withoutCredentials(text: string): string {
  return text
    .replace(/(:\/\/[^\s/:@]*:)[^\s/@]+@/g, `$1${MASK}@`)
    .replace(/(\b\w*(?:password|passwd|pwd|secret|token|api_?key)=)[^\s"',;&]{4,}/gi, `$1${MASK}`)
    .replace(/(\b(?:Bearer |[sr]k_live_|gh[a-z]_|github_pat_|xox[a-z]-|AKIA))[\w.~+/-]{8,}=*/g, `$1${MASK}`);
}
