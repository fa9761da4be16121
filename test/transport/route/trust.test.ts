import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createUndiciTransport } from '../../../src/transport/undici-transport.ts';
import { sendTo } from '../sending.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

let folder: string;

beforeEach(async () => {
  folder = temporaryFolder();
});

describe('a `caFile`', () => {
  it('that is missing throws ConfigError with its name', async () => {
    const caFile = join(folder, 'none.pem');
    const error = expect.objectContaining({
      name: 'ConfigError',
      key: 'delivery.ca',
      message: expect.stringMatching(
        /^Expected `delivery.ca` to be a file that can be read, got .*none\.pem \(there is no such file\)/,
      ),
    });
    expect(() => createUndiciTransport({ caFile })).toThrow(error);
    await expect(sendTo('https://127.0.0.1:9/', { connection: { caFile } })).rejects.toEqual(error);
  });

  it.each([
    ['is empty', ''],
    ['is no PEM', 'hello'],
    ['holds a broken certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ])('that %s throws ConfigError with its name', async (_, text) => {
    const caFile = join(folder, 'ca.pem');
    await writeFile(caFile, text);
    expect(() => createUndiciTransport({ caFile })).toThrow(
      `Expected \`delivery.ca\` to be a PEM file of certificates, got ${caFile}`,
    );
  });
});
