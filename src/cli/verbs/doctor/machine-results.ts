import { ConfigError } from '../../../errors.ts';
import { proxyFor, proxyVariable } from '../../../app/probe-webhook.ts';
import { PACKAGE_VERSION } from '../../../app/version.ts';
import { isoTime } from '../../../clock.ts';
import type { Io } from '../../io.ts';
import { fail, ok, warn, type DoctorResult } from './doctor-result.ts';

/** Reports the versions of hooks and Node, the proxy, certificate verification and the clock. */
export function machineResults({ env }: Pick<Io, 'env'>, now: number): DoctorResult[] {
  return [
    ok('runtime', `hooks ${PACKAGE_VERSION} on Node ${process.versions.node}, ${process.platform}`),
    proxyResult(env),
    ...certificateResults(env),
    clockResult(now),
  ];
}

function proxyResult(env: Readonly<NodeJS.ProcessEnv>): DoctorResult {
  const variable = proxyVariable(env);
  if (variable === undefined) return ok('proxy', 'no proxy is set');
  const scheme = /^https_/i.test(variable) ? 'https' : 'http';
  try {
    const proxy = proxyFor(new URL(`${scheme}://receiver.example/`), env);
    const bypass = env['no_proxy'] ?? env['NO_PROXY'] ?? '';
    const exceptions = bypass === '' ? '' : `, except for ${bypass}`;
    if (proxy === undefined) return ok('proxy', `${variable} is set, but NO_PROXY excludes everything`);
    const said = `${scheme}: URLs are reached through ${proxy.origin.origin} (${variable})${exceptions}`;
    return ok('proxy', said);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return fail('proxy', error.message, error.hint);
  }
}

/** Reports NODE_TLS_REJECT_UNAUTHORIZED=0, which users set when a certificate is rejected, and which hooks ignores. */
function certificateResults(env: Readonly<NodeJS.ProcessEnv>): DoctorResult[] {
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return [];
  const said = 'NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect: hooks always verifies certificates';
  return [warn('tls', said, 'name the issuer to trust in the config: delivery: { ca: ./ca.pem }')];
}

/** The date when this check was written: a clock that shows an earlier time is wrong. */
const EARLIEST = Date.UTC(2026, 0, 1);
/** A clock at this time or later is probably wrong, because this version would have been replaced by then. */
const LATEST = Date.UTC(2034, 0, 1);

function clockResult(now: number): DoctorResult {
  const time = isoTime(now);
  if (now > EARLIEST && now < LATEST) return ok('clock', time);
  const hint = 'set the clock of this machine: timestamps, certificates and retries need it';
  return fail('clock', `the clock of this machine says ${time}`, hint);
}
