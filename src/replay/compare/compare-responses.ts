import { isJsonObject } from '../../message/types.ts';
import { partsOfResponse, type ComparedResponse, type ResponseParts } from './compared-response.ts';
import type { IgnoresPath } from './ignored-paths.ts';
import { bodyPath, headerPath, type ComparedContext, type NoiseModel } from './noise-model.ts';
import { itemText, pairItems } from './pair-items.ts';
import { formatOf, valueText, type ResponseValue } from './value-format.ts';
import { visitPairs } from './visit-pairs.ts';

/** Value of `to` if only the order of the items of an array differs. */
export const OTHER_ORDER = 'other order';

/** A difference of two responses to one message. Differences with equal `what`, `path`, `from` and `to` are of one kind. */
export interface ResponseDifference {
  readonly what: 'connection' | 'status' | 'header' | 'body';
  /** The name of the header, or the path in the body: `$.items[*].id`. Empty for other differences. */
  readonly path: string;
  /** The kind of the old value: a status, a format such as `number`, an error code, or `response`. */
  readonly from: string;
  readonly to: string;
  /** An example: the value in the old and in the new response, or the two whole responses if they differ as a whole. */
  readonly old: string;
  readonly new: string;
}

export interface ComparisonContext extends ComparedContext {
  readonly noise: NoiseModel;
  readonly ignores: IgnoresPath;
}

const EXAMPLE_LENGTH = 200;

/** Compares the responses of two receivers to one message. */
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
  // Skips the body if the status explains its difference: an error has a different body than a success, and a 204 has
  // none.
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
  if (bodyKind === 'empty') return bodyKind;
  const isText = bodyKind === 'text' && isJsonObject(body);
  return isText
    ? Object.values(body)
        .flatMap((word) => (typeof word === 'string' ? word : []))
        .join('')
    : valueText(body);
}
