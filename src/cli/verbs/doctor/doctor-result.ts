/** The result of one check of `doctor`. Texts are unescaped. */
export interface DoctorResult {
  /** Stable: `config`, `store`, `webhook` … */
  readonly check: string;
  /** `warn`: it works, but probably not as intended. */
  readonly status: 'ok' | 'warn' | 'fail';
  readonly said: string;
  /** How to fix it. */
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
