import { describe, expect, it } from 'vitest';
import { fieldOf, KEYS } from '../../../src/config/table/fields.ts';
import { DELIVERY_KINDS } from '../../../src/engine/options.ts';
import { CONNECTION_KINDS } from '../../../src/transport/transport.ts';

const FIELDS = KEYS.map((key) => fieldOf(key));

describe('the table of settings', () => {
  it('has a setting for every option of a delivery', () => {
    const options = FIELDS.flatMap(({ option }) => option ?? []);
    // `health` is an object, and its setting is `delivery.health.failures`.
    expect([...options, 'health'].toSorted()).toEqual(Object.keys(DELIVERY_KINDS).toSorted());
  });

  it('marks the settings that hold for every connection', () => {
    const options = FIELDS.flatMap(({ option, isConnection }) => (isConnection ? (option ?? []) : []));
    expect(options).toEqual(Object.keys(CONNECTION_KINDS));
  });
});
