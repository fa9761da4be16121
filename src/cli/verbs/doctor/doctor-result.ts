/** A result of `hooks doctor`. Texts are unescaped. */
export interface DoctorResult {
  /** Stable code of the part that `hooks doctor` examined: `config`, `store`, `webhook` … */
  readonly check: string;
  /** `warn` means that the examined part of the setup works, but probably not as intended. */
  readonly status: 'ok' | 'warn' | 'fail';
  readonly said: string;
  /** How to fix the problem that the result reports. */
  readonly hint?: string | undefined;
}

export function ok(check: string, said: string): DoctorResult {
  return { check, status: 'ok', said };
}

export function warn(check: string, said: string, hint: string): DoctorResult {
  return { check, status: 'warn', said, hint };
}

export function fail(check: string, said: string, hint: string | undefined): DoctorResult {
  return { check, status: 'fail', said, hint };
}
