import { isJsonObject } from '../../message/types.ts';
import { partsOfResponse, type ComparedResponse, type ResponseParts } from './compared-response.ts';
import type { IgnoresPath } from './ignored-paths.ts';
import { bodyPath, headerPath, type ComparedContext, type NoiseModel } from './noise-model.ts';
import { itemText, pairItems } from './pair-items.ts';
import { formatOf, valueText, type ResponseValue } from './value-format.ts';
import { visitPairs } from './visit-pairs.ts';

/** Value of `to` for arrays whose items are in a different order. */
export const OTHER_ORDER = 'other order';

/**
 * A difference between the responses of two receivers to the same message. Differences with equal `what`, `path`,
 * `from` and `to` are of the same kind.
 */
export interface ResponseDifference {
  readonly what: 'connection' | 'status' | 'header' | 'body';
  /** Name of the header, or path in the body, such as `$.items[*].id`. Empty if neither applies. */
  readonly path: string;
  /** Describes the old value, for example by its status (`200`), format (`number`) or error code (`reset`). */
  readonly from: string;
  /** Describes the new value. */
  readonly to: string;
  /** The old value as text. For `status` and `connection`: the status and the start of the body, or the error. */
  readonly old: string;
  /** The new value as text. */
  readonly new: string;
}

export interface ComparisonContext extends ComparedContext {
  readonly noise: NoiseModel;
  readonly ignores: IgnoresPath;
}

const EXAMPLE_LENGTH = 200;

/** Returns the differences between two receivers' responses to the same message, without noise and ignored paths. */
export function compareResponses(
  one: ComparedResponse,
  other: ComparedResponse,
  context: ComparisonContext,
): readonly ResponseDifference[] {
  const examples = { old: responseText(one), new: responseText(other) };
  if (one.kind === 'none' || other.kind === 'none') {
    const [from, to] = [one, other].map((each) => (each.kind === 'none' ? each.error : 'response'));
    if (from === undefined || to === undefined || from === to) return [];
    return [{ what: 'connection', path: '', from, to, ...examples }];
  }
  const isSameStatus = one.status === other.status;
  const status: readonly ResponseDifference[] = isSameStatus
    ? []
    : [{ what: 'status', path: '', from: String(one.status), to: String(other.status), ...examples }];
  // Skips headers and body if the statuses explain why they differ: their classes differ (200 and 500), or the new
  // response has another status and no body (204).
  if (classOf(one.status) !== classOf(other.status) || (!isSameStatus && other.body === '')) return status;
  return [...status, ...partDifferences(partsOfResponse(one), partsOfResponse(other), context)];
}

function classOf(status: number): number {
  return Math.floor(status / 100);
}

function responseText(response: ComparedResponse): string {
  if (response.kind === 'none') return `${response.error}: ${response.detail}`;
  const { status, body } = response;
  return `${status} ${body.slice(0, EXAMPLE_LENGTH)}${body.length > EXAMPLE_LENGTH ? '…' : ''}`.trimEnd();
}

function partDifferences(one: ResponseParts, other: ResponseParts, context: ComparisonContext) {
  const found: ResponseDifference[] = [];
  const { noise, ignores } = context;
  const compare = (
    what: 'header' | 'body',
    path: string,
    values: readonly [ResponseValue, ResponseValue],
  ) => {
    const noisePath = what === 'header' ? headerPath(path) : path;
    if (ignores(noisePath) || noise.accepts(noisePath, ...values, context)) return;
    const [old, new_] = values;
    const kinds = { from: formatOf(old), to: formatOf(new_) };
    found.push({ what, path, ...kinds, old: valueText(old), new: valueText(new_) });
  };
  for (const name of new Set([...one.headers.keys(), ...other.headers.keys()])) {
    compare('header', name, [one.headers.get(name), other.headers.get(name)]);
  }
  if (one.bodyKind !== other.bodyKind) {
    const kinds = { from: one.bodyKind, to: other.bodyKind };
    found.push({ what: 'body', path: '', ...kinds, old: bodyText(one), new: bodyText(other) });
    return found;
  }
  visitPairs(bodyPath(one), [one.body, other.body], {
    skips: ignores,
    hasGeneratedNames: (path) => noise.hasGeneratedNames(path),
    leaf: (path, ...values) => compare('body', path, values),
    items: (path, ones, others) => {
      compare('body', `${path}.length`, [ones.length, others.length]);
      const textOf = (at: string, leaf: ResponseValue): string =>
        ignores(at) ? '' : noise.standIn(at, leaf, context);
      const { pairs, isReordered } = pairItems(ones, others, (item) => itemText(`${path}[*]`, item, textOf));
      if (isReordered && !noise.isUnordered(path)) {
        const order = { from: 'order', to: OTHER_ORDER };
        found.push({ what: 'body', path, ...order, old: valueText([...ones]), new: valueText([...others]) });
      }
      return pairs;
    },
  });
  return found;
}

function bodyText({ body, bodyKind }: ResponseParts): string {
  if (bodyKind === 'JSON') return valueText(body);
  if (bodyKind !== 'text') return bodyKind;
  return isJsonObject(body)
    ? Object.values(body)
        .flatMap((word) => (typeof word === 'string' ? word : []))
        .join('')
    : valueText(body);
}
