import { ConfigError } from '../../../errors.ts';
import { proxyFor, proxyVariable } from '../../../app/probe-webhook.ts';
import { PACKAGE_VERSION } from '../../../app/version.ts';
import { isoTime } from '../../../clock.ts';
import type { Io } from '../../io.ts';
import { fail, ok, warn, type DoctorResult } from './doctor-result.ts';

/** Reports Node and hooks themselves, the proxy, certificates and the clock. */
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
    const exceptions = bypass === '' ? '' : `, but for ${bypass}`;
    if (proxy === undefined) return ok('proxy', `${variable} is set, and NO_PROXY excepts everything`);
    return ok(
      'proxy',
      `${scheme}: URLs are reached through ${proxy.origin.origin} (${variable})${exceptions}`,
    );
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return fail('proxy', error.message, error.hint);
  }
}

/** Reports a variable that people set when certificates fail. */
function certificateResults(env: Readonly<NodeJS.ProcessEnv>): DoctorResult[] {
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return [];
  return [
    warn(
      'tls',
      'NODE_TLS_REJECT_UNAUTHORIZED=0 is set, which changes nothing: hooks checks certificates regardless',
      'name the issuer to trust in the config: delivery: { ca: ./ca.pem }',
    ),
  ];
}

/** When this was written: a clock before it is wrong. */
const LATELY = Date.UTC(2026, 0, 1);
/** A clock at this time or later is probably wrong: a program of that age would have been replaced. */
const FAR_OFF = Date.UTC(2034, 0, 1);

function clockResult(now: number): DoctorResult {
  const time = isoTime(now);
  if (now > LATELY && now < FAR_OFF) return ok('clock', time);
  const hint = 'set the clock of this machine: timestamps, certificates and retries need it';
  return fail('clock', `the clock of this machine says ${time}`, hint);
}
