import { describe, expect, it } from 'vitest';
import { loadFile } from '../../../src/config/files/load-file.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

function load(name: string, text: string): Promise<unknown> {
  return loadFile(`${temporaryFolder({ [name]: text })}/${name}`, name);
}

describe('a config that one small repair makes valid', () => {
  it.each<[name: string, text: string, line: number, hint: string]>([
    ['a.yaml', 'webhooks:\n  - http://a.test/\nsharedSecret:k3Yp-77aQ\n', 3, 'put a space after the colon'],
    ['a.yaml', 'delivery:\n\ttimeout: 5s\n', 2, 'indent with spaces, not with a tab'],
    ['a.yaml', 'writeKey: a\nsharedSecret = b\n', 2, 'write a colon and a space in place of ='],
    ['a.yaml', 'writeKey: a\nsharedSecret: @b\n', 2, 'put quotes around the value'],
    ['a.yaml', 'webhooks: [http://a.test/\n', 1, 'put the missing ] at the end of the line'],
    ['a.json', '{"writeKey": "a",\n"size": 2,\n}', 2, 'remove the comma before the closing bracket'],
    ['a.json', '{"writeKey": "a",\n// a note\n"size": 2}', 2, 'remove the comment, which JSON does not have'],
    ['a.json', '{"writeKey": “a”}', 1, 'write plain quotes, not typographic ones'],
    ['a.json', '{"writeKey": "a"\n"size": 2}', 1, 'put the missing comma at the end of the line'],
    ['a.json', '{\nwriteKey: "a"}', 2, 'put double quotes around the key'],
    ['a.json', '{"writeKey": ["a"]', 1, 'put the missing } at the end of the file'],
  ])('gets the line and the repair: %s %j', async (name, text, line, hint) => {
    await expect(load(name, text)).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`^${name}:${line}: `)),
      hint: `${hint}: the file is valid then`,
    });
  });

  it('gets the hint of its format if no repair is enough', async () => {
    await expect(load('a.json', '{writeKey: a')).rejects.toMatchObject({
      hint: expect.stringContaining('keys take double quotes'),
    });
  });
});
