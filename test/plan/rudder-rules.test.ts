import { defaultLoaders } from 'cosmiconfig';
import { expect, it } from 'vitest';
import type { JsonValue } from '../../src/message/types.ts';
import { PlanCheck } from '../../src/plan/checking/plan-check.ts';
import { readDocument } from '../../src/plan/reading/read-document.ts';

/** A project of several files, each of a kind. `lists` are YAML of `spec`. */
function project(version: string, lists: Readonly<Record<string, string>>): PlanCheck {
  const files = Object.entries(lists).map(([kind, spec]) => {
    const text = `version: ${version}\nkind: ${kind}\nmetadata: {name: shop}\nspec:\n${spec.replaceAll(/^/gm, '  ')}`;
    return { file: `${kind}.yaml`, value: defaultLoaders['.yaml'](kind, text) as JsonValue };
  });
  return new PlanCheck(readDocument(files));
}

function found(plan: PlanCheck, properties: object, event = 'Order Placed'): string[] {
  const message = { type: 'track', event, userId: 'u', properties } as JsonValue;
  return plan.violations(message).map(({ kind, pointer }) => `${kind} ${pointer}`);
}

const V1 = {
  events: 'events:\n- {id: placed, name: Order Placed, event_type: track}\n- {id: who, event_type: identify}',
  properties: `properties:
- {id: total, name: Total, type: number, config: {minimum: 0, multiple_of: 0.5}}
- {id: note, name: Note, types: [string, "null"], config: {max_length: 3}}
- {id: tags, name: Tags, type: array, item_type: string}
- {id: mail, name: Mail, type: "#custom-type:mail"}
- {id: method, name: Method, type: string}
- {id: card, name: Card, type: string}
- {id: address, name: Address, type: object}
- {id: zip, name: Zip, type: string}`,
  'custom-types': 'types:\n- {id: mail, name: Mail, type: string, config: {format: email}}',
  'tracking-plan': `id: plan
rules:
- type: event_rule
  id: placed
  event: "#event:placed"
  properties:
  - {property: "#property:total", required: true}
  - {property: "#property:note"}
  - {property: "#property:tags"}
  - {property: "#property:mail"}
  - {property: "#property:method"}
  - property: "#property:address"
    properties: [{property: "#property:zip", required: true}]
  variants:
  - type: discriminator
    discriminator: "#property:method"
    cases:
    - {display_name: By card, match: [card], properties: [{property: "#property:card", required: true}]}
    default: [{property: "#property:note", required: true}]
- type: event_rule
  id: who
  event: "#event:who"
  additional_properties: true
  properties: [{property: "#property:mail", required: true}]`,
};

const identify = (traits: object): JsonValue => ({ type: 'identify', userId: 'u', traits }) as JsonValue;

it('reads a project of rudder/v1, with custom types, nested properties and variants', () => {
  const plan = project('rudder/v1', V1);
  const good = { Total: 1.5, Note: null, Tags: ['a'], Mail: 'a@b.co', Address: { Zip: '1' } };
  expect(found(plan, { ...good, Method: 'card', Card: 'x' })).toEqual([]);
  expect(found(plan, { ...good, Method: 'cash' })).toEqual([]);
  expect(found(plan, { ...good, Method: 'card' })).toEqual(['missing /properties/Card']);
  expect(found(plan, { Total: 1 })).toEqual(['missing /properties/Note']);
  const wrong = {
    Total: -1,
    Note: 'long',
    Tags: [1],
    Mail: 'x',
    Address: { Zap: 1 },
    Method: 'cash',
    Other: 1,
  };
  expect(found(plan, wrong).toSorted()).toEqual([
    'format /properties/Mail',
    'missing /properties/Address/Zip',
    'other /properties/Note',
    'other /properties/Total',
    'type /properties/Tags/0',
    'unplanned-property /properties/Address/Zap',
    'unplanned-property /properties/Other',
  ]);
  expect(plan.violations(identify({ Mail: 'a@b.co', other: 1 }))).toEqual([]);
  expect(plan.violations(identify({}))).toMatchObject([{ kind: 'missing', pointer: '/traits/Mail' }]);
});

it('reads a project of rudder/v0.1, whose references name the group', () => {
  const plan = project('rudder/v0.1', {
    events:
      'events:\n- {id: placed, name: Order Placed, event_type: track}\n- {id: free, name: Free, event_type: track}',
    properties:
      'properties:\n- {id: total, name: Total, type: "number, null", propConfig: {minimum: 0}}\n- {id: list, name: List, type: array, propConfig: {itemTypes: [integer]}}',
    tp: `rules:
- id: a
  event: {$ref: "#/events/shop/placed"}
  properties: [{$ref: "#/properties/shop/total", required: true}, {$ref: "#/properties/shop/list"}]
- id: b
  event: {$ref: "#/events/shop/free", allow_unplanned: true}`,
  });
  expect(found(plan, { Total: null, List: [1] })).toEqual([]);
  expect(found(plan, { Total: 'x', List: ['1'], More: 1 })).toEqual([
    'type /properties/Total',
    'type /properties/List/0',
    'unplanned-property /properties/More',
  ]);
  expect(found(plan, { anything: 1 }, 'Free')).toEqual([]);
});

it.each([
  [
    'a reference to nothing',
    '#property:none',
    'Expected a reference to an item of the project, got "#property:none"',
  ],
  ['a custom type that contains itself', '#property:loop', 'Expected types that do not contain themselves'],
])('rejects %s, with its file and place', (_what, reference, sentence) => {
  const lists = {
    ...V1,
    properties: `${V1.properties}\n- {id: loop, name: Loop, type: "#custom-type:loop"}`,
    'custom-types': 'types:\n- {id: loop, type: "#custom-type:loop"}\n- {id: mail, type: string}',
    'tracking-plan': `rules:\n- event: "#event:placed"\n  properties: [{property: "${reference}"}]`,
  };
  expect(() => project('rudder/v1', lists)).toThrow(sentence);
  expect(() => project('rudder/v1', lists)).toThrow('(/spec/rules/0)');
});
